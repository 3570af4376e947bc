"""`uniclaw power`: how many tasks and trials show a difference of d, from a pilot.

The pilot's own paired differences are resampled, so that clustering, discreteness and skew are
those of real tasks. For each pair of cells the differences by family are centred, shifted by the
effect, and drawn with replacement in the wanted number; the cluster t test is applied to each
simulated study, and power is the share that it rejects. A `typical` pair (the one with the median
spread) gives the curve; the easiest and hardest pairs give the range.

Trials: with several trials of a task in the pilot the spread of differences splits into what
more trials average out and what only more tasks do (method of moments). Where the pilot has one
trial a task, the twins of a family stand in for trials: their spread also holds the language
effect, so the gain from trials is then an upper bound, and the answer says so. Without either the
gain is undefined.

Limits: the shift ignores that scores cannot leave [0, 1]; for effects under about 0.15 that
matters little. Below 20 pilot families the resampled spread is itself too uncertain: a warning.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Annotated, Literal, NamedTuple

import numpy as np
from pydantic import Field

from uniclaw.errors import UserError
from uniclaw.records import Count, Record, Unit
from uniclaw.statistics import foreign
from uniclaw.statistics.estimates import Options
from uniclaw.statistics.foreign import Floats
from uniclaw.statistics.measures import Definition, Measure, value
from uniclaw.statistics.pairs import Pairs, pair
from uniclaw.statistics.rows import CELL_AXES, Axis, EpisodeRow, Rows, as_rows, group, select

_MAX_FAMILIES = 100_000


class PowerOptions(Options):
    """Options of `power`."""

    effect: Annotated[float, Field(gt=0, lt=1)] = 0.05
    """Difference of means that the study must see."""
    measures: tuple[Measure, ...] = ("pass", "score")
    by: tuple[Axis, ...] = ("cell",)
    where: Mapping[Axis, tuple[str, ...]] = Field(default_factory=dict[Axis, tuple[str, ...]])
    definition: Definition = "paper"
    target: Annotated[float, Field(gt=0, lt=1)] = 0.8
    """Wanted power."""
    alpha: Annotated[float, Field(gt=0, lt=1)] = 0.05
    """Level of the two-sided test."""
    trials: tuple[Annotated[int, Field(ge=1)], ...] = (1, 2, 3, 5)
    resamples: Annotated[int, Field(ge=200, le=1_000_000)] = 2_000
    """Simulated studies for each size."""


class PowerPoint(Record):
    """Power at one size."""

    families: Count
    tasks: Count
    power: Unit
    low: Unit
    high: Unit
    """Wilson's 95 % interval of the simulation."""


class TrialsNeed(Record):
    """Families needed for the target with this many trials of each task in each cell."""

    trials: Count
    families: Count | None
    tasks: Count | None
    reason: str | None = None


class MeasurePower(Record):
    """One measure."""

    measure: Measure
    pair: tuple[str, str] | None
    """The typical pair of cells."""
    pairs: Count
    spread: float | None
    """Standard deviation of the typical pair's differences between families."""
    noise_share: Unit | None
    """Part of that variance which more trials average out."""
    noise_from: Literal["trials", "twins", "unknown"]
    pilot_power: PowerPoint | None
    """At the pilot's own size."""
    curve: tuple[PowerPoint, ...]
    needed: tuple[TrialsNeed, ...]
    families_range: tuple[Count, Count] | None
    """Families needed (one trial, normal approximation) for the easiest and hardest pair."""
    detectable: float | None
    """Smallest difference with the target power at the pilot's size, for the typical pair."""
    reason: str | None = None
    warnings: tuple[str, ...] = ()


class PowerReport(Record):
    """Answer of `power`."""

    effect: float
    alpha: float
    target: float
    definition: Definition
    pilot_families: Count
    tasks_per_family: float
    measures: tuple[MeasurePower, ...]


class _Pilot(NamedTuple):
    """One pair's differences by family, with their trial structure."""

    names: tuple[str, str]
    differences: Floats
    noise: float | None
    """Variance of a family's mean difference that comes from single trials."""
    source: Literal["trials", "twins", "unknown"]
    trials: float
    """Mean trials of a task in a cell."""

    @property
    def variance(self) -> float:
        return float(self.differences.var(ddof=1))


def power(rows: Rows, options: PowerOptions | None = None) -> PowerReport:
    """Power and needed sizes from pilot rows.

    Raises:
        UserError: fewer than two cells, an unknown axis or value, no or duplicate rows, NaN.
    """
    chosen = options or PowerOptions()
    kept = select(as_rows(rows), {str(k): v for k, v in chosen.where.items()})
    groups = group(kept, chosen.by)
    if len(groups) < 2:
        raise UserError("power needs a pilot of two cells or more", field="by")
    families = {row.family for row in kept}
    ratio = len({row.task_id for row in kept}) / len(families)
    return PowerReport(
        effect=chosen.effect,
        alpha=chosen.alpha,
        target=chosen.target,
        definition=chosen.definition,
        pilot_families=len(families),
        tasks_per_family=ratio,
        measures=tuple(_measure(groups, m, ratio, chosen) for m in chosen.measures),
    )


def _measure(
    groups: Mapping[tuple[str, ...], Sequence[EpisodeRow]],
    measure: Measure,
    ratio: float,
    options: PowerOptions,
) -> MeasurePower:
    fixed = [axis for axis in CELL_AXES if axis not in options.by and "cell" not in options.by]
    pilots = [
        pilot
        for a, b in combinations(groups, 2)
        if (pilot := _pilot(groups, a, b, measure, fixed, options.definition)) is not None
    ]
    pilots.sort(key=lambda pilot: (pilot.variance, pilot.names))
    if not pilots:
        return _nothing(measure, "no pair of cells shares two families whose differences vary")
    typical = pilots[(len(pilots) - 1) // 2]
    have = len(typical.differences)
    base = approximate_families(typical.variance, options)
    sizes = sorted({max(2, round(base * f)) for f in (0.25, 0.5, 0.75, 1.0, 1.5, 2.0)} | {have})
    curve = tuple(_point(typical.differences, n, ratio, options) for n in sizes)
    ends = pilots[0].variance, pilots[-1].variance
    return MeasurePower(
        measure=measure,
        pair=typical.names,
        pairs=len(pilots),
        spread=float(np.sqrt(typical.variance)),
        noise_share=None if typical.noise is None else _noise_share(typical),
        noise_from=typical.source,
        pilot_power=next(point for point in curve if point.families == have),
        curve=curve,
        needed=tuple(_needed(typical, trials, ratio, options) for trials in options.trials),
        families_range=(
            approximate_families(ends[0], options),
            approximate_families(ends[1], options),
        ),
        detectable=_detectable(typical, options),
        warnings=_warnings(typical),
    )


def _nothing(measure: Measure, reason: str) -> MeasurePower:
    return MeasurePower(
        measure=measure,
        pair=None,
        pairs=0,
        spread=None,
        noise_share=None,
        noise_from="unknown",
        pilot_power=None,
        curve=(),
        needed=(),
        families_range=None,
        detectable=None,
        reason=reason,
    )


def _warnings(pilot: _Pilot) -> tuple[str, ...]:
    notes: list[str] = []
    if len(pilot.differences) < 20:
        notes.append(f"the pilot has {len(pilot.differences)} families: its spread is uncertain")
    if pilot.source == "twins":
        notes.append("one trial a task: twins stand in for trials, gains are upper bounds")
    if pilot.source == "unknown":
        notes.append("one trial a task and no twins: what more trials gain is unknown")
    return tuple(notes)


def _pilot(
    groups: Mapping[tuple[str, ...], Sequence[EpisodeRow]],
    a: tuple[str, ...],
    b: tuple[str, ...],
    measure: Measure,
    fixed: Sequence[str],
    definition: Definition,
) -> _Pilot | None:
    pairs = pair(groups[a], groups[b], measure, definition, fixed)
    by_family: dict[str, list[float]] = {}
    for family, change in pairs.differences:
        by_family.setdefault(family, []).append(change)
    means = np.array([sum(found) / len(found) for _, found in sorted(by_family.items())])
    if len(means) < 2 or float(means.var(ddof=1)) < 1e-15:
        return None
    trials = _trial_noise(pairs, groups[a], groups[b], measure, definition)
    names = ("/".join(a), "/".join(b))
    if trials is not None:
        return _Pilot(names, means, trials[0], "trials", trials[1])
    twins = _twin_noise(by_family)
    return _Pilot(names, means, twins, "unknown" if twins is None else "twins", 1.0)


def _trial_noise(
    pairs: Pairs,
    left: Sequence[EpisodeRow],
    right: Sequence[EpisodeRow],
    measure: Measure,
    definition: Definition,
) -> tuple[float, float] | None:
    """Mean variance of a family's difference due to trials, and mean trials; None for one trial."""
    wanted = {unit[0] for unit in pairs.units}
    spreads: dict[str, float] = {}
    trials: list[int] = []
    for side in (left, right):
        found: dict[str, list[float]] = {}
        for row in side:
            number = value(row, measure, definition)
            if number is not None and row.task_id in wanted:
                found.setdefault(row.task_id, []).append(number)
        if any(len(values) < 2 for values in found.values()):
            return None
        for task, values in found.items():
            trials.append(len(values))
            variance = float(np.var(values, ddof=1)) / len(values)
            spreads[task] = spreads.get(task, 0.0) + variance
    size: dict[str, int] = {}
    total: dict[str, float] = {}
    for unit, family in zip(pairs.units, pairs.families, strict=True):
        size[family] = size.get(family, 0) + 1
        total[family] = total.get(family, 0.0) + spreads[unit[0]]
    noise = [total[family] / size[family] ** 2 for family in size]
    return float(np.mean(noise)), float(np.mean(trials))


def _twin_noise(by_family: Mapping[str, Sequence[float]]) -> float | None:
    """Mean within-family variance of the family's mean difference, from families with twins."""
    found = [np.var(v, ddof=1) / len(v) for v in by_family.values() if len(v) > 1]
    return float(np.mean(found)) if len(found) >= 2 else None


def _noise_share(pilot: _Pilot) -> float:
    return min(1.0, (pilot.noise or 0.0) / pilot.variance)


def approximate_families(variance: float, options: PowerOptions) -> int:
    """Families for the target by the normal approximation: ((z_a + z_b) sd / d)^2."""
    z = foreign.normal_quantile(1 - options.alpha / 2) + foreign.normal_quantile(options.target)
    return min(_MAX_FAMILIES, max(2, int(np.ceil(z**2 * variance / options.effect**2))))


def simulated_power(differences: Floats, families: int, options: PowerOptions) -> float:
    """Share of simulated studies of this size whose cluster t test rejects, at the effect."""
    rng = np.random.default_rng([options.seed, families])
    centred = differences - differences.mean() + options.effect
    critical = foreign.t_quantile(1 - options.alpha / 2, families - 1)
    hits, left = 0, options.resamples
    chunk = max(1, 4_000_000 // families)
    while left > 0:
        drawn = rng.choice(centred, size=(min(chunk, left), families))
        se = drawn.std(axis=1, ddof=1) / np.sqrt(families)
        mean = np.abs(drawn.mean(axis=1))
        hits += int(((mean > critical * se) & (se > 0)).sum())
        left -= len(drawn)
    return hits / options.resamples


def _point(differences: Floats, families: int, ratio: float, options: PowerOptions) -> PowerPoint:
    share = simulated_power(differences, families, options)
    low, high = foreign.wilson(share * options.resamples, options.resamples, 0.95)
    return PowerPoint(
        families=families, tasks=round(families * ratio), power=share, low=low, high=high
    )


def _needed(pilot: _Pilot, trials: int, ratio: float, options: PowerOptions) -> TrialsNeed:
    """Smallest number of families whose simulated power reaches the target."""
    if pilot.noise is None and trials != 1:
        reason = "the pilot has one trial a task and no twins"
        return TrialsNeed(trials=trials, families=None, tasks=None, reason=reason)
    noise = _noise_share(pilot) if pilot.noise is not None else 0.0
    factor = 1 - noise + noise * pilot.trials / trials
    mean = pilot.differences.mean()
    scaled = mean + (pilot.differences - mean) * np.sqrt(factor)
    families = _search(scaled, options)
    if families is None:
        reason = f"more than {_MAX_FAMILIES} families"
        return TrialsNeed(trials=trials, families=None, tasks=None, reason=reason)
    return TrialsNeed(trials=trials, families=families, tasks=round(families * ratio))


def _search(differences: Floats, options: PowerOptions) -> int | None:
    if float(differences.var(ddof=1)) < 1e-15:
        return 2
    guess = approximate_families(float(differences.var(ddof=1)), options)
    low, high = max(2, guess // 2), guess * 2
    if guess >= _MAX_FAMILIES:
        return None
    while high < _MAX_FAMILIES and simulated_power(differences, high, options) < options.target:
        low, high = high, high * 2
    while high - low > max(1, low // 100):
        middle = (low + high) // 2
        if simulated_power(differences, middle, options) >= options.target:
            high = middle
        else:
            low = middle
    return high


def _detectable(pilot: _Pilot, options: PowerOptions) -> float:
    n = len(pilot.differences)
    quantiles = foreign.t_quantile(1 - options.alpha / 2, n - 1) + foreign.t_quantile(
        options.target, n - 1
    )
    return float(quantiles * np.sqrt(pilot.variance / n))
