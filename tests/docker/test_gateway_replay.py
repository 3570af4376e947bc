"""A run whose harness calls its model from inside a container, played again from the store."""

import sqlite3
from pathlib import Path

import pytest
from player import Quiet, only, run
from suite_builder import RIGHT, write_script, write_task
from tiny_harness import harness

from uniclaw.environments.engine import connect
from uniclaw.records import Outcome
from uniclaw.runner.replay import ReplayDiffers, Replayed, replay
from uniclaw.runner.start import RunResult
from uniclaw.store.run_store import RunStore

pytestmark = [pytest.mark.docker, pytest.mark.timeout(240)]


def played(tmp_path: Path, name: str) -> RunResult:
    script = write_script(tmp_path / "model.yaml", [{"when": {}, "reply": {"text": RIGHT}}])
    return run(
        write_task(tmp_path),
        tmp_path / "runs",
        run=name,
        environment="docker",
        assets=harness(tmp_path),
        executor=(f"tiny:{script}",),
    )


def again(root: Path, assets: Path, name: str) -> Replayed:
    return replay(
        root,
        name=name,
        strict=True,
        environ={},
        notify=lambda _: None,
        watch=lambda _: Quiet(),
        assets_dir=assets,
    )


def test_a_harness_in_a_container_is_answered_from_the_store(tmp_path: Path, unique: str) -> None:
    result = played(tmp_path, unique)
    assert only(result).outcome is Outcome.PASS, only(result).reason
    found = again(result.root, tmp_path / "assets", f"{unique}-2")
    assert found.differences == []
    record = only(found.result)
    with RunStore.open(found.result.root) as store:
        calls = store.calls(record.episode_id)
        assert [(c.role, c.reused, c.ok) for c in calls] == [("executor", True, True)]
    with sqlite3.connect(result.root / "run.sqlite") as db:
        db.execute("DELETE FROM calls")
    db.close()
    with pytest.raises(ReplayDiffers, match="'executor' through the gateway"):
        again(result.root, tmp_path / "assets", f"{unique}-3")
    api = connect()
    try:
        for name in (unique, f"{unique}-2", f"{unique}-3"):
            assert not api.containers(all=True, filters={"label": f"uniclaw.run={name}"})
    finally:
        api.close()


def test_another_run_can_be_the_model_of_a_harness_in_a_container(
    tmp_path: Path, unique: str
) -> None:
    result = played(tmp_path, unique)
    taped = run(
        tmp_path / "suite",
        tmp_path / "runs",
        run=f"{unique}-4",
        environment="docker",
        assets=tmp_path / "assets",
        executor=(f"tiny:cassette/{result.name}",),
    )
    record = only(taped)
    assert record.outcome is Outcome.PASS, record.reason
    with RunStore.open(taped.root) as store:
        calls = store.calls(record.episode_id)
    assert [(c.model, c.reused, c.ok) for c in calls] == [(f"cassette/{unique}", True, True)]
