"""A runner that plays in Docker is killed; resume leaves no trace of it in the engine."""

import socket
from pathlib import Path

import pytest
from killing import answers, completed, half_written, judged_suite, played, resumed_and_killed
from suite_builder import write_script
from tiny_harness import harness

from uniclaw.environments.engine import connect
from uniclaw.errors import EngineError
from uniclaw.records import Outcome
from uniclaw.store.run_store import RunStore

pytestmark = [pytest.mark.docker, pytest.mark.timeout(300)]


def of_run(name: str) -> dict[str, int]:
    """What the engine has of a run."""
    api = connect()
    try:
        label = {"label": f"uniclaw.run={name}"}
        return {
            "containers": len(api.containers(all=True, filters=label)),
            "networks": len(api.networks(filters=label)),
            "images": len(api.images(filters=label)),
        }
    finally:
        api.close()


NOTHING = {"containers": 0, "networks": 0, "images": 0}


def test_fault_13_a_runner_killed_in_docker_leaves_no_orphan(tmp_path: Path, unique: str) -> None:
    """Twice: in the run, and in its resume; a harness inside pays no answer twice."""
    suite, given = judged_suite(tmp_path)
    right = "echo '{\"n\": 3}' > results/out.json"
    script = write_script(tmp_path / "model.yaml", [{"when": {}, "reply": {"text": right}}])
    assets = harness(tmp_path)
    given = {
        **given,
        "run": unique,
        "environment": "docker",
        "assets": assets,
        "executor": (f"tiny:{script}",),
        "feedback_rounds": 0,
    }
    root = tmp_path / "runs" / unique
    assert played(suite, root.parent, given, failpoint="node.execute.turn")
    assert of_run(unique)["containers"] > 0
    assert resumed_and_killed(root, at="node.freeze.copied", assets=assets)
    assert of_run(unique)["containers"] > 0
    result, found = completed(root, assets)
    assert len(found.cut) == 1
    assert "container" in found.removed
    assert of_run(unique) == NOTHING
    assert half_written(root) == []
    (record,) = result.records
    assert record.outcome.scored, record.reason
    assert record.attempt == 3
    with RunStore.open(root) as store:
        assert len(store.rows()) == 1
        calls = [store.calls(e)[:1] for e in (record.episode_id, record.earlier[0].episode_id)]
        assert [[(c.role, c.reused) for c in some] for some in calls] == [
            [("executor", True)],
            [("executor", False)],
        ]
    paid = answers(root)
    assert len(paid) == len(set(paid))


def test_an_engine_that_is_gone_is_named_and_the_run_can_go_on_later(
    tmp_path: Path, unique: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite, given = judged_suite(tmp_path)
    given = {**given, "run": unique, "environment": "docker"}
    root = tmp_path / "runs" / unique
    assert played(suite, root.parent, given, failpoint="node.execute.intent")
    dead = tmp_path / "dead.sock"
    with socket.socket(socket.AF_UNIX) as closed:
        closed.bind(str(dead))
    with monkeypatch.context() as patched:
        patched.setenv("DOCKER_HOST", f"unix://{dead}")
        with pytest.raises(EngineError, match="dead"):
            completed(root)
    with RunStore.open(root) as store:
        assert len(store.unfinished()) == 1
    result, _ = completed(root)
    assert [r.outcome for r in result.records] == [Outcome.PASS]
    assert of_run(unique) == NOTHING
