import pytest
from hypothesis import given
from hypothesis import strategies as st
from row_builder import play, row

from uniclaw.records import Event, EventKind, Outcome
from uniclaw.statistics.attribution import attribute, losses
from uniclaw.statistics.failures import failures, outcome_class, process_marks, tool_use
from uniclaw.statistics.rows import EpisodeRow, ToolUse

HALF = {"x": 0.5, "y": 0.5}


def causes(episode: EpisodeRow) -> dict[str, float]:
    return {f"{loss.owner}: {loss.cause}": round(loss.points, 9) for loss in losses(episode)}


@pytest.mark.parametrize(
    ("outcome", "owner"),
    [
        (Outcome.JUDGE_ERROR, "judge"),
        (Outcome.SIMULATOR_ERROR, "simulator"),
        (Outcome.RATE_LIMITED, "infrastructure"),
        (Outcome.ENVIRONMENT_LOST, "infrastructure"),
        (Outcome.INFRA_ERROR, "infrastructure"),
        (Outcome.FIREWALL_BREACH, "infrastructure"),
        (Outcome.CANCELLED, "infrastructure"),
    ],
)
def test_an_unscored_episode_loses_its_point_to_whom_ended_it(outcome: Outcome, owner: str) -> None:
    assert causes(row("a", None, outcome=outcome)) == {f"{owner}: {outcome.value}": 1.0}


def test_what_the_agent_missed_is_the_agents() -> None:
    rounds = play({"x": 1.0, "y": 0.4}, weights=HALF)
    assert causes(row("a", False, 0.7, rounds=rounds)) == {"agent: checkpoint": 0.3}


def test_a_cap_is_the_agents() -> None:
    rounds = play({"x": 1.0, "y": 1.0}, weights=HALF)
    assert causes(row("a", False, 0.3, rounds=rounds)) == {"agent: caps": 0.7}


def test_undecided_and_disputed_lines_are_the_judges() -> None:
    undecided = play({"x": None, "y": 1.0}, weights=HALF)
    assert causes(row("a", False, 0.5, rounds=undecided)) == {"judge: undecided": 0.5}
    disputed = play({"x": 0.0, "y": 1.0}, weights=HALF, disputed=("x",))
    assert causes(row("a", False, 0.5, rounds=disputed)) == {"judge: disputed": 0.5}


def test_a_line_spoiled_by_a_wrong_request_is_the_simulators() -> None:
    rounds = play({"x": 1.0, "y": 0.0}, {"x": 0.0, "y": 0.0}, weights=HALF, wrong=[1])
    assert causes(row("a", False, 0.0, rounds=rounds, limit=1)) == {
        "simulator: wrong request": 0.5,
        "agent: checkpoint": 0.5,
    }


def test_a_line_that_could_not_be_asked_for_is_the_simulators() -> None:
    rounds = play(
        {"x": 1.0, "y": 0.0}, {"x": 1.0, "y": 0.0}, weights=HALF, feedback=["neutral"], blocked=[3]
    )
    assert causes(row("a", False, 0.5, rounds=rounds, limit=1)) == {"simulator: blocked": 0.5}


def test_stopping_before_the_rounds_are_used_is_the_simulators() -> None:
    rounds = play({"x": 1.0, "y": 0.0}, weights=HALF)
    early = row("a", False, 0.5, rounds=rounds, limit=3)
    assert causes(early) == {"simulator: stopped early": 0.5}
    late = row("a", False, 0.5, rounds=rounds, limit=0)
    assert causes(late) == {"agent: checkpoint": 0.5}


def test_rows_without_checkpoints_are_counted_as_undivided() -> None:
    report = attribute([row("a", False, 0.25), row("b", True)])
    assert (report.lost, report.undivided, report.by_cause) == (
        0.75,
        2,
        {"agent: undivided": 0.75},
    )


def test_nothing_lost_has_no_shares() -> None:
    assert attribute([row("a", True)]).shares is None


values = st.one_of(st.none(), st.floats(0, 1))


@given(st.lists(st.tuples(values, values, st.booleans()), min_size=1, max_size=4), st.floats(0, 1))
def test_the_owners_points_sum_to_what_the_episode_lost(
    rounds: list[tuple[float | None, float | None, bool]], score: float
) -> None:
    built = play(
        *({"x": x, "y": y} for x, y, _ in rounds),
        weights={"x": 0.3, "y": 0.7},
        wrong=[i for i, (_, _, wrong) in enumerate(rounds) if wrong],
    )
    episode = row("a", False, score, rounds=built, limit=3)
    assert sum(loss.points for loss in losses(episode)) == pytest.approx(1 - score, abs=1e-9)


# --- failures ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("episode", "expected"),
    [
        (row("a", False, 0.5, safety=True, missing=("x",)), "safety"),
        (row("a", False, 0.5, outcome=Outcome.TIMEOUT, missing=("x",)), "timeout"),
        (row("a", False, 0.5, missing=("x",)), "missing"),
        (row("a", False, 0.5, missing=()), "partial"),
        (row("a", False, 0.0, missing=()), "wrong"),
    ],
)
def test_each_failure_has_one_outcome_class(episode: EpisodeRow, expected: str) -> None:
    assert outcome_class(episode) == expected


def test_process_marks_tell_errors_loops_and_semantic_misses() -> None:
    base = row("a", False, 0.5, missing=())
    noisy = base.model_copy(update={"tools": ToolUse(calls={"shell": 3}, errors=1, loops=2)})
    clean = base.model_copy(update={"tools": ToolUse(calls={"shell": 3})})
    assert process_marks(noisy) == ("tool_errors", "loops")
    assert process_marks(clean) == ("semantic_miss",)
    assert process_marks(row("a", False, outcome=Outcome.TIMEOUT)) == ("time",)
    report = failures([noisy, clean.model_copy(update={"trial": 1}), row("b", True)])
    assert (report.failed, report.process_unknown, report.calls_per_episode) == (2, 0, 3.0)


def event(number: int, kind: EventKind, **more: object) -> Event:
    return Event.model_validate(
        {"id": f"r0.e{number}", "round": 0, "kind": kind, "role": "assistant", **more}
    )


def test_tool_use_counts_calls_errors_loops_and_seconds() -> None:
    events = [
        event(0, EventKind.TOOL_CALL, tool="bash", call_id="1", arguments={"c": "ls"}, at_s=1.0),
        event(1, EventKind.TOOL_RESULT, call_id="1", exit_code=1, at_s=3.0),
        event(2, EventKind.TOOL_CALL, tool="bash", call_id="2", arguments={"c": "ls"}, at_s=3.0),
        event(3, EventKind.TOOL_CALL, tool="bash", call_id="3", arguments={"c": "ls"}, at_s=3.0),
        event(4, EventKind.TOOL_CALL, tool="read_file", call_id="4"),
    ]
    used = tool_use(events)
    assert used.calls == {"read": 1, "shell": 3}
    assert (used.errors, used.loops, used.seconds) == (1, 1, {"shell": 2.0})
