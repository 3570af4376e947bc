"""Programs inside an environment, with small fake ones: how turns end, and what is told of them."""

import json
import secrets
from collections.abc import AsyncGenerator, Callable, Mapping
from pathlib import Path

import pytest

from uniclaw.environments.process import ProcessFactory
from uniclaw.errors import HarnessError, UserError
from uniclaw.harnesses.cli import CliHarness, Seating, disagreement
from uniclaw.harnesses.command import CommandProgram, CommandTemplate
from uniclaw.ports import Environment, EnvironmentSpec, HarnessContext, ModelDoor, TurnLimits
from uniclaw.records import EventKind, RoleUsage, StopReason, Task, TaskId, Turn, Usage
from uniclaw.yamlio import parse_record

EVENTS = [
    {"when": {"kind": "text"}, "message": "text"},
    {"when": {"kind": "call"}, "call": {"tool": "tool", "id": "id", "arguments": "input"}},
    {"when": {"kind": "output"}, "result": {"id": "id", "text": "text", "exit_code": "code"}},
    {"when": {"kind": "usage"}, "usage": {"input": "in", "output": "out"}},
    {"when": {"kind": "error"}, "failure": "text"},
]
LIMITS = TurnLimits(seconds=30)


class Spending:
    """What a gateway would tell."""

    def __init__(self) -> None:
        self.usage = Usage()
        self.stopped: str | None = None
        self.failed: str | None = None

    def door(self) -> ModelDoor:
        return ModelDoor(
            url="http://127.0.0.1:1",
            token="t0ken",
            model="m",
            spent=lambda: RoleUsage(calls=1, usage=self.usage),
            stopped=lambda: self.stopped,
            failed=lambda: self.failed,
        )


Make = Callable[..., CliHarness]


@pytest.fixture
async def environment(tmp_path: Path) -> AsyncGenerator[Environment, None]:
    scratch = tmp_path / "environments"
    scratch.mkdir()
    factory = ProcessFactory(run=f"test-{secrets.token_hex(4)}", scratch=scratch)
    made = await factory.start(EnvironmentSpec(image="base"))
    yield made
    await made.close()


@pytest.fixture
def spending() -> Spending:
    return Spending()


@pytest.fixture
def harness(environment: Environment, spending: Spending) -> Make:
    """A harness whose program is a shell script."""

    def make(script: str, **more: object) -> CliHarness:
        template: Mapping[str, object] = {
            "first": {"argv": ["bash", "-c", script]},
            "transcript": {"events": EVENTS},
            **more,
        }
        checked = parse_record(CommandTemplate, template)
        task = Task(task_id=TaskId("t"), suite="s", instruction="i", family="f")
        context = HarnessContext(
            environment=environment, task=task, model=None, seed=1, door=spending.door()
        )

        def create(seating: Seating) -> CommandProgram:
            return CommandProgram(seating, checked)

        return CliHarness("fake", create, context)

    return make


def say(**record: object) -> str:
    return f"echo '{json.dumps(record)}'"


async def play(made: CliHarness, message: str = "do it", limits: TurnLimits = LIMITS) -> Turn:
    await made.open()
    try:
        return await made.turn(message, limits)
    finally:
        await made.close()


def notes(turn: Turn) -> str:
    return "\n".join(e.text for e in turn.events if e.kind is EventKind.NOTE)


async def test_a_turn_is_told_in_order_with_its_exit_code(harness: Make) -> None:
    script = "; ".join(
        [
            "read -r prompt",
            'echo "{\\"kind\\": \\"text\\", \\"text\\": \\"you said $prompt\\"}"',
            say(kind="call", id="c1", tool="sh", input={"command": "ls"}),
            say(kind="output", id="c1", text="files", code=2),
            say(kind="text", text="Done."),
        ]
    )
    turn = await play(harness(script))
    kinds = [(e.kind.value, e.role) for e in turn.events]
    assert kinds == [
        ("message", "user"),
        ("message", "assistant"),
        ("tool_call", "assistant"),
        ("tool_result", "tool"),
        ("message", "assistant"),
    ]
    assert turn.events[1].text == "you said do it"
    assert turn.events[3].exit_code == 2
    assert turn.events[3].tool == "sh"
    assert (turn.stop, turn.final_message, turn.exit_code) == (StopReason.FINISHED, "Done.", 0)
    assert [e.id for e in turn.events] == [f"r0.e{i}" for i in range(5)]


async def test_fault_11_a_program_that_never_ends_is_ended_after_its_last_word(
    harness: Make, environment: Environment
) -> None:
    script = f"{say(kind='text', text='Done.')}; {say(kind='end')}; trap '' TERM; sleep 600"
    turn = await play(harness(script, final={"kind": ["end"]}, grace_s=0.5))
    assert turn.stop is StopReason.FINISHED
    assert turn.final_message == "Done."
    assert turn.executor_s < 10
    assert "did not end" in notes(turn)
    left = await environment.exec("pgrep -fc 'sleep 60[0]' || true")
    assert left.stdout.strip() in {b"0", b""}


async def test_a_final_record_that_is_only_quoted_ends_nothing(harness: Make) -> None:
    quoted = say(kind="call", id="1", tool="sh", input={"kind": "end"})
    script = f"{quoted}; sleep 2; {say(kind='text', text='Later.')}"
    turn = await play(harness(script, final={"kind": ["end"]}, grace_s=0.2))
    assert turn.final_message == "Later."


async def test_fault_12_usage_is_the_gateways_and_a_disagreement_is_told(
    harness: Make, spending: Spending
) -> None:
    made = harness(f"{say(kind='usage', **{'in': 5, 'out': 1})}; {say(kind='text', text='x')}")
    await made.open()
    spending.usage = Usage(input=1)
    before = spending.usage

    async def later() -> Turn:
        spending.usage = before
        return await made.turn("go", LIMITS)

    turn = await later()
    await made.close()
    assert turn.spent.usage == Usage()
    assert "input tokens 0 at the gateway, 5 by the program's own count" in notes(turn)
    assert disagreement(Usage(input=3, cache_read=2, output=1), Usage(input=5, output=1)) == []


async def test_a_background_child_does_not_hold_the_turn(harness: Make) -> None:
    turn = await play(harness(f"(sleep 600 &); {say(kind='text', text='Started.')}"))
    assert turn.final_message == "Started."
    assert turn.executor_s < 10


async def test_fault_10_a_turn_past_its_time_leaves_nothing(
    harness: Make, environment: Environment
) -> None:
    script = f"{say(kind='text', text='Working.')}; trap '' TERM; sleep 700 & sleep 700"
    turn = await play(harness(script), limits=TurnLimits(seconds=1.5))
    assert turn.stop is StopReason.TIMEOUT
    assert any(e.text == "Working." for e in turn.events)
    left = await environment.exec("pgrep -fc 'sleep 70[0]' || true")
    assert left.stdout.strip() in {b"0", b""}


async def test_a_program_that_fails_has_crashed_and_that_counts(harness: Make) -> None:
    turn = await play(harness("echo oh no >&2; exit 3"))
    assert (turn.stop, turn.exit_code, turn.failure) == (StopReason.CRASHED, 3, None)
    assert "oh no" in (turn.detail or "")


async def test_a_program_that_is_not_there_has_crashed(harness: Make) -> None:
    turn = await play(harness("true", first={"argv": ["no-such-program"]}))
    assert turn.stop is StopReason.CRASHED
    assert turn.exit_code == 127


async def test_a_model_failure_is_nobodys_score_only_by_the_gateways_word(
    harness: Make, spending: Spending
) -> None:
    script = say(kind="error", text="model gone")
    turn = await play(harness(script))
    assert (turn.stop, turn.failure) == (StopReason.MODEL_ERROR, None)
    spending.failed = "rate_limited"
    turn = await play(harness(script))
    assert (turn.stop, turn.failure) == (StopReason.MODEL_ERROR, "rate_limited")


async def test_a_failure_told_in_words_is_found_although_the_exit_code_is_zero(
    harness: Make,
) -> None:
    script = "echo 'Error: no model'"
    turn = await play(harness(script, transcript={}, model_failure="Error: "))
    assert turn.stop is StopReason.MODEL_ERROR
    assert turn.final_message == ""
    assert turn.detail == "Error: no model"


async def test_a_used_up_budget_is_told_whatever_the_program_says(
    harness: Make, spending: Spending
) -> None:
    spending.stopped = "tokens"
    turn = await play(harness(say(kind="text", text="All fine!")))
    assert (turn.stop, turn.budget) == (StopReason.BUDGET, "tokens")


async def test_a_program_that_goes_on_asking_without_a_budget_is_ended(
    harness: Make, spending: Spending, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("uniclaw.harnesses.cli.BUDGET_GRACE_S", 1.0)
    spending.stopped = "tokens"
    turn = await play(harness(f"{say(kind='text', text='Still on it.')}; sleep 600"))
    assert turn.stop is StopReason.BUDGET
    assert turn.executor_s < 10
    assert turn.events[1].text == "Still on it."


async def test_fault_22_bad_bytes_and_lone_surrogates_become_replacement_characters(
    harness: Make,
) -> None:
    script = (
        'printf \'{"kind": "text", "text": "a\\xff\\xfe\\\\ud800b"}\\n\';'
        ' printf \'{"kind": "call", "id": "1", "tool": "t", "input": {"n": NaN}}\\n\''
    )
    turn = await play(harness(script))
    assert turn.events[1].text == "a\ufffd\ufffd\ufffdb"
    assert turn.events[2].arguments == {"n": "NaN"}
    assert Turn.model_validate_json(turn.model_dump_json()) == turn


async def test_fault_23_a_long_result_keeps_both_ends_and_says_so(harness: Make) -> None:
    script = (
        "python3 -c \"import json; print(json.dumps({'kind': 'output', 'id': '1',"
        " 'text': 'A' + 'x' * 3000000 + 'Z', 'code': 0}))\""
    )
    turn = await play(harness(script))
    event = turn.events[1]
    assert event.truncated
    assert event.total_bytes == 3_000_002
    assert event.text.startswith("Ax")
    assert event.text.endswith("xZ")
    assert "left out" in event.text


async def test_output_without_end_is_bounded(harness: Make) -> None:
    script = f"head -c 80000000 /dev/zero | tr '\\0' x; echo; {say(kind='text', text='Done.')}"
    turn = await play(harness(script))
    assert turn.final_message == "Done."
    assert "were left out" in notes(turn)


async def test_a_prompt_goes_by_file_where_the_template_says_so(harness: Make) -> None:
    made = harness(
        "cat \"$0\" | tr -d '\\n'",
        first={"argv": ["bash", "-c", 'cat "$HOME/p.md"']},
        prompt_file="{{ home }}/p.md",
        transcript={},
    )
    body = "- $HOME 'x' \"y\" 中文\n" * 9000
    turn = await play(made, body)
    assert turn.final_message == body.strip()


async def test_a_session_goes_on_by_the_next_command(harness: Make) -> None:
    made = harness("echo first", next={"argv": ["bash", "-c", "echo later"]}, transcript={})
    await made.open()
    said = [(await made.turn("m", LIMITS)).final_message for _ in range(3)]
    await made.close()
    assert said == ["first", "later", "later"]


async def test_plain_lines_are_read_by_named_groups(harness: Make) -> None:
    rules = [
        {"pattern": r"^> (?P<tool>\w+)"},
        {"pattern": r"^= (?P<exit_code>\d+) (?P<result>.*)"},
        {"pattern": r"^(?P<message>\w.*)"},
    ]
    made = harness("echo '> shell'; echo '= 4 bad'; echo All done.", transcript={"lines": rules})
    turn = await play(made)
    assert [e.kind.value for e in turn.events[1:]] == ["tool_call", "tool_result", "message"]
    assert turn.events[2].exit_code == 4
    assert turn.final_message == "All done."


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"first": {"argv": []}}, "argv"),
        ({"first": {"argv": ["a", "{{ prompt }}"]}}, "prompt"),
        ({"model_failure": "("}, "model_failure"),
        ({"nonsense": 1}, "nonsense"),
    ],
)
def test_a_broken_template_is_refused(change: dict[str, object], field: str) -> None:
    with pytest.raises(UserError, match=field):
        parse_record(CommandTemplate, {"first": {"argv": ["a"]}, **change})


def test_a_harness_that_runs_inside_needs_a_door(environment: Environment) -> None:
    task = Task(task_id=TaskId("t"), suite="s", instruction="i", family="f")
    context = HarnessContext(environment=environment, task=task, model=None, seed=1)
    with pytest.raises(HarnessError, match="door"):
        CliHarness("x", lambda seating: CommandProgram(seating, None), context)  # type: ignore[arg-type]
