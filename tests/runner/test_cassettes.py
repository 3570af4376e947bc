"""`cassette/RUN`: another run's stored answers as a model."""

from pathlib import Path

import pytest
from player import only, run
from suite_builder import write_script
from test_replay import played

from uniclaw.errors import UserError
from uniclaw.records import Outcome
from uniclaw.runner.start import RunResult
from uniclaw.store.run_store import RunStore


def from_cassette(tmp_path: Path, **given: object) -> RunResult:
    taped = f"cassette/{given.pop('of', 'r')}"
    settings: dict[str, object] = {
        "run": "again",
        "executor": (f"loop:{taped}",),
        "supervisor": (taped,),
        "user_simulator": (taped,),
        "model_in_process": True,
        **given,
    }
    return run(tmp_path / "suite", tmp_path / "runs", **settings)


def test_every_role_is_answered_from_another_run(tmp_path: Path) -> None:
    before = only(played(tmp_path))
    result = from_cassette(tmp_path)
    record = only(result)
    assert record.outcome is Outcome.PASS, record.reason
    assert [r.final_message for r in record.rounds] == [r.final_message for r in before.rounds]
    with RunStore.open(result.root) as store:
        calls = store.calls(record.episode_id)
    assert {c.model for c in calls} == {"cassette/r"}
    assert all(c.reused and c.ok for c in calls)
    assert len(calls) == 7
    assert all(spent.cost_usd == 0.0 for spent in record.usage.values())


def test_another_trial_asks_something_else(tmp_path: Path) -> None:
    """Its seed is part of every request of ours, so an answer stands for one trial."""
    played(tmp_path)
    result = from_cassette(tmp_path, trials=2)
    assert result.totals.passed == 1
    (lost,) = [r for r in result.records if not r.outcome.scored]
    assert lost.trial == 1
    assert lost.reason is not None
    assert "seed" in lost.reason


def test_a_miss_names_the_first_difference(tmp_path: Path) -> None:
    played(tmp_path)
    other = write_script(
        tmp_path / "other.yaml", [{"when": {}, "reply": {"json": {"message": "Look at it anew."}}}]
    )
    record = only(from_cassette(tmp_path, user_simulator=(other,), max_attempts=1))
    assert record.outcome is Outcome.INFRA_ERROR
    assert record.reason is not None
    assert "CassetteMiss" in record.reason
    assert "recorded" in record.reason
    assert "anew" in record.reason


@pytest.mark.parametrize("name", ["nothing", "../elsewhere"])
def test_a_run_that_is_not_there_is_refused_before_anything_is_played(
    tmp_path: Path, name: str
) -> None:
    played(tmp_path)
    with pytest.raises(UserError, match="no run of this name"):
        from_cassette(tmp_path, of=name)
    assert not (tmp_path / "runs" / "again").exists()


def test_a_run_may_be_named_by_its_path(tmp_path: Path) -> None:
    root = played(tmp_path).root
    assert only(from_cassette(tmp_path, of=root)).outcome is Outcome.PASS
