"""A harness that is a program inside the environment: one run of it a turn, in one session.

A `Program` says what it needs and how its report is read; this module runs it, stops it at the
turn's limits, tells failures apart, and builds the turn. The gateway's word on budgets and on the
upstream goes over the program's. Must not know the hidden side.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from pydantic import JsonValue

from uniclaw.assets import Assets
from uniclaw.errors import HarnessError
from uniclaw.harnesses.events import ends_in_question
from uniclaw.harnesses.launcher import Command, Launched, launch
from uniclaw.harnesses.recorder import Recorder, clean_text
from uniclaw.ports import Environment, HarnessContext, ModelDoor, TurnLimits
from uniclaw.records import RoleUsage, StopReason, Task, Turn, Usage

LONGEST_S = 6 * 3600.0
"""Of a turn without a limit of its own."""
BUDGET_GRACE_S = 10.0
"""How long a program may go on once the gateway refuses its calls for a used-up budget."""
_LOOK_S = 1.0
HOMES = {"agent": "/home/agent", "root": "/root"}


@dataclass(frozen=True, kw_only=True)
class Seating:
    """Where a program sits."""

    environment: Environment
    home: str
    """Home directory of its user, inside."""
    workspace: str
    door: ModelDoor
    task: Task
    seed: int


class Report(NamedTuple):
    """What a program's own record says of a turn."""

    said: str = ""
    """The final message."""
    failure: str | None = None
    """Why the turn failed, as the program tells."""
    usage: Usage | None = None
    """Of this turn, as the program counted."""


class Program(Protocol):
    """An agent program, as `CliHarness` runs it."""

    def files(self) -> Mapping[str, bytes]:
        """Configuration: absolute path inside -> content."""
        ...

    async def start(self) -> None:
        """Bring up what must run before the first turn."""
        ...

    async def command(self, message: str, *, first: bool) -> Command:
        """How to run it for a message; `first` when the session does not exist yet."""
        ...

    async def report(self, done: Launched, record: Recorder) -> Report:
        """Read what happened in the turn and write it as events."""
        ...

    async def stop(self) -> None:
        """End what `start` brought up."""
        ...


class BasicProgram:
    """What most programs share."""

    def __init__(self, seating: Seating) -> None:
        self.seating = seating
        self.door = seating.door

    def files(self) -> Mapping[str, bytes]:
        """None by default."""
        return {}

    async def start(self) -> None:
        """Nothing by default."""

    async def stop(self) -> None:
        """Nothing by default."""


class CliHarness:
    """Runs a program turn by turn."""

    def __init__(
        self, name: str, create: Callable[[Seating], Program], context: HarnessContext
    ) -> None:
        if context.door is None:
            raise HarnessError(f"{name} needs a door to a model: it runs inside the environment")
        self.name = name
        self._create = create
        self._context = context
        self._door = context.door
        self._environment = context.environment
        self._round = context.round_offset
        saved = context.session or {}
        self._started = context.round_offset > 0 and saved.get("started") is not False
        self._program: Program | None = None

    async def open(self) -> None:
        """Write its configuration and start what must run."""
        seating = Seating(
            environment=self._environment,
            home=HOMES[self._context.task.user],
            workspace=self._context.task.workspace,
            door=self._door,
            task=self._context.task,
            seed=self._context.seed,
        )
        program = self._create(seating)
        files = program.files()
        if files:
            await self._environment.put(files, mode=0o600)
        self._program = program
        await program.start()

    async def turn(self, message: str, limits: TurnLimits) -> Turn:
        """Run the program on a message until it, or a limit, ends the turn."""
        program = self._program
        if program is None:
            raise HarnessError(f"{self.name} is not open")
        record = Recorder(self._round, self._context.keep_picture)
        self._round += 1
        record.user(message)
        before, waited = self._door.spent(), self._door.waited_s()
        command = await program.command(message, first=not self._started)
        done = await self._run(command, LONGEST_S if limits.seconds is None else limits.seconds)
        # A program that never spoke has no session to continue.
        self._started = self._started or bool(done.lines)
        if done.lingered or done.timed_out:
            await self._environment.kill_all()
        report = await program.report(done, record)
        spent = _difference(self._door.spent(), before)
        waited = max(0.0, self._door.waited_s() - waited)
        ending = self._ending(done, report)
        record.at(done.duration_s)
        for text in self._notes(done, report, spent.usage, ending):
            record.note(text)
        return Turn(
            stop=ending.stop,
            events=record.events,
            final_message=clean_text(report.said),
            executor_s=max(0.0, done.duration_s - waited),
            waited_s=waited,
            spent=spent,
            budget=ending.budget,
            exit_code=done.exit_code,
            detail=ending.detail,
            failure=ending.failure,
        )

    async def _run(self, command: Command, timeout_s: float) -> Launched:
        """Run to the end of the turn; a program that goes on asking without a budget is ended."""
        running = asyncio.ensure_future(
            launch(
                self._environment,
                command,
                cwd=self._context.task.workspace,
                timeout_s=timeout_s,
            )
        )
        patience_s = BUDGET_GRACE_S
        try:
            while not running.done():
                await asyncio.wait({running}, timeout=_LOOK_S)
                patience_s -= _LOOK_S if self._door.stopped() is not None else 0.0
                if patience_s <= 0 and not running.done():
                    await self._environment.kill_all()
                    patience_s = BUDGET_GRACE_S
            return running.result()
        finally:
            if not running.done():
                running.cancel()
                await asyncio.wait({running})

    def _ending(self, done: Launched, report: Report) -> "_Ending":
        """Why the turn ended. What the gateway knows goes first: the program may misread it."""
        stopped = self._door.stopped()
        failed = report.failure is not None or done.exit_code not in {0, None}
        if done.timed_out:
            return _Ending(StopReason.TIMEOUT, "turn seconds used up")
        if stopped is not None:
            return _Ending(StopReason.BUDGET, f"budget {stopped!r} used up", budget=stopped)
        if not failed:
            asked = ends_in_question(report.said)
            return _Ending(StopReason.ASKED if asked else StopReason.FINISHED)
        why = clean_text(report.failure or f"exit code {done.exit_code}: {done.tail()}")
        if done.oom_killed:
            return _Ending(StopReason.RESOURCES, f"out of memory; {why}")
        outcome = self._door.failed()
        if outcome is not None:
            return _Ending(StopReason.MODEL_ERROR, why, failure=outcome)
        if report.failure is not None:
            return _Ending(StopReason.MODEL_ERROR, why)
        return _Ending(StopReason.CRASHED, why)

    def _notes(
        self, done: Launched, report: Report, counted: Usage, ending: "_Ending"
    ) -> list[str]:
        notes = [ending.detail] if ending.detail else []
        if done.lingered:
            notes.append("the program said its last word but did not end; it was ended")
        if done.dropped_bytes:
            notes.append(f"{done.dropped_bytes} bytes of the program's output were left out")
        if report.usage is not None and not done.timed_out:
            notes += disagreement(counted, report.usage)
        return notes

    def session(self) -> Mapping[str, JsonValue]:
        """The session itself lies in files of the environment; see `episode.boundary.Resumable`."""
        return {"started": self._started}

    async def close(self) -> None:
        """End the session and every process of the agent."""
        program, self._program = self._program, None
        if program is not None:
            await program.stop()
            await self._environment.kill_all()


class _Ending(NamedTuple):
    stop: StopReason
    detail: str | None = None
    budget: str | None = None
    failure: str | None = None


def disagreement(gateway: Usage, own: Usage) -> list[str]:
    """What the gateway and the program count differently; programs name kinds differently."""
    pairs = (
        ("input", _heard(gateway), _heard(own)),
        ("output", gateway.output + gateway.reasoning, own.output + own.reasoning),
    )
    return [
        f"usage disagrees: {kind} tokens {ours} at the gateway, {theirs} by the program's own count"
        for kind, ours, theirs in pairs
        if ours != theirs
    ]


def _heard(usage: Usage) -> int:
    return usage.input + usage.cache_read + usage.cache_write


def _difference(after: RoleUsage, before: RoleUsage) -> RoleUsage:
    cost = None
    if after.cost_usd is not None:
        cost = max(0.0, after.cost_usd - (before.cost_usd or 0.0))
    a, b = after.usage, before.usage
    return RoleUsage(
        calls=after.calls - before.calls,
        usage=Usage(
            input=a.input - b.input,
            cache_read=a.cache_read - b.cache_read,
            cache_write=a.cache_write - b.cache_write,
            output=a.output - b.output,
            reasoning=a.reasoning - b.reasoning,
        ),
        cost_usd=cost,
    )


def program_harness(
    name: str, create: Callable[[Seating], Program]
) -> Callable[[HarnessContext, Assets], CliHarness]:
    """A factory for the registry."""

    def build(context: HarnessContext, assets: Assets) -> CliHarness:
        return CliHarness(name, create, context)

    return build
