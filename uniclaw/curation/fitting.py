"""How well a subset stands for its suite: on fitted cells, on unseen cells, against chance."""

from typing import Literal

import numpy as np

from uniclaw.curation.problem import Found, LiteOptions, Mask, Suite, search_subset
from uniclaw.curation.search import Indices, quotas_of
from uniclaw.records import Count, Record, Unit
from uniclaw.statistics import foreign
from uniclaw.statistics.foreign import Floats


class Fit(Record):
    """How well a subset stands for the whole on some cells."""

    cells: Count
    mean_error: Unit
    max_error: Unit
    tau: float | None
    """None with fewer than two cells, or when all have one rate."""
    stratum_mean_error: Unit
    """Mean over cells and strata."""


def fit_on(suite: Suite, chosen: Indices, which: Mask) -> Fit:
    """How a subset does on the cells of a mask."""
    return _fit_of(*_errors(suite, chosen, which))


def _errors(suite: Suite, chosen: Indices, which: Mask) -> tuple[Floats, Floats, Floats]:
    """Full rates, lite rates, and |difference| by stratum and cell."""
    rates = suite.rates[:, which]
    inside = np.zeros(len(suite.tasks), dtype=np.bool_)
    inside[chosen] = True
    strata = [
        np.abs(rates[where][inside[where]].mean(axis=0) - rates[where].mean(axis=0))
        for where in suite.positions.values()
    ]
    return rates.mean(axis=0), rates[chosen].mean(axis=0), np.stack(strata)


def _fit_of(full: Floats, part: Floats, strata: Floats) -> Fit:
    error = np.abs(part - full)
    flat = len(full) < 2 or float(np.ptp(full)) == 0 or float(np.ptp(part)) == 0
    return Fit(
        cells=len(full),
        mean_error=float(error.mean()),
        max_error=float(error.max()),
        tau=None if flat else foreign.kendall(full, part),
        stratum_mean_error=float(strata.mean()),
    )


def held_out_fit(
    suite: Suite,
    seen: Mask,
    found: Found,
    options: LiteOptions,
) -> tuple[Fit | None, Literal["holdout", "folds", "none"]]:
    """Fit on cells that the search did not see: the holdout, or each fold in turn.

    A fold's search has at most 50 restarts; the errors of all folds are pooled.
    """
    if options.holdout:
        return fit_on(suite, found.chosen, ~seen), "holdout"
    folds = min(options.folds, len(suite.cells))
    if folds < 2 or len(suite.cells) - -(-len(suite.cells) // folds) < 2:
        return None, "none"
    rng = np.random.default_rng([options.seed, 1])
    rules = options.rules.model_copy(update={"restarts": min(options.rules.restarts, 50)})
    parts: list[tuple[Floats, Floats, Floats]] = []
    for fold in np.array_split(rng.permutation(len(suite.cells)), folds):
        keep = np.ones(len(suite.cells), dtype=np.bool_)
        keep[fold] = False
        parts.append(_errors(suite, search_subset(suite, keep, options, rules).chosen, ~keep))
    full, part = (np.concatenate([p[i] for p in parts]) for i in (0, 1))
    return _fit_of(full, part, np.concatenate([p[2] for p in parts], axis=1)), "folds"


def random_fit(
    suite: Suite,
    found: Found,
    seen: Mask,
    options: LiteOptions,
    draws: int = 201,
) -> Fit:
    """The random subset with the median mean error among `draws` with the same quotas."""
    rng = np.random.default_rng([options.seed, 2])
    fits: list[Fit] = []
    quotas = [
        quotas_of(stratum, size, options.rules)
        for stratum, size in zip(found.strata, found.sizes, strict=True)
    ]
    for _ in range(draws):
        picked = [
            where[
                np.concatenate(
                    [
                        rng.choice(np.flatnonzero(stratum.quartile == q), quota, replace=False)
                        for q, quota in enumerate(quota_list)
                    ]
                ).astype(np.int64)
            ]
            for stratum, where, quota_list in zip(
                found.strata, suite.positions.values(), quotas, strict=True
            )
        ]
        fits.append(fit_on(suite, np.concatenate(picked), seen))
    return sorted(fits, key=lambda fit: fit.mean_error)[draws // 2]
