"""What an imported grader returned, and what it amounts to for the lines of a rubric."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import JsonValue

from uniclaw.hidden.program import OVERALL, GraderProgram

_TOLERANCE = 0.006
"""Graders round their scores, some to two digits."""
_MAX_METHOD = 80
RUNS_CODE = "grader-runs-agent-code"


@dataclass(frozen=True, kw_only=True)
class Graded:
    """A round as an imported grader saw it."""

    lines: Mapping[str, float]
    """Criterion of a rubric line -> value; their weighted sum is the overall score."""
    values: Mapping[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    """All that was returned."""
    flags: tuple[str, ...] = ()
    broken: str | None = None
    """Why it broke on what the agent left, where it works on an untouched workspace."""


def number_of(value: JsonValue) -> float | None:
    """A finite number or a truth value as a number; None for anything else."""
    if isinstance(value, bool | int | float) and math.isfinite(float(value)):
        return float(value)
    return None


def why_unusable(values: Mapping[str, JsonValue], unusual: Mapping[str, str]) -> str | None:
    """Why there is no overall score in what was returned; None when there is one."""
    if OVERALL in unusual:
        return f"{OVERALL} is {unusual[OVERALL]}; expected a number from 0 to 1"
    if OVERALL not in values:
        named = ", ".join(list(values)[:8]) or "nothing"
        return f"no {OVERALL} was returned, only {named}"
    number = number_of(values[OVERALL])
    if number is None:
        kind = type(values[OVERALL]).__name__
        return f"{OVERALL} is a {kind}; expected a number from 0 to 1"
    if not -1e-9 <= number <= 1 + 1e-9:
        return f"{OVERALL} is {number:g}; expected a number from 0 to 1"
    return None


def line_values(
    program: GraderProgram, values: Mapping[str, JsonValue]
) -> tuple[dict[str, float], tuple[str, ...]]:
    """Values of the rubric's lines, such that their weighted sum is the overall score, and flags.

    Where a gate of the grader lowered the score below the sum of its criteria, each criterion is
    lowered by the same factor; where they do not explain the score, each has the score as value.
    """
    overall = min(1.0, max(0.0, number_of(values[OVERALL]) or 0.0))
    if not program.weights:
        return {OVERALL: overall}, ()
    found = {key: _unit(values.get(key)) for key in program.weights}
    known = {key: value for key, value in found.items() if value is not None}
    total = sum(program.weights[key] * value for key, value in known.items())
    if len(known) == len(found) and abs(total - overall) <= _TOLERANCE:
        return known, ()
    if len(known) == len(found) and overall < total:
        return {k: v * overall / total for k, v in known.items()}, ("grader-gate",)
    return dict.fromkeys(program.weights, overall), ("grader-weights-differ",)


def _unit(value: JsonValue) -> float | None:
    number = number_of(value)
    return number if number is not None and 0 <= number <= 1 else None


def fallback_flags(values: Mapping[str, JsonValue]) -> tuple[str, ...]:
    """One flag for each value that says a judgement was replaced by something weaker."""
    return tuple(
        f"grader-fallback:{key}={value}"
        for key, value in values.items()
        if isinstance(value, str) and len(value) <= _MAX_METHOD and "fallback" in value.lower()
    )
