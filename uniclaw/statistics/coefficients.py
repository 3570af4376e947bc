"""Chance-corrected agreement of any number of raters: Krippendorff's alpha and Gwet's AC1.

Cohen's kappa comes from statsmodels (`foreign.cohen`). Formulas: Krippendorff 2011, "Computing
Krippendorff's Alpha-Reliability"; Gwet 2014, "Handbook of Inter-Rater Reliability", chapter 2.
Ratings are one row an item and one column a rater; NaN marks a missing rating inside the
agreement modules only.

For intervals each coefficient is also a `Linear`: a function of sums over items, so that ten
thousand resamples of items are one matrix product.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from uniclaw.statistics.foreign import Floats

Metric = Literal["nominal", "ordinal", "interval", "ratio"]


def krippendorff_alpha(ratings: Floats, metric: Metric = "nominal") -> float | None:
    """Krippendorff's alpha; None when no item has two ratings or only one value occurs.

    alpha = 1 - D_o / D_e over the coincidence matrix of values within items; items with a
    single rating are left out, as the method says.
    """
    values, coincidences = _coincidences(ratings)
    totals = coincidences.sum(axis=1)
    n = float(totals.sum())
    if n == 0 or len(values) < 2:
        return None
    distance = _distance(values, totals, metric)
    observed = float((coincidences * distance).sum()) / n
    expected = float((np.outer(totals, totals) * distance).sum()) / (n * (n - 1))
    return None if expected == 0 else 1 - observed / expected


def _coincidences(ratings: Floats) -> tuple[Floats, Floats]:
    """Values in order, and how often each pair of them meets within an item."""
    paired = ratings[(~np.isnan(ratings)).sum(axis=1) >= 2]
    values = np.unique(paired[~np.isnan(paired)])
    counts = _counts(paired, values)
    sizes = counts.sum(axis=1)
    weights = 1 / np.maximum(sizes - 1, 1)
    joint = (counts * weights[:, None]).T @ counts
    return values, joint - np.diag((counts * weights[:, None]).sum(axis=0))


def _counts(ratings: Floats, values: Floats) -> Floats:
    """Number of ratings by item and value."""
    if not len(values):
        return np.zeros((len(ratings), 0))
    return np.stack([(ratings == value).sum(axis=1) for value in values], axis=1).astype(np.float64)


def _distance(values: Floats, totals: Floats, metric: Metric) -> Floats:
    """Squared difference between values under a metric."""
    if metric == "nominal":
        return 1.0 - np.eye(len(values))
    if metric == "interval":
        return (values[:, None] - values[None, :]) ** 2
    if metric == "ratio":
        both = values[:, None] + values[None, :]
        safe = np.where(both == 0, 1.0, both)
        return ((values[:, None] - values[None, :]) / safe) ** 2
    ranks = np.cumsum(totals) - totals / 2
    return (ranks[:, None] - ranks[None, :]) ** 2


def gwet_ac1(ratings: Floats, values: Floats | None = None) -> float | None:
    """Gwet's AC1 for nominal ratings; None when no item has two ratings or one value is possible.

    p_a is the mean over items with two ratings or more of the share of agreeing pairs; chance
    agreement is sum pi_k (1 - pi_k) / (q - 1), with pi_k the mean share of value k over all
    rated items.

    Args:
        ratings: One row an item, one column a rater.
        values: All values that raters could give; None takes those that occur.
    """
    rated = ratings[(~np.isnan(ratings)).any(axis=1)]
    known = np.unique(rated[~np.isnan(rated)]) if values is None else values
    counts = _counts(rated, known)
    sizes = counts.sum(axis=1)
    pairs = sizes >= 2
    q = counts.shape[1]
    if q < 2 or not pairs.any():
        return None
    several, size = counts[pairs], sizes[pairs]
    agreeing = float(((several * (several - 1)).sum(axis=1) / (size * (size - 1))).mean())
    shares = (counts / sizes[:, None]).mean(axis=0)
    chance = float((shares * (1 - shares)).sum() / (q - 1))
    return (agreeing - chance) / (1 - chance)


def raw_agreement(ratings: Floats) -> float | None:
    """Mean share of agreeing pairs over items with two ratings or more."""
    paired = ratings[(~np.isnan(ratings)).sum(axis=1) >= 2]
    if not len(paired):
        return None
    counts = _counts(paired, np.unique(paired[~np.isnan(paired)]))
    size = counts.sum(axis=1)
    return float(((counts * (counts - 1)).sum(axis=1) / (size * (size - 1))).mean())


@dataclass(frozen=True, kw_only=True)
class Linear:
    """A coefficient as a function of sums of features over items.

    `function` takes one row of sums a resample and gives NaN where it is undefined.
    """

    features: Floats
    function: Callable[[Floats], Floats]


def _ratio(top: Floats, bottom: Floats) -> Floats:
    """Quotient with NaN where the divisor is 0."""
    safe = np.where(np.abs(bottom) < 1e-12, np.nan, bottom)
    return np.asarray(top / safe, dtype=np.float64)


def linear_alpha(ratings: Floats, metric: Literal["nominal", "interval"]) -> Linear:
    """Krippendorff's alpha by sums: value totals and disagreement within items."""
    values = np.unique(ratings[~np.isnan(ratings)])
    counts = _counts(ratings, values)
    sizes = counts.sum(axis=1)
    counts[sizes < 2] = 0
    distance = _distance(values, np.zeros(len(values)), metric)
    inside = np.einsum("iv,vw,iw->i", counts, distance, counts) / np.maximum(sizes - 1, 1)
    features = np.concatenate([inside[:, None], counts], axis=1)

    def alpha(sums: Floats) -> Floats:
        totals = sums[:, 1:]
        n = totals.sum(axis=1)
        expected = np.einsum("bv,vw,bw->b", totals, distance, totals)
        return 1 - _ratio(sums[:, 0] * (n - 1), expected)

    return Linear(features=features, function=alpha)


def linear_ac1(ratings: Floats, values: Floats) -> Linear:
    """Gwet's AC1 by sums: agreeing pairs, and shares of values over rated items."""
    counts = _counts(ratings, values)
    sizes = counts.sum(axis=1)
    several = (sizes >= 2).astype(np.float64)
    agreeing = (counts * (counts - 1)).sum(axis=1) / np.maximum(sizes * (sizes - 1), 1)
    shares = counts / np.maximum(sizes, 1)[:, None]
    rated = (sizes >= 1).astype(np.float64)
    features = np.column_stack([agreeing * several, several, rated, shares])

    def ac1(sums: Floats) -> Floats:
        pa = _ratio(sums[:, 0], sums[:, 1])
        pi = sums[:, 3:] / np.maximum(sums[:, 2:3], 1e-12)
        chance = (pi * (1 - pi)).sum(axis=1) / (len(values) - 1)
        return _ratio(pa - chance, 1 - chance)

    return Linear(features=features, function=ac1)


def linear_kappa(
    left: Floats, right: Floats, values: Floats, weights: Literal["none", "linear", "quadratic"]
) -> Linear:
    """Cohen's kappa by sums: disagreement within items, and both raters' margins."""
    gap = np.abs(values[:, None] - values[None, :])
    powers = {"none": (gap > 0).astype(np.float64), "linear": gap, "quadratic": gap**2}
    distance = powers[weights]
    first, second = np.searchsorted(values, left), np.searchsorted(values, right)
    one_hot = np.eye(len(values))
    features = np.column_stack([distance[first, second], one_hot[first], one_hot[second]])
    q = len(values)

    def kappa(sums: Floats) -> Floats:
        a, b = sums[:, 1 : 1 + q], sums[:, 1 + q :]
        expected = np.einsum("bv,vw,bw->b", a, distance, b)
        return 1 - _ratio(sums[:, 0] * a.sum(axis=1), expected)

    return Linear(features=features, function=kappa)


def linear_correlation(left: Floats, right: Floats) -> Linear:
    """Pearson's correlation by moments (of ranks it is Spearman's, ranks held as observed)."""
    x, y = left - left.mean(), right - right.mean()
    features = np.column_stack([np.ones(len(x)), x, y, x * x, y * y, x * y])

    def correlation(sums: Floats) -> Floats:
        n, sx, sy, sxx, syy, sxy = sums.T
        top = n * sxy - sx * sy
        square = (n * sxx - sx**2) * (n * syy - sy**2)
        return _ratio(top, np.sqrt(np.maximum(square, 0)))

    return Linear(features=features, function=correlation)
