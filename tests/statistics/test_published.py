"""The published rows of UniClawBench: every figure to the printed digit."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import cast

import pytest

from uniclaw.curation.quality import quality
from uniclaw.errors import UserError
from uniclaw.statistics.compare import CompareOptions, compare
from uniclaw.statistics.power import PowerOptions, power
from uniclaw.statistics.published import describe, read_published
from uniclaw.statistics.rows import EpisodeRow
from uniclaw.statistics.stats import StatsOptions, stats
from uniclaw.statistics.variance import VarianceOptions, variance

SHARED = ("claude-opus-4.8", "gpt-5.4", "kimi-k2.6")
TABLE = {
    "openclaw": {
        "claude-opus-4.8": (47.50, 0.703),
        "claude-sonnet-4.6": (45.50, 0.763),
        "gpt-5.4": (40.75, 0.774),
        "kimi-k2.6": (36.25, 0.709),
        "gemini-3.1-pro-preview": (32.50, 0.727),
        "qwen3.5-plus": (31.75, 0.731),
        "gemini-3-flash-preview": (28.25, 0.698),
        "gpt-5.4-mini": (21.50, 0.616),
        "gemini-3.1-flash-lite-preview": (15.50, 0.543),
        "gpt-4.1": (15.25, 0.488),
    },
    "nanobot": {
        "claude-opus-4.8": (38.50, 0.587),
        "gpt-5.4": (29.00, 0.640),
        "kimi-k2.6": (27.75, 0.573),
    },
    "openclaw_edict": {
        "claude-opus-4.8": (41.50, 0.687),
        "gpt-5.4": (33.75, 0.744),
        "kimi-k2.6": (32.00, 0.695),
    },
}
CAPABILITIES = {
    "skill": "skill_usage",
    "explore": "exploration",
    "longctx": "long_context",
    "multimodal": "multimodal",
    "crossplat": "cross_platform",
}
Part = Mapping[str, Mapping[str, float]]


def published(reference_data: Path) -> tuple[EpisodeRow, ...]:
    return read_published(reference_data / "uniclawbench/published/results.json")


@pytest.mark.reference
def test_all_sixteen_settings_to_the_printed_digit(reference_data: Path) -> None:
    """AS within 0.0006: openclaw with opus is 0.70247, which the table rounded twice to 0.703."""
    report = stats(published(reference_data), StatsOptions(resamples=2000))
    assert len(report.cells) == 16
    for cell in report.cells:
        rate, score = TABLE[cell.axes["harness"]][cell.axes["model"]]
        assert cell.n == 400
        assert cell.pass_rate is not None
        assert cell.average_score is not None
        assert 100 * cell.pass_rate == pytest.approx(rate, abs=1e-9)
        assert cell.average_score == pytest.approx(score, abs=0.0006)
        assert cell.pass_rate_ci is not None
        assert cell.pass_rate_ci[0] < cell.pass_rate < cell.pass_rate_ci[1]
        assert cell.final_score.value is None
        assert cell.pass_detail.clusters == 200


@pytest.mark.reference
def test_capability_and_language_cells_equal_the_recomputed_leaderboard(
    reference_data: Path,
) -> None:
    file = reference_data / "uniclawbench/published/leaderboard_recomputed.json"
    board = cast(
        "Mapping[str, Mapping[str, Part]]", json.loads(file.read_text(encoding="utf-8"))["settings"]
    )
    options = StatsOptions(by=("harness", "model", "capability", "language"), resamples=200)
    cells = stats(published(reference_data), options).cells
    found = {tuple(cell.axes.values()): cell for cell in cells}
    assert len(found) == 160
    for setting, parts in board.items():
        harness, model = setting.split("::")
        for name, values in parts["by_capability_lang"].items():
            short, language = name.split("/")
            cell = found[harness, model, CAPABILITIES[short], language]
            assert cell.n == values["n"]
            assert cell.pass_rate == pytest.approx(values["PR"], abs=5e-5)
            assert cell.average_score == pytest.approx(values["AS"], abs=6e-5)


@pytest.mark.reference
def test_negative_and_missing_tokens_are_reported(reference_data: Path) -> None:
    rows = published(reference_data)
    found = describe(rows)
    assert (found.rows, found.missing_tokens, found.negative_tokens) == (6400, 466, 20)
    assert found.reached_threshold_not_passed == 14
    report = stats(rows, StatsOptions(resamples=200))
    assert {(a.field, a.rows) for a in report.anomalies} == {
        ("tokens.input", 20),
        ("tokens.output", 20),
    }
    opus = next(c for c in report.cells if tuple(c.axes.values()) == ("openclaw", SHARED[0]))
    amount = opus.spend.amounts["tokens.input"]
    assert (amount.n, amount.rejected, amount.missing) == (380, 18, 20)
    assert amount.mean_with_rejected == pytest.approx(788839, abs=0.5)


@pytest.mark.reference
def test_132_tasks_are_passed_by_none_and_28_by_all(reference_data: Path) -> None:
    report = quality(published(reference_data))
    assert (report.passed_by_none, report.passed_by_all) == (132, 28)


@pytest.mark.reference
def test_three_by_three_sums_of_squares(reference_data: Path) -> None:
    options = VarianceOptions(models=SHARED, resamples=2000)
    report = variance(published(reference_data), options)
    passing, score = report.passing.squares[0], report.score.squares[0]
    assert round(passing.harness.value or 0, 4) == 0.0144
    assert passing.model.value == pytest.approx(0.0181, abs=5.1e-5)
    assert round(score.harness.value or 0, 4) == 0.0286
    assert round(score.model.value or 0, 4) == 0.0073
    assert (passing.claim, score.claim) == ("undecided", "harness")


@pytest.mark.reference
@pytest.mark.parametrize(
    ("axis", "within", "left", "right", "low", "high"),
    [
        ("model", "openclaw", "claude-opus-4.8", "claude-sonnet-4.6", -3.3, 7.2),
        ("model", "openclaw", "claude-sonnet-4.6", "gpt-5.4", 0.0, 9.8),
        ("model", "openclaw", "gpt-5.4", "kimi-k2.6", 0.0, 9.2),
        ("harness", "claude-opus-4.8", "openclaw", "openclaw_edict", 1.5, 10.2),
        ("harness", "gpt-5.4", "openclaw", "openclaw_edict", 2.8, 11.5),
        ("harness", "gpt-5.4", "openclaw", "nanobot", 6.8, 16.8),
    ],
)
def test_paired_intervals_agree_with_the_recorded_ones(
    reference_data: Path, axis: str, within: str, left: str, right: str, low: float, high: float
) -> None:
    """Ours are stratified and corrected for few clusters: within half a point of the record."""
    options = CompareOptions.model_validate(
        {"by": (axis,), "within": (within,), "where": {axis: (left, right)}}
    )
    for found in compare(published(reference_data), options).pairs:
        names = found.left[axis], found.right[axis]
        if set(names) != {left, right}:
            continue
        ends = found.passing.difference.ci
        assert ends is not None
        sign = 1 if names[0] == left else -1
        ours = sorted(100 * sign * end for end in ends)
        assert ours == pytest.approx([low, high], abs=0.5)
        return
    raise AssertionError("pair not found")


@pytest.mark.reference
def test_opus_and_sonnet_are_ranked_oppositely_by_the_two_measures(reference_data: Path) -> None:
    options = CompareOptions(
        by=("model",),
        within=("openclaw",),
        where={"model": ("claude-opus-4.8", "claude-sonnet-4.6")},
    )
    found = compare(published(reference_data), options).pairs[0]
    assert (found.passing.difference.value or 0) > 0
    assert found.score.difference.ci == pytest.approx((-0.093, -0.029), abs=0.001)
    assert found.score.conclusion == "different"


@pytest.mark.reference
def test_power_from_the_published_rows_names_a_size(reference_data: Path) -> None:
    report = power(published(reference_data), PowerOptions(effect=0.05, resamples=500))
    assert report.pilot_families == 200
    passing = report.measures[0]
    assert passing.noise_from == "twins"
    assert 200 < (passing.needed[0].families or 0) < 800


ROW = {
    "backend": "x",
    "model_slug": "y",
    "category": "101_skill_usage",
    "task_id": "task_101_01_a",
    "score": 0.5,
    "passed": False,
    "prompt_tokens": 1,
    "completion_tokens": 2,
    "runtime_ms": 3,
}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"score": 1.5}, "best_score"),
        ({"score": "high"}, "expected a number or null"),
        ({"passed": None}, "expected true or false"),
        ({"category": "misc"}, "expected a category"),
        ({"task_id": ""}, "expected a text"),
        ({"status": "odd"}, "expected one of"),
    ],
)
def test_a_bad_row_is_refused_with_file_row_and_field(
    tmp_path: Path, change: dict[str, object], message: str
) -> None:
    file = tmp_path / "results.json"
    file.write_text(json.dumps({"rows": [ROW, {**ROW, **change}]}), encoding="utf-8")
    with pytest.raises(UserError, match="row 1") as caught:
        read_published(file)
    assert message in str(caught.value)
    assert str(file) in str(caught.value)


@pytest.mark.parametrize("text", ["", "[]", '{"rows": 3}', '{"rows": [NaN]}', "[[1]]"])
def test_what_is_not_a_row_file_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "x.json").write_text(text, encoding="utf-8")
    with pytest.raises(UserError):
        read_published(tmp_path / "x.json")


def test_a_row_with_status_and_cycles_keeps_them(tmp_path: Path) -> None:
    file = tmp_path / "runs.json"
    entry = {**ROW, "status": "budget_exhausted", "cycles": 3, "prompt_tokens": -4}
    file.write_text(json.dumps([entry]), encoding="utf-8")
    row = read_published(file)[0]
    assert (row.outcome.value, row.rounds_played, row.rounds) == ("rounds_exhausted", 3, ())
    assert row.tokens is None
    assert [a.value for a in row.anomalies] == [-4, 2]
    assert (row.family, row.language) == ("01_01_a", "en")
