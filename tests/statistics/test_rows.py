from pathlib import Path

import pytest
from pydantic import ValidationError
from row_builder import play, row

from uniclaw.errors import UserError
from uniclaw.records import Outcome, Usage
from uniclaw.statistics.rows import as_rows, from_frame, group, select, to_frame
from uniclaw.statistics.stored import load_rows, read_rows, write_rows

ROWS = (
    row("a", True, tokens=Usage(input=5), cost=0.25, rounds=play({"x": 0.5}, {"x": 1.0})),
    row("b", False, 0.3, missing=("out.csv",)),
    row("c", None, outcome=Outcome.JUDGE_ERROR),
)


def test_a_frame_gives_the_same_rows_back() -> None:
    assert from_frame(to_frame(ROWS)) == ROWS


def test_rows_survive_the_row_file(tmp_path: Path) -> None:
    write_rows(tmp_path / "run", ROWS)
    assert load_rows(tmp_path / "run") == ROWS


def test_a_broken_row_file_names_the_line(tmp_path: Path) -> None:
    file = write_rows(tmp_path, ROWS)
    file.write_text(file.read_text(encoding="utf-8") + '{"run": 1}\n', encoding="utf-8")
    with pytest.raises(UserError, match="line 4"):
        read_rows(file)


def test_fault_U1_nan_score_is_rejected() -> None:
    with pytest.raises(ValidationError):
        row("a", True, float("nan"))
    frame = to_frame(ROWS[:2])
    frame.loc[0, "final_score"] = float("nan")
    with pytest.raises(UserError, match="NaN"):
        from_frame(frame)


@pytest.mark.parametrize("score", [-0.1, 1.5, float("inf")])
def test_fault_30_scores_out_of_range_are_rejected(score: float) -> None:
    with pytest.raises(ValidationError):
        row("a", True, score)


def test_unknown_columns_are_refused() -> None:
    frame = to_frame(ROWS)
    frame["extra"] = 1
    with pytest.raises(UserError, match="unknown columns"):
        from_frame(frame)


def test_the_same_trial_twice_is_refused() -> None:
    with pytest.raises(UserError, match="2 rows of one"):
        as_rows([row("a"), row("a")])


def test_no_rows_are_refused() -> None:
    with pytest.raises(UserError, match="no rows"):
        as_rows([])


def test_a_family_in_two_capabilities_is_refused() -> None:
    with pytest.raises(UserError, match="two capabilities"):
        as_rows([row("a", family="f", capability="x"), row("b", family="f", capability="y")])


def test_scored_must_fit_the_outcome() -> None:
    with pytest.raises(ValidationError, match="does not fit"):
        ROWS[0].model_validate({**ROWS[0].model_dump(), "scored": False})


def test_selection_refuses_values_that_no_row_has() -> None:
    with pytest.raises(UserError, match="no row has"):
        select(ROWS, {"harness": ("nobody",)})
    with pytest.raises(UserError, match="unknown axis"):
        select(ROWS, {"colour": ("red",)})


def test_a_row_with_two_modalities_is_in_two_groups() -> None:
    both = row("a").model_copy(update={"modality": ("text", "image")})
    assert set(group([both], ["modality"])) == {("text",), ("image",)}
