"""Our outcomes in the words of the reference benchmark.

Its `pass` may come from the best round's score, so it is decided here from scores and not from
the outcome alone; what is nobody's score keeps its own status and enters no leaderboard.
"""

from collections.abc import Mapping
from typing import Literal

from uniclaw.records import Outcome, Record, Unit

Status = Literal[
    "pass",
    "budget_exhausted",
    "fail",
    "global_timeout",
    "executor_incomplete",
    "rate_limit",
    "infra_error",
    "pre_exec_failed",
]
LEADERBOARD: frozenset[Status] = frozenset(("pass", "budget_exhausted", "fail", "global_timeout"))
"""Statuses of the rows that its rates are taken over."""
SETUP_FAILED = "task set-up"
"""In the reason of an episode whose set-up script failed."""

_STATUS: Mapping[Outcome, Status] = {
    Outcome.PASS: "pass",
    Outcome.FAIL: "fail",
    Outcome.ROUNDS_EXHAUSTED: "budget_exhausted",
    # It knows no budget of tokens or money; rounds are what its name speaks of.
    Outcome.BUDGET: "budget_exhausted",
    Outcome.TIMEOUT: "global_timeout",
    Outcome.EXECUTOR_INCOMPLETE: "executor_incomplete",
    Outcome.RATE_LIMITED: "rate_limit",
    Outcome.JUDGE_ERROR: "infra_error",
    Outcome.SIMULATOR_ERROR: "infra_error",
    Outcome.ENVIRONMENT_LOST: "infra_error",
    Outcome.INFRA_ERROR: "infra_error",
    Outcome.FIREWALL_BREACH: "infra_error",
    Outcome.CANCELLED: "infra_error",
}
_NEVER_PROMOTED: frozenset[Status] = frozenset(
    ("fail", "executor_incomplete", "rate_limit", "infra_error", "pre_exec_failed")
)


class ReferenceResult(Record):
    """A result as the reference would state it."""

    status: Status
    final_score: Unit | None
    """The best round's: the reference takes the maximum over rounds."""
    passed: bool
    on_leaderboard: bool


def reference_result(
    outcome: Outcome,
    reason: str | None,
    *,
    best_score: float | None,
    threshold: float | None,
    completed: bool,
) -> ReferenceResult:
    """State one episode in the reference's words.

    Args:
        outcome: ours.
        reason: of the outcome.
        best_score: maximum over rounds.
        threshold: of the task.
        completed: whether some turn came to its own end; without one the reference calls the
            executor incomplete, and missing artifacts alone do not make it so.
    """
    status = _STATUS[outcome]
    if status == "executor_incomplete" and completed:
        status = "budget_exhausted"
    if status == "infra_error" and SETUP_FAILED in (reason or ""):
        status = "pre_exec_failed"
    reached = best_score is not None and threshold is not None and best_score >= threshold
    if reached and status not in _NEVER_PROMOTED:
        status = "pass"
    return ReferenceResult(
        status=status,
        final_score=best_score if outcome.scored else None,
        passed=status == "pass",
        on_leaderboard=status in LEADERBOARD,
    )
