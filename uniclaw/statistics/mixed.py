"""Crossed random effects for a complete harness x model x task table.

Linear part: for a balanced table the restricted likelihood depends on the data through the
mean squares of the analysis of variance alone (Searle, Casella and McCulloch 1992, chapter 4),
so REML is a small bounded optimisation, exact and fast. Intervals are generalised pivotal
quantities (Weerahandi 1993): each mean square is divided by a chi-square draw over its degrees
of freedom, which is right with two degrees of freedom too, where Wald intervals are not.

Logit part: a crossed random-effects logistic model for pass, fitted by the Laplace
approximation (Breslow and Clayton 1993; Bates et al. 2015 for the profile). The tasks make a
diagonal block that is eliminated by a Schur complement, so a fit takes a third of a second.
Intervals are generalised pivotal quantities on the cell logits (`pivotal_logit`).
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from uniclaw.statistics import foreign
from uniclaw.statistics.foreign import Floats

EFFECTS = (
    "harness",
    "model",
    "harness_model",
    "task",
    "harness_task",
    "model_task",
    "residual",
)
LATENT = ("harness", "model", "harness_model", "task", "residual")
LOGISTIC_VARIANCE = float(np.pi**2 / 3)
"""Variance of the standard logistic distribution: the residual on the latent scale."""


class MeanSquares(NamedTuple):
    """Sums of squares and degrees of freedom by effect, in the order of `EFFECTS`."""

    squares: Floats
    df: NDArray[np.int64]


def mean_squares(table: Floats) -> MeanSquares:
    """Analysis of variance of a (harness, model, task) table with one value a cell.

    The residual is the three-way interaction together with run-to-run noise.
    """
    h, m, t = table.shape
    grand = table.mean()
    by_h, by_m, by_t = (table.mean(axis=axes) - grand for axes in ((1, 2), (0, 2), (0, 1)))
    hm = table.mean(axis=2) - grand - by_h[:, None] - by_m[None, :]
    ht = table.mean(axis=1) - grand - by_h[:, None] - by_t[None, :]
    mt = table.mean(axis=0) - grand - by_m[:, None] - by_t[None, :]
    fitted = (
        grand
        + by_h[:, None, None]
        + by_m[None, :, None]
        + by_t[None, None, :]
        + hm[:, :, None]
        + ht[:, None, :]
        + mt[None, :, :]
    )
    rest = table - fitted
    squares = [
        m * t * (by_h**2).sum(),
        h * t * (by_m**2).sum(),
        t * (hm**2).sum(),
        h * m * (by_t**2).sum(),
        m * (ht**2).sum(),
        h * (mt**2).sum(),
        (rest**2).sum(),
    ]
    a, b, c = h - 1, m - 1, t - 1
    return MeanSquares(
        np.array(squares, dtype=np.float64),
        np.array([a, b, a * b, c, a * c, b * c, a * b * c], dtype=np.int64),
    )


def expected(h: int, m: int, t: int) -> Floats:
    """Expected mean squares: one row an effect, one column a variance component."""
    return np.array(
        [
            [m * t, 0, t, 0, m, 0, 1],
            [0, h * t, t, 0, 0, h, 1],
            [0, 0, t, 0, 0, 0, 1],
            [0, 0, 0, h * m, m, h, 1],
            [0, 0, 0, 0, m, 0, 1],
            [0, 0, 0, 0, 0, h, 1],
            [0, 0, 0, 0, 0, 0, 1],
        ],
        dtype=np.float64,
    )


def reml_components(table: Floats) -> dict[str, float]:
    """REML variance components, none negative.

    Where the analysis-of-variance estimates are all non-negative they are the REML estimates;
    otherwise the restricted likelihood is maximised over the non-negative ones.
    """
    squares, df = mean_squares(table)
    scale = float(squares.sum()) / max(table.size - 1, 1)
    if scale <= 0:
        return dict.fromkeys(EFFECTS, 0.0)
    ms = squares / df / scale
    design = expected(*table.shape)
    moments = foreign.solve(design, ms)
    if (moments < 0).any():

        def deviance(components: Floats) -> float:
            means = np.maximum(design @ components, 1e-12)
            return float((df * (np.log(means) + ms / means)).sum())

        start = np.maximum(moments, 1e-3)
        moments = foreign.minimise(deviance, start, lower=0.0, upper=1e3).x
    return dict(zip(EFFECTS, (moments * scale).tolist(), strict=True))


def pivotal_components(table: Floats, draws: int, seed: int) -> Floats:
    """Generalised pivotal draws of the components (rows draws, columns `EFFECTS`), cut at 0."""
    squares, df = mean_squares(table)
    rng = np.random.default_rng(seed)
    means = squares / rng.chisquare(df, size=(draws, len(df)))
    solved = foreign.solve(expected(*table.shape), means.T).T
    return np.maximum(solved, 0.0)


# --- logit -------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Counts:
    """Passes and trials of a complete table, flattened to (task, harness x model)."""

    passes: Floats
    trials: Floats
    harnesses: int
    models: int


class LogitFit(NamedTuple):
    """A fitted crossed logistic model on the latent scale."""

    intercept: float
    variances: Mapping[str, float]
    """By `LATENT`; the residual is pi^2 / 3."""
    converged: bool


def small_design(harnesses: int, models: int) -> Floats:
    """Design of intercept, harness, model and their pairs over the harness x model cells."""
    cells = harnesses * models
    design = np.zeros((cells, 1 + harnesses + models + cells))
    design[:, 0] = 1
    for cell in range(cells):
        design[cell, 1 + cell // models] = 1
        design[cell, 1 + harnesses + cell % models] = 1
        design[cell, 1 + harnesses + models + cell] = 1
    return design


class _Mode:
    """Penalised likelihood of one table: finds the mode of the effects, warm-started.

    Tasks with the same passes and trials share their effect, so each pattern is kept once with
    its number of tasks.
    """

    def __init__(self, data: Counts, *, fixed: bool = False) -> None:
        both = np.concatenate([data.passes, data.trials], axis=1)
        patterns, times = np.unique(both, axis=0, return_counts=True)
        cells = data.passes.shape[1]
        data = replace(data, passes=patterns[:, :cells], trials=patterns[:, cells:])
        self.data = data
        self.times: Floats = times.astype(np.float64)
        self.fixed = fixed
        self.design = np.eye(cells) if fixed else small_design(data.harnesses, data.models)
        rate = float(data.passes.sum() / data.trials.sum())
        rate = min(max(rate, 0.01), 0.99)
        self.small = np.zeros(self.design.shape[1])
        self.small[: cells if fixed else 1] = np.log(rate / (1 - rate))
        self.task = np.zeros(data.passes.shape[0])

    def precision(self, log_sd: Floats) -> tuple[Floats, float]:
        h, m = self.data.harnesses, self.data.models
        inverse = np.exp(-2 * log_sd)
        if self.fixed:
            return np.zeros(h * m), float(inverse[3])
        sizes = (h, m, h * m)
        small = np.concatenate(
            [[0.0], *(np.full(size, p) for size, p in zip(sizes, inverse[:3], strict=True))]
        )
        return small, float(inverse[3])

    def negative_log_likelihood(self, log_sd: Floats) -> float:
        """Laplace approximation of minus the marginal log-likelihood at these log sds."""
        small_p, task_p = self.precision(log_sd)
        small, task = self.small, self.task
        penalised = self._penalised(small, task, small_p, task_p)
        for _ in range(60):
            before = penalised
            small, task, penalised = self._ascend(small, task, small_p, task_p, before)
            if penalised - before < 1e-9:
                break
        self.small, self.task = small, task
        return -(penalised + self._determinants(small, task, small_p, task_p))

    def _ascend(
        self, small: Floats, task: Floats, small_p: Floats, task_p: float, before: float
    ) -> tuple[Floats, Floats, float]:
        """One Newton step, halved until the penalised likelihood does not fall."""
        step_small, step_task = self._step(small, task, small_p, task_p)
        for halving in range(12):
            factor = 0.5**halving
            moved = small + factor * step_small, task + factor * step_task
            value = self._penalised(*moved, small_p, task_p)
            if value >= before:
                return *moved, value
        return small, task, before

    def _eta(self, small: Floats, task: Floats) -> Floats:
        return (self.design @ small)[None, :] + task[:, None]

    def _penalised(self, small: Floats, task: Floats, small_p: Floats, task_p: float) -> float:
        eta = self._eta(small, task)
        fit = self.data.passes * eta - self.data.trials * np.logaddexp(0, eta)
        ridge = (small_p * small**2).sum() + task_p * (self.times * task**2).sum()
        return float((self.times @ fit).sum() - 0.5 * ridge)

    def _blocks(
        self, small: Floats, task: Floats, small_p: Floats, task_p: float
    ) -> tuple[Floats, Floats, Floats]:
        """Schur complement of the small block, coupling, and the diagonal of the task block."""
        rate = foreign.expit(self._eta(small, task))
        weight = self.data.trials * rate * (1 - rate)
        diagonal = weight.sum(axis=1) + task_p
        coupling = weight @ self.design
        block = self.design.T @ ((self.times @ weight)[:, None] * self.design) + np.diag(small_p)
        inverse = (self.times / diagonal)[:, None]
        return block - coupling.T @ (coupling * inverse), coupling, diagonal

    def _step(
        self, small: Floats, task: Floats, small_p: Floats, task_p: float
    ) -> tuple[Floats, Floats]:
        schur, coupling, diagonal = self._blocks(small, task, small_p, task_p)
        rest = self.data.passes - self.data.trials * foreign.expit(self._eta(small, task))
        gradient_task = rest.sum(axis=1) - task_p * task
        gradient_small = self.design.T @ (self.times @ rest) - small_p * small
        reduced = gradient_small - coupling.T @ (self.times * gradient_task / diagonal)
        step_small = foreign.solve(schur, reduced)
        return step_small, (gradient_task - coupling @ step_small) / diagonal

    def covariance(self, log_sd_task: float) -> Floats:
        """Sampling covariance of the small effects at the mode found last."""
        small_p, task_p = self.precision(np.array([0.0, 0.0, 0.0, log_sd_task]))
        schur, _, _ = self._blocks(self.small, self.task, small_p, task_p)
        return foreign.solve(schur, np.eye(len(schur)))

    def _determinants(self, small: Floats, task: Floats, small_p: Floats, task_p: float) -> float:
        """Half the log determinants of prior precision and of minus the Hessian."""
        schur, _, diagonal = self._blocks(small, task, small_p, task_p)
        prior = np.log(small_p[small_p > 0]).sum() + self.times.sum() * np.log(task_p)
        _, log_schur = np.linalg.slogdet(schur)
        return float(0.5 * (prior - log_schur - self.times @ np.log(diagonal)))


_FLOOR = -6.0
"""Smallest log standard deviation: below it a component is as good as zero."""
_CEILING = 3.0
"""Largest log standard deviation: logits of 20 are as good as certain."""


def fit_logit(data: Counts, start: Floats | None = None) -> LogitFit:
    """Maximum (Laplace) likelihood of the crossed logistic model.

    Args:
        data: A complete table of passes and trials.
        start: Log standard deviations of harness, model, their pair and task to start at.
    """
    mode = _Mode(data)
    begin = np.array([-1.0, -1.0, -1.5, 0.5]) if start is None else start
    found = foreign.minimise(mode.negative_log_likelihood, begin, lower=_FLOOR, upper=_CEILING)
    mode.negative_log_likelihood(found.x)
    values = np.where(found.x <= _FLOOR + 1e-6, 0.0, np.exp(2 * found.x)).tolist()
    return LogitFit(
        intercept=float(mode.small[0]),
        variances=dict(zip(LATENT, [*values, LOGISTIC_VARIANCE], strict=True)),
        converged=found.converged,
    )


def pivotal_logit(data: Counts, draws: int, seed: int) -> Floats:
    """Generalised pivotal draws of the latent variances (rows draws, columns `LATENT`).

    In two stages. The model with a fixed logit for each harness x model cell and random tasks
    gives the cell logits and their sampling covariance, whose contrasts have about one common
    variance s^2 (the cells see the same tasks). Then the cell logits are a balanced two-way
    table with known error s^2: its mean squares, divided by chi-square draws, give the harness,
    model and interaction components as in `pivotal_components`. The task component is drawn
    from the normal approximation of its log standard deviation.
    """
    h, m = data.harnesses, data.models
    mode = _Mode(data, fixed=True)

    def profile(log_sd: Floats) -> float:
        return mode.negative_log_likelihood(np.concatenate([np.zeros(3), log_sd]))

    best = foreign.minimise(profile, np.array([0.5]), lower=_FLOOR, upper=_CEILING).x
    step = np.array([0.05])
    bend = (profile(best + step) - 2 * profile(best) + profile(best - step)) / step[0] ** 2
    profile(best)
    covariance = mode.covariance(best[0])
    cells = h * m
    off = (covariance.sum() - np.trace(covariance)) / (cells * (cells - 1))
    error = float(np.trace(covariance) / cells - off)
    squares, df = mean_squares_two_way(mode.small.reshape(h, m))
    rng = np.random.default_rng(seed)
    means = squares / rng.chisquare(df, size=(draws, 3))
    pair = np.maximum(means[:, 2], error)
    spread = 0.0 if bend <= 0 else 1 / math.sqrt(bend)
    task = np.exp(2 * (best[0] + spread * rng.standard_normal(draws)))
    return np.stack(
        [
            np.maximum(means[:, 0] - pair, 0) / m,
            np.maximum(means[:, 1] - pair, 0) / h,
            pair - error,
            task,
            np.full(draws, LOGISTIC_VARIANCE),
        ],
        axis=1,
    )


def mean_squares_two_way(table: Floats) -> MeanSquares:
    """Sums of squares and degrees of freedom of harness, model and their pair in one table."""
    h, m = table.shape
    by_h = table.mean(axis=1) - table.mean()
    by_m = table.mean(axis=0) - table.mean()
    rest = table - table.mean() - by_h[:, None] - by_m[None, :]
    squares = [m * (by_h**2).sum(), h * (by_m**2).sum(), (rest**2).sum()]
    return MeanSquares(
        np.array(squares, dtype=np.float64),
        np.array([h - 1, m - 1, (h - 1) * (m - 1)], dtype=np.int64),
    )
