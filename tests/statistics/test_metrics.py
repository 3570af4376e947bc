"""Metrics of a cell: repeats, rounds, checkpoints, spending, missing data."""

from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from row_builder import play, row

from uniclaw.errors import UserError
from uniclaw.records import Outcome, Usage
from uniclaw.statistics.estimates import Options
from uniclaw.statistics.intervals import design_of
from uniclaw.statistics.missing import missing_data
from uniclaw.statistics.repeats import pass_at_k, pass_hat_k, repeated
from uniclaw.statistics.rounds import checkpoint_rates, pass_steps, rounds_report, transition
from uniclaw.statistics.rows import EpisodeRow, from_frame, to_frame
from uniclaw.statistics.spend import pareto, spend
from uniclaw.statistics.stats import StatsOptions, stats
from uniclaw.statistics.stored import load_rows, write_rows

QUICK = Options(resamples=300)


# --- repeats -----------------------------------------------------------------------------


@given(st.integers(1, 8), st.data())
def test_pass_at_k_and_pass_hat_k_equal_enumeration(n: int, data: st.DataObject) -> None:
    passes, k = data.draw(st.integers(0, n)), data.draw(st.integers(1, n))
    sets = list(combinations([1] * passes + [0] * (n - passes), k))
    assert pass_at_k(n, passes, k) == pytest.approx(sum(map(any, sets)) / len(sets))
    assert pass_hat_k(n, passes, k) == pytest.approx(sum(map(all, sets)) / len(sets))


@pytest.mark.parametrize(("n", "passes", "k"), [(2, 1, 3), (2, 3, 1), (2, 1, 0)])
def test_impossible_k_is_refused(n: int, passes: int, k: int) -> None:
    with pytest.raises(UserError):
        pass_at_k(n, passes, k)


def test_fewer_trials_than_k_is_undefined_with_the_task() -> None:
    rows = [row("a", trial=t) for t in range(3)] + [row("b", trial=t) for t in range(2)]
    at_k, hat_k = repeated(rows, design_of(rows), 3, "final", QUICK)
    assert at_k.value is None
    assert hat_k.value is None
    assert at_k.reason == "1 of 2 tasks have fewer than 3 counted trials (first: b)"


def test_unscored_trials_do_not_count_as_trials() -> None:
    rows = [
        row("a"),
        row("a", None, trial=1, outcome=Outcome.INFRA_ERROR),
        row("b"),
        row("b", trial=1),
    ]
    assert repeated(rows, design_of(rows), 2, "final", QUICK)[0].value is None


# --- definitions -------------------------------------------------------------------------


def test_final_and_best_scores_are_never_mixed() -> None:
    rows = [row("a", False, 0.2, best=0.8), row("b", False, 0.4, best=0.6)]
    cell = stats(rows, StatsOptions(definition="final", resamples=300)).cells[0]
    assert cell.average_score == pytest.approx(0.3)
    assert cell.best_score.value == pytest.approx(0.7)
    best = stats(rows, StatsOptions(definition="best", resamples=300)).cells[0]
    assert best.average_score == pytest.approx(0.7)


def test_the_papers_definition_promotes_and_drops_as_the_reference_does() -> None:
    rows = [
        row("a", False, 0.5, best=0.95),
        row("b", False, 0.5, best=0.95, outcome=Outcome.FAIL),
        row("c", False, 0.1, outcome=Outcome.EXECUTOR_INCOMPLETE),
        row("d", True),
    ]
    paper = stats(rows, StatsOptions(definition="paper", resamples=300)).cells[0]
    assert (paper.n, paper.pass_rate) == (3, pytest.approx(2 / 3))
    assert paper.missing.excluded == 1
    own = stats(rows, StatsOptions(definition="final", resamples=300)).cells[0]
    assert (own.n, own.pass_rate) == (4, 0.25)


# --- missing data ------------------------------------------------------------------------


def ten() -> list[EpisodeRow]:
    ended = [True] * 4 + [False] * 4
    lost = [row(f"t{i}", None, outcome=Outcome.INFRA_ERROR) for i in (8, 9)]
    return [row(f"t{i}", ok) for i, ok in enumerate(ended)] + lost


def test_fault_48_missing_data_are_stated_with_bounds_and_the_same_after_reload(
    tmp_path: Path,
) -> None:
    found = missing_data(ten(), "final")
    assert found.statement == "4/8 passed of the counted, 2 infra, bounds 4/10 to 6/10"
    assert (found.scored, found.infra, found.pass_bounds) == (8, 2, (0.4, 0.6))
    write_rows(tmp_path / "run", ten())
    assert missing_data(load_rows(tmp_path / "run"), "final") == found
    assert missing_data(from_frame(to_frame(ten())), "final") == found


def test_fault_32_judge_errors_leave_the_mean_and_are_counted() -> None:
    rows = [row("a"), row("b", None, outcome=Outcome.JUDGE_ERROR)]
    cell = stats(rows, StatsOptions(resamples=300)).cells[0]
    assert (cell.pass_rate, cell.missing.judge_errors) == (1.0, 1)
    assert cell.missing.pass_bounds == (0.5, 1.0)


def test_all_missing_is_undefined_everywhere() -> None:
    rows = [row(f"t{i}", None, outcome=Outcome.INFRA_ERROR) for i in range(3)]
    report = stats(rows, StatsOptions(resamples=300))
    cell = report.cells[0]
    assert (cell.n, cell.pass_rate, cell.average_score) == (0, None, None)
    assert cell.pass_detail.reason == "no episode gives a value"
    assert report.warnings == ("average score is undefined: no episode has a scored outcome",)
    assert "NaN" not in report.model_dump_json()


def test_unequal_trials_warn_and_give_the_task_mean_beside() -> None:
    rows = [row("a", trial=0), row("a", trial=1), row("a", trial=2), row("b", False)]
    cell = stats(rows, StatsOptions(resamples=300)).cells[0]
    assert (cell.pass_rate, cell.task_weighted_pass_rate) == (0.75, 0.5)
    assert any("unequal trials" in note for note in cell.warnings)


def test_pooled_cells_are_not_taken_as_trials() -> None:
    rows = [row("a", model="x"), row("a", False, model="y")]
    cell = stats(rows, StatsOptions(by=("harness",), ks=(1,), resamples=300)).cells[0]
    assert cell.pass_at_k["1"].value is None
    assert "2 cells are pooled" in cell.warnings


def test_one_task_has_a_rate_without_an_interval() -> None:
    cell = stats([row("a")], StatsOptions(resamples=300)).cells[0]
    assert (cell.pass_rate, cell.pass_rate_ci) == (1.0, None)
    assert cell.pass_detail.reason is not None


def test_axes_stand_at_the_top_of_a_lines_json() -> None:
    document = stats([row("a")], StatsOptions(resamples=300)).model_dump(mode="json")
    assert document["cells"][0]["harness"] == "h"
    assert document["cells"][0]["model"] == "m"
    assert {"n", "pass_rate", "pass_rate_ci", "average_score", "average_score_ci"} <= set(
        document["cells"][0]
    )


# --- rounds ------------------------------------------------------------------------------


def played(task: str, rounds: int, outcome: Outcome) -> EpisodeRow:
    ok = outcome is Outcome.PASS
    values = [{"x": 0.2 * i} for i in range(rounds)]
    return row(task, ok, 0.5, outcome=outcome, rounds=play(*values, passed=ok), limit=3)


def test_rounds_to_pass_censor_what_the_budget_cut() -> None:
    """By hand: 5 at risk, 1 passes (S=4/5); 2 leave censored; 2 at risk, 1 passes (S=2/5)."""
    rows = [
        played("a", 1, Outcome.PASS),
        played("b", 1, Outcome.TIMEOUT),
        played("c", 1, Outcome.BUDGET),
        played("d", 2, Outcome.PASS),
        played("e", 2, Outcome.ROUNDS_EXHAUSTED),
    ]
    steps = pass_steps(rows, design_of(rows), QUICK)
    assert [s.at_risk for s in steps] == [5, 2]
    assert [s.passed_by.value for s in steps] == pytest.approx([0.2, 0.6])
    assert rounds_report(rows, design_of(rows), QUICK).median_rounds == 1


def test_an_agent_that_failed_for_good_stays_at_risk() -> None:
    rows = [played("a", 2, Outcome.PASS), played("b", 1, Outcome.FAIL)]
    steps = pass_steps(rows, design_of(rows), QUICK)
    assert [s.passed_by.value for s in steps] == pytest.approx([0.0, 0.5])


def test_gain_per_round_and_checkpoints_gained_and_lost() -> None:
    weights = {"x": 0.6, "y": 0.4}
    rounds = play({"x": 0.0, "y": 1.0}, {"x": 1.0, "y": 0.5}, weights=weights)
    move = transition(*rounds)
    assert (move.gained, move.lost) == (("x",), ("y",))
    assert (move.weight_gained, move.weight_lost) == pytest.approx((0.6, 0.2))
    rows = [row("a", False, 0.8, rounds=rounds, limit=3)]
    gain = rounds_report(rows, design_of(rows), QUICK).gains[0]
    assert gain.gain.value == pytest.approx(0.4)
    assert (gain.gained, gain.lost, gain.average_so_far) == (1, 1, pytest.approx(0.8))


def test_rows_without_rounds_say_so() -> None:
    report = rounds_report([row("a")], design_of([row("a")]), QUICK)
    assert report.reason == "the rows hold no rounds"


def test_checkpoint_rates_count_what_could_not_be_decided() -> None:
    rows = [
        row("a", False, 0.5, trial=0, rounds=play({"x": 1.0, "y": 0.0})),
        row("a", False, 0.5, trial=1, rounds=play({"x": 0.5, "y": None})),
    ]
    x, y = checkpoint_rates(rows, QUICK)
    assert (x.mean, x.met, x.episodes, x.weight) == (0.75, 0.5, 2, 0.5)
    assert (y.undecided, y.mean) == (1, 0.0)


# --- spending ----------------------------------------------------------------------------


def test_cost_per_pass_is_all_money_by_passes() -> None:
    rows = [row(f"t{i}", i == 0, cost=1.0) for i in range(4)]
    assert spend(rows, design_of(rows), "final", QUICK).cost_per_pass.value == 4.0


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([row("a", cost=1.0), row("b")], "cost_usd is unknown for 1 of 2 counted episodes"),
        ([row("a", False, cost=1.0), row("b", False, cost=1.0)], "no pass"),
    ],
)
def test_cost_per_pass_without_costs_or_passes_is_undefined(
    rows: list[EpisodeRow], reason: str
) -> None:
    found = spend(rows, design_of(rows), "final", QUICK).cost_per_pass
    assert (found.value, found.reason) == (None, reason)


def test_unknown_tokens_leave_the_mean_and_are_counted() -> None:
    rows = [row("a", tokens=Usage(input=10, output=2)), row("b")]
    amount = spend(rows, design_of(rows), "final", QUICK).amounts["tokens.input"]
    assert (amount.mean, amount.n, amount.missing) == (10.0, 1, 1)


def test_the_pareto_front_keeps_what_nothing_beats() -> None:
    points = [(1.0, 0.5), (2.0, 0.5), (2.0, 0.7), (3.0, 0.6), (None, 0.9), (1.0, 0.5)]
    assert pareto(points) == (True, False, True, False, None, True)
