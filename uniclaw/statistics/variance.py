"""`uniclaw variance`: does the harness matter more than the model, and how sure is that?

Two questions, kept apart:

- *These levels*: the harnesses and models at hand are all that matters; only tasks are a
  sample. Sums of squares of the setting means, corrected for the noise that tasks bring into
  them, with cluster bootstrap intervals over task families; for pass also on the logit scale.
  The claim "harness matters more than model" is tested here.
- *Levels in general*: harnesses, models and tasks are samples of populations. Variance
  components by REML of a crossed random-effects model (pass on the logit scale by Laplace),
  with generalised pivotal or parametric bootstrap intervals. With three harnesses they are
  wide, as they should be.

The table must be complete: every harness with every model. Tasks without a value in every cell
are left out and counted. Trials of a task in a cell are averaged, so the residual holds the
three-way interaction and run-to-run noise divided by the number of trials.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from uniclaw.errors import UserError
from uniclaw.records import Count, Record, Unit
from uniclaw.statistics import mixed
from uniclaw.statistics.estimates import Estimate, Options
from uniclaw.statistics.foreign import Floats
from uniclaw.statistics.intervals import Design, design, percentile_ends, resample_weights
from uniclaw.statistics.measures import Definition, Measure, value
from uniclaw.statistics.rows import Axis, EpisodeRow, Rows, as_rows, select

Scale = Literal["probability", "score", "logit"]
Claim = Literal["harness", "model", "undecided", "undefined"]


class VarianceOptions(Options):
    """Options of `variance`."""

    harnesses: tuple[str, ...] = ()
    """Harnesses of the table; () is all in the rows."""
    models: tuple[str, ...] = ()
    where: Mapping[Axis, tuple[str, ...]] = Field(default_factory=dict[Axis, tuple[str, ...]])
    definition: Definition = "paper"
    refits: Annotated[int, Field(ge=0, le=10_000)] = 100
    """Parametric bootstrap refits of the logit model; 0 gives its shares without intervals."""


class SettingSquares(Record):
    """Sums of squares of the harness x model table of means."""

    scale: Scale
    harness: Estimate
    """Uncorrected, as anyone computes it from the printed means."""
    model: Estimate
    interaction: Estimate
    harness_corrected: float
    """Less what resampling tasks adds to it; may be negative."""
    model_corrected: float
    interaction_corrected: float
    contrast: Estimate
    """Variance between harness means minus variance between model means (squares by degrees of
    freedom, on one footing), both corrected."""
    p: Unit | None
    """Two-sided bootstrap p of a zero contrast."""
    claim: Claim
    """Which of the two matters more among these levels, when the interval excludes 0."""


class Shares(Record):
    """Variance components of a crossed random-effects model, as shares of their sum."""

    scale: Scale
    components: Mapping[str, float] | None
    shares: Mapping[str, Estimate]
    interaction: Estimate
    """All interactions together, without the residual."""
    harness_over_model: Unit | None
    """Share of draws in which the harness component exceeds the model component."""
    claim: Claim
    """Decided when that share is below (1 - level) / 2 or above its complement."""
    reason: str | None = None


class MeasureVariance(Record):
    """One measure."""

    measure: Measure
    means: Mapping[str, Mapping[str, float]]
    """Mean by harness, then model."""
    squares: tuple[SettingSquares, ...]
    task_squares: Mapping[str, float]
    """Shares of the total sum of squares over harness, model, task and their interactions."""
    random: tuple[Shares, ...]
    sentence: str


class VarianceReport(Record):
    """Answer of `variance`."""

    harnesses: tuple[str, ...]
    models: tuple[str, ...]
    tasks: Count
    families: Count
    dropped_tasks: Count
    """Tasks without a value in every cell."""
    trials_min: Count
    trials_max: Count
    definition: Definition
    level: float
    passing: MeasureVariance
    score: MeasureVariance
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Table:
    """A complete harness x model x task table."""

    harnesses: tuple[str, ...]
    models: tuple[str, ...]
    tasks: tuple[str, ...]
    plan: Design
    cluster: Floats
    """Cluster index by task, as floats for `np.add.at`."""
    sums: Floats
    counts: Floats

    @property
    def values(self) -> Floats:
        """Mean over trials, (harness, model, task)."""
        return self.sums / self.counts


def variance(rows: Rows, options: VarianceOptions | None = None) -> VarianceReport:
    """Variance shares of pass and score.

    Raises:
        UserError: fewer than two harnesses or models, an incomplete grid (the message names the
            models that every harness has), fewer than two complete families, or cells that
            differ in another axis.
    """
    chosen = options or VarianceOptions()
    kept = _grid(as_rows(rows), chosen)
    tables = {measure: build_table(kept, measure, chosen) for measure in ("pass", "score")}
    passing = tables["pass"]
    planned = len({row.task_id for row in kept})
    dropped = planned - len(passing.tasks)
    low, high = int(passing.counts.min()), int(passing.counts.max())
    notes: list[str] = []
    if dropped:
        notes.append(f"{dropped} of {planned} tasks lack a value in some cell and are left out")
    if low != high:
        notes.append(f"unequal trials ({low} to {high}): means over trials are taken as equal")
    return VarianceReport(
        harnesses=passing.harnesses,
        models=passing.models,
        tasks=len(passing.tasks),
        families=passing.plan.size,
        dropped_tasks=dropped,
        trials_min=low,
        trials_max=high,
        definition=chosen.definition,
        level=chosen.level,
        passing=_measured(passing, "pass", chosen),
        score=_measured(tables["score"], "score", chosen),
        warnings=tuple(notes),
    )


def _grid(rows: Sequence[EpisodeRow], options: VarianceOptions) -> tuple[EpisodeRow, ...]:
    where: dict[str, tuple[str, ...]] = {str(k): v for k, v in options.where.items()}
    if options.harnesses:
        where["harness"] = options.harnesses
    if options.models:
        where["model"] = options.models
    kept = select(rows, where)
    cells = {(row.harness, row.model or "unknown") for row in kept}
    harnesses, models = sorted({h for h, _ in cells}), sorted({m for _, m in cells})
    if len(harnesses) < 2 or len(models) < 2:
        raise UserError("needs at least two harnesses and two models", value=(harnesses, models))
    missing = [(h, m) for h in harnesses for m in models if (h, m) not in cells]
    if missing:
        shared = [m for m in models if all((h, m) in cells for h in harnesses)]
        raise UserError(
            f"the grid lacks {len(missing)} cells (first: {missing[0]}); models that every"
            f" harness has: {', '.join(shared) or 'none'}",
            field="models",
        )
    several = Counter(cell for cell, _ in {((r.harness, r.model), r.cell) for r in kept})
    twice = [cell for cell, times in several.items() if times > 1]
    if twice:
        raise UserError(
            "several cells share one harness and model: choose one policy, simulator and run",
            field="where",
            value=twice[0],
        )
    return kept


def build_table(rows: Sequence[EpisodeRow], measure: Measure, options: VarianceOptions) -> Table:
    """The complete table of one measure.

    Raises:
        UserError: fewer than two families have a value in every cell.
    """
    harnesses = tuple(sorted({row.harness for row in rows}))
    models = tuple(sorted({row.model or "unknown" for row in rows}))
    found: dict[tuple[str, str, str], list[float]] = {}
    for row in rows:
        number = value(row, measure, options.definition)
        if number is not None:
            found.setdefault((row.harness, row.model or "unknown", row.task_id), []).append(number)
    cells = [(h, m) for h in harnesses for m in models]
    family = {row.task_id: row.family for row in rows}
    capability = {row.task_id: row.capability for row in rows}
    tasks = tuple(sorted(task for task in family if all((h, m, task) in found for h, m in cells)))
    plan = design({family[task]: capability[task] for task in tasks})
    if plan.size < 2:
        raise UserError(
            f"{len(tasks)} tasks of {plan.size} families have a {measure} in every cell;"
            " at least two families are needed"
        )
    shape = (len(harnesses), len(models), len(tasks))
    index = plan.index()
    return Table(
        harnesses=harnesses,
        models=models,
        tasks=tasks,
        plan=plan,
        cluster=np.array([index[family[task]] for task in tasks], dtype=np.float64),
        sums=_array([sum(found[h, m, t]) for h, m in cells for t in tasks], shape),
        counts=_array([len(found[h, m, t]) for h, m in cells for t in tasks], shape),
    )


def _array(values: Sequence[float], shape: tuple[int, int, int]) -> Floats:
    return np.array(values, dtype=np.float64).reshape(shape)


def _measured(table: Table, measure: Measure, options: VarianceOptions) -> MeasureVariance:
    values = table.values
    means = values.mean(axis=2)
    scales: tuple[Scale, ...] = ("probability", "logit") if measure == "pass" else ("score",)
    squares = tuple(setting_squares(table, scale, options) for scale in scales)
    random = [_linear_shares(table, scales[0], options)]
    if measure == "pass":
        random.append(_logit_shares(table, options))
    total = mixed.mean_squares(values).squares
    whole = float(total.sum())
    return MeasureVariance(
        measure=measure,
        means={
            h: {m: float(means[i, j]) for j, m in enumerate(table.models)}
            for i, h in enumerate(table.harnesses)
        },
        squares=squares,
        task_squares={
            name: float(part) / whole if whole > 0 else 0.0
            for name, part in zip(mixed.EFFECTS, total, strict=True)
        },
        random=tuple(random),
        sentence=_sentence(measure, squares[0], random[0]),
    )


# --- these levels ------------------------------------------------------------------------


def table_squares(means: Floats) -> Floats:
    """Sums of squares of (..., harness, model) tables of means: harness, model, interaction."""
    grand = means.mean(axis=(-2, -1), keepdims=True)
    by_h = means.mean(axis=-1, keepdims=True) - grand
    by_m = means.mean(axis=-2, keepdims=True) - grand
    rest = means - grand - by_h - by_m
    h, m = means.shape[-2:]
    return np.stack(
        [
            m * (by_h**2).sum(axis=(-2, -1)),
            h * (by_m**2).sum(axis=(-2, -1)),
            (rest**2).sum(axis=(-2, -1)),
        ],
        axis=-1,
    )


def setting_squares(table: Table, scale: Scale, options: Options) -> SettingSquares:
    """Sums of squares of setting means, with task families resampled.

    Resampling adds to each sum of squares what sampling tasks had added already; the mean
    excess over the resamples is taken off once for the corrected value, and twice from the
    draws of the contrast, so that its interval is centred on it.
    """
    h, m, _ = table.values.shape
    sums, counts = _cluster_tables(table)
    weights = resample_weights(table.plan, options)
    count = counts.sum(axis=0)
    observed = table_squares(_scaled(sums.sum(axis=0), count, scale).reshape(h, m))
    resampled = weights @ counts
    drawn = _scaled(weights @ sums, np.where(resampled > 0, resampled, np.nan), scale)
    draws = table_squares(drawn.reshape(-1, h, m))
    draws = draws[np.isfinite(draws).all(axis=1)]
    excess = draws.mean(axis=0) - observed
    corrected = observed - excess
    df = max(table.plan.size - int(table.plan.strata.max()) - 1, 1)
    footing = np.array([1 / (m * (h - 1)), -1 / (h * (m - 1)), 0.0])
    contrast = float(corrected @ footing)
    centred: Floats = (draws - 2 * excess) @ footing
    flat = float(np.ptp(centred)) < 1e-15
    bounds = (0.0, 0.0) if flat else percentile_ends(centred, options.level, df)
    return SettingSquares(
        scale=scale,
        harness=_square(observed[0], draws[:, 0], table, df, options),
        model=_square(observed[1], draws[:, 1], table, df, options),
        interaction=_square(observed[2], draws[:, 2], table, df, options),
        harness_corrected=float(corrected[0]),
        model_corrected=float(corrected[1]),
        interaction_corrected=float(corrected[2]),
        contrast=_with_ends(contrast, None if flat else bounds, table, options),
        p=None if flat else _two_sided(centred),
        claim="undefined" if flat else _claim(bounds),
    )


def _cluster_tables(table: Table) -> tuple[Floats, Floats]:
    """Sums of task values and numbers of tasks by cluster, one column a cell."""
    h, m, tasks = table.values.shape
    where = table.cluster.astype(np.int64)
    sums = np.zeros((table.plan.size, h * m))
    counts = np.zeros((table.plan.size, h * m))
    np.add.at(sums, where, table.values.reshape(h * m, tasks).T)
    np.add.at(counts, where, 1.0)
    return sums, counts


def _scaled(sums: Floats, counts: Floats, scale: Scale) -> Floats:
    """Means, or empirical logits log((s + 1/2) / (n - s + 1/2)) (Haldane, Anscombe)."""
    if scale == "logit":
        return np.log((sums + 0.5) / (counts - sums + 0.5))
    return sums / counts


def _square(observed: float, draws: Floats, table: Table, df: int, options: Options) -> Estimate:
    flat = float(np.ptp(draws)) < 1e-15
    ends = None if flat else percentile_ends(draws, options.level, df)
    return _with_ends(float(observed), ends, table, options)


def _with_ends(
    number: float, ends: tuple[float, float] | None, table: Table, options: Options
) -> Estimate:
    return Estimate(
        value=number,
        low=None if ends is None else ends[0],
        high=None if ends is None else ends[1],
        level=options.level,
        n=len(table.tasks),
        clusters=table.plan.size,
        method="none" if ends is None else "cluster_bootstrap",
        reason="resampling shows no variation" if ends is None else None,
    )


def _two_sided(draws: Floats) -> float:
    below = (1 + int((draws <= 0).sum())) / (1 + len(draws))
    above = (1 + int((draws >= 0).sum())) / (1 + len(draws))
    return min(1.0, 2 * min(below, above))


def _claim(ends: tuple[float, float]) -> Claim:
    if ends[0] > 0:
        return "harness"
    return "model" if ends[1] < 0 else "undecided"


# --- levels in general -------------------------------------------------------------------


def _linear_shares(table: Table, scale: Scale, options: VarianceOptions) -> Shares:
    components = mixed.reml_components(table.values)
    draws = mixed.pivotal_components(table.values, options.resamples, options.seed)
    return _shares(mixed.EFFECTS, components, draws, scale, table, options)


def _logit_shares(table: Table, options: VarianceOptions) -> Shares:
    h, m, tasks = table.sums.shape
    data = mixed.Counts(
        passes=table.sums.reshape(h * m, tasks).T.copy(),
        trials=table.counts.reshape(h * m, tasks).T.copy(),
        harnesses=h,
        models=m,
    )
    total = data.passes.sum()
    if total == 0 or total == data.trials.sum():
        return _no_shares("logit", "every episode has the same outcome: the logit is infinite")
    fit = mixed.fit_logit(data)
    if not fit.converged:
        return _no_shares("logit", "the fit did not converge")
    draws = np.zeros((0, len(mixed.LATENT)))
    if options.refits:
        draws = mixed.bootstrap_logit(fit, data, options.refits, options.seed)
    return _shares(mixed.LATENT, fit.variances, draws, "logit", table, options)


def _no_shares(scale: Scale, reason: str) -> Shares:
    gone = Estimate(value=None, reason=reason)
    return Shares(
        scale=scale,
        components=None,
        shares={},
        interaction=gone,
        harness_over_model=None,
        claim="undefined",
        reason=reason,
    )


def _shares(
    names: Sequence[str],
    components: Mapping[str, float],
    draws: Floats,
    scale: Scale,
    table: Table,
    options: Options,
) -> Shares:
    whole = sum(components.values())
    if whole <= 0:
        return _no_shares(scale, "all values are equal: there is no variance to share")
    ratios = draws / np.maximum(draws.sum(axis=1, keepdims=True), 1e-300)
    joint = [i for i, name in enumerate(names) if "_" in name]

    def share(columns: Sequence[int]) -> Estimate:
        number = sum(components[names[i]] for i in columns) / whole
        return _share(number, ratios[:, list(columns)].sum(axis=1), scale, table, options)

    over = float((draws[:, 0] > draws[:, 1]).mean()) if len(draws) else None
    tail = (1 - options.level) / 2
    claim: Claim = "undecided"
    if over is not None and (over < tail or over > 1 - tail):
        claim = "harness" if over > 0.5 else "model"
    return Shares(
        scale=scale,
        components=dict(components),
        shares={name: share([i]) for i, name in enumerate(names)},
        interaction=share(joint),
        harness_over_model=over,
        claim=claim,
    )


def _share(number: float, draws: Floats, scale: Scale, table: Table, options: Options) -> Estimate:
    base = Estimate(value=number, level=options.level, n=len(table.tasks), clusters=table.plan.size)
    if not len(draws):
        return base.model_copy(update={"reason": "no refits were asked for"})
    tail = (1 - options.level) / 2
    low, high = np.quantile(draws, [tail, 1 - tail])
    method = "parametric_bootstrap" if scale == "logit" else "generalised_pivot"
    return base.model_copy(update={"low": float(low), "high": float(high), "method": method})


def _sentence(measure: Measure, squares: SettingSquares, random: Shares) -> str:
    name = "pass rate" if measure == "pass" else "average score"
    words: Mapping[Claim, str] = {
        "harness": "varies more with the harness than with the model",
        "model": "varies more with the model than with the harness",
        "undecided": "does not show whether harness or model matters more",
        "undefined": "cannot be split",
    }
    first = f"Among these levels the {name} {words[squares.claim]}"
    second = f"over levels in general it {words[random.claim]}"
    return f"{first}; {second}."
