"""`uniclaw lite`: a small subset of a suite that gives the same rates and the same ranking.

`lite` searches one size and validates it: on the cells it was fitted to, and on cells it never
saw. With `holdout` those cells are left out of the search; without it, the cells are split into
folds and the search is repeated for each fold without its cells. `sweep` finds the smallest size
that meets stated criteria. `filter_file` is the text of a suite filter.
"""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from uniclaw.curation.fitting import Fit, fit_on, held_out_fit, random_fit
from uniclaw.curation.problem import (
    CostMeasure,
    Found,
    LiteOptions,
    Suite,
    build_suite,
    search_subset,
)
from uniclaw.curation.search import Costs, Rules, cost_error, quotas_of
from uniclaw.errors import UserError
from uniclaw.records import Count, NonNegative, Record, Unit
from uniclaw.statistics.rows import Rows, as_rows
from uniclaw.store.atomic import write_bytes


class Criteria(Record):
    """What `sweep` asks of a subset."""

    mean_error: Unit = 0.02
    """Mean over cells of |lite rate - full rate|."""
    max_error: Unit = 0.05
    min_tau: Annotated[float, Field(ge=-1, le=1)] = 0.9
    """Kendall's tau-b of the cells' order."""
    held_out_max_error: Unit | None = 0.10
    """On cells that the search did not see; None asks nothing."""


class CellRate(Record):
    """One cell on the full suite and on the subset."""

    cell: str
    full: Unit
    lite: Unit
    held_out: bool
    """The search did not see it."""


class StratumPlan(Record):
    """One stratum of the subset."""

    name: str
    tasks: Count
    chosen: Count
    quotas: tuple[Count, ...]
    """By quartile, the first quartile first."""
    loss: NonNegative
    local_optima: Count
    """Different ones kept from the restarts."""


class CostParity(Record):
    """The cost filter."""

    measure: CostMeasure | None
    error: float | None
    """Mean |log ratio| over cells with a known cost."""
    error_complete: float | None
    """The same over cells whose cost is known on every task."""
    share: float | None
    """Cost of the subset as a share of the whole, over cells with complete costs."""
    met: bool | None
    reason: str | None = None


class LiteReport(Record):
    """Answer of `lite`."""

    size: Count
    tasks: tuple[str, ...]
    digest: str
    """SHA-256 of the task ids in order, one a line; pin a subset by it."""
    strata: tuple[StratumPlan, ...]
    loss: NonNegative
    fit: Fit
    held_out: Fit | None
    """On held-out cells; pooled over folds when there was no holdout."""
    held_out_by: Literal["holdout", "folds", "none"]
    random: Fit
    """Median random subset with the same quotas, as the floor to beat."""
    rates: tuple[CellRate, ...]
    cost: CostParity
    rules: Rules
    seed: Count
    warnings: tuple[str, ...] = ()


class SweepStep(Record):
    """One size."""

    size: Count
    met: bool
    failed: tuple[str, ...]
    """Criteria that it misses."""
    fit: Fit
    held_out: Fit | None
    cost_met: bool | None


class SweepReport(Record):
    """Answer of `sweep`."""

    criteria: Criteria
    smallest: Count | None
    steps: tuple[SweepStep, ...]
    lite: LiteReport | None
    """The subset of the smallest size that meets the criteria."""


def lite(rows: Rows, options: LiteOptions | None = None) -> LiteReport:
    """Search and validate one subset.

    Raises:
        UserError: fewer than two cells to search on, a size above the suite or below one task a
            stratum, an unknown holdout cell, no or duplicate rows, NaN.
    """
    chosen = options or LiteOptions()
    return _lite(build_suite(as_rows(rows), chosen), chosen)


def sweep(
    rows: Rows,
    options: LiteOptions | None = None,
    criteria: Criteria | None = None,
    sizes: Sequence[int] = (),
) -> SweepReport:
    """The smallest size that meets the criteria (and the cost filter, where there is one).

    Args:
        rows: Result rows.
        options: As for `lite`; `size` is the largest size when `sizes` is empty.
        criteria: What a subset must reach.
        sizes: Sizes to try; () is every multiple of the number of strata from 4 a stratum up.
    """
    chosen, asked = options or LiteOptions(), criteria or Criteria()
    suite = build_suite(as_rows(rows), chosen)
    step = len(suite.positions)
    steps: list[SweepStep] = []
    for size in sorted(set(sizes)) or range(4 * step, chosen.size + 1, step):
        found = _lite(suite, chosen.model_copy(update={"size": size}))
        failed = _misses(found, asked)
        steps.append(
            SweepStep(
                size=size,
                met=not failed,
                failed=failed,
                fit=found.fit,
                held_out=found.held_out,
                cost_met=found.cost.met,
            )
        )
        if not failed:
            return SweepReport(criteria=asked, smallest=size, steps=tuple(steps), lite=found)
    return SweepReport(criteria=asked, smallest=None, steps=tuple(steps), lite=None)


def _misses(found: LiteReport, asked: Criteria) -> tuple[str, ...]:
    limit = asked.held_out_max_error
    checks = {
        "mean_error": found.fit.mean_error <= asked.mean_error,
        "max_error": found.fit.max_error <= asked.max_error,
        "min_tau": found.fit.tau is None or found.fit.tau >= asked.min_tau,
        "held_out_max_error": limit is None
        or (found.held_out is not None and found.held_out.max_error <= limit),
        "cost": found.cost.met is not False,
    }
    return tuple(name for name, met in checks.items() if not met)


def filter_file(report: LiteReport, suite: str) -> str:
    """Text of a suite filter: JSON (which YAML reads) with the tasks and how they were found."""
    document = {
        "suite": suite,
        "description": f"Lite subset of {report.size} tasks",
        "sha256": report.digest,
        "seed": report.seed,
        "rules": report.rules.model_dump(mode="json"),
        "tasks": list(report.tasks),
    }
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def write_filter(file: Path, report: LiteReport, suite: str) -> None:
    """Write `filter_file`, atomically."""
    write_bytes(file, filter_file(report, suite).encode("utf-8"))


def _lite(suite: Suite, options: LiteOptions) -> LiteReport:
    seen = np.array([cell not in options.holdout for cell in suite.cells])
    if int(seen.sum()) < 2:
        raise UserError("fewer than two cells are left to search on", field="holdout")
    found = search_subset(suite, seen, options, options.rules)
    held, by = held_out_fit(suite, seen, found, options)
    floor = random_fit(suite, found, seen, options)
    tasks = tuple(sorted(suite.tasks[int(i)] for i in found.chosen))
    full, part = suite.rates.mean(axis=0), suite.rates[found.chosen].mean(axis=0)
    return LiteReport(
        size=len(tasks),
        tasks=tasks,
        digest=hashlib.sha256("".join(f"{t}\n" for t in tasks).encode()).hexdigest(),
        strata=tuple(_plans(found, options.rules)),
        loss=sum(candidate.loss for candidate in found.candidates),
        fit=fit_on(suite, found.chosen, seen),
        held_out=held,
        held_out_by=by,
        random=floor,
        rates=tuple(
            CellRate(cell=cell, full=float(full[j]), lite=float(part[j]), held_out=not seen[j])
            for j, cell in enumerate(suite.cells)
        ),
        cost=_parity(suite, found, options),
        rules=options.rules,
        seed=options.seed,
        warnings=(*_warnings(suite, found, options), *_overfit(held, floor)),
    )


def _warnings(suite: Suite, found: Found, options: LiteOptions) -> tuple[str, ...]:
    notes: list[str] = []
    if suite.dropped:
        notes.append(f"{suite.dropped} tasks lack a value in some cell and cannot be chosen")
    if suite.costs is None and options.cost != "none":
        notes.append("no cost is known for half of the pairs: no cost filter")
    if found.cost_met is False:
        notes.append(f"no subset within {options.cost_tolerance:g} of cost parity was found")
    return tuple(notes)


def _overfit(held: Fit | None, floor: Fit) -> tuple[str, ...]:
    if held is None or held.mean_error < floor.mean_error:
        return ()
    return (
        "on cells it never saw the search is no better than a random subset with the same quotas"
        f" (mean error {held.mean_error:.3f} against {floor.mean_error:.3f})",
    )


def _plans(found: Found, rules: Rules) -> list[StratumPlan]:
    return [
        StratumPlan(
            name=stratum.name,
            tasks=len(stratum.tasks),
            chosen=size,
            quotas=tuple(quotas_of(stratum, size, rules)),
            loss=candidate.loss,
            local_optima=len(pool),
        )
        for stratum, size, candidate, pool in zip(
            found.strata, found.sizes, found.candidates, found.pools, strict=True
        )
    ]


def _parity(suite: Suite, found: Found, options: LiteOptions) -> CostParity:
    if suite.costs is None:
        reason = "switched off" if options.cost == "none" else "costs are not known"
        return CostParity(
            measure=None, error=None, error_complete=None, share=None, met=None, reason=reason
        )
    costs = Costs(suite.costs, options.cost_tolerance)
    error, complete = cost_error(costs, found.chosen)
    whole = suite.costs[:, ~np.isnan(suite.costs).any(axis=0)]
    total = float(whole.sum())
    return CostParity(
        measure=suite.cost_measure,
        error=error,
        error_complete=complete,
        share=float(whole[found.chosen].sum()) / total if total > 0 else None,
        met=found.cost_met,
    )
