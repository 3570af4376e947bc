"""What a run cost, computed anew from its stored usage with any price table."""

from collections.abc import Iterable, Mapping

from pydantic import JsonValue

from uniclaw.pricing import PriceTable
from uniclaw.records import Count, NonNegative, Record, Usage
from uniclaw.store.run_store import CallRow, RunStore


class CostLine(Record):
    """Spending of one role with one model in one cell."""

    cell: str
    role: str
    model: str
    """`PROVIDER/NAME`."""
    calls: Count
    failed: Count
    """Exchanges without an answer, among `calls` or their retries."""
    usage: Usage
    cost_usd: NonNegative | None
    """None when the table has no price for a kind of tokens that was used."""
    recorded_usd: NonNegative | None
    """As it was counted while the run went on; None when it was unknown then."""


class CostReport(Record):
    """A run's spending by cell, role and model."""

    run: str
    prices: str
    """Version of the table."""
    lines: tuple[CostLine, ...]
    cost_usd: NonNegative | None
    """Of the whole run; None when one line's is unknown."""
    known_usd: NonNegative
    """Sum of the lines whose cost is known."""
    recorded_usd: NonNegative | None
    unpriced: tuple[str, ...]
    """Models without a price for what they used."""
    without_calls: Count
    """Episodes that have no stored exchange, such as imported ones: they add nothing here."""


def cost(store: RunStore, prices: PriceTable) -> CostReport:
    """Price every stored exchange of a run; an answer that was used again is paid once.

    Args:
        store: of the run.
        prices: the table to use; a model it does not know has an unknown cost.
    """
    groups: dict[tuple[str, str, str], list[CallRow]] = {}
    without = 0
    for row in store.rows():
        calls = [call for attempt in _attempts(row) for call in store.calls(attempt)]
        without += not calls
        for call in calls:
            if not call.reused:
                groups.setdefault((str(row["cell"]), call.role, call.model), []).append(call)
    lines = tuple(_line(key, calls, prices) for key, calls in sorted(groups.items()))
    return CostReport(
        run=store.name,
        prices=prices.version,
        lines=lines,
        cost_usd=_sum(line.cost_usd for line in lines),
        known_usd=sum(line.cost_usd or 0.0 for line in lines),
        recorded_usd=_sum(line.recorded_usd for line in lines),
        unpriced=tuple(sorted({line.model for line in lines if line.cost_usd is None})),
        without_calls=without,
    )


def _attempts(row: Mapping[str, JsonValue]) -> list[str]:
    earlier = row.get("earlier")
    ids = (
        [str(a["episode_id"]) for a in earlier if isinstance(a, dict)]
        if isinstance(earlier, list)
        else []
    )
    return [*ids, str(row["episode_id"])]


def _line(key: tuple[str, str, str], calls: list[CallRow], prices: PriceTable) -> CostLine:
    cell, role, model = key
    usage = sum((call.spent.usage for call in calls), Usage())
    return CostLine(
        cell=cell,
        role=role,
        model=model,
        calls=sum(call.spent.calls for call in calls),
        failed=sum(not call.ok for call in calls),
        usage=usage,
        cost_usd=prices.cost(model, usage),
        recorded_usd=_sum(call.spent.cost_usd for call in calls),
    )


def _sum(values: Iterable[float | None]) -> float | None:
    known = list(values)
    return None if None in known else sum(value for value in known if value is not None)
