"""Agreement coefficients against published worked examples."""

import numpy as np
import pytest
from row_builder import play, row

from uniclaw.errors import UserError
from uniclaw.statistics.agreement import AgreementOptions, Weights, agreement, cohen_kappa
from uniclaw.statistics.coefficients import (
    Metric,
    gwet_ac1,
    krippendorff_alpha,
    linear_ac1,
    linear_alpha,
    linear_kappa,
    raw_agreement,
)
from uniclaw.statistics.ratings import Rating, ratings_of, read_labels

_ = np.nan
FOUR = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, _, _, _],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, _, 3],
        [_, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, _],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, _],
    ]
).T
"""Krippendorff 2011, section C: four observers, twelve units, missing values."""


@pytest.mark.parametrize(
    ("metric", "value"),
    [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849), ("ratio", 0.797)],
)
def test_alpha_equals_krippendorffs_example(metric: Metric, value: float) -> None:
    assert krippendorff_alpha(FOUR, metric) == pytest.approx(value, abs=5e-4)


def test_ac1_equals_gwets_example() -> None:
    # Gwet 2014 (irrCAC cac.raw4raters): AC1 0.77544, percent agreement 0.81818
    assert gwet_ac1(FOUR) == pytest.approx(0.77544, abs=5e-6)
    assert raw_agreement(FOUR) == pytest.approx(0.81818, abs=5e-6)


def test_kappa_equals_cohens_wikipedia_table() -> None:
    # 20 / 5 / 10 / 15 of fifty: p_o 0.7, p_e 0.5, kappa 0.4
    left = np.array([1.0] * 25 + [0.0] * 25)
    right = np.array([1.0] * 20 + [0.0] * 5 + [1.0] * 10 + [0.0] * 15)
    assert cohen_kappa(left, right, np.array([0.0, 1.0]), "none") == pytest.approx(0.4)


FLEISS = np.array([[53, 5, 2], [11, 14, 5], [1, 6, 3]])
"""Fleiss, Cohen and Everitt 1969, as in Cohen's weighted kappa examples."""


def test_the_linear_forms_equal_the_coefficients() -> None:
    rng = np.random.default_rng(0)
    left, right = rng.integers(0, 4, 200) / 3, rng.integers(0, 4, 200) / 3
    levels = np.unique(left)
    for weights in ("none", "linear", "quadratic"):
        form = linear_kappa(left, right, levels, weights)
        value = form.function(form.features.sum(axis=0)[None])[0]
        assert cohen_kappa(left, right, levels, weights) == pytest.approx(value)
    for metric in ("nominal", "interval"):
        form = linear_alpha(FOUR, metric)
        assert form.function(form.features.sum(axis=0)[None])[0] == pytest.approx(
            krippendorff_alpha(FOUR, metric)
        )
    form = linear_ac1(FOUR, np.arange(1.0, 6.0))
    assert form.function(form.features.sum(axis=0)[None])[0] == pytest.approx(gwet_ac1(FOUR))


def test_weighted_kappa_equals_the_formula_of_its_table() -> None:
    table = FLEISS
    rows, columns = np.nonzero(np.ones_like(table))
    left = np.repeat(rows, table.ravel()).astype(np.float64)
    right = np.repeat(columns, table.ravel()).astype(np.float64)
    share = table / table.sum()
    margins = np.outer(share.sum(axis=1), share.sum(axis=0))
    kinds: tuple[tuple[Weights, int], ...] = (("linear", 1), ("quadratic", 2))
    for weights, power in kinds:
        gap = np.abs(np.subtract.outer(np.arange(3), np.arange(3))) ** power
        expected = 1 - (gap * share).sum() / (gap * margins).sum()
        found = cohen_kappa(left, right, np.arange(3.0), weights)
        assert found == pytest.approx(expected)


@pytest.mark.parametrize("ratings", [np.array([[1.0, _], [_, 0.0]]), np.array([[1.0, 1.0]])])
def test_coefficients_without_pairs_or_variation_are_undefined(
    ratings: "np.ndarray[tuple[int, int], np.dtype[np.float64]]",
) -> None:
    assert krippendorff_alpha(ratings) is None


def rated(n: int = 60) -> list[Rating]:
    rng = np.random.default_rng(3)
    found: list[Rating] = []
    for i in range(n):
        truth = float(rng.random() < 0.5)
        for rater, error in (("human", 0.0), ("judge", 0.1)):
            value = truth if rng.random() >= error else 1 - truth
            found.append(
                Rating(
                    item=f"e{i}",
                    rater=rater,
                    value=value,
                    checkpoint=f"c{i % 2}",
                    cluster=f"f{i // 2}",
                )
            )
    return found


def test_a_report_holds_every_coefficient_per_checkpoint_and_calibration() -> None:
    report = agreement(rated(), AgreementOptions(reference="human", resamples=500))
    pair = report.overall.pairs[0]
    assert 0.6 < (pair.kappa.value or 0) < 1
    assert pair.kappa.ci is not None
    assert pair.kappa.clusters == 30
    assert [group.checkpoint for group in report.checkpoints] == ["c0", "c1"]
    found = report.overall.calibration[0]
    assert (found.rater, found.reference, found.items) == ("judge", "human", 60)
    assert found.brier == pytest.approx(1 - (pair.raw or 0))


def test_calibration_equals_hand_computed_numbers() -> None:
    pairs = [(0.9, 1.0), (0.9, 0.0), (0.1, 0.0), (0.1, 0.0)]
    ratings = [
        Rating(item=str(i), rater=rater, value=value)
        for i, both in enumerate(pairs)
        for rater, value in zip(("judge", "human"), both, strict=True)
    ]
    options = AgreementOptions(reference="human", resamples=300)
    found = agreement(ratings, options).overall.calibration[0]
    assert found.brier == pytest.approx((0.01 + 0.81 + 0.01 + 0.01) / 4)
    assert found.expected_error == pytest.approx((2 * 0.4 + 2 * 0.1) / 4)
    assert found.bias == pytest.approx(0.25)


def test_a_constant_rater_is_undefined_with_the_reason() -> None:
    ratings = [
        Rating(item=str(i), rater=r, value=1.0 if r == "a" else i % 2)
        for i in range(6)
        for r in "ab"
    ]
    pair = agreement(ratings, AgreementOptions(resamples=300)).overall.pairs[0]
    assert pair.pearson.value is None
    assert "one value only" in (pair.pearson.reason or "")


def test_one_rater_twice_ratings_and_unknown_references_are_refused() -> None:
    with pytest.raises(UserError, match="two raters"):
        agreement([Rating(item="a", rater="x", value=1)])
    with pytest.raises(UserError, match="two ratings of one item"):
        agreement([*rated(2), rated(2)[0]])
    with pytest.raises(UserError, match="unknown rater"):
        agreement(rated(2), AgreementOptions(reference="nobody"))


def test_labels_are_read_from_csv() -> None:
    text = "item,rater,value,checkpoint\ne1,ann,1,c\ne1,bob,0.5,c\n"
    assert [r.value for r in read_labels(text.encode())] == [1.0, 0.5]


@pytest.mark.parametrize("value", ["nan", "2", "yes", ""])
def test_labels_outside_0_to_1_are_refused_with_the_line(value: str) -> None:
    with pytest.raises(UserError, match=r"line 2: expected a number in 0\.\.1"):
        read_labels(f"item,rater,value\ne1,ann,{value}\n".encode())


def test_supervisors_are_raters_of_the_same_episodes() -> None:
    rounds = play({"x": 1.0, "y": 0.0})
    rows = [
        row("a", False, 0.5, run=name, supervisor=name, cell=name, rounds=rounds)
        for name in ("checks", "judge")
    ]
    found = ratings_of(rows)
    assert len({r.item for r in found}) == 1
    assert {r.checkpoint for r in found} == {None, "a:x", "a:y"}
