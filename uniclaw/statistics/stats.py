"""`uniclaw stats`: every number of a cell, with its interval and what is missing.

A cell's mean is over its counted episodes (as the reference prints it). Where trials per task
differ that weights tasks unequally: the cell then warns and also gives the mean over task means.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import cast

from pydantic import Field, JsonValue, SerializerFunctionWrapHandler, model_serializer

from uniclaw.errors import UserError
from uniclaw.records import Count, Record
from uniclaw.statistics.attribution import AttributionReport, attribute
from uniclaw.statistics.controls import ControlsReport, feedback_controls
from uniclaw.statistics.estimates import Estimate, Interval, Options, undefined
from uniclaw.statistics.failures import FailureReport, failures
from uniclaw.statistics.intervals import (
    Design,
    design_of,
    ratio_estimates,
    totals,
    wilson_estimate,
)
from uniclaw.statistics.measures import Definition, check_definition, read
from uniclaw.statistics.missing import MissingData, missing_data
from uniclaw.statistics.repeats import repeated
from uniclaw.statistics.rounds import CheckpointRate, RoundsReport, checkpoint_rates, rounds_report
from uniclaw.statistics.rows import Axis, EpisodeRow, Rows, as_rows, group, select
from uniclaw.statistics.spend import Spend, pareto, spend


class StatsOptions(Options):
    """Options of `stats`."""

    by: tuple[Axis, ...] = ("harness", "model")
    """Axes whose combinations are the lines of the answer; () is one line over all rows."""
    where: Mapping[Axis, tuple[str, ...]] = Field(default_factory=dict[Axis, tuple[str, ...]])
    """Keep only rows with one of these values."""
    definition: Definition = "paper"
    """How pass and score are read; the other scores stand beside in any case."""
    ks: tuple[Count, ...] = ()
    """k of pass@k and pass^k; () is every k up to the smallest number of trials, at most 8."""
    checkpoints: bool = False
    """Also one line for every checkpoint of every task, by cell."""


class Spread(Record):
    """How trials lie over tasks in a cell."""

    tasks: Count
    families: Count
    trials_min: Count
    """Counted trials of the task with the fewest."""
    trials_max: Count


class CellStats(Record):
    """One line: axis values stand at the top level of its JSON form."""

    axes: Mapping[str, str]
    n: Count
    """Episodes that enter the pass rate."""
    pass_rate: float | None
    pass_rate_ci: Interval | None
    average_score: float | None
    """Mean score under the definition."""
    average_score_ci: Interval | None
    spread: Spread
    pass_detail: Estimate
    score_detail: Estimate
    pass_wilson: Estimate
    """The same rate with Wilson's interval, as if episodes were independent."""
    final_score: Estimate
    best_score: Estimate
    pass_at_k: Mapping[str, Estimate]
    pass_hat_k: Mapping[str, Estimate]
    rounds: RoundsReport
    spend: Spend
    missing: MissingData
    failures: FailureReport
    attribution: AttributionReport
    pareto: Mapping[str, bool | None] = Field(default_factory=dict)
    """On the front of pass rate against mean cost_usd, tokens.total and executor_s."""
    checkpoints: tuple[CheckpointRate, ...] = ()
    task_weighted_pass_rate: float | None = None
    """Mean over task means; given where trials per task differ."""
    warnings: tuple[str, ...] = ()

    @model_serializer(mode="wrap")
    def _flat(self, handler: SerializerFunctionWrapHandler) -> dict[str, JsonValue]:
        fields = cast("dict[str, JsonValue]", handler(self))
        del fields["axes"]
        return {**dict(self.axes), **fields}


class AnomalyCount(Record):
    """Impossible values of the source, by field."""

    field: str
    problem: str
    rows: Count


class StatsReport(Record):
    """Answer of `stats`."""

    runs: tuple[str, ...]
    by: tuple[str, ...]
    definition: Definition
    level: float
    resamples: Count
    seed: Count
    cells: tuple[CellStats, ...]
    missing: MissingData
    anomalies: tuple[AnomalyCount, ...]
    controls: ControlsReport
    warnings: tuple[str, ...] = ()


def stats(rows: Rows, options: StatsOptions | None = None) -> StatsReport:
    """Every metric of every cell.

    Raises:
        UserError: no rows, duplicate rows, an unknown axis or value, a NaN.
    """
    chosen = options or StatsOptions()
    if any(k < 1 for k in chosen.ks):
        raise UserError("k is at least 1", field="ks", value=chosen.ks)
    kept = select(as_rows(rows), {str(k): v for k, v in chosen.where.items()})
    problem = check_definition(kept, chosen.definition)
    groups = group(kept, chosen.by)
    cells = [_cell(key, members, chosen) for key, members in groups.items()]
    return StatsReport(
        runs=tuple(sorted({row.run for row in kept})),
        by=chosen.by,
        definition=chosen.definition,
        level=chosen.level,
        resamples=chosen.resamples,
        seed=chosen.seed,
        cells=_with_fronts(cells),
        missing=missing_data(kept, chosen.definition),
        anomalies=_anomalies(kept),
        controls=feedback_controls(kept, chosen.definition, chosen),
        warnings=() if problem is None else (f"average score is undefined: {problem}",),
    )


def _cell(key: tuple[str, ...], rows: Sequence[EpisodeRow], options: StatsOptions) -> CellStats:
    plan = design_of(rows)
    passed, score, final, best = _means(rows, plan, options)
    spread = _spread(rows, options.definition)
    uneven = spread.trials_min != spread.trials_max
    wilson = wilson_estimate(round((passed.value or 0) * passed.n), passed.n, options.level)
    repeats = _repeats(rows, plan, spread, options)
    return CellStats(
        axes=dict(zip(options.by, key, strict=True)),
        n=passed.n,
        pass_rate=passed.value,
        pass_rate_ci=passed.ci,
        average_score=score.value,
        average_score_ci=score.ci,
        spread=spread,
        pass_detail=passed,
        score_detail=score,
        pass_wilson=wilson,
        final_score=final,
        best_score=best,
        pass_at_k={k: pair[0] for k, pair in repeats.items()},
        pass_hat_k={k: pair[1] for k, pair in repeats.items()},
        rounds=rounds_report(rows, plan, options),
        spend=spend(rows, plan, options.definition, options),
        missing=missing_data(rows, options.definition),
        failures=failures(rows),
        attribution=attribute(rows),
        checkpoints=checkpoint_rates(rows, options) if options.checkpoints else (),
        task_weighted_pass_rate=_task_weighted(rows, options.definition) if uneven else None,
        warnings=_warnings(rows, spread, options.by),
    )


def _means(
    rows: Sequence[EpisodeRow], plan: Design, options: StatsOptions
) -> tuple[Estimate, Estimate, Estimate, Estimate]:
    """Pass and score under the definition, then the score of the final and of the best round."""
    chosen = [(row.family, read(row, options.definition)) for row in rows]
    columns = [
        [(family, r.passed) for family, r in chosen if r.passed is not None],
        [(family, r.score) for family, r in chosen if r.score is not None],
        [(r.family, s) for r in rows if (s := read(r, "final").score) is not None],
        [(r.family, s) for r in rows if (s := read(r, "best").score) is not None],
    ]
    passed, score, final, best = ratio_estimates(plan, totals(plan, columns), options)
    return passed, score, final, best


def _spread(rows: Sequence[EpisodeRow], definition: Definition) -> Spread:
    trials = dict.fromkeys((row.task_id for row in rows), 0)
    for row in rows:
        trials[row.task_id] += read(row, definition).passed is not None
    return Spread(
        tasks=len(trials),
        families=len({row.family for row in rows}),
        trials_min=min(trials.values()),
        trials_max=max(trials.values()),
    )


def _repeats(
    rows: Sequence[EpisodeRow], plan: Design, spread: Spread, options: StatsOptions
) -> dict[str, tuple[Estimate, Estimate]]:
    ks = options.ks or tuple(range(1, min(spread.trials_min, 8) + 1))
    cells = {(row.run, row.cell) for row in rows}
    if len(cells) > 1:
        gone = undefined("the line pools several cells: their episodes are not trials of one")
        return {str(k): (gone, gone) for k in ks}
    return {str(k): repeated(rows, plan, k, options.definition, options) for k in ks}


def _task_weighted(rows: Sequence[EpisodeRow], definition: Definition) -> float | None:
    values: dict[str, list[float]] = {}
    for row in rows:
        passed = read(row, definition).passed
        if passed is not None:
            values.setdefault(row.task_id, []).append(passed)
    means = [sum(found) / len(found) for found in values.values()]
    return sum(means) / len(means) if means else None


def _warnings(rows: Sequence[EpisodeRow], spread: Spread, by: Sequence[str]) -> tuple[str, ...]:
    notes: list[str] = []
    if spread.trials_min == 0:
        notes.append("at least one task has no counted episode")
    if spread.trials_min != spread.trials_max:
        notes.append(
            f"unequal trials: tasks have {spread.trials_min} to {spread.trials_max} counted"
            " episodes; rates weight episodes, not tasks"
        )
    cells = {(row.run, row.cell) for row in rows}
    if len(cells) > 1 and "cell" not in by:
        notes.append(f"{len(cells)} cells are pooled")
    return tuple(notes)


def _with_fronts(cells: Sequence[CellStats]) -> tuple[CellStats, ...]:
    fronts = {
        name: pareto([(cell.spend.amounts[name].mean, cell.pass_rate) for cell in cells])
        for name in ("cost_usd", "tokens.total", "executor_s")
    }
    return tuple(
        cell.model_copy(update={"pareto": {name: front[i] for name, front in fronts.items()}})
        for i, cell in enumerate(cells)
    )


def _anomalies(rows: Sequence[EpisodeRow]) -> tuple[AnomalyCount, ...]:
    counts = Counter((a.field, a.problem) for row in rows for a in row.anomalies)
    return tuple(
        AnomalyCount(field=field, problem=problem, rows=count)
        for (field, problem), count in sorted(counts.items())
    )
