import numpy as np
import pytest
from row_builder import row

from uniclaw.errors import UserError
from uniclaw.records import Outcome
from uniclaw.statistics.compare import CompareOptions, compare, mcnemar, permutation_p
from uniclaw.statistics.controls import feedback_controls
from uniclaw.statistics.estimates import Options
from uniclaw.statistics.foreign import holm
from uniclaw.statistics.pairs import pair
from uniclaw.statistics.rows import EpisodeRow

QUICK = CompareOptions(resamples=999)


def cell(name: str, passes: list[int], *, twins: bool = False, trial: int = 0) -> list[EpisodeRow]:
    return [
        row(
            f"t{i}",
            bool(p),
            family=f"f{i // 2}" if twins else None,
            cell=name,
            model=name,
            trial=trial,
        )
        for i, p in enumerate(passes)
    ]


def test_the_paired_difference_is_the_mean_of_task_differences() -> None:
    rows = cell("a", [1] * 30 + [0] * 10) + cell("b", [1] * 18 + [0] * 22)
    found = compare(rows, QUICK).pairs[0]
    assert found.passing.difference.value == pytest.approx(0.3)
    assert found.passing.conclusion == "different"
    assert found.mcnemar.left_only == 12
    assert found.mcnemar.p_exact == pytest.approx(2 * 0.5**12)


def test_holm_equals_r() -> None:
    # R: p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm") -> 0.03 0.06 0.06 0.02
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_the_exact_permutation_test_equals_enumeration() -> None:
    """Five families, all in one direction: the two extreme sign patterns of 32."""
    left, right = cell("a", [1] * 5), cell("b", [0] * 5)
    assert permutation_p(pair(left, right, "pass", "final"), Options()) == 2 / 32


def test_the_permutation_flips_whole_families() -> None:
    left, right = cell("a", [1] * 10, twins=True), cell("b", [0] * 10, twins=True)
    assert permutation_p(pair(left, right, "pass", "final"), Options()) == 2 / 32


def test_the_random_permutation_test_agrees_with_the_exact_one() -> None:
    rng = np.random.default_rng(0)
    left = [row(f"t{i}", False, float(s)) for i, s in enumerate(rng.random(13))]
    right = [row(f"t{i}", False, float(s)) for i, s in enumerate(rng.random(13))]
    pairs = pair(left, right, "score", "final")
    exact = permutation_p(pairs, Options())
    drawn = permutation_p(pairs, Options(resamples=40_000), exact=0)
    assert exact is not None
    assert drawn == pytest.approx(exact, abs=0.01)


def test_mcnemar_clustered_is_the_square_of_summed_family_means() -> None:
    left, right = (
        cell("a", [1, 1, 1, 0, 1, 0], twins=True),
        cell("b", [0, 0, 0, 0, 0, 1], twins=True),
    )
    found = mcnemar(pair(left, right, "pass", "final"))
    # family means 1, 0.5, 0: (1.5)^2 / 1.25 = 1.8 on one degree of freedom
    assert found.p_clustered == pytest.approx(0.1797125, abs=1e-6)


def test_mcnemar_needs_single_trials() -> None:
    rows = cell("a", [1, 0]) + cell("a", [1, 1], trial=1)
    found = mcnemar(pair(rows, cell("b", [0, 0]), "pass", "final"))
    assert found.p_exact is None
    assert found.reason == "needs exactly one trial of each task on either side"


def test_equality_is_a_claim_with_evidence() -> None:
    rng = np.random.default_rng(5)
    base = rng.random(400)
    rows = [row(f"t{i}", False, float(s), cell="a", model="a") for i, s in enumerate(base)]
    near = np.clip(base + rng.normal(0, 0.02, 400), 0, 1)
    rows += [row(f"t{i}", False, float(s), cell="b", model="b") for i, s in enumerate(near)]
    assert compare(rows, QUICK).pairs[0].score.conclusion == "equivalent"
    few = [r for r in rows if int(r.task_id[1:]) < 3]
    assert compare(few, QUICK).pairs[0].score.conclusion != "equivalent"


def test_identical_cells_are_undecided_not_equal() -> None:
    found = compare(cell("a", [1, 0, 1]) + cell("b", [1, 0, 1]), QUICK).pairs[0]
    assert found.passing.difference.value == 0
    assert found.passing.difference.ci is None
    assert (found.passing.p, found.passing.conclusion) == (None, "undecided")


def test_unpaired_cells_are_undefined_with_the_reason() -> None:
    rows = cell("a", [1, 0]) + [row(f"u{i}", cell="b", model="b") for i in range(2)]
    found = compare(rows, QUICK).pairs[0]
    assert found.passing.difference.value is None
    assert found.passing.conclusion == "undefined"
    assert "share no task" in (found.passing.difference.reason or "")
    assert compare(rows, QUICK.model_copy(update={"paired": False})).pairs[0].passing.left == 0.5


def test_one_cell_is_refused() -> None:
    with pytest.raises(UserError, match="two cells"):
        compare(cell("a", [1, 0]), QUICK)


def test_tasks_of_one_side_only_are_left_out_and_counted() -> None:
    rows = cell("a", [1, 0, 1, 1]) + cell("b", [0, 0, 0])
    rows.append(row("t3", None, cell="b", model="b", outcome=Outcome.JUDGE_ERROR))
    notes = compare(rows, QUICK).pairs[0].passing.difference.warnings
    assert any("1 tasks have a value on one side only" in note for note in notes)


def test_models_are_paired_within_their_harness() -> None:
    rows = [
        row(f"t{i}", i < n, harness=h, model=m)
        for h, m, n in (("x", "a", 4), ("x", "b", 2), ("y", "a", 3))
        for i in range(5)
    ]
    found = compare(rows, CompareOptions(by=("model",), resamples=300)).pairs[0]
    assert found.tasks == 5
    assert found.passing.difference.value == pytest.approx(0.4)


# --- controls ----------------------------------------------------------------------------


def controlled() -> list[EpisodeRow]:
    wins = {"fed": 18, "none": 8, "neutral": 11}
    limits = {"fed": 2, "none": 0, "neutral": 2}
    return [
        row(
            f"t{i}",
            i < wins[name],
            cell=name,
            limit=limits[name],
            simulator="template" if name == "neutral" else "scripted",
        )
        for name in wins
        for i in range(30)
    ]


def test_the_lift_of_feedback_is_against_both_controls() -> None:
    report = feedback_controls(controlled(), "final", Options(resamples=500))
    lifts = {lift.control: lift for lift in report.lifts if lift.cell == "fed"}
    assert lifts["no_feedback"].pass_lift.value == pytest.approx(10 / 30)
    assert lifts["neutral_template"].pass_lift.value == pytest.approx(7 / 30)
    assert lifts["neutral_template"].control_cell == "neutral"


def test_a_control_that_was_not_run_is_undefined() -> None:
    rows = [r for r in controlled() if r.cell == "fed"]
    lift = feedback_controls(rows, "final", Options(resamples=500)).lifts[0]
    assert lift.pass_lift.value is None
    assert lift.pass_lift.reason == "no no_feedback control of this cell was run"
