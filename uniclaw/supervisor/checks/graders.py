"""The `grader` check: one criterion of what an imported grader returned."""

from uniclaw.hidden.program import OVERALL
from uniclaw.hidden.rubric import GraderCheck
from uniclaw.hidden.verdict import CheckResult
from uniclaw.supervisor.checks.context import BrokenOnEvidence, CheckContext, Undecidable, short


def check_graded(check: GraderCheck, context: CheckContext) -> CheckResult:
    """The criterion's value.

    Raises:
        BrokenOnEvidence: the grader broke on what the agent left.
        Undecidable: it said nothing of this criterion.
    """
    graded = context.graded
    if graded is None or (graded.broken is None and check.key not in graded.lines):
        raise Undecidable(f"the grader said nothing of {check.key!r}")
    if graded.broken is not None:
        raise BrokenOnEvidence(graded.broken)
    value = round(min(1.0, max(0.0, graded.lines[check.key])), 9)
    said = graded.values.get(check.key)
    reason = f"the grader says {said!r} for {check.key}"
    if check.key == OVERALL:
        others = (f"{k}: {v!r}" for k, v in graded.values.items() if k != OVERALL)
        reason = "; ".join([reason, *others])
    return CheckResult(value=value, reason=short(reason))
