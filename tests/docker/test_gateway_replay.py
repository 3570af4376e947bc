"""A run whose harness calls its model from inside a container, played again from the store."""

import sqlite3
from pathlib import Path

import pytest
from player import Quiet, only, run
from suite_builder import RIGHT, write_script, write_task

from uniclaw.environments.engine import connect
from uniclaw.records import Outcome
from uniclaw.runner.replay import ReplayDiffers, Replayed, replay
from uniclaw.runner.start import RunResult
from uniclaw.store.run_store import RunStore

pytestmark = [pytest.mark.docker, pytest.mark.timeout(240)]

CLIENT = """
import json, subprocess, sys, urllib.request
url, token, model = sys.argv[1:4]
said = {"model": model, "messages": [{"role": "user", "content": sys.stdin.read()}]}
head = {"content-type": "application/json", "authorization": "Bearer " + token}
request = urllib.request.Request(url + "/v1/chat/completions", json.dumps(said).encode(), head)
try:
    answer = json.load(urllib.request.urlopen(request, timeout=30))
except OSError as error:
    sys.exit("model failed: %s" % error)
text = answer["choices"][0]["message"]["content"]
subprocess.run(["sh", "-c", text], check=False)
print(json.dumps({"type": "done", "text": "Counted."}))
"""
COMMAND = """
first:
  argv: [python3, /opt/tiny/client.py, "{{ url }}", "{{ token }}", "{{ model }}"]
final: {type: [done]}
transcript:
  events:
    - {when: {type: done}, message: text}
model_failure: "model failed"
"""


def harness(root: Path) -> Path:
    """An asset tree with the smallest harness that calls its model from inside."""
    home = root / "assets" / "environments" / "harness" / "tiny"
    home.mkdir(parents=True)
    (home / "client.py").write_text(CLIENT, encoding="utf-8")
    (home / "command.yaml").write_text(COMMAND, encoding="utf-8")
    (home / "recipe.yaml").write_text(
        "from: environment\ndescription: A test client.\n", encoding="utf-8"
    )
    (home / "Dockerfile").write_text(
        "ARG BASE\nFROM ${BASE}\nCOPY client.py /opt/tiny/client.py\n", encoding="utf-8"
    )
    return root / "assets"


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
