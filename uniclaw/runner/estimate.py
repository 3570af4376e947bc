"""`uniclaw plan`: how many episodes, and what they will cost and take, before any is played.

Expectations come from stored runs: of the same task and cell, else of the same executor on that
task, else of the same executor. Where nothing was played yet, the task's budgets bound them;
where a task has no budget, nothing is known, and that is said.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Literal

from pydantic import JsonValue

from uniclaw.errors import StoreError
from uniclaw.experiment import Planned, budget_of
from uniclaw.records import Budget, Count, NonNegative, Record
from uniclaw.runner.seats import Workshop
from uniclaw.store.run_store import RunStore, list_runs

HISTORY_RUNS = 50
"""Newest runs that are read."""
Basis = Literal["history", "bound", "unknown"]


class Expectation(Record):
    """Of one episode, or the sum over several."""

    usd: NonNegative | None
    """None when unknown for at least one."""
    seconds: NonNegative | None
    basis: Basis


class CellPlan(Record):
    """One cell."""

    cell: str
    episodes: Count
    expected: Expectation


class Plan(Record):
    """What an experiment would play."""

    tasks: Count
    trials: Count
    episodes: Count
    parallel: Count
    cells: tuple[CellPlan, ...]
    expected: Expectation
    """Of all episodes together; seconds are those of one episode at a time."""
    wall_s: NonNegative | None
    """With that many episodes at a time."""
    remarks: tuple[str, ...] = ()


class _Past:
    """Means of stored episodes, the nearest first."""

    def __init__(self, rows: Iterable[Mapping[str, JsonValue]]) -> None:
        self._seen: defaultdict[tuple[str, ...], list[tuple[float | None, float]]] = defaultdict(
            list
        )
        for row in rows:
            axes, seconds = row.get("axes"), row.get("seconds")
            if not isinstance(axes, dict) or not isinstance(seconds, dict):
                continue
            wall = seconds.get("wall")
            if row.get("scored") is not True or not isinstance(wall, int | float):
                continue
            value = (_usd(row), float(wall))
            executor, task = str(axes.get("executor")), str(row.get("task_id"))
            for key in ((task, str(row.get("cell"))), (task, executor), (executor,)):
                self._seen[key].append(value)

    def of(self, planned: Planned) -> Expectation | None:
        task, executor = planned.bundle.task_id, planned.axes.executor
        for key in ((task, planned.axes.cell), (task, executor), (executor,)):
            found = self._seen.get(key)
            if found:
                costs = [usd for usd, _ in found if usd is not None]
                usd = fmean(costs) if len(costs) == len(found) else None
                return Expectation(usd=usd, seconds=fmean(s for _, s in found), basis="history")
        return None


def _usd(row: Mapping[str, JsonValue]) -> float | None:
    usage = row.get("paid") or row.get("usage")
    total = 0.0
    for spent in usage.values() if isinstance(usage, dict) else ():
        cost = spent.get("cost_usd") if isinstance(spent, dict) else None
        if not isinstance(cost, int | float):
            return None
        total += cost
    return total


def read_history(runs_dir: Path) -> list[Mapping[str, JsonValue]]:
    """Rows of the newest stored runs; what cannot be read is left out."""
    rows: list[Mapping[str, JsonValue]] = []
    for root in list_runs(runs_dir)[:HISTORY_RUNS]:
        try:
            with RunStore.open(root) as store:
                rows += store.rows()
        except StoreError:
            continue
    return rows


def estimate(
    workshop: Workshop, planned: Sequence[Planned], history: Iterable[Mapping[str, JsonValue]]
) -> Plan:
    """Sum the expectations of a plan.

    Args:
        workshop: of the planned run, for budgets and prices.
        planned: its episodes.
        history: rows of stored runs.
    """
    past = _Past(history)
    by_cell: defaultdict[str, list[Expectation]] = defaultdict(list)
    for item in planned:
        by_cell[item.axes.cell].append(past.of(item) or _bound(workshop, item))
    everything = [one for found in by_cell.values() for one in found]
    parallel = workshop.settings.parallel
    total = _sum(everything)
    longest = max((e.seconds or 0.0 for e in everything), default=0.0)
    return Plan(
        tasks=len({p.bundle.task_id for p in planned}),
        trials=workshop.settings.trials,
        episodes=len(planned),
        parallel=parallel,
        cells=tuple(
            CellPlan(cell=cell, episodes=len(found), expected=_sum(found))
            for cell, found in by_cell.items()
        ),
        expected=total,
        wall_s=None if total.seconds is None else max(total.seconds / parallel, longest),
        remarks=tuple(_remarks(workshop, planned, total)),
    )


def _bound(workshop: Workshop, planned: Planned) -> Expectation:
    """What the budgets allow at most; the judge's and the user's calls are not in it."""
    budget = budget_of(workshop.settings, planned.bundle.task, planned.axes)
    usd = 0.0 if not workshop.models_of(planned.axes) else _most_usd(workshop, planned, budget)
    seconds = budget.executor_s
    if seconds is None and budget.turn_s is not None:
        seconds = budget.turn_s * (budget.feedback_rounds + 1)
    known = usd is not None and seconds is not None
    return Expectation(usd=usd, seconds=seconds, basis="bound" if known else "unknown")


def _most_usd(workshop: Workshop, planned: Planned, budget: Budget) -> float | None:
    spec = planned.axes.model
    if spec is None or workshop.free(spec):
        return 0.0
    bounds = [] if budget.cost_usd is None else [budget.cost_usd]
    price = workshop.price(spec)
    if budget.tokens is not None and price is not None:
        dearest = max((p for p in (price.input, price.output, price.reasoning) if p), default=0.0)
        bounds.append(budget.tokens * dearest / 1_000_000)
    return min(bounds, default=None)


def _sum(found: Sequence[Expectation]) -> Expectation:
    costs = [e.usd for e in found if e.usd is not None]
    times = [e.seconds for e in found if e.seconds is not None]
    bases = {e.basis for e in found}
    basis: Basis = "unknown" if "unknown" in bases else "bound" if "bound" in bases else "history"
    return Expectation(
        usd=sum(costs) if len(costs) == len(found) else None,
        seconds=sum(times) if len(times) == len(found) else None,
        basis=basis,
    )


def _remarks(workshop: Workshop, planned: Sequence[Planned], total: Expectation) -> list[str]:
    found: list[str] = []
    if total.basis == "bound":
        found.append(
            "upper bound: some of this was never played here, so its budgets stand for it; they"
            " bound the executor alone, not the judge and the user simulator"
        )
    limit = workshop.settings.budgets.run
    if limit.usd is not None and total.usd is not None and total.usd > limit.usd:
        found.append(f"expected cost {total.usd:g} USD exceeds the run's budget of {limit.usd:g}")
    if limit.hours is not None and total.seconds is not None:
        hours = total.seconds / workshop.settings.parallel / 3600
        if hours > limit.hours:
            found.append(f"{hours:.2f} hours exceed the run's budget of {limit.hours:g}")
    specs = {s for p in planned for s in workshop.models_of(p.axes)}
    found += [f"no price for {s}" for s in sorted(specs) if not workshop.priced(s)]
    return found
