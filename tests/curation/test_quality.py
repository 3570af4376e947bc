import numpy as np
import pytest
from row_builder import row

from uniclaw.curation.quality import QualityOptions, quality
from uniclaw.errors import UserError
from uniclaw.records import Outcome
from uniclaw.statistics.rows import EpisodeRow

FINAL = QualityOptions(definition="final")


def pilots(scores: dict[str, list[float]]) -> list[EpisodeRow]:
    """Scores of each task by pilot; a pilot passes at 0.9."""
    return [
        row(task, score >= 0.9, score, cell=f"p{i}", model=f"p{i}")
        for task, values in scores.items()
        for i, score in enumerate(values)
    ]


def test_difficulty_gap_and_discrimination_of_an_item() -> None:
    scores = {"a": [0.0, 0.5, 1.0, 1.0], "b": [0.1, 0.4, 0.8, 0.9], "c": [0.3, 0.3, 0.6, 1.0]}
    item = quality(pilots(scores), FINAL).items[0]
    rest = np.array([scores["b"], scores["c"]]).mean(axis=0)
    assert (item.pass_rate, item.mean_score, item.gap) == (0.5, 0.625, 1.0)
    x, y = np.array(scores["a"]) - 0.625, rest - rest.mean()
    expected = float((x * y).sum()) / float(np.sqrt((x**2).sum() * (y**2).sum()))
    assert item.discrimination == pytest.approx(expected)


def test_the_gap_rule_keeps_a_gap_of_exactly_a_fifth() -> None:
    scores = {"a": [0.5, 0.7], "b": [0.5, 0.69], "c": [0.1, 0.3]}
    assert [item.keeps for item in quality(pilots(scores), FINAL).items] == [True, False, True]


def test_an_item_that_better_pilots_fail_is_suspicious() -> None:
    scores = {"a": [1.0, 0.5, 0.0], "b": [0.1, 0.5, 0.9], "c": [0.2, 0.4, 1.0], "d": [0, 0.5, 1]}
    report = quality(pilots(scores), FINAL)
    assert report.suspicious == ("a",)
    assert report.saturation[0].suspicious == 1


def test_all_equal_items_have_no_discrimination() -> None:
    report = quality(pilots({"a": [1.0] * 3, "b": [0.2, 0.5, 1.0]}), FINAL)
    assert report.items[0].discrimination is None
    assert report.items[0].reason == "every pilot has the same score"
    assert report.passed_by_all == 1


def test_two_pilots_cannot_tell_discrimination() -> None:
    item = quality(pilots({"a": [0.0, 1.0], "b": [0.2, 0.8]}), FINAL).items[0]
    assert item.discrimination is None
    assert "three are needed" in (item.reason or "")


def test_missing_values_are_not_zero() -> None:
    rows = pilots({"a": [0.5, 0.7], "b": [0.1, 0.9]})
    rows = [r for r in rows if (r.task_id, r.cell) != ("a", "p1")]
    rows.append(row("a", None, cell="p1", model="p1", outcome=Outcome.INFRA_ERROR))
    report = quality(rows, FINAL)
    assert (report.items[0].gap, report.items[0].keeps, report.items[0].cells) == (None, None, 1)
    assert any("1 of 4 pilot-task pairs" in note for note in report.warnings)


def test_one_pilot_is_refused() -> None:
    with pytest.raises(UserError, match="two pilots"):
        quality([row("a"), row("b")], FINAL)


def test_a_suite_that_the_best_pilot_passes_is_saturated() -> None:
    whole = quality(pilots({"a": [1.0, 0.2], "b": [1.0, 0.9]}), FINAL).saturation[0]
    assert whole.saturated
    assert (whole.best_cell, whole.headroom) == ("p0", 0.0)
