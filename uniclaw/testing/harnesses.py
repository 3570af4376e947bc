"""Conformance of harness adapters: what every program that plays the executor must do, for real.

Give a `Rig` that starts environments with the harness's layer and opens doors to a scripted model,
and run all of `CHECKS` against it, each in a test of its own:

    @pytest.mark.parametrize("check", CHECKS, ids=lambda c: c.__name__)
    async def test_conformance(check, rig):
        await check(rig)

A check closes what it opens. The script decides by the content of requests, so it serves every
program alike, and programs whose turns must end by a command (mini-swe-agent) too.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol, cast

from pydantic import JsonValue

from uniclaw.assets import Assets
from uniclaw.harnesses import harness_kind
from uniclaw.models.metering import SpendLimits
from uniclaw.models.script import Script, parse_script
from uniclaw.ports import (
    Environment,
    EnvironmentFactory,
    EnvironmentSpec,
    Harness,
    HarnessContext,
    Limits,
    ModelDoor,
    TurnLimits,
)
from uniclaw.records import EventKind, StopReason, Task, TaskId, Turn

TURN_S = 240.0
SUBMIT = "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"
"""A program whose first message holds this ends its turns by echoing it."""


class OpenDoor(NamedTuple):
    """A door with the scripted model behind it."""

    directory: str
    """For `EnvironmentSpec.door`."""
    model: ModelDoor
    requests: Callable[[], Sequence[str]]
    """Bodies of the model calls that ended so far."""


class DoorMaker(Protocol):
    """Opens doors."""

    def __call__(
        self, script: Script, limits: SpendLimits
    ) -> AbstractAsyncContextManager[OpenDoor]:
        """A door to a model that answers by `script`, within limits."""
        ...


@dataclass(frozen=True, kw_only=True)
class Rig:
    """A harness, ready to be checked."""

    name: str
    factory: EnvironmentFactory
    image: str
    """Image with the harness's layer."""
    open_door: DoorMaker
    assets: Assets
    leaves: Sequence[str] = field(default=())
    """Names of files that it is known to leave in the workspace."""
    memory_bytes: int = 3_000_000_000
    turn_s: float = TURN_S
    hang_s: float = 20.0
    """Enough for the program to have asked the model."""


Check = Callable[[Rig], Awaitable[None]]


class Stage(NamedTuple):
    """A harness in its environment."""

    environment: Environment
    harness: Harness
    door: OpenDoor


def script_of(*rules: Mapping[str, JsonValue]) -> Script:
    """A script whose final texts also end the turns of programs that end them by a command."""
    listed: list[Mapping[str, JsonValue]] = [*rules, {"when": {}, "reply": {"text": "A title"}}]
    ending = {"when": {"first_user": SUBMIT}, "run": f"echo {SUBMIT}"}
    return parse_script({"rules": listed, "endings": [ending]})


def two_turns() -> Script:
    """Writes a file when asked for ALPHA, adds to it when asked for BETA."""
    return script_of(
        {"when": {"seen": ["BETA-", "added-43"]}, "reply": {"text": "All added."}},
        {
            "when": {"seen": ["BETA-"], "tool_offered": ".*"},
            "reply": {"run": "echo more >> out.txt; cat out.txt; echo added-$((40+3))"},
        },
        {"when": {"seen": ["ALPHA-", "wrote-42"]}, "reply": {"text": "All written."}},
        {
            "when": {"seen": ["ALPHA-"], "tool_offered": ".*"},
            "reply": {
                "text": "I write the file.",
                "run": "echo hello > out.txt; echo wrote-$((40+2))",
            },
        },
    )


def one_command(command: str, done: str) -> Script:
    """Runs one command, then says `done` when its output shows ended-42."""
    return script_of(
        {"when": {"seen": ["ended-42"]}, "reply": {"text": done}},
        {
            "when": {"seen": ["ALPHA-"], "tool_offered": ".*"},
            "reply": {"run": f"{command}; echo ended-$((40+2))"},
        },
    )


def _python(code: str) -> str:
    return f"python3 -c 'import os, time; {code}'"


NO_LIMITS = SpendLimits()
ALPHA = "Please do ALPHA-1: write the file."
BETA = "And now BETA-2: add to it."


@asynccontextmanager
async def staged(
    rig: Rig, script: Script, limits: SpendLimits = NO_LIMITS
) -> AsyncGenerator[Stage, None]:
    """An open harness; everything is closed at the end."""
    async with rig.open_door(script, limits) as door:
        environment = await rig.factory.start(
            EnvironmentSpec(
                image=rig.image,
                door=door.directory,
                limits=Limits(memory_bytes=rig.memory_bytes),
            )
        )
        try:
            task = Task(task_id=TaskId("neutral"), suite="s", instruction=ALPHA, family="neutral")
            context = HarnessContext(
                environment=environment, task=task, model=None, seed=7, door=door.model
            )
            harness = harness_kind(rig.name, rig.assets).create(context, rig.assets)
            await harness.open()
            try:
                yield Stage(environment, harness, door)
            finally:
                await harness.close()
        finally:
            await environment.close()


async def processes(environment: Environment) -> list[str]:
    """Command lines of the agent's processes; the dead that wait to be reaped do not count."""
    done = await environment.exec("ps -eo user:20,stat,args --no-headers", user="root")
    lines = [line.split(None, 2) for line in done.stdout.decode("utf-8", "replace").splitlines()]
    return [x[2] for x in lines if len(x) == 3 and x[0] == "agent" and not x[1].startswith("Z")]


async def _nothing_runs(environment: Environment) -> None:
    left = await processes(environment)
    assert not left, f"still running: {left}"


def strings_of(body: str) -> list[str]:
    """All strings of a JSON text."""
    found: list[str] = []
    left: list[object] = [json.loads(body)]
    while left:
        value = left.pop(0)
        if isinstance(value, str):
            found.append(value)
        elif isinstance(value, dict):
            left = [*cast("dict[str, object]", value).values(), *left]
        elif isinstance(value, list):
            left = [*cast("list[object]", value), *left]
    return found


def told(turn: Turn) -> str:
    """A turn in short, for failed assertions."""
    shown = [f"{e.kind.value} {e.role} {e.tool or ''} {e.text[:300]}" for e in turn.events]
    return "\n".join([f"{turn.stop} {turn.detail} exit {turn.exit_code}", *shown])


async def check_two_turns_in_one_session(rig: Rig) -> None:
    """A file is written, then added to by the same session; the transcript tells both."""
    async with staged(rig, two_turns()) as (environment, harness, door):
        limits = TurnLimits(seconds=rig.turn_s)
        first = await harness.turn(ALPHA, limits)
        assert first.stop is StopReason.FINISHED, told(first)
        assert first.final_message == "All written.", told(first)
        assert await environment.get("/workspace/out.txt") == b"hello\n", told(first)
        _has_call(first, "echo hello > out.txt", "wrote-42")
        assert any(e.text == "I write the file." for e in first.events), told(first)
        assert first.spent.calls > 0
        assert first.spent.usage.total > 0
        assert first.executor_s > 0
        second = await harness.turn(BETA, limits)
        assert second.stop is StopReason.FINISHED, told(second)
        assert second.final_message == "All added.", told(second)
        assert await environment.get("/workspace/out.txt") == b"hello\nmore\n", told(second)
        _has_call(second, "echo more >> out.txt", "added-43")
        assert not any("wrote-42" in e.text for e in second.events), told(second)
        heard = "\n".join(strings_of(door.requests()[-1]))
        assert ALPHA in heard
        assert "wrote-42" in heard
        ids = [e.id for t in (first, second) for e in t.events]
        assert len(ids) == len(set(ids))
        assert [e.at_s for e in first.events] == sorted(e.at_s or 0 for e in first.events)
        await _only_the_work_is_there(rig, environment)


def _has_call(turn: Turn, command: str, output: str) -> None:
    calls = [e for e in turn.events if e.kind is EventKind.TOOL_CALL]
    results = {e.call_id: e for e in turn.events if e.kind is EventKind.TOOL_RESULT}
    call = next((c for c in calls if command in str(c.arguments)), None)
    assert call is not None, told(turn)
    result = results.get(call.call_id)
    assert result is not None, told(turn)
    assert output in result.text, told(turn)
    assert result.tool == call.tool


async def _only_the_work_is_there(rig: Rig, environment: Environment) -> None:
    done = await environment.exec("ls -A")
    left = set(done.stdout.decode().split()) - {"out.txt", *rig.leaves}
    assert not left, f"left in the workspace: {sorted(left)}"


async def check_a_prompt_is_no_argument_and_arrives_whole(rig: Rig) -> None:
    """Dashes, quotes, other scripts and 144 kB go by, unseen in the list of processes."""
    look = "cat /proc/[0-9]*/cmdline | tr '\\0' '\\n' | grep -ac SECRE[T]WORD"
    body = "- ALPHA-1 \"quoted\" 'single' $HOME `id` \\n 中文 SECRETWORD\n"
    body += "one more line of a long message\n" * 4500
    async with staged(rig, one_command(look, "All looked.")) as (_, harness, door):
        turn = await harness.turn(body, TurnLimits(seconds=rig.turn_s))
        assert turn.final_message == "All looked.", told(turn)
        results = [e.text for e in turn.events if e.kind is EventKind.TOOL_RESULT]
        assert any(
            text.strip().startswith("0\nended-42") or "0\nended-42" in text for text in results
        ), told(turn)
        assert any(body.strip() in text for text in strings_of(door.requests()[-1]))


async def check_a_question_is_a_stop_of_its_own(rig: Rig) -> None:
    """A turn that ends in a question is `asked`."""
    async with staged(rig, one_command("true", "Which colour?")) as (_, harness, _):
        turn = await harness.turn(ALPHA, TurnLimits(seconds=rig.turn_s))
        assert turn.stop is StopReason.ASKED, told(turn)


async def check_a_used_up_budget_stops_the_turn(rig: Rig) -> None:
    """The gateway refuses further calls; the turn says which budget, and keeps the work."""
    limits = SpendLimits(model_calls=3)
    endless = script_of(
        {"when": {"seen": ["ALPHA-"], "tool_offered": ".*"}, "reply": {"run": "echo x >> out.txt"}},
    )
    async with staged(rig, endless, limits) as (environment, harness, _):
        turn = await harness.turn(ALPHA, TurnLimits(seconds=rig.turn_s))
        assert turn.stop is StopReason.BUDGET, told(turn)
        assert turn.budget == "model_calls"
        assert turn.failure is None
        assert b"x" in await environment.get("/workspace/out.txt")


async def check_a_failed_model_is_told_from_success(rig: Rig) -> None:
    """Whatever its exit code, a turn without a model is a model error, and nobody's score."""
    refused = parse_script({"rules": [{"error": {"status": 404, "message": "no such model"}}]})
    async with staged(rig, refused) as (_, harness, _):
        turn = await harness.turn(ALPHA, TurnLimits(seconds=rig.turn_s))
        assert turn.stop is StopReason.MODEL_ERROR, told(turn)
        assert turn.failure is not None
        assert turn.detail


async def check_a_hanging_model_ends_at_the_limit(rig: Rig) -> None:
    """The turn is stopped, nothing of it is left, and the session can go on."""
    hanging = script_of(
        {"when": {"seen": ["BETA-"], "tool_offered": ".*"}, "reply": {"text": "All good."}},
        {"when": {"seen": ["ALPHA-"]}, "reply": {"text": "late", "chunk_delay_s": 600}},
    )
    async with staged(rig, hanging) as (environment, harness, _):
        turn = await harness.turn(ALPHA, TurnLimits(seconds=rig.hang_s))
        assert turn.stop is StopReason.TIMEOUT, told(turn)
        assert turn.executor_s < rig.hang_s + 15
        await _nothing_runs(environment)
        second = await harness.turn(BETA, TurnLimits(seconds=rig.turn_s))
        assert second.final_message == "All good.", told(second)


async def check_a_hanging_command_ends_at_the_limit(rig: Rig) -> None:
    """What the agent's tool started, in its own session, ends too; its start is told."""
    # Some programs refuse `setsid` and `&` in a command.
    command = f"touch began; {_python('os.fork() or os.setsid(); time.sleep(1000)')}"
    seen = ""
    for seconds in (rig.hang_s, 4 * rig.hang_s):
        async with staged(rig, one_command(command, "never")) as (environment, harness, _):
            turn = await harness.turn(ALPHA, TurnLimits(seconds=seconds))
            seen = told(turn)
            assert turn.stop is StopReason.TIMEOUT, seen
            await _nothing_runs(environment)
            # On a busy machine the program may not have come to its command.
            if (await environment.exec("test -f /workspace/began")).exit_code == 0:
                return
    raise AssertionError(f"the command never began: {seen}")


async def check_a_killed_program_has_crashed(rig: Rig) -> None:
    """An agent that ends its own program gets no second try and no success."""
    # Some programs refuse a plain `kill -9 -1`.
    command = "touch out.txt; python3 -c 'import os; os.kill(-1, 9)'"
    async with staged(rig, one_command(command, "never")) as staged_one:
        environment, harness, _ = staged_one
        turn = await harness.turn(ALPHA, TurnLimits(seconds=rig.turn_s))
        assert turn.stop is StopReason.CRASHED, told(turn)
        assert turn.failure is None
        assert await environment.get("/workspace/out.txt") == b""


async def check_cancelling_leaves_nothing(rig: Rig) -> None:
    """A cancelled turn raises, and its processes are gone."""
    async with staged(rig, one_command("sleep 1000", "never")) as (environment, harness, _):
        turn = asyncio.create_task(harness.turn(ALPHA, TurnLimits(seconds=rig.turn_s)))
        await asyncio.sleep(rig.hang_s / 2)
        assert not turn.done()
        turn.cancel()
        results = await asyncio.gather(turn, return_exceptions=True)
        assert isinstance(results[0], asyncio.CancelledError)
        await harness.close()
        await _nothing_runs(environment)


async def check_closing_twice_leaves_nothing(rig: Rig) -> None:
    """After `close` no process of the agent is there, a server it started neither."""
    detached = "os.fork() and os._exit(0); os.setsid(); os.closerange(0, 3); time.sleep(1000)"
    server = f"touch began; {_python(detached)}"
    async with staged(rig, one_command(server, "All started.")) as (environment, harness, _):
        turn = await harness.turn(ALPHA, TurnLimits(seconds=rig.turn_s))
        assert turn.final_message == "All started.", told(turn)
        assert await environment.get("/workspace/began") == b"", told(turn)
        await harness.close()
        await harness.close()
        await _nothing_runs(environment)


CHECKS: tuple[Check, ...] = (
    check_two_turns_in_one_session,
    check_a_prompt_is_no_argument_and_arrives_whole,
    check_a_question_is_a_stop_of_its_own,
    check_a_used_up_budget_stops_the_turn,
    check_a_failed_model_is_told_from_success,
    check_a_hanging_model_ends_at_the_limit,
    check_a_hanging_command_ends_at_the_limit,
    check_a_killed_program_has_crashed,
    check_cancelling_leaves_nothing,
    check_closing_twice_leaves_nothing,
)
