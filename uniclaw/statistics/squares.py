"""Sums of squares of a complete harness x model x task table, with tasks as the only sample.

Knows nothing of random levels: that is `mixed`. What is uncertain here comes from the task
families alone, which are resampled.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from uniclaw.records import Record, Unit
from uniclaw.statistics.estimates import Estimate, Options
from uniclaw.statistics.foreign import Floats
from uniclaw.statistics.intervals import Design, percentile_ends, resample_weights

Scale = Literal["probability", "score", "logit"]
Claim = Literal["harness", "model", "undecided", "undefined"]


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
