"""`uniclaw variance`: does the harness matter more than the model, and how sure is that?

Two questions, kept apart:

- *These levels*: the harnesses and models at hand are all that matters; only tasks are a
  sample. Sums of squares of the setting means, corrected for the noise that tasks bring into
  them, with cluster bootstrap intervals over task families; for pass also on the logit scale.
  The claim "harness matters more than model" is tested here.
- *Levels in general*: harnesses, models and tasks are samples of populations. Variance
  components by REML of a crossed random-effects model (pass on the logit scale by Laplace),
  with generalised pivotal intervals. With three harnesses they are wide, as they should be.

The table must be complete: every harness with every model. Tasks without a value in every cell
are left out and counted. Trials of a task in a cell are averaged, so the residual holds the
three-way interaction and run-to-run noise divided by the number of trials.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
from pydantic import Field

from uniclaw.errors import UserError
from uniclaw.records import Count, Record, Unit
from uniclaw.statistics import mixed
from uniclaw.statistics.estimates import Estimate, Options
from uniclaw.statistics.foreign import Floats
from uniclaw.statistics.intervals import design
from uniclaw.statistics.measures import Definition, Measure, value
from uniclaw.statistics.rows import Axis, EpisodeRow, Rows, as_rows, select
from uniclaw.statistics.squares import Claim, Scale, SettingSquares, Table, setting_squares


class VarianceOptions(Options):
    """Options of `variance`."""

    harnesses: tuple[str, ...] = ()
    """Harnesses of the table; () is all in the rows."""
    models: tuple[str, ...] = ()
    where: Mapping[Axis, tuple[str, ...]] = Field(default_factory=dict[Axis, tuple[str, ...]])
    definition: Definition = "paper"


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
    rates = data.passes.sum(axis=0) / data.trials.sum(axis=0)
    if float(rates.min()) == 0 or float(rates.max()) == 1:
        draws, reason = (
            None,
            "a cell passes everything or nothing: its logit has no finite estimate",
        )
        return _shares(mixed.LATENT, fit.variances, draws, "logit", table, options, reason)
    draws = mixed.pivotal_logit(data, options.resamples, options.seed)
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
    draws: Floats | None,
    scale: Scale,
    table: Table,
    options: Options,
    reason: str | None = None,
) -> Shares:
    """Shares of components with pivotal intervals; without draws `reason` says why none."""
    whole = sum(components.values())
    if whole <= 0:
        return _no_shares(scale, "all values are equal: there is no variance to share")
    ratios = None
    if draws is not None:
        ratios = draws / np.maximum(draws.sum(axis=1, keepdims=True), 1e-300)
    joint = [i for i, name in enumerate(names) if "_" in name]

    def share(columns: list[int]) -> Estimate:
        number = sum(components[names[i]] for i in columns) / whole
        parts = None if ratios is None else np.asarray(ratios[:, columns].sum(axis=1))
        return _share(number, parts, table, options, reason)

    over = None if draws is None else float((draws[:, 0] > draws[:, 1]).mean())
    return Shares(
        scale=scale,
        components=dict(components),
        shares={name: share([i]) for i, name in enumerate(names)},
        interaction=share(joint),
        harness_over_model=over,
        claim=_random_claim(over, options.level),
        reason=reason,
    )


def _random_claim(over: float | None, level: float) -> Claim:
    tail = (1 - level) / 2
    if over is None:
        return "undefined"
    if tail <= over <= 1 - tail:
        return "undecided"
    return "harness" if over > 0.5 else "model"


def _share(
    number: float, draws: Floats | None, table: Table, options: Options, reason: str | None
) -> Estimate:
    base = Estimate(value=number, level=options.level, n=len(table.tasks), clusters=table.plan.size)
    if draws is None:
        return base.model_copy(update={"reason": reason})
    tail = (1 - options.level) / 2
    low, high = np.quantile(draws, [tail, 1 - tail])
    return base.model_copy(
        update={"low": float(low), "high": float(high), "method": "generalised_pivot"}
    )


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
