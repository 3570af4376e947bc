"""The value of a `tests` check: the share of its tests that pass."""

from uniclaw.hidden.tests_check import TestsCheck
from uniclaw.hidden.verdict import CheckResult
from uniclaw.supervisor.checks.context import CheckContext, Undecidable, short

_SHOWN = 5


def check_tests(check: TestsCheck, context: CheckContext) -> CheckResult:
    """Read it off the round's test run.

    Raises:
        Undecidable: the tests could not be run, for reasons that are not the agent's.
    """
    run = context.tests
    if run is None or run.problem is not None:
        raise Undecidable((run.problem if run else None) or "the tests were not run")
    failing = [test for test in check.tests if test not in run.passed]
    share = 1.0 - len(failing) / len(check.tests)
    told = f"{len(check.tests) - len(failing)} of {len(check.tests)} tests pass"
    if failing:
        more = f" and {len(failing) - _SHOWN} more" if len(failing) > _SHOWN else ""
        told += f"; not {', '.join(failing[:_SHOWN])}{more}"
    if run.patch.problem is not None:
        told = f"{run.patch.problem}; {told}"
    if check.needs_any and not run.passed.intersection(check.needs_any):
        share, told = 0.0, f"{told}; they count once something of the issue is fixed"
    return CheckResult(value=share, reason=short(told))
