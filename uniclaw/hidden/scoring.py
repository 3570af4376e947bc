"""The verdict's arithmetic: pure functions from line results to score and decision.

    uncapped = sum of weight * value over the checkpoints (at most 1)
    score    = the lesser of uncapped and the lowest cap that fired

A score is None when a value that it needs is None; a cap that could not be decided is needed only
where it could lower the score. A cap fires, and a prose requirement is met, from 0.5 upwards; a
checkpoint is met at 1. The order of the lines changes nothing.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

from uniclaw.errors import JudgeError
from uniclaw.hidden.rubric import Rubric
from uniclaw.hidden.verdict import LineResult, Verdict
from uniclaw.records import AttemptState, Decision, StopReason

_EPSILON = 1e-9
_DIGITS = 12
_HALF = 0.5
NO_CAP = "no_cap"
"""Name of the requirement that no cap fired, in `Verdict.unmet_requirements`."""
_CUT_SHORT = frozenset({StopReason.TIMEOUT, StopReason.BUDGET, StopReason.ASKED})


class _Score(NamedTuple):
    uncapped: float | None
    score: float | None
    undecided: tuple[str, ...]
    """Ids of the lines without which there is no score."""


def compute_verdict(
    rubric: Rubric,
    lines: Sequence[LineResult],
    *,
    round_number: int,
    rounds_left: int,
    stop: StopReason,
    missing_artifacts: Sequence[str] = (),
    flags: Sequence[str] = (),
) -> Verdict:
    """Decide a round.

    Args:
        rubric: the task's hidden side.
        lines: one result for each checkpoint, cap and prose requirement, in any order.
        round_number: 0 for the first.
        rounds_left: feedback rounds that may follow.
        stop: why the executor's turn ended.
        missing_artifacts: artifacts that checkpoints name and that are not there.
        flags: further remarks on how the score came about.

    Raises:
        JudgeError: a line stands twice, is missing, or is not of this rubric.
    """
    ordered = _in_rubric_order(rubric, lines)
    found = _score(ordered)
    unmet, undecided = _requirements(rubric, ordered)
    passing = found.score is not None and found.score >= rubric.threshold - _EPSILON
    if passing and not unmet and undecided:  # the pass itself hangs on what is not known
        found = found._replace(score=None, undecided=undecided)
    passed = found.score is not None and passing and not unmet
    recoverable = not any(line.result.terminal for line in ordered)
    open_lines = [line for line in ordered if line.kind == "checkpoint" and not _met(line)]
    absent = tuple(
        dict.fromkeys(line.artifact for line in open_lines if line.artifact in missing_artifacts)
    )
    return Verdict(
        round=round_number,
        decision=_decide(passed, recoverable=recoverable, rounds_left=rounds_left),
        attempt_state=_state(passed, recoverable, stop, incomplete=bool(absent)),
        recoverable=recoverable,
        score=found.score,
        uncapped=found.uncapped,
        threshold=rubric.threshold,
        lines=ordered,
        caps_fired=tuple(line.id for line in ordered if line.fired),
        unmet_requirements=unmet,
        missing_artifacts=tuple(a for a in absent if a is not None),
        guidance_tags=tuple(dict.fromkeys(line.tag for line in open_lines if line.tag)),
        rationale=_rationale(ordered, unmet, rubric),
        reason=_undecided_reason(ordered, found),
        flags=_flags(ordered, flags),
    )


def _in_rubric_order(rubric: Rubric, lines: Sequence[LineResult]) -> tuple[LineResult, ...]:
    expected = [
        *(c.id for c in rubric.checkpoints),
        *(c.id for c in rubric.caps),
        *(f"requires-{i + 1}" for i in range(len(rubric.pass_requires.judge))),
    ]
    ids = [line.id for line in lines]
    if sorted(ids) != sorted(expected):
        twice = sorted({i for i in ids if ids.count(i) > 1})
        raise JudgeError(
            f"lines do not match the rubric: missing {sorted(set(expected) - set(ids))}, "
            f"unknown {sorted(set(ids) - set(expected))}, twice {twice}"
        )
    return tuple(sorted(lines, key=lambda line: expected.index(line.id)))


def _score(lines: Sequence[LineResult]) -> _Score:
    checkpoints = [line for line in lines if line.kind == "checkpoint"]
    unknown = tuple(line.id for line in checkpoints if line.result.value is None)
    if unknown:
        return _Score(None, None, unknown)
    total = math.fsum(line.weight * (line.result.value or 0.0) for line in checkpoints)
    uncapped = min(1.0, round(total, _DIGITS))
    caps = [(line, line.cap) for line in lines if line.kind == "cap" and line.cap is not None]
    score = min([uncapped, *(cap for line, cap in caps if line.fired)])
    needed = tuple(line.id for line, cap in caps if line.result.value is None and cap < score)
    return _Score(uncapped, None if needed else score, needed)


def _met(line: LineResult) -> bool:
    value = line.result.value
    return value is not None and value >= 1 - _EPSILON


def _requirements(
    rubric: Rubric, lines: Sequence[LineResult]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Requirements of a pass that are not met, and lines whose value would have to be known."""
    unmet: list[str] = []
    undecided: list[str] = []
    named = set(rubric.pass_requires.checkpoints)
    for line in lines:
        value = line.result.value
        if line.kind == "cap" and value is None and rubric.pass_requires.no_cap:
            undecided.append(line.id)
        if line.kind == "checkpoint" and line.id in named and value is not None:
            unmet += [] if _met(line) else [line.id]
        if line.kind == "requirement":
            undecided += [line.id] if value is None else []
            unmet += [line.id] if value is not None and value < _HALF else []
    if rubric.pass_requires.no_cap and any(line.fired for line in lines):
        unmet.append(NO_CAP)
    return tuple(unmet), tuple(undecided)


def _decide(passed: bool, *, recoverable: bool, rounds_left: int) -> Decision:
    if passed:
        return Decision.PASS
    return Decision.FAIL if rounds_left <= 0 or not recoverable else Decision.CONTINUE


def _state(passed: bool, recoverable: bool, stop: StopReason, *, incomplete: bool) -> AttemptState:
    if passed:
        return AttemptState.COMPLETE_AND_PASSED
    if not recoverable:
        return AttemptState.TERMINAL_FAILURE
    if stop in _CUT_SHORT:
        return AttemptState.IN_PROGRESS
    return AttemptState.INCOMPLETE if incomplete else AttemptState.COMPLETE_BUT_FAILED


def _rationale(lines: Sequence[LineResult], unmet: Sequence[str], rubric: Rubric) -> str:
    """One line of text a checkpoint, then what lowered the score or forbids a pass."""
    text = [
        f"{line.id} ({line.weight:g} x {_shown(line)}): {line.result.reason}"
        for line in lines
        if line.kind == "checkpoint"
    ]
    text += [
        f"cap {line.id} (at most {line.cap:g}) applies: {line.result.reason}"
        for line in lines
        if line.fired
    ]
    prose = {line.id: line for line in lines if line.kind == "requirement"}
    for name in unmet:
        why = "a cap applies" if name == NO_CAP else "not fully met"
        if name in prose:
            why = f"{prose[name].description}: {prose[name].result.reason}"
        text.append(f"a pass requires {name}: {why}")
    text.append(f"threshold {rubric.threshold:g}")
    return "\n".join(text)


def _shown(line: LineResult) -> str:
    return "undecided" if line.result.value is None else f"{line.result.value:g}"


def _undecided_reason(lines: Sequence[LineResult], found: _Score) -> str | None:
    if not found.undecided:
        return None
    reasons = {line.id: line.result.reason for line in lines}
    told = "; ".join(f"{line_id}: {reasons[line_id]}" for line_id in found.undecided)
    return f"no score without {told}"


def _flags(lines: Sequence[LineResult], further: Sequence[str]) -> tuple[str, ...]:
    approximate = (f"approximate:{line.id}" for line in lines if line.result.approximate)
    split = (f"disagreement:{line.id}" for line in lines if line.result.disagreement)
    return tuple(dict.fromkeys((*approximate, *split, *further)))
