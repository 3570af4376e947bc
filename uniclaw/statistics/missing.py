"""Missing data, stated: how many episodes have a score, why the others have none, and bounds.

Bounds count every missing episode once as a failure (score 0) and once as a pass (score 1);
they need no assumption on why it is missing (Manski 1989).
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from uniclaw.records import Count, Outcome, Record
from uniclaw.statistics.estimates import Interval
from uniclaw.statistics.measures import Definition, read
from uniclaw.statistics.rows import EpisodeRow

_INFRA = (Outcome.RATE_LIMITED, Outcome.ENVIRONMENT_LOST, Outcome.INFRA_ERROR)


class MissingData(Record):
    """What of the planned episodes has no value, and what that can change."""

    episodes: Count
    scored: Count
    """Episodes with a scored outcome."""
    counted: Count
    """Episodes that enter the pass rate under the definition."""
    infra: Count
    """rate_limited, environment_lost and infra_error."""
    judge_errors: Count
    simulator_errors: Count
    firewall_breaches: Count
    cancelled: Count
    excluded: Count
    """Scored, but left out by the definition or without a pass flag."""
    without_score: Count
    """Counted for pass, but without a score under the definition."""
    outcomes: Mapping[str, Count]
    pass_bounds: Interval | None
    """Pass rate with all missing as failures, and as passes; None without episodes."""
    score_bounds: Interval | None
    statement: str


def missing_data(rows: Sequence[EpisodeRow], definition: Definition) -> MissingData:
    """State what is missing among rows."""
    readings = [read(row, definition) for row in rows]
    passes = [r.passed for r in readings if r.passed is not None]
    scores = [r.score for r in readings if r.score is not None]
    outcomes = Counter(row.outcome.value for row in rows)
    total, scored = len(rows), sum(row.scored for row in rows)
    infra = sum(outcomes[kind.value] for kind in _INFRA)
    pass_bounds = _bounds(sum(passes), len(passes), total)
    return MissingData(
        episodes=total,
        scored=scored,
        counted=len(passes),
        infra=infra,
        judge_errors=outcomes[Outcome.JUDGE_ERROR.value],
        simulator_errors=outcomes[Outcome.SIMULATOR_ERROR.value],
        firewall_breaches=outcomes[Outcome.FIREWALL_BREACH.value],
        cancelled=outcomes[Outcome.CANCELLED.value],
        excluded=scored - len(passes),
        without_score=sum(r.passed is not None and r.score is None for r in readings),
        outcomes=dict(sorted(outcomes.items())),
        pass_bounds=pass_bounds,
        score_bounds=_bounds(sum(scores), len(scores), total),
        statement=_statement(round(sum(passes)), len(passes), total, outcomes, infra),
    )


def _bounds(total: float, counted: int, episodes: int) -> Interval | None:
    if episodes == 0:
        return None
    return total / episodes, (total + episodes - counted) / episodes


def _statement(
    passes: int, counted: int, total: int, outcomes: Mapping[str, int], infra: int
) -> str:
    parts = [f"{passes}/{counted} passed of the counted"]
    named = {
        "infra": infra,
        "judge error": outcomes.get(Outcome.JUDGE_ERROR.value, 0),
        "simulator error": outcomes.get(Outcome.SIMULATOR_ERROR.value, 0),
        "firewall breach": outcomes.get(Outcome.FIREWALL_BREACH.value, 0),
        "cancelled": outcomes.get(Outcome.CANCELLED.value, 0),
    }
    parts.extend(f"{count} {name}" for name, count in named.items() if count)
    rest = total - counted - sum(named.values())
    if rest:
        parts.append(f"{rest} left out by the definition")
    if total > counted:
        parts.append(f"bounds {passes}/{total} to {passes + total - counted}/{total}")
    return ", ".join(parts)
