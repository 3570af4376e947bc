"""What a cell spends: tokens, money, time, calls; money per pass; the Pareto front.

A mean is over the scored episodes that report the amount; how many do not, and how many
reported an impossible one (a negative count), stands beside it.
"""

from collections.abc import Callable, Mapping, Sequence

from uniclaw.records import Count, Record
from uniclaw.statistics.estimates import Estimate, Interval, Options, undefined
from uniclaw.statistics.intervals import Design, Totals, ratio_estimates, totals
from uniclaw.statistics.measures import Definition, read
from uniclaw.statistics.rows import EpisodeRow

_AMOUNTS: Mapping[str, Callable[[EpisodeRow], float | None]] = {
    "tokens.input": lambda row: None if row.tokens is None else row.tokens.input,
    "tokens.cache_read": lambda row: None if row.tokens is None else row.tokens.cache_read,
    "tokens.cache_write": lambda row: None if row.tokens is None else row.tokens.cache_write,
    "tokens.output": lambda row: None if row.tokens is None else row.tokens.output,
    "tokens.reasoning": lambda row: None if row.tokens is None else row.tokens.reasoning,
    "tokens.total": lambda row: None if row.tokens is None else row.tokens.total,
    "cost_usd": lambda row: row.cost_usd,
    "executor_s": lambda row: row.executor_s,
    "wall_s": lambda row: row.wall_s,
    "model_calls": lambda row: row.model_calls,
    "attempts": lambda row: row.attempts,
}
_OPTIONAL = frozenset({"tokens.cache_read", "tokens.cache_write", "tokens.reasoning"})


class Amount(Record):
    """Mean of one amount over scored episodes."""

    mean: float | None
    ci: Interval | None = None
    total: float | None = None
    n: Count
    missing: Count
    """Scored episodes without the amount."""
    rejected: Count = 0
    """Of the missing ones: those whose source reported an impossible value."""
    mean_with_rejected: float | None = None
    """What the mean would be with the impossible values; None when there are none."""
    reason: str | None = None


class Spend(Record):
    """Amounts of one cell."""

    amounts: Mapping[str, Amount]
    cost_per_pass: Estimate
    """Money of all counted episodes by number of passes."""
    executor_s_per_pass: Estimate


def spend(
    rows: Sequence[EpisodeRow], plan: Design, definition: Definition, options: Options
) -> Spend:
    """Amounts of one cell's scored episodes."""
    scored = [row for row in rows if row.scored]
    names = list(_AMOUNTS)
    columns = [
        [(row.family, amount) for row in scored if (amount := _AMOUNTS[name](row)) is not None]
        for name in names
    ]
    estimates = ratio_estimates(plan, totals(plan, columns), options, bounded=False)
    return Spend(
        amounts={
            name: _amount(scored, name, column, estimate)
            for name, column, estimate in zip(names, columns, estimates, strict=True)
        },
        cost_per_pass=_per_pass(scored, plan, "cost_usd", definition, options),
        executor_s_per_pass=_per_pass(scored, plan, "executor_s", definition, options),
    )


def _amount(
    scored: Sequence[EpisodeRow],
    name: str,
    column: Sequence[tuple[str, float]],
    estimate: Estimate,
) -> Amount:
    rejected = [a.value for row in scored for a in row.anomalies if a.field == name]
    known = [value for _, value in column]
    if known and name in _OPTIONAL and not any(known):
        reason = "zero everywhere: none was used, or the source does not report this kind"
        return Amount(mean=None, n=0, missing=len(scored), reason=reason)
    both = [*known, *rejected]
    return Amount(
        mean=estimate.value,
        ci=estimate.ci,
        total=sum(known) if known else None,
        n=len(known),
        missing=len(scored) - len(known),
        rejected=len(rejected),
        mean_with_rejected=sum(both) / len(both) if rejected else None,
        reason=estimate.reason if known else "no scored episode reports it",
    )


def _per_pass(
    scored: Sequence[EpisodeRow],
    plan: Design,
    name: str,
    definition: Definition,
    options: Options,
) -> Estimate:
    """Ratio of an amount to passes, with a cluster bootstrap interval of the ratio."""
    counted = [(row, p) for row in scored if (p := read(row, definition).passed) is not None]
    amounts = [_AMOUNTS[name](row) for row, _ in counted]
    gaps = sum(amount is None for amount in amounts)
    passes = sum(passed for _, passed in counted)
    if not counted:
        return undefined("no counted episode", level=options.level)
    if gaps:
        reason = f"{name} is unknown for {gaps} of {len(counted)} counted episodes"
        return undefined(reason, n=len(counted), level=options.level)
    if passes == 0:
        return undefined("no pass", n=len(counted), level=options.level)
    known = [amount for amount in amounts if amount is not None]
    money = totals(plan, [[(row.family, a) for (row, _), a in zip(counted, known, strict=True)]])
    count = totals(plan, [[(row.family, passed) for row, passed in counted]])
    ratio = Totals(sums=money.sums, counts=count.sums)
    found = ratio_estimates(plan, ratio, options, bounded=False)[0]
    return found.model_copy(update={"n": len(counted)})


def pareto(points: Sequence[tuple[float | None, float | None]]) -> tuple[bool | None, ...]:
    """Whether each (amount, merit) is on the front: no other is at most as dear and better.

    A point is off the front when another has no higher amount and no lower merit, and is
    strictly better in one of both. None where amount or merit is unknown.
    """
    known = [(a, m) for a, m in points if a is not None and m is not None]

    def beaten(amount: float, merit: float) -> bool:
        return any(a <= amount and m >= merit and (a < amount or m > merit) for a, m in known)

    return tuple(None if a is None or m is None else not beaten(a, m) for a, m in points)
