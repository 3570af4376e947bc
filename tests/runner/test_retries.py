"""Another attempt follows what is nobody's score; every attempt is kept and its cost counted."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from player import only, run
from pydantic import JsonValue
from suite_builder import RIGHT, RUBRIC, WRONG, write_script, write_task

from uniclaw.episode.graph import Ending
from uniclaw.records import Outcome
from uniclaw.runner.history import paid_by
from uniclaw.runner.retry_policy import AttemptPolicy
from uniclaw.store.records import EpisodeRecord
from uniclaw.store.run_store import RunStore

JUDGED: Mapping[str, JsonValue] = {
    **RUBRIC,
    "checkpoints": [
        {"id": "kind", "weight": 1.0, "description": "Polite.", "check": {"kind": "judge"}}
    ],
}


def bad_judge(tmp_path: Path) -> str:
    return write_script(tmp_path / "judge.yaml", [{"when": {}, "reply": {"text": "Who knows."}}])


def judged(tmp_path: Path, **given: object) -> EpisodeRecord:
    suite = write_task(tmp_path, rubric=JUDGED, rounds=(RIGHT,))
    return only(run(suite, tmp_path / "runs", supervisor=(bad_judge(tmp_path),), **given))


def test_fault_44_every_attempt_is_kept_and_its_cost_is_counted(tmp_path: Path) -> None:
    record = judged(tmp_path)
    assert record.outcome is Outcome.JUDGE_ERROR
    assert record.attempt == 2
    (first,) = record.earlier
    assert (first.state, first.outcome, first.attempt) == ("failed", "judge_error", 1)
    assert first.spent["judge"].usage.input > 0
    total = paid_by(record)["judge"].usage.input
    assert total == first.spent["judge"].usage.input + record.usage["judge"].usage.input
    root = tmp_path / "runs" / "r"
    assert (root / "episodes" / first.episode_id / "attempt.json").is_file()
    with RunStore.open(root) as store:
        assert len(store.rows()) == 1
        assert store.attempts.counts() == {"failed": 1, "settled": 1}


def test_the_number_of_attempts_is_a_setting(tmp_path: Path) -> None:
    assert judged(tmp_path, max_attempts=1).attempt == 1


@pytest.mark.parametrize("outcome", [o for o in Outcome if o.scored])
def test_scored_outcomes_are_never_tried_again(outcome: Outcome) -> None:
    assert not AttemptPolicy(max_attempts=9).again(Ending(outcome, None, True), 1)


@pytest.mark.parametrize(
    ("outcome", "retry", "again"),
    [
        (Outcome.INFRA_ERROR, True, True),
        (Outcome.INFRA_ERROR, None, True),
        (Outcome.INFRA_ERROR, False, False),
        (Outcome.RATE_LIMITED, None, True),
        (Outcome.ENVIRONMENT_LOST, True, True),
        (Outcome.FIREWALL_BREACH, None, False),
        (Outcome.CANCELLED, None, False),
    ],
)
def test_the_error_says_whether_another_attempt_may_help(
    outcome: Outcome, retry: bool | None, again: bool
) -> None:
    assert AttemptPolicy().again(Ending(outcome, None, retry), 1) is again
    assert not AttemptPolicy().again(Ending(outcome, None, retry), 2)


def test_what_the_agent_caused_is_not_tried_again(tmp_path: Path) -> None:
    record = only(run(write_task(tmp_path, rounds=(WRONG,)), tmp_path / "runs"))
    assert record.outcome is Outcome.ROUNDS_EXHAUSTED
    assert record.attempt == 1
    assert record.earlier == ()
