"""The Lite search on synthetic matrices with planted structure, and its invariants."""

import csv
import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from row_builder import row

from uniclaw.curation.fitting import Fit
from uniclaw.curation.lite import Criteria, filter_file, lite, sweep, write_filter
from uniclaw.curation.problem import LiteOptions
from uniclaw.curation.search import (
    Candidate,
    Costs,
    Loss,
    Rules,
    Stratum,
    apportion,
    combine,
    cost_error,
    descend,
    quartiles,
    quotas_of,
    search,
    swaps,
)
from uniclaw.errors import UserError
from uniclaw.statistics.foreign import Floats
from uniclaw.statistics.rows import EpisodeRow

RULES = Rules(restarts=20)


def rates(tasks: int, cells: int, seed: int = 0) -> Floats:
    rng = np.random.default_rng(seed)
    ability, ease = rng.normal(0, 1, cells), rng.normal(0, 1.5, tasks)
    chance = 1 / (1 + np.exp(-(ability[None, :] + ease[:, None])))
    return (rng.random((tasks, cells)) < chance).astype(np.float64)


def stratum(tasks: int = 44, cells: int = 8, seed: int = 0, rules: Rules = RULES) -> Stratum:
    values = rates(tasks, cells, seed)
    return Stratum(
        name="s",
        tasks=tuple(f"t{i:03d}" for i in range(tasks)),
        rates=values,
        quartile=quartiles(values.mean(axis=1), rules, np.random.default_rng(0)),
    )


def suite(
    tasks: int = 60, cells: int = 6, strata: int = 3, cost: float | None = 1.0
) -> list[EpisodeRow]:
    values = rates(tasks, cells, 4)
    return [
        row(
            f"t{i:03d}",
            bool(values[i, j]),
            capability=f"c{i % strata}",
            cell=f"cell{j}",
            model=f"cell{j}",
            cost=None if cost is None else cost * (1 + i % 5),
        )
        for i in range(tasks)
        for j in range(cells)
    ]


@given(st.integers(0, 60), st.lists(st.integers(1, 9), min_size=1, max_size=6))
def test_apportioned_parts_sum_and_are_within_one_of_exact(total: int, shares: list[int]) -> None:
    parts = apportion(total, [float(s) for s in shares])
    assert sum(parts) == total
    for part, share in zip(parts, shares, strict=True):
        assert abs(part - total * share / sum(shares)) < 1


def test_ten_of_a_stratum_are_two_three_three_two() -> None:
    assert quotas_of(stratum(), 10, RULES) == [2, 3, 3, 2]


def test_quartiles_by_rank_are_even_and_ordered() -> None:
    found = quartiles(np.arange(42) / 42, RULES, np.random.default_rng(0))
    assert [int((found == q).sum()) for q in range(4)] == [11, 11, 10, 10]
    assert found.tolist() == sorted(found.tolist())
    easy = quartiles(np.arange(8) / 8, Rules(first_quartile="easy"), np.random.default_rng(0))
    assert easy.tolist() == [3, 3, 2, 2, 1, 1, 0, 0]


def test_quartiles_by_quantile_keep_ties_together() -> None:
    values = np.array([0.0] * 6 + [0.5, 1.0])
    found = quartiles(values, Rules(boundaries="quantile"), np.random.default_rng(0))
    assert len(set(found[:6].tolist())) == 1


def test_a_quartile_too_small_for_its_quota_gives_the_rest_to_its_neighbours() -> None:
    rules = Rules(boundaries="quantile")
    values = np.array([[0.0]] * 8 + [[0.5], [1.0]])
    odd = Stratum(
        name="s",
        tasks=tuple(map(str, range(10))),
        rates=values,
        quartile=quartiles(values[:, 0], rules, np.random.default_rng(0)),
    )
    found = quotas_of(odd, 6, rules)
    assert sum(found) == 6
    assert all(have <= int((odd.quartile == q).sum()) for q, have in enumerate(found))


def test_the_loss_equals_a_plain_loop() -> None:
    part = stratum()
    loss = Loss(part.rates, RULES)
    chosen = part.rates[:10].mean(axis=0)
    full = part.rates.mean(axis=0)
    expected = sum(abs(a - b) for a, b in zip(chosen, full, strict=True))
    for a in range(8):
        for b in range(8):
            if full[a] - full[b] > 0.05:
                expected += max(0.0, 0.025 - (chosen[a] - chosen[b]))
    assert loss(chosen[None])[0] == pytest.approx(expected)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000))
def test_every_result_keeps_quotas_and_no_single_swap_improves_it(seed: int) -> None:
    part = stratum(seed=seed)
    loss = Loss(part.rates, RULES)
    rng = np.random.default_rng(seed)
    start = np.concatenate(
        [
            rng.choice(np.flatnonzero(part.quartile == q), n, replace=False)
            for q, n in enumerate(quotas_of(part, 10, RULES))
        ]
    )
    first = float(loss(part.rates[start].mean(axis=0)[None])[0])
    found = descend(part, start.astype(np.int64), loss)
    assert found.loss <= first + 1e-12
    inside = np.zeros(44, dtype=np.bool_)
    inside[list(found.chosen)] = True
    assert [int((part.quartile[inside] == q).sum()) for q in range(4)] == [2, 3, 3, 2]
    out, into = swaps(part, inside)
    total = part.rates[inside].sum(axis=0)
    assert loss((total + part.rates[into] - part.rates[out]) / 10).min() >= found.loss - 1e-9


def test_the_search_finds_a_planted_subset_without_loss() -> None:
    """Four copies of ten tasks: any one copy has exactly the rates of the whole."""
    block = rates(10, 5, 2)
    order = np.argsort(block.mean(axis=1), kind="stable")
    block = block[order]
    labels = np.repeat([0, 1, 2, 3], [2, 3, 3, 2])
    part = Stratum(
        name="s",
        tasks=tuple(f"t{i:02d}" for i in range(40)),
        rates=np.tile(block, (4, 1)),
        quartile=np.tile(labels, 4),
    )
    rules = Rules(restarts=100, hinge_weight=0)
    assert search(part, 10, rules, np.random.default_rng(0))[0].loss == pytest.approx(0)


def test_the_search_is_no_worse_than_enumeration_of_a_tiny_stratum() -> None:
    from itertools import product

    part = stratum(tasks=12, cells=4, seed=5)
    rules = Rules(quotas=(1, 1, 1, 1), restarts=60)
    loss = Loss(part.rates, rules)
    groups = [np.flatnonzero(part.quartile == q).tolist() for q in range(4)]
    best = min(float(loss(part.rates[list(p)].mean(axis=0)[None])[0]) for p in product(*groups))
    assert search(part, 4, rules, np.random.default_rng(0))[0].loss == pytest.approx(best)


def test_the_cost_filter_prefers_a_subset_of_equal_cost() -> None:
    costs = Costs(np.array([[1.0], [9.0], [5.0], [5.0]]), 0.1)
    pool = [Candidate(0.0, (0,)), Candidate(0.1, (2,))]
    found, met = combine([pool], [np.arange(4)], costs, np.random.default_rng(0))
    assert (found[0].chosen, met) == ((2,), True)
    none, unmet = combine([pool[:1]], [np.arange(4)], costs, np.random.default_rng(0))
    assert (none[0].chosen, unmet) == ((0,), False)
    assert cost_error(costs, np.array([0]))[0] == pytest.approx(np.log(5))


def test_a_lite_subset_is_seeded_balanced_and_validated() -> None:
    options = LiteOptions(size=18, rules=RULES, definition="final", seed=3)
    found = lite(suite(), options)
    assert found == lite(suite(), options)
    assert len(set(found.tasks)) == 18
    assert [part.chosen for part in found.strata] == [6, 6, 6]
    assert found.fit.mean_error <= found.random.mean_error
    assert found.held_out is not None
    assert (found.held_out_by, found.held_out.cells) == ("folds", 6)
    assert (found.cost.measure, found.cost.met) == ("cost_usd", True)
    other = lite(suite(), options.model_copy(update={"seed": 4}))
    assert other.digest != found.digest


def test_held_out_cells_are_not_seen_by_the_search() -> None:
    rows = suite()
    options = LiteOptions(size=18, rules=RULES, definition="final", holdout=("cell0",), cost="none")
    found = lite(rows, options)
    flipped = [
        r.model_copy(update={"passed": not r.passed}) if r.cell == "cell0" else r for r in rows
    ]
    assert lite(flipped, options).tasks == found.tasks
    assert [r.cell for r in found.rates if r.held_out] == ["cell0"]
    assert found.held_out_by == "holdout"


def test_the_filter_file_holds_the_tasks_and_their_digest(tmp_path: Path) -> None:
    found = lite(suite(), LiteOptions(size=9, rules=RULES, folds=0, definition="final"))
    write_filter(tmp_path / "lite.yaml", found, "s")
    document = json.loads((tmp_path / "lite.yaml").read_text(encoding="utf-8"))
    assert document["tasks"] == list(found.tasks)
    assert document["sha256"] == found.digest
    assert filter_file(found, "s").endswith("\n")


def test_the_sweep_stops_at_the_smallest_size_that_meets_the_criteria() -> None:
    options = LiteOptions(size=45, rules=RULES, definition="final")
    easy = Criteria(mean_error=0.05, max_error=0.15, min_tau=0.5, held_out_max_error=None)
    found = sweep(suite(), options, easy)
    assert found.smallest is not None
    assert found.lite is not None
    assert [step.met for step in found.steps] == [False] * (len(found.steps) - 1) + [True]
    hard = Criteria(mean_error=0.0, max_error=0.0, min_tau=1.0)
    assert sweep(suite(), options, hard, sizes=(12, 15)).smallest is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"size": 61}, "the suite has 60 tasks"),
        ({"size": 2}, "at least one task for each of 3 strata"),
        ({"holdout": ("nobody",)}, "unknown cells"),
        ({"holdout": tuple(f"cell{j}" for j in range(5))}, "fewer than two cells"),
        ({"strata": ("colour",)}, "strata"),
    ],
)
def test_bad_options_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises((UserError, ValueError), match=message):
        lite(suite(), LiteOptions.model_validate({"definition": "final", **options}))


def test_one_cell_is_refused() -> None:
    with pytest.raises(UserError, match="two cells"):
        lite([row("a"), row("b")], LiteOptions(size=1, definition="final"))


def test_unknown_costs_are_said() -> None:
    found = lite(suite(cost=None), LiteOptions(size=9, rules=RULES, folds=0, definition="final"))
    assert found.cost.met is None
    assert any("no cost is known" in note for note in found.warnings)


def test_equal_cells_have_no_rank_correlation() -> None:
    rows = [row(f"t{i}", i % 2 == 0, cell=c, model=c) for i in range(12) for c in "ab"]
    found = lite(rows, LiteOptions(size=4, rules=RULES, folds=0, definition="final"))
    assert isinstance(found.fit, Fit)
    assert found.fit.tau is None


@pytest.mark.reference
def test_the_released_lite_list_has_ten_tasks_of_each_language(reference_data: Path) -> None:
    """All that can be checked of the release: its per-instance results are not public."""
    file = reference_data / "claw-swe-bench/derived_full350_with_lite_flag.csv"
    with file.open(encoding="utf-8", newline="") as opened:
        rows = list(csv.DictReader(opened))
    full = Counter(r["language"] for r in rows)
    chosen = Counter(r["language"] for r in rows if r["in_lite80"] == "1")
    assert set(chosen.values()) == {10}
    assert [apportion(80, [1.0] * len(full))[i] for i in range(len(full))] == [10] * len(full)
    assert all(42 <= size <= 50 for size in full.values())
