"""`uniclaw compare`: cells against cells on the same tasks.

For every pair of cells and for both measures: the mean paired difference with a paired cluster
bootstrap interval; a permutation test that flips the sign of whole families; McNemar's test for
pass; Holm's correction over all pairs of the matrix; and a claim of equivalence by two one-sided
tests against a margin, so that "no difference" needs evidence of its own.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations, product
from typing import Annotated, Literal, NamedTuple

import numpy as np
from pydantic import Field

from uniclaw.errors import UserError
from uniclaw.records import Count, Record, Unit
from uniclaw.statistics import foreign
from uniclaw.statistics.estimates import Estimate, Options
from uniclaw.statistics.foreign import Floats
from uniclaw.statistics.intervals import (
    FEW,
    Totals,
    design_of,
    linearised,
    percentile_ends,
    resample_weights,
    resampled_ratios,
    totals,
)
from uniclaw.statistics.measures import Definition, Measure, value
from uniclaw.statistics.pairs import Pairs, difference_estimate, pair
from uniclaw.statistics.rows import AXES, CELL_AXES, Axis, EpisodeRow, Rows, as_rows, group, select

EXACT = 13
"""Families with a difference up to which all sign flips are counted."""

Conclusion = Literal["different", "equivalent", "different_within_margin", "undecided", "undefined"]


class CompareOptions(Options):
    """Options of `compare`."""

    by: tuple[Axis, ...] = ("cell",)
    """Axes whose combinations are compared with one another."""
    where: Mapping[Axis, tuple[str, ...]] = Field(default_factory=dict[Axis, tuple[str, ...]])
    within: tuple[str, ...] = ()
    """Keep rows that have each of these values on some axis (`openclaw`)."""
    paired: bool = True
    """False: difference of means over all episodes of either side; families are still
    resampled jointly, but there is no test on pairs."""
    definition: Definition = "paper"
    pass_margin: Annotated[float, Field(gt=0, lt=1)] = 0.05
    """Difference of pass rates that is too small to matter."""
    score_margin: Annotated[float, Field(gt=0, lt=1)] = 0.05
    alpha: Annotated[float, Field(gt=0, lt=1)] = 0.05
    """Level of tests, after Holm's correction."""


class Comparison(Record):
    """One measure of one pair: left minus right."""

    left: float | None
    """Mean over the paired tasks (over all episodes when not paired)."""
    right: float | None
    difference: Estimate
    p: Unit | None
    """Permutation test; None when undefined (see `difference.reason`) or not paired."""
    p_holm: Unit | None = None
    margin: float
    equivalence_p: Unit | None
    """Two one-sided tests against the margin (Schuirmann 1987), with the cluster variance."""
    equivalence_p_holm: Unit | None = None
    conclusion: Conclusion = "undefined"


class McNemar(Record):
    """Discordant pairs of pass; undefined where a task has several trials."""

    left_only: Count | None
    right_only: Count | None
    p_exact: Unit | None
    """Exact binomial test; takes tasks as independent."""
    p_clustered: Unit | None
    """Durkalski et al. 2003 for clustered pairs: (sum d_k)^2 / sum d_k^2 against chi-square 1,
    with d_k the mean difference of family k."""
    reason: str | None = None


class PairResult(Record):
    """Two cells compared."""

    left: Mapping[str, str]
    right: Mapping[str, str]
    tasks: Count
    families: Count
    passing: Comparison
    score: Comparison
    mcnemar: McNemar


class CompareReport(Record):
    """Answer of `compare`."""

    by: tuple[str, ...]
    paired: bool
    definition: Definition
    level: float
    alpha: float
    cells: tuple[Mapping[str, str], ...]
    pairs: tuple[PairResult, ...]
    warnings: tuple[str, ...] = ()


def compare(rows: Rows, options: CompareOptions | None = None) -> CompareReport:
    """Compare every pair of cells.

    Raises:
        UserError: fewer than two cells, an unknown axis or value, no or duplicate rows, NaN.
    """
    chosen = options or CompareOptions()
    kept = select(as_rows(rows), {str(k): v for k, v in chosen.where.items()})
    for wanted in chosen.within:
        kept = select(kept, {axis_with(kept, wanted): (wanted,)})
    groups = group(kept, chosen.by)
    if len(groups) < 2:
        raise UserError("a comparison needs two cells or more", field="by", value=sorted(groups))
    results = [_pair(groups, a, b, chosen) for a, b in combinations(groups, 2)]
    return CompareReport(
        by=chosen.by,
        paired=chosen.paired,
        definition=chosen.definition,
        level=chosen.level,
        alpha=chosen.alpha,
        cells=tuple(dict(zip(chosen.by, key, strict=True)) for key in groups),
        pairs=_corrected(results, chosen),
    )


def axis_with(rows: Sequence[EpisodeRow], wanted: str) -> str:
    """The axis on which some row has this value.

    Raises:
        UserError: no axis has it.
    """
    for name in AXES:
        if any(wanted in row.axis(name) for row in rows):
            return name
    raise UserError("no row has this value on any axis", field="within", value=wanted)


def _pair(
    groups: Mapping[tuple[str, ...], Sequence[EpisodeRow]],
    a: tuple[str, ...],
    b: tuple[str, ...],
    options: CompareOptions,
) -> PairResult:
    left, right = groups[a], groups[b]
    fixed = [axis for axis in CELL_AXES if axis not in options.by and "cell" not in options.by]
    sides = {
        measure: pair(left, right, measure, options.definition, fixed)
        for measure in ("pass", "score")
    }
    passing, score = sides["pass"], sides["score"]
    judged = {
        "pass": _compared(passing, (left, right), "pass", options.pass_margin, options),
        "score": _compared(score, (left, right), "score", options.score_margin, options),
    }
    return PairResult(
        left=dict(zip(options.by, a, strict=True)),
        right=dict(zip(options.by, b, strict=True)),
        tasks=len(passing.units),
        families=passing.plan.size,
        passing=judged["pass"],
        score=judged["score"],
        mcnemar=mcnemar(passing),
    )


def _compared(
    pairs: Pairs,
    sides: tuple[Sequence[EpisodeRow], Sequence[EpisodeRow]],
    measure: Measure,
    margin: float,
    options: CompareOptions,
) -> Comparison:
    if not options.paired:
        return _unpaired(sides, measure, margin, options)
    n = len(pairs.units)
    difference = difference_estimate(pairs, options)
    test = clustered_test(pairs, margin) if n else None
    return Comparison(
        left=sum(pairs.left) / n if n else None,
        right=sum(pairs.right) / n if n else None,
        difference=difference,
        p=permutation_p(pairs, options) if n else None,
        margin=margin,
        equivalence_p=None if test is None else test.equivalence_p,
    )


class ClusteredTest(NamedTuple):
    """Equivalence test of a paired mean by its clustered variance."""

    se: float
    df: int
    equivalence_p: float


def clustered_test(pairs: Pairs, margin: float) -> ClusteredTest | None:
    """Two one-sided t tests of |difference| >= margin.

    None with fewer than `FEW` families, or when none differs: too little for a claim of equality.
    """
    data = totals(pairs.plan, [pairs.differences])
    return _one_sided(data, pairs.plan.strata, margin)


def _one_sided(
    data: Totals, strata: "np.ndarray[tuple[int], np.dtype[np.int64]]", margin: float
) -> ClusteredTest | None:
    sums, counts = data.sums[:, 0], data.counts[:, 0]
    spread = linearised(sums, counts, strata)
    if spread.clusters < FEW or spread.variance < 1e-15:
        return None
    se = float(np.sqrt(spread.variance))
    mean = float(sums.sum() / counts.sum())
    above = foreign.t_upper((mean + margin) / se, spread.df)
    below = foreign.t_upper((margin - mean) / se, spread.df)
    return ClusteredTest(se, spread.df, max(above, below))


def permutation_p(pairs: Pairs, options: Options, exact: int = EXACT) -> float | None:
    """Two-sided permutation test: the sign of each family's differences is flipped as one.

    All flips are counted up to `exact` families with a difference; beyond that `resamples`
    random flips give (1 + hits) / (1 + flips) (Phipson and Smyth 2010). None when no family
    differs: there is nothing to permute.
    """
    sums = totals(pairs.plan, [pairs.differences]).sums[:, 0]
    moved: Floats = sums[np.abs(sums) > 1e-12]
    if not len(moved):
        return None
    observed = abs(float(moved.sum())) - 1e-9
    if len(moved) <= exact:
        every = np.array(list(product((1.0, -1.0), repeat=len(moved))))
        return float(np.mean(np.abs(every @ moved) >= observed))
    rng = np.random.default_rng(options.seed)
    signs = 1.0 - 2.0 * rng.integers(0, 2, (options.resamples, len(moved)), dtype=np.int8)
    hits = int(np.sum(np.abs(signs @ moved) >= observed))
    return (1 + hits) / (1 + options.resamples)


def mcnemar(pairs: Pairs) -> McNemar:
    """McNemar's exact test and its clustered form, on tasks with one trial a side."""
    reason = None
    if not pairs.units:
        reason = "the two sides share no task with a value"
    elif not pairs.single:
        reason = "needs exactly one trial of each task on either side"
    if reason is not None:
        return McNemar(
            left_only=None, right_only=None, p_exact=None, p_clustered=None, reason=reason
        )
    changes = [change for _, change in pairs.differences]
    left_only, right_only = changes.count(1.0), changes.count(-1.0)
    discordant = left_only + right_only
    if not discordant:
        return McNemar(
            left_only=0, right_only=0, p_exact=None, p_clustered=None, reason="no discordant pair"
        )
    data = totals(pairs.plan, [pairs.differences])
    means = data.sums[:, 0] / data.counts[:, 0]
    square = float((means**2).sum())
    clustered = foreign.chi2_upper(float(means.sum()) ** 2 / square, 1) if square > 0 else None
    return McNemar(
        left_only=left_only,
        right_only=right_only,
        p_exact=foreign.binomial_two_sided(left_only, discordant),
        p_clustered=clustered,
        reason=None if square > 0 else "discordant pairs cancel within every family",
    )


def _unpaired(
    sides: tuple[Sequence[EpisodeRow], Sequence[EpisodeRow]],
    measure: Measure,
    margin: float,
    options: CompareOptions,
) -> Comparison:
    """Difference of two means whose families are resampled together."""
    plan = design_of([*sides[0], *sides[1]])
    columns = [
        [(r.family, v) for r in side if (v := value(r, measure, options.definition)) is not None]
        for side in sides
    ]
    if not all(columns):
        gone = Estimate(value=None, reason="one side has no value", level=options.level)
        return Comparison(
            left=None, right=None, difference=gone, p=None, margin=margin, equivalence_p=None
        )
    data = totals(plan, columns)
    means = data.sums.sum(axis=0) / data.counts.sum(axis=0)
    ratios = resampled_ratios(data, resample_weights(plan, options))
    draws = (ratios[:, 0] - ratios[:, 1])[np.isfinite(ratios).all(axis=1)]
    difference = Estimate(
        value=float(means[0] - means[1]),
        n=len(columns[0]) + len(columns[1]),
        clusters=plan.size,
        level=options.level,
    )
    if plan.size < 2 or not len(draws) or float(np.ptp(draws)) == 0:
        reason = "one cluster, or all clusters equal: no interval"
        difference = difference.model_copy(update={"reason": reason})
    else:
        df = max(plan.size - int(plan.strata.max()) - 1, 1)
        low, high = percentile_ends(draws, options.level, df)
        difference = difference.model_copy(
            update={"low": low, "high": high, "method": "cluster_bootstrap"}
        )
    return Comparison(
        left=float(means[0]),
        right=float(means[1]),
        difference=difference,
        p=None,
        margin=margin,
        equivalence_p=None,
    )


def _corrected(results: Sequence[PairResult], options: CompareOptions) -> tuple[PairResult, ...]:
    """Holm over all pairs, for each measure and for difference and equivalence apart."""
    passing = _holm([result.passing for result in results], options.alpha)
    score = _holm([result.score for result in results], options.alpha)
    return tuple(
        result.model_copy(update={"passing": p, "score": s})
        for result, p, s in zip(results, passing, score, strict=True)
    )


def _holm(found: Sequence[Comparison], alpha: float) -> list[Comparison]:
    differ = iter(foreign.holm([c.p for c in found if c.p is not None]))
    equal = iter(foreign.holm([c.equivalence_p for c in found if c.equivalence_p is not None]))
    corrected: list[Comparison] = []
    for comparison in found:
        p = None if comparison.p is None else next(differ)
        q = None if comparison.equivalence_p is None else next(equal)
        corrected.append(
            comparison.model_copy(
                update={
                    "p_holm": p,
                    "equivalence_p_holm": q,
                    "conclusion": _conclusion(comparison, p, q, alpha),
                }
            )
        )
    return corrected


def _conclusion(
    comparison: Comparison, p: float | None, q: float | None, alpha: float
) -> Conclusion:
    if comparison.difference.value is None:
        return "undefined"
    if p is None and q is None:
        return "undecided"
    different = p is not None and p < alpha
    equivalent = q is not None and q < alpha
    if different and equivalent:
        return "different_within_margin"
    if different:
        return "different"
    return "equivalent" if equivalent else "undecided"
