"""Agreement between supervisors, or of a supervisor with people, and calibration of a judge.

`ratings` says where ratings come from. Kappa, alpha (nominal) and AC1 take met and
unmet (value at or above `cut`); weighted kappa and alpha (interval) take the values.
"""

import math
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from uniclaw.errors import UserError
from uniclaw.records import Count, Record
from uniclaw.statistics import foreign
from uniclaw.statistics.coefficients import (
    Linear,
    gwet_ac1,
    krippendorff_alpha,
    linear_ac1,
    linear_alpha,
    linear_correlation,
    linear_kappa,
    raw_agreement,
)
from uniclaw.statistics.estimates import Estimate, Options, undefined
from uniclaw.statistics.foreign import Floats
from uniclaw.statistics.intervals import design, percentile_ends, resample_weights
from uniclaw.statistics.ratings import Rating

_BINS = 10
Weights = Literal["none", "linear", "quadratic"]


class AgreementOptions(Options):
    """Options of `agreement`."""

    cut: Annotated[float, Field(gt=0, le=1)] = 1.0
    """Value from which on a checkpoint is met."""
    reference: str | None = None
    """Rater taken as the truth for calibration of every other one (people)."""


class PairAgreement(Record):
    """Two raters on the items that both rated."""

    left: str
    right: str
    items: Count
    raw: float | None
    """Share of items with the same side of the cut."""
    kappa: Estimate
    kappa_linear: Estimate
    kappa_quadratic: Estimate
    pearson: Estimate
    spearman: Estimate
    mean_difference: float | None
    """Left minus right."""


class CalibrationBin(Record):
    """Items whose value from the judge lies in one tenth."""

    low: float
    high: float
    items: Count
    mean_value: float
    share_met: float


class Calibration(Record):
    """A rater's values against the reference's met or unmet."""

    rater: str
    reference: str
    items: Count
    brier: float | None
    """Mean squared difference of value and outcome (Brier 1950)."""
    expected_error: float | None
    """Mean over items of |mean value - share met| of their bin (expected calibration error)."""
    bias: float | None
    """Mean value minus share met: above 0 the judge is too kind."""
    sensitivity: float | None
    """Of what the reference says is met, the share the rater says is met."""
    specificity: float | None
    bins: tuple[CalibrationBin, ...]
    reason: str | None = None


class GroupAgreement(Record):
    """All raters on one checkpoint, or on all together."""

    checkpoint: str | None
    """None: every rating."""
    items: Count
    raters: tuple[str, ...]
    raw: float | None
    alpha_nominal: Estimate
    alpha_interval: Estimate
    ac1: Estimate
    pairs: tuple[PairAgreement, ...]
    calibration: tuple[Calibration, ...] = ()


class AgreementReport(Record):
    """Answer of `agreement`."""

    cut: float
    overall: GroupAgreement
    checkpoints: tuple[GroupAgreement, ...]


def agreement(
    ratings: Sequence[Rating], options: AgreementOptions | None = None
) -> AgreementReport:
    """Agreement of all raters, over all ratings and for every checkpoint.

    Raises:
        UserError: no ratings, one rater alone, two ratings of one item by one rater, or an
            unknown reference.
    """
    chosen = options or AgreementOptions()
    raters = sorted({rating.rater for rating in ratings})
    if len(raters) < 2:
        raise UserError("agreement needs two raters or more", value=raters)
    if chosen.reference is not None and chosen.reference not in raters:
        raise UserError(
            f"unknown rater; known are {raters}", field="reference", value=chosen.reference
        )
    seen: set[tuple[str, str | None, str]] = set()
    for rating in ratings:
        key = (rating.item, rating.checkpoint, rating.rater)
        if key in seen:
            raise UserError("two ratings of one item by one rater", value=key)
        seen.add(key)
    names = sorted({r.checkpoint for r in ratings if r.checkpoint is not None})
    return AgreementReport(
        cut=chosen.cut,
        overall=_group(None, ratings, raters, chosen),
        checkpoints=tuple(
            _group(name, [r for r in ratings if r.checkpoint == name], raters, chosen)
            for name in names
        ),
    )


class _Matrix:
    """Ratings as a matrix with the cluster of each item."""

    def __init__(self, ratings: Sequence[Rating], raters: Sequence[str]) -> None:
        items = sorted({(r.item, r.checkpoint or "") for r in ratings})
        rows = {item: number for number, item in enumerate(items)}
        columns = {rater: number for number, rater in enumerate(raters)}
        self.values: Floats = np.full((len(items), len(raters)), np.nan)
        names = [""] * len(items)
        for rating in ratings:
            row = rows[rating.item, rating.checkpoint or ""]
            self.values[row, columns[rating.rater]] = rating.value
            names[row] = rating.cluster or rating.item
        order = {name: number for number, name in enumerate(sorted(set(names)))}
        self.clusters = np.array([order[name] for name in names], dtype=np.int64)


def _group(
    checkpoint: str | None,
    ratings: Sequence[Rating],
    raters: Sequence[str],
    options: AgreementOptions,
) -> GroupAgreement:
    matrix = _Matrix(ratings, raters)
    cut = _met(matrix.values, options.cut)
    both = np.array([0.0, 1.0])
    every = np.arange(len(matrix.values))
    chosen = options.reference
    return GroupAgreement(
        checkpoint=checkpoint,
        items=len(matrix.values),
        raters=tuple(r for i, r in enumerate(raters) if not np.isnan(matrix.values[:, i]).all()),
        raw=raw_agreement(cut),
        alpha_nominal=_estimate(
            krippendorff_alpha(cut), linear_alpha(cut, "nominal"), matrix, every, options
        ),
        alpha_interval=_estimate(
            krippendorff_alpha(matrix.values, "interval"),
            linear_alpha(matrix.values, "interval"),
            matrix,
            every,
            options,
        ),
        ac1=_estimate(gwet_ac1(cut, both), linear_ac1(cut, both), matrix, every, options),
        pairs=tuple(
            _pair(matrix, raters, a, b, options) for a, b in combinations(range(len(raters)), 2)
        ),
        calibration=tuple(
            _calibration(matrix, (rater, chosen), (number, raters.index(chosen)), options)
            for number, rater in enumerate(raters)
            if chosen is not None and rater != chosen
        ),
    )


def _met(values: Floats, cut: float) -> Floats:
    return np.where(np.isnan(values), np.nan, (values >= cut - 1e-12).astype(np.float64))


def _estimate(
    value: float | None,
    form: Linear,
    matrix: _Matrix,
    items: NDArray[np.int64],
    options: Options,
) -> Estimate:
    """A coefficient with a cluster bootstrap interval; `form` has one row for each of `items`."""
    labels = matrix.clusters[items]
    names = sorted(set(labels.tolist()))
    n, clusters = len(items), len(names)
    if value is None or not math.isfinite(value):
        reason = "no item with two ratings, or no variation to agree on"
        return undefined(reason, n=n, clusters=clusters, level=options.level)
    base = Estimate(value=value, n=n, clusters=clusters, level=options.level)
    if clusters < 2:
        return base.model_copy(update={"reason": "one cluster: no interval"})
    plan = design({str(name): "" for name in names})
    position = {name: number for number, name in enumerate(plan.names)}
    where = np.array([position[str(label)] for label in labels.tolist()])
    sums = np.zeros((clusters, form.features.shape[1]))
    np.add.at(sums, where, form.features)
    draws = form.function(resample_weights(plan, options) @ sums)
    usable = draws[np.isfinite(draws)]
    lost = options.resamples - len(usable)
    if lost > options.resamples / 10:
        reason = f"{lost} of {options.resamples} resamples have no variation: no interval"
        return base.model_copy(update={"reason": reason})
    if float(np.ptp(usable)) < 1e-12:
        return base.model_copy(update={"reason": "all clusters are equal: no interval"})
    low, high = percentile_ends(usable, options.level, clusters - 1)
    notes = ("fewer than 20 clusters: the interval may not hold its level",)
    return base.model_copy(
        update={
            "low": low,
            "high": high,
            "method": "cluster_bootstrap",
            "warnings": notes if clusters < 20 else (),
        }
    )


def _pair(
    matrix: _Matrix, raters: Sequence[str], a: int, b: int, options: AgreementOptions
) -> PairAgreement:
    keep = ~np.isnan(matrix.values[:, [a, b]]).any(axis=1)
    items = np.flatnonzero(keep)
    left, right = matrix.values[items, a], matrix.values[items, b]
    cut = _met(matrix.values[items][:, [a, b]], options.cut)
    both, levels = np.array([0.0, 1.0]), np.unique(np.concatenate([left, right]))
    n = len(items)

    def kappa(x: Floats, y: Floats, values: Floats, weights: Weights) -> Estimate:
        form = linear_kappa(x, y, values, weights)
        return _estimate(cohen_kappa(x, y, values, weights), form, matrix, items, options)

    def correlated(x: Floats, y: Floats, function: Callable[[Floats, Floats], float]) -> Estimate:
        flat = n < 3 or float(np.ptp(x)) == 0 or float(np.ptp(y)) == 0
        if flat:
            reason = "fewer than three items, or a rater gives one value only"
            return undefined(reason, n=n, level=options.level)
        return _estimate(function(x, y), linear_correlation(x, y), matrix, items, options)

    ranks = foreign.ranks(left), foreign.ranks(right)
    return PairAgreement(
        left=raters[a],
        right=raters[b],
        items=n,
        raw=float((cut[:, 0] == cut[:, 1]).mean()) if n else None,
        kappa=kappa(cut[:, 0], cut[:, 1], both, "none"),
        kappa_linear=kappa(left, right, levels, "linear"),
        kappa_quadratic=kappa(left, right, levels, "quadratic"),
        pearson=correlated(left, right, foreign.pearson),
        spearman=correlated(*ranks, foreign.pearson),
        mean_difference=float((left - right).mean()) if n else None,
    )


def cohen_kappa(left: Floats, right: Floats, values: Floats, weights: Weights) -> float | None:
    """Cohen's kappa of two raters; None without items or when chance agreement is complete."""
    if not len(left) or len(values) < 2:
        return None
    table = np.zeros((len(values), len(values)), dtype=np.int64)
    np.add.at(table, (np.searchsorted(values, left), np.searchsorted(values, right)), 1)
    margins = np.outer(table.sum(axis=1), table.sum(axis=0)) * (1 - np.eye(len(values)))
    return foreign.cohen(table, values, weights) if margins.sum() > 0 else None


def _calibration(
    matrix: _Matrix, names: tuple[str, str], columns: tuple[int, int], options: AgreementOptions
) -> Calibration:
    """A rater's values against whether the reference says met."""
    keep = ~np.isnan(matrix.values[:, list(columns)]).any(axis=1)
    given = matrix.values[keep, columns[0]]
    truth = _met(matrix.values[keep, columns[1]], options.cut)
    said = _met(given, options.cut)
    n = len(given)
    if not n:
        return Calibration(
            rater=names[0],
            reference=names[1],
            items=0,
            brier=None,
            expected_error=None,
            bias=None,
            sensitivity=None,
            specificity=None,
            bins=(),
            reason="no item has both ratings",
        )
    bins = _bins(given, truth)
    return Calibration(
        rater=names[0],
        reference=names[1],
        items=n,
        brier=float(((given - truth) ** 2).mean()),
        expected_error=sum(b.items * abs(b.mean_value - b.share_met) for b in bins) / n,
        bias=float(given.mean() - truth.mean()),
        sensitivity=float(said[truth == 1].mean()) if (truth == 1).any() else None,
        specificity=float(1 - said[truth == 0].mean()) if (truth == 0).any() else None,
        bins=bins,
    )


def _bins(given: Floats, truth: Floats) -> tuple[CalibrationBin, ...]:
    place = np.minimum((given * _BINS).astype(np.int64), _BINS - 1)
    return tuple(
        CalibrationBin(
            low=number / _BINS,
            high=(number + 1) / _BINS,
            items=int(inside.sum()),
            mean_value=float(given[inside].mean()),
            share_met=float(truth[inside].mean()),
        )
        for number in range(_BINS)
        if (inside := place == number).any()
    )
