# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportAttributeAccessIssue=false
# Reason: scipy, statsmodels and pandas ship no complete types; this file is the only place
# that touches their untyped surface, and it gives every result a type.
"""The typed door to scipy, statsmodels and pandas.

Thin on purpose: each function names what it calls. No estimator of ours lives here.
statsmodels is imported where it is called: it takes seconds to load, and most commands need
none of it.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Literal, NamedTuple, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import optimize, special, stats

Floats = NDArray[np.float64]


def normal_quantile(probability: float) -> float:
    """Quantile of the standard normal (`scipy.stats.norm.ppf`)."""
    return float(stats.norm.ppf(probability))


def normal_cdf(value: float) -> float:
    """Distribution function of the standard normal (`scipy.stats.norm.cdf`)."""
    return float(stats.norm.cdf(value))


def t_quantile(probability: float, df: float) -> float:
    """Quantile of Student's t (`scipy.stats.t.ppf`)."""
    return float(stats.t.ppf(probability, df))


def t_upper(value: float, df: float) -> float:
    """P(T > value) of Student's t (`scipy.stats.t.sf`)."""
    return float(stats.t.sf(value, df))


def chi2_upper(value: float, df: float) -> float:
    """P(X > value) of chi-square (`scipy.stats.chi2.sf`)."""
    return float(stats.chi2.sf(value, df))


def binomial_two_sided(successes: int, n: int) -> float:
    """Exact two-sided p of `successes` in `n` against one half (`scipy.stats.binomtest`)."""
    return float(stats.binomtest(successes, n, 0.5).pvalue)


def wilson(successes: float, n: float, level: float) -> tuple[float, float]:
    """Wilson's score interval (`statsmodels` `proportion_confint`); counts may be effective."""
    from statsmodels.stats.proportion import proportion_confint

    ends = proportion_confint(successes, n, alpha=1 - level, method="wilson")
    low, high = cast("tuple[float, float]", ends)
    return float(low), float(high)


def holm(pvalues: Sequence[float]) -> list[float]:
    """Holm's step-down adjusted p-values (`statsmodels` `multipletests`)."""
    if not pvalues:
        return []
    from statsmodels.stats.multitest import multipletests

    adjusted = multipletests(np.asarray(pvalues), method="holm")[1]
    return [float(p) for p in cast("Floats", adjusted)]


def cohen(
    table: NDArray[np.int64], scores: Floats, weights: Literal["none", "linear", "quadratic"]
) -> float:
    """Cohen's kappa of a square table (`statsmodels` `cohens_kappa`).

    Args:
        table: Counts, one row a value of the first rater, one column one of the second.
        scores: The values, in the order of the table; their distances are the weights.
        weights: Kind of disagreement weights.
    """
    from statsmodels.stats.inter_rater import cohens_kappa

    if weights == "none":
        return float(cast("float", cohens_kappa(table, return_results=False)))
    value = cohens_kappa(table, weights=scores, wt=weights, return_results=False)
    return float(cast("float", value))


def pearson(x: Floats, y: Floats) -> float:
    """Pearson's correlation (`scipy.stats.pearsonr`)."""
    return float(cast("float", stats.pearsonr(x, y)[0]))


def ranks(values: Floats) -> Floats:
    """Average ranks (`scipy.stats.rankdata`); Pearson's correlation of them is Spearman's."""
    return np.asarray(stats.rankdata(values), dtype=np.float64)


def kendall(x: Floats, y: Floats) -> float:
    """Kendall's tau-b (`scipy.stats.kendalltau`)."""
    return float(cast("float", stats.kendalltau(x, y)[0]))


class Survival(NamedTuple):
    """Kaplan-Meier steps: distinct event times, survival there, Greenwood's standard error."""

    times: Floats
    probability: Floats
    se: Floats
    at_risk: Floats
    events: Floats


def kaplan_meier(times: Floats, events: NDArray[np.bool_]) -> Survival:
    """Product-limit estimate (`statsmodels` `SurvfuncRight`)."""
    from statsmodels.duration.survfunc import SurvfuncRight

    fitted = SurvfuncRight(times, events.astype(np.int64))
    return Survival(
        np.asarray(fitted.surv_times, dtype=np.float64),
        np.asarray(fitted.surv_prob, dtype=np.float64),
        np.asarray(fitted.surv_prob_se, dtype=np.float64),
        np.asarray(fitted.n_risk, dtype=np.float64),
        np.asarray(fitted.n_events, dtype=np.float64),
    )


class Minimum(NamedTuple):
    """Where a minimiser ended."""

    x: Floats
    value: float
    converged: bool


def minimise(
    function: Callable[[Floats], float], start: Floats, lower: float, upper: float
) -> Minimum:
    """Bounded minimum (`scipy.optimize.minimize`, L-BFGS-B) with numerical gradients."""
    found = optimize.minimize(
        function,
        start,
        method="L-BFGS-B",
        bounds=[(lower, upper)] * len(start),
        options={"eps": 1e-5, "ftol": 1e-10, "gtol": 1e-4},
    )
    return Minimum(np.asarray(found.x, dtype=np.float64), float(found.fun), bool(found.success))


def solve(matrix: Floats, right: Floats) -> Floats:
    """Solution of a linear system (`numpy.linalg.solve`), typed."""
    return np.asarray(np.linalg.solve(matrix, right), dtype=np.float64)


def expit(value: Floats) -> Floats:
    """Logistic function (`scipy.special.expit`)."""
    return np.asarray(special.expit(value), dtype=np.float64)


def frame_of(columns: Mapping[str, Sequence[object]]) -> pd.DataFrame:
    """A frame whose columns keep Python objects, so that None stays None and not NaN."""
    return pd.DataFrame(
        {name: pd.Series(list(values), dtype=object) for name, values in columns.items()}
    )


def frame_columns(frame: pd.DataFrame) -> dict[str, list[object]]:
    """Columns of a frame as lists; what pandas means by missing in typed columns becomes None.

    A float NaN inside an object column is kept: there it is a value that someone put in.
    """
    columns: dict[str, list[object]] = {}
    for name in frame.columns:
        series = frame[name]
        values: list[object] = list(series.tolist())
        if series.dtype != object:
            gaps: list[bool] = [bool(gap) for gap in series.isna().tolist()]
            values = [None if gap else value for value, gap in zip(values, gaps, strict=True)]
        columns[str(name)] = values
    return columns
