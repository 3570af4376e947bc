import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uniclaw.errors import JudgeError
from uniclaw.hidden.rubric import Cap, Checkpoint, FileCheck, PassRequires, Rubric
from uniclaw.hidden.scoring import compute_verdict
from uniclaw.hidden.verdict import CheckResult, LineResult, Verdict
from uniclaw.records import AttemptState, Decision, StopReason

CHECK = FileCheck(path="x")
values = st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.5, 1.0]))
optional_values = st.one_of(st.none(), values)


def rubric(
    weights: list[float],
    caps: list[float] | None = None,
    threshold: float = 0.8,
    requires: PassRequires | None = None,
) -> Rubric:
    return Rubric(
        threshold=threshold,
        checkpoints=tuple(
            Checkpoint(
                id=f"c{i}",
                weight=w,
                description="d",
                check=CHECK,
                artifact=f"a{i}",
                tag=f"t{i % 2}",
            )
            for i, w in enumerate(weights)
        ),
        caps=tuple(Cap(id=f"k{i}", max=m, when=CHECK) for i, m in enumerate(caps or [])),
        pass_requires=requires or PassRequires(),
    )


def results(
    rubric: Rubric,
    found: list[float | None],
    caps: list[float | None] | None = None,
    *,
    terminal: bool = False,
) -> list[LineResult]:
    lines = [
        LineResult(
            id=c.id,
            kind="checkpoint",
            weight=c.weight,
            description="d",
            decided_by="code",
            result=CheckResult(value=v, reason=f"reason of {c.id}", terminal=terminal),
            tag=c.tag,
            artifact=c.artifact,
        )
        for c, v in zip(rubric.checkpoints, found, strict=True)
    ]
    lines += [
        LineResult(
            id=c.id,
            kind="cap",
            weight=0,
            cap=c.max,
            description="",
            decided_by="code",
            result=CheckResult(value=v, reason=f"reason of {c.id}"),
        )
        for c, v in zip(rubric.caps, caps or [], strict=True)
    ]
    return lines


def decide(
    rubric: Rubric,
    lines: list[LineResult],
    *,
    rounds_left: int = 1,
    stop: StopReason = StopReason.FINISHED,
    missing: tuple[str, ...] = (),
) -> Verdict:
    return compute_verdict(
        rubric,
        lines,
        round_number=0,
        rounds_left=rounds_left,
        stop=stop,
        missing_artifacts=missing,
    )


@st.composite
def cases(draw: st.DrawFn) -> tuple[Rubric, list[float | None], list[float | None]]:
    raw = draw(st.lists(st.integers(1, 20), min_size=1, max_size=6))
    weights = [r / sum(raw) for r in raw]
    maxima = draw(st.lists(st.floats(0, 1), max_size=3))
    found = draw(st.lists(optional_values, min_size=len(raw), max_size=len(raw)))
    fired = draw(st.lists(optional_values, min_size=len(maxima), max_size=len(maxima)))
    made = rubric(weights, maxima, threshold=draw(st.floats(0, 0.99)))
    return made, found, fired


@given(cases())
def test_a_score_lies_in_0_to_1_below_every_cap_that_fired(
    case: tuple[Rubric, list[float | None], list[float | None]],
):
    made, found, fired = case
    verdict = decide(made, results(made, found, fired))
    if None in found:
        assert verdict.score is None
        assert verdict.uncapped is None
    if verdict.score is not None:
        assert 0 <= verdict.score <= 1
        for cap, value in zip(made.caps, fired, strict=True):
            if value is not None and value >= 0.5:
                assert verdict.score <= cap.max
    assert (verdict.score is None) == (verdict.reason is not None)
    assert (verdict.decision is Decision.PASS) == (
        verdict.score is not None and verdict.score >= made.threshold - 1e-9
    )


@given(cases(), st.data())
def test_a_better_checkpoint_never_lowers_the_score(
    case: tuple[Rubric, list[float | None], list[float | None]], data: st.DataObject
):
    made, found, fired = case
    known = [v or 0.0 for v in found]
    index = data.draw(st.integers(0, len(known) - 1))
    better = [*known]
    better[index] = data.draw(st.floats(known[index], 1))
    before = decide(made, results(made, [*known], fired)).score
    after = decide(made, results(made, [*better], fired)).score
    if before is not None and after is not None:
        assert after >= before


@given(cases(), st.randoms(use_true_random=False))
def test_the_order_of_the_lines_changes_nothing(
    case: tuple[Rubric, list[float | None], list[float | None]], shuffle: random.Random
):
    made, found, fired = case
    lines = results(made, found, fired)
    shuffled = [*lines]
    shuffle.shuffle(shuffled)
    assert decide(made, lines) == decide(made, shuffled)


def test_fault_31_totals_are_computed_from_the_weights_here():
    made = rubric([0.3, 0.3, 0.4])
    assert decide(made, results(made, [1.0, 1.0, 1.0])).score == 1.0
    assert decide(made, results(made, [1.0, 0.5, 0.0])).score == 0.45


@pytest.mark.parametrize("change", ["twice", "missing", "unknown"])
def test_lines_that_are_not_the_rubrics_give_no_verdict(change: str):
    made = rubric([0.5, 0.5])
    lines = results(made, [1.0, 1.0])
    wrong = {
        "twice": [*lines, lines[0]],
        "missing": lines[:1],
        "unknown": [lines[0], lines[1].model_copy(update={"id": "c9"})],
    }
    with pytest.raises(JudgeError):
        decide(made, wrong[change])


def test_an_undecided_cap_matters_only_where_it_could_lower_the_score():
    made = rubric([1.0], [0.5])
    assert decide(made, results(made, [0.4], [None])).score == 0.4
    undecided = decide(made, results(made, [0.9], [None]))
    assert undecided.score is None
    assert undecided.reason == "no score without k0: reason of k0"
    assert undecided.decision is Decision.CONTINUE


def test_a_pass_that_hangs_on_an_undecided_cap_is_no_score():
    made = rubric([1.0], [1.0], requires=PassRequires(no_cap=True))
    assert decide(made, results(made, [1.0], [None])).score is None
    assert decide(made, results(made, [0.2], [None])).score == 0.2


def test_named_checkpoints_must_be_fully_met():
    made = rubric([0.1, 0.9], threshold=0.8, requires=PassRequires(checkpoints=("c0",)))
    verdict = decide(made, results(made, [0.9, 1.0]))
    assert verdict.decision is Decision.CONTINUE
    assert verdict.unmet_requirements == ("c0",)
    assert decide(made, results(made, [1.0, 1.0])).decision is Decision.PASS


def test_weights_a_little_above_1_do_not_lift_the_score_above_it():
    made = rubric([0.505, 0.505])
    assert decide(made, results(made, [1.0, 1.0])).score == 1.0


@pytest.mark.parametrize(
    ("found", "rounds_left", "terminal", "decision"),
    [
        (1.0, 0, False, Decision.PASS),
        (0.5, 1, False, Decision.CONTINUE),
        (0.5, 0, False, Decision.FAIL),
        (0.5, 3, True, Decision.FAIL),
    ],
)
def test_decisions(found: float, rounds_left: int, terminal: bool, decision: Decision):
    made = rubric([1.0])
    lines = results(made, [found], terminal=terminal)
    assert decide(made, lines, rounds_left=rounds_left).decision is decision


@pytest.mark.parametrize(
    ("found", "stop", "missing", "terminal", "state"),
    [
        (1.0, StopReason.TIMEOUT, (), False, AttemptState.COMPLETE_AND_PASSED),
        (0.0, StopReason.FINISHED, (), True, AttemptState.TERMINAL_FAILURE),
        (0.0, StopReason.TIMEOUT, ("a0",), False, AttemptState.IN_PROGRESS),
        (0.0, StopReason.BUDGET, (), False, AttemptState.IN_PROGRESS),
        (0.0, StopReason.ASKED, (), False, AttemptState.IN_PROGRESS),
        (0.0, StopReason.FINISHED, ("a0",), False, AttemptState.INCOMPLETE),
        (0.0, StopReason.CRASHED, ("a0",), False, AttemptState.INCOMPLETE),
        (0.0, StopReason.FINISHED, (), False, AttemptState.COMPLETE_BUT_FAILED),
    ],
)
def test_attempt_states(
    found: float,
    stop: StopReason,
    missing: tuple[str, ...],
    terminal: bool,
    state: AttemptState,
):
    made = rubric([1.0])
    lines = results(made, [found], terminal=terminal)
    assert decide(made, lines, stop=stop, missing=missing).attempt_state is state


def test_missing_artifacts_and_tags_come_from_unmet_checkpoints_alone():
    made = rubric([0.5, 0.25, 0.25])
    verdict = decide(made, results(made, [1.0, 0.0, 0.5]), missing=("a0", "a2"))
    assert verdict.missing_artifacts == ("a2",)
    assert verdict.guidance_tags == ("t1", "t0")


def test_the_rationale_is_composed_from_reasons():
    made = rubric([0.5, 0.5], [0.2])
    verdict = decide(made, results(made, [1.0, 0.0], [1.0]))
    assert verdict.rationale.splitlines() == [
        "c0 (0.5 x 1): reason of c0",
        "c1 (0.5 x 0): reason of c1",
        "cap k0 (at most 0.2) applies: reason of k0",
        "threshold 0.8",
    ]
