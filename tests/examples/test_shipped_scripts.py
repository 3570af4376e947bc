"""The shipped scripted model and scripted user play their tasks together, in both languages."""

from pathlib import Path

import pytest
from player import only, run

from uniclaw.records import Outcome

OFFICE = Path(__file__).resolve().parents[2] / "examples" / "office"


@pytest.mark.parametrize("task", ["expense_skill_en", "expense_skill_zh"])
def test_a_scripted_model_mends_its_work_when_the_scripted_user_says_what(
    task: str, tmp_path: Path
) -> None:
    result = run(
        OFFICE,
        tmp_path,
        tasks=task,
        executor=(f"loop:scripted/{OFFICE / 'model.yaml'}",),
        user_simulator=(f"scripted/{OFFICE / 'simulator.yaml'}",),
        model_in_process=True,
    )
    record = only(result)
    assert record.outcome is Outcome.PASS, record.reason
    scores = [r.verdict.score for r in record.rounds if r.verdict is not None]
    assert scores == pytest.approx([0.6, 0.75, 1.0])
    assert all(draft.delivered for item in record.rounds for draft in item.drafts)
