"""Variance shares against closed forms, statsmodels and simulation."""

import numpy as np
import pytest
from row_builder import row

from uniclaw.errors import UserError
from uniclaw.statistics import mixed
from uniclaw.statistics.foreign import Floats, expit
from uniclaw.statistics.intervals import design
from uniclaw.statistics.rows import EpisodeRow
from uniclaw.statistics.squares import Table, setting_squares, table_squares
from uniclaw.statistics.variance import VarianceOptions, variance

QUICK = VarianceOptions(resamples=500, definition="final")


def grid(table: Floats, *, twins: bool = False) -> list[EpisodeRow]:
    h, m, t = table.shape
    return [
        row(
            f"t{k:03d}",
            bool(table[i, j, k] >= 0.5),
            float(np.clip(table[i, j, k], 0, 1)),
            family=f"f{k // 2:03d}" if twins else None,
            harness=f"h{i}",
            model=f"m{j}",
        )
        for i in range(h)
        for j in range(m)
        for k in range(t)
    ]


def simulated(h: int, m: int, t: int, sd: dict[str, float], seed: int) -> Floats:
    rng = np.random.default_rng(seed)
    return np.asarray(
        0.5
        + rng.normal(0, sd.get("h", 0), (h, 1, 1))
        + rng.normal(0, sd.get("m", 0), (1, m, 1))
        + rng.normal(0, sd.get("hm", 0), (h, m, 1))
        + rng.normal(0, sd.get("t", 0), (1, 1, t))
        + rng.normal(0, sd.get("e", 0), (h, m, t)),
        dtype=np.float64,
    )


def test_sums_of_squares_add_up_to_the_total() -> None:
    table = simulated(3, 4, 10, {"h": 0.1, "m": 0.1, "t": 0.2, "e": 0.1}, 0)
    squares, df = mixed.mean_squares(table)
    assert squares.sum() == pytest.approx(((table - table.mean()) ** 2).sum())
    assert df.sum() == table.size - 1


def test_setting_squares_equal_a_hand_computed_table() -> None:
    # means 0.2 0.4 / 0.6 1.0: harness 2 * 2 * 0.25^2, model 2 * 2 * 0.15^2, rest 4 * 0.05^2
    found = table_squares(np.array([[0.2, 0.4], [0.6, 1.0]]))
    assert found == pytest.approx([0.25, 0.09, 0.01])


def restricted_likelihood(table: Floats, components: dict[str, float]) -> float:
    """Log restricted likelihood by the dense covariance matrix, with an intercept alone."""
    h, m, t = (index.ravel() for index in np.indices(table.shape))
    same_h, same_m, same_t = (np.equal.outer(index, index) for index in (h, m, t))
    parts = {
        "harness": same_h,
        "model": same_m,
        "harness_model": same_h & same_m,
        "task": same_t,
        "harness_task": same_h & same_t,
        "model_task": same_m & same_t,
        "residual": np.eye(len(h), dtype=np.bool_),
    }
    covariance = sum(components[name] * part for name, part in parts.items())
    assert isinstance(covariance, np.ndarray)
    inverse = np.linalg.inv(covariance)
    ones, y = np.ones(len(h)), table.ravel()
    weight = float(ones @ inverse @ ones)
    rest = y - float(ones @ inverse @ y) / weight
    determinant = float(np.linalg.slogdet(covariance)[1])
    return -0.5 * (determinant + float(np.log(weight)) + float(rest @ inverse @ rest))


@pytest.mark.parametrize("seed", [3, 9])
def test_reml_is_the_maximum_of_the_dense_restricted_likelihood(seed: int) -> None:
    """Seed 9 has no negative analysis-of-variance estimate; seed 3 has two."""
    table = simulated(4, 5, 12, {"h": 0.25, "m": 0.2, "hm": 0.1, "t": 0.3, "e": 0.15}, seed)
    found = mixed.reml_components(table)
    best = restricted_likelihood(table, found)
    rng = np.random.default_rng(0)
    for _ in range(60):
        factors = np.exp(rng.normal(0, 0.1, len(found)))
        moved = {
            name: value * float(factor) + float(rng.random() < 0.3) * 1e-4
            for (name, value), factor in zip(found.items(), factors, strict=True)
        }
        assert restricted_likelihood(table, moved) <= best + 1e-5


def test_reml_equals_the_analysis_of_variance_where_that_is_not_negative() -> None:
    table = simulated(3, 3, 30, {"h": 0.3, "m": 0.3, "hm": 0.1, "t": 0.3, "e": 0.2}, 8)
    squares, df = mixed.mean_squares(table)
    moments = np.linalg.solve(mixed.expected(3, 3, 30), squares / df)
    found = np.array([mixed.reml_components(table)[n] for n in mixed.EFFECTS])
    assert found.min() >= 0
    if moments.min() >= 0:
        assert found == pytest.approx(moments)
    else:
        assert found[0] == pytest.approx(moments[0], rel=0.1)


def test_pivotal_intervals_of_the_harness_component_cover_with_three_harnesses() -> None:
    hits, runs = 0, 400
    for seed in range(runs):
        table = simulated(3, 3, 20, {"h": 0.3, "m": 0.2, "t": 0.3, "e": 0.2}, 1000 + seed)
        draws = mixed.pivotal_components(table, 600, seed)[:, 0]
        low, high = np.quantile(draws, [0.025, 0.975])
        hits += low <= 0.09 <= high
    assert 0.92 <= hits / runs <= 0.985


def counts(table: Floats) -> mixed.Counts:
    h, m, t = table.shape
    return mixed.Counts(
        passes=table.reshape(h * m, t).T.copy(),
        trials=np.ones((t, h * m)),
        harnesses=h,
        models=m,
    )


def test_the_laplace_fit_recovers_planted_logit_components() -> None:
    rng = np.random.default_rng(2)
    found: list[dict[str, float]] = []
    for _ in range(5):
        eta = (
            rng.normal(0, 0.8, (5, 1, 1))
            + rng.normal(0, 0.8, (1, 5, 1))
            + rng.normal(0, 1.5, (1, 1, 300))
            + np.zeros((5, 5, 300))
        )
        table = (rng.random(eta.shape) < expit(eta)).astype(np.float64)
        fit = mixed.fit_logit(counts(table))
        assert fit.converged
        found.append(dict(fit.variances))
    assert np.mean([f["task"] for f in found]) == pytest.approx(2.25, rel=0.15)
    assert np.mean([f["harness"] for f in found]) == pytest.approx(0.64, rel=0.7)
    assert np.mean([f["harness_model"] for f in found]) < 0.05


def test_the_laplace_likelihood_equals_quadrature_with_one_random_factor() -> None:
    """With the small components at zero, tasks integrate out one by one."""
    rng = np.random.default_rng(4)
    rates = expit(-0.4 + rng.normal(0, 0.5, (30, 1)) + np.zeros((30, 4)))
    passes = rng.binomial(40, rates).astype(np.float64)
    data = mixed.Counts(passes=passes, trials=np.full((30, 4), 40.0), harnesses=2, models=2)
    fit = mixed.fit_logit(data)
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)

    def exact(log_sd: float) -> float:
        shift = np.exp(log_sd) * nodes
        grid = np.linspace(-1.5, 0.5, 401)
        inner = np.array([_marginal(b, shift, weights, passes) for b in grid])
        top = inner.max()
        return float(top + np.log(np.exp(inner - top).sum()))

    best = max(np.linspace(-4, 0, 81), key=exact)
    assert 0.5 * np.log(max(fit.variances["task"], 1e-6)) == pytest.approx(best, abs=0.15)


def _marginal(intercept: float, shift: Floats, weights: Floats, passes: Floats) -> float:
    eta = intercept + shift
    each = passes.sum(axis=1)[:, None] * eta - 160 * np.logaddexp(0, eta)
    top = each.max(axis=1, keepdims=True)
    inner = (np.exp(each - top) * weights).sum(axis=1)
    return float((np.log(inner) + top[:, 0]).sum())


def test_the_claim_follows_a_planted_effect() -> None:
    by_harness = simulated(3, 3, 120, {"t": 0.15, "e": 0.1}, 5)
    by_harness += np.array([-0.15, 0.0, 0.15])[:, None, None]
    assert variance(grid(by_harness), QUICK).score.squares[0].claim == "harness"
    assert variance(grid(by_harness.swapaxes(0, 1)), QUICK).score.squares[0].claim == "model"
    neither = simulated(3, 3, 120, {"t": 0.15, "e": 0.1}, 5)
    report = variance(grid(neither), QUICK).score
    assert report.squares[0].claim == "undecided"
    assert "does not show" in report.sentence


def table_of(values: Floats) -> Table:
    h, m, t = values.shape
    plan = design({f"t{k:03d}": "s" for k in range(t)})
    return Table(
        harnesses=tuple(map(str, range(h))),
        models=tuple(map(str, range(m))),
        tasks=plan.names,
        plan=plan,
        cluster=np.arange(t, dtype=np.float64),
        sums=values,
        counts=np.ones(values.shape),
    )


def test_the_corrected_contrast_covers_in_repeated_samples_of_tasks() -> None:
    """Harness and model effects of one size: the true contrast is 0."""
    effect = np.array([-0.1, 0.0, 0.1])
    hits, runs = 0, 2000
    for seed in range(runs):
        table = simulated(3, 3, 50, {"t": 0.1, "e": 0.15}, 7000 + seed)
        table += effect[:, None, None] + effect[None, :, None]
        ends = setting_squares(table_of(table), "score", QUICK).contrast.ci
        hits += ends is not None and ends[0] <= 0 <= ends[1]
    assert 0.93 <= hits / runs <= 0.97


def test_a_cell_that_passes_everything_leaves_the_logit_without_intervals() -> None:
    table = simulated(2, 2, 20, {"t": 0.3, "e": 0.3}, 1)
    table[0, 0] = 1.0
    shares = variance(grid(table), QUICK).passing.random[1]
    assert shares.claim == "undefined"
    assert all(share.ci is None for share in shares.shares.values())
    assert "passes everything or nothing" in (shares.reason or "")


def test_an_incomplete_grid_is_refused_with_the_shared_models() -> None:
    rows = grid(simulated(2, 3, 4, {"e": 0.1}, 0))
    rows = [r for r in rows if (r.harness, r.model) != ("h1", "m2")]
    with pytest.raises(UserError, match="models that every harness has: m0, m1"):
        variance(rows, QUICK)


def test_one_harness_is_refused() -> None:
    with pytest.raises(UserError, match="two harnesses and two models"):
        variance(grid(simulated(1, 3, 4, {"e": 0.1}, 0)), QUICK)


def test_all_equal_has_no_shares() -> None:
    report = variance(grid(np.full((2, 2, 6), 1.0)), QUICK)
    assert report.score.squares[0].claim == "undefined"
    assert report.score.random[0].components is None
    assert report.passing.random[1].reason is not None
    assert "NaN" not in report.model_dump_json()


def test_tasks_without_every_cell_are_dropped_and_counted() -> None:
    rows = grid(simulated(2, 2, 8, {"t": 0.2, "e": 0.2}, 1), twins=True)
    report = variance([r for r in rows if not (r.harness == "h0" and r.task_id == "t003")], QUICK)
    assert (report.tasks, report.dropped_tasks, report.families) == (7, 1, 4)
