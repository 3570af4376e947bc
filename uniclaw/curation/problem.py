"""The Lite problem: options, the matrix of rates it is solved on, and one solution.

Names a subset of tasks for given rates; says nothing about how good it is (`fitting` does).
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from uniclaw.curation.quality import matrix_of
from uniclaw.curation.search import (
    Candidate,
    Costs,
    Indices,
    Rules,
    Stratum,
    apportion,
    combine,
    merge,
    quartiles,
    search,
)
from uniclaw.errors import UserError
from uniclaw.records import Count, NonNegative, Record
from uniclaw.statistics.foreign import Floats
from uniclaw.statistics.measures import Definition, Measure
from uniclaw.statistics.rows import Axis, EpisodeRow, select

Mask = NDArray[np.bool_]
CostMeasure = Literal["cost_usd", "tokens", "executor_s"]


class LiteOptions(Record):
    """Options of `lite` and `sweep`."""

    size: Annotated[int, Field(ge=1)] = 80
    """Tasks of the subset."""
    strata: tuple[Axis, ...] = ("capability",)
    """Axes whose combinations are strata; each gets its share of the size."""
    measure: Measure = "pass"
    """Rates that the subset shall reproduce; trials of a cell are averaged (open in the paper)."""
    definition: Definition = "paper"
    where: Mapping[Axis, tuple[str, ...]] = Field(default_factory=dict[Axis, tuple[str, ...]])
    rules: Rules = Rules()
    cost: Literal["auto", "none"] | CostMeasure = "auto"
    """Amount of the parity filter; `auto` takes the first of cost_usd, tokens, executor_s that
    half of all pairs of cell and task know."""
    cost_tolerance: NonNegative = 0.10
    holdout: tuple[str, ...] = ()
    """Cells left out of the search and used for validation only."""
    folds: Annotated[int, Field(ge=0, le=50)] = 4
    """Folds of cells for validation when there is no holdout; 0 or 1 skips it."""
    seed: Count = 0


class Suite(NamedTuple):
    """A complete matrix of rates with its strata and costs."""

    cells: tuple[str, ...]
    tasks: tuple[str, ...]
    rates: Floats
    """Rows tasks, columns cells."""
    positions: dict[str, Indices]
    costs: Floats | None
    cost_measure: CostMeasure | None
    dropped: int


def build_suite(rows: Sequence[EpisodeRow], options: LiteOptions) -> Suite:
    """The complete matrix of rates: tasks without a value in some cell are dropped and counted.

    Raises:
        UserError: fewer than two cells, an unknown holdout cell, or no complete task.
    """
    kept = select(rows, {str(k): v for k, v in options.where.items()})
    matrix = matrix_of(kept, ("cell",), options.measure, options.definition)
    if len(matrix.cells) < 2:
        raise UserError("a Lite subset needs two cells or more", value=matrix.cells)
    unknown = sorted(set(options.holdout) - set(matrix.cells))
    if unknown:
        raise UserError(f"unknown cells; known are {matrix.cells}", field="holdout", value=unknown)
    values = matrix.values.T
    complete = np.flatnonzero(~np.isnan(values).any(axis=1))
    tasks = tuple(matrix.tasks[int(i)] for i in complete)
    if not tasks:
        raise UserError("no task has a value in every cell")
    stratum = {row.task_id: "/".join("+".join(row.axis(a)) for a in options.strata) for row in kept}
    names = sorted({stratum[task] for task in tasks})
    measure, costs = _costs(kept, matrix.cells, tasks, options)
    return Suite(
        cells=matrix.cells,
        tasks=tasks,
        rates=values[complete],
        positions={
            name: np.array([i for i, t in enumerate(tasks) if stratum[t] == name], dtype=np.int64)
            for name in names
        },
        costs=costs,
        cost_measure=measure,
        dropped=len(matrix.tasks) - len(tasks),
    )


def _costs(
    rows: Sequence[EpisodeRow],
    cells: Sequence[str],
    tasks: Sequence[str],
    options: LiteOptions,
) -> tuple[CostMeasure | None, Floats | None]:
    if options.cost == "none":
        return None, None
    tried: tuple[CostMeasure, ...] = ("cost_usd", "tokens", "executor_s")
    for measure in tried if options.cost == "auto" else (options.cost,):
        values = _amounts(rows, cells, tasks, measure)
        known = float((~np.isnan(values)).mean())
        if known >= 0.5 or (options.cost != "auto" and known > 0):
            return measure, values
    return None, None


def _amounts(
    rows: Sequence[EpisodeRow], cells: Sequence[str], tasks: Sequence[str], measure: CostMeasure
) -> Floats:
    where = {task: i for i, task in enumerate(tasks)}, {cell: j for j, cell in enumerate(cells)}
    sums, counts = np.zeros((len(tasks), len(cells))), np.zeros((len(tasks), len(cells)))
    for row in rows:
        amount = row.cost_usd if measure == "cost_usd" else row.executor_s
        if measure == "tokens":
            amount = None if row.tokens is None else float(row.tokens.total)
        if amount is not None and row.task_id in where[0]:
            sums[where[0][row.task_id], where[1][row.cell]] += amount
            counts[where[0][row.task_id], where[1][row.cell]] += 1
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


class Found(NamedTuple):
    """A subset and how it was found."""

    chosen: Indices
    candidates: list[Candidate]
    pools: list[list[Candidate]]
    strata: list[Stratum]
    sizes: list[int]
    cost_met: bool | None


def search_subset(
    suite: Suite,
    seen: Mask,
    options: LiteOptions,
    rules: Rules,
) -> Found:
    """Search every stratum on the cells of a mask, and combine under the cost filter."""
    sizes = stratum_sizes(suite, options.size)
    rng = np.random.default_rng(options.seed)
    strata: list[Stratum] = []
    pools: list[list[Candidate]] = []
    for (name, where), size in zip(suite.positions.items(), sizes, strict=True):
        rates = suite.rates[where][:, seen]
        stratum = Stratum(
            name=name,
            tasks=tuple(suite.tasks[int(i)] for i in where),
            rates=rates,
            quartile=quartiles(rates.mean(axis=1), rules, rng),
        )
        strata.append(stratum)
        pools.append(search(stratum, size, rules, rng))
    positions = list(suite.positions.values())
    costs = None
    if suite.costs is not None:
        costs = Costs(suite.costs[:, seen], options.cost_tolerance)
    candidates, met = combine(pools, positions, costs, rng)
    return Found(merge(candidates, positions), candidates, pools, strata, sizes, met)


def stratum_sizes(suite: Suite, size: int) -> list[int]:
    """Tasks a stratum gives: in proportion, largest remainder, at least one.

    Raises:
        UserError: a size above the suite, or below one task a stratum.
    """
    shares = [len(where) for where in suite.positions.values()]
    if size > len(suite.tasks):
        raise UserError(f"the suite has {len(suite.tasks)} tasks", field="size", value=size)
    if size < len(shares):
        raise UserError(
            f"at least one task for each of {len(shares)} strata", field="size", value=size
        )
    sizes = apportion(size, [float(share) for share in shares])
    while 0 in sizes:
        sizes[sizes.index(max(sizes))] -= 1
        sizes[sizes.index(0)] = 1
    return sizes
