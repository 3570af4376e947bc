"""Read what an author's function said about the evidence, and refuse all that is no value."""

import math

from pydantic import JsonValue

from uniclaw.hidden.verdict import CheckResult
from uniclaw.supervisor.apart import JobKey
from uniclaw.supervisor.checks.context import BrokenOnEvidence, CheckContext, Undecidable, short

_MAX_EVIDENCE = 20


def check_python(part: str, context: CheckContext) -> CheckResult:
    """The result of a `python` check that the grader ran.

    Raises:
        BrokenOnEvidence: the function raised, hung or was killed on this evidence.
        Undecidable: it could not be run at all, or returned something that is no value.
    """
    result = context.jobs.get(JobKey(part))
    if result is None or result.status == "unavailable":
        raise Undecidable(result.reason if result else "the check was not run")
    if result.status == "failed":
        raise BrokenOnEvidence(result.reason)
    return read_answer(result.value)


def read_answer(answer: JsonValue) -> CheckResult:
    """A number in 0..1, a boolean, or `{value, reason?, evidence?}`.

    Raises:
        Undecidable: it is anything else; NaN and numbers out of range are never clamped.
    """
    if not isinstance(answer, dict):
        value = _value(answer)
        return CheckResult(value=value, reason=f"the check function says {value:g}")
    unknown = sorted(set(answer) - {"value", "reason", "evidence"})
    if unknown or "value" not in answer:
        raise Undecidable(
            f"the check function returned keys {sorted(answer)}; expected value, reason, evidence"
        )
    value = _value(answer["value"])
    reason = answer.get("reason")
    if reason is not None and not isinstance(reason, str):
        raise Undecidable(f"the check function returned the reason {reason!r}; expected text")
    evidence = answer.get("evidence") or []
    if not isinstance(evidence, list):
        raise Undecidable(f"the check function returned evidence {evidence!r}; expected a list")
    return CheckResult(
        value=value,
        reason=short(reason or f"the check function says {value:g}"),
        evidence=tuple(str(item) for item in evidence[:_MAX_EVIDENCE]),
    )


def _value(answer: JsonValue) -> float:
    if isinstance(answer, bool):
        return 1.0 if answer else 0.0
    if isinstance(answer, int | float) and math.isfinite(answer) and 0 <= answer <= 1:
        return float(answer)
    raise Undecidable(
        f"the check function returned {answer!r}; expected a number in 0..1, a boolean or a mapping"
    )
