"""Whole episodes with a background service: round changes, audits, deaths, and clean ends."""

import json
import re
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from player import Quiet, only, run
from pydantic import JsonValue
from service_maker import PORT, write_service
from suite_builder import write_script, write_task

from uniclaw.environments.clean import clean
from uniclaw.environments.engine import connect
from uniclaw.errors import UserError
from uniclaw.records import Outcome
from uniclaw.runner.rejudge import rejudge
from uniclaw.runner.replay import replay
from uniclaw.runner.validate import Plan, validate_suite

pytestmark = pytest.mark.docker
URL = f"http://localhost:{PORT}/notes"
READ = f"curl -sS {URL} > results/notes.json\n"
ADD = f"curl -sS -d done {URL} > /dev/null\n"
SOLUTION = (f"{READ}#: I read it.\n", f"{READ}#---\n{ADD}#: And answered.\n")
RUBRIC: Mapping[str, JsonValue] = {
    "threshold": 0.9,
    "checkpoints": [
        {
            "id": "read",
            "weight": 0.4,
            "description": "The notes were read and written down.",
            "artifact": "notes.json",
            "check": {
                "kind": "json",
                "path": "notes.json",
                "asserts": [{"pointer": "/0", "value": "first"}],
            },
        },
        {
            "id": "answered",
            "weight": 0.6,
            "description": "A note that says done was added.",
            "check": {
                "kind": "state",
                "service": "notes",
                "asserts": [{"pointer": "/state/notes", "op": "contains", "value": "done"}],
            },
        },
    ],
    "caps": [
        {
            "id": "silent",
            "max": 0.5,
            "description": "Nothing was added by a request.",
            "when": {
                "kind": "not",
                "check": {"kind": "state", "service": "notes", "contains": ["notes.add"]},
            },
        }
    ],
}


def suite_with_notes(root: Path, *, rounds: Sequence[str] = SOLUTION) -> Path:
    suite = write_task(root, task={"services": ["notes"]}, rounds=rounds, rubric=RUBRIC)
    write_service(suite / "count" / "services" / "notes")
    return suite


def containers(run_name: str) -> list[str]:
    api = connect()
    try:
        found = api.containers(all=True, filters={"label": f"uniclaw.run={run_name}"})
        return [str(c["Id"]) for c in found]
    finally:
        api.close()


def frozen(root: Path, episode: str, number: int) -> Mapping[str, JsonValue]:
    text = (root / "episodes" / episode / "rounds" / str(number) / "frozen.json").read_text("utf-8")
    (probe,) = json.loads(text)["probes"]
    assert probe["id"] == "service:notes"
    document: Mapping[str, JsonValue] = json.loads(probe["stdout"])
    return document


def test_an_episode_with_a_service_is_judged_by_its_log_replayed_and_judged_again(
    tmp_path: Path, unique: str
) -> None:
    result = run(suite_with_notes(tmp_path), tmp_path / "runs", environment="docker", run=unique)
    record = only(result)
    assert [r.verdict.score for r in record.rounds if r.verdict] == [0.4, 1.0], record.reason
    assert record.outcome is Outcome.PASS
    last = frozen(result.root, record.episode_id, 1)
    assert last["state"] == {"notes": ["first", "came later", "done"], "applied": 1}
    assert [(e["round"], e["action"]) for e in last["audit"]] == [  # type: ignore[index, union-attr]
        (0, "notes.list"),
        (1, "notes.list"),
        (1, "notes.add"),
    ]
    evidence = result.root / "episodes" / record.episode_id / "evidence"
    (notes,) = evidence.glob("1/**/notes.json")
    assert json.loads(notes.read_text("utf-8")) == ["first", "came later"]
    assert containers(unique) == []
    again = replay(
        result.root,
        name=None,
        strict=True,
        environ={},
        notify=lambda _: None,
        watch=lambda _: Quiet(),
    )
    assert list(again.differences) == []
    assert containers(f"{unique}-replay") == []
    judged = rejudge(
        result.root,
        name=None,
        supervisor=None,
        rubrics=None,
        environ={},
        notify=lambda _: None,
        watch=lambda _: Quiet(),
    )
    assert [r.verdict.score for r in only(judged).rounds if r.verdict] == [0.4, 1.0]
    views = (result.root / "episodes" / record.episode_id).glob("rounds/*/view-*.json")
    assert all("notes.list" not in view.read_text("utf-8") for view in views)


def test_a_service_that_the_agent_ends_is_recorded_and_the_episode_goes_on(
    tmp_path: Path, unique: str
) -> None:
    die = f"{READ}#---\ncurl -sS http://localhost:{PORT}/die\n#: It is gone.\n"
    suite = suite_with_notes(tmp_path, rounds=(die, die))
    record = only(run(suite, tmp_path / "runs", environment="docker", run=unique))
    assert record.outcome.scored
    assert record.attempt == 1
    assert "service-ended:notes" in record.flags
    ended = frozen(tmp_path / "runs" / unique, record.episode_id, 0)["ended"]
    assert ended == {"exit_code": 7, "log": "told to die"}


def test_a_service_that_does_not_get_ready_is_nobodys_score(tmp_path: Path, unique: str) -> None:
    suite = suite_with_notes(tmp_path)
    program = suite / "count" / "services" / "notes" / "program" / "main.py"
    program.write_text("raise SystemExit('broken on purpose')\n", encoding="utf-8")
    record = only(run(suite, tmp_path / "runs", environment="docker", run=unique, max_attempts=1))
    assert record.outcome is Outcome.ENVIRONMENT_LOST
    assert "broken on purpose" in (record.reason or "")
    assert containers(unique) == []


@pytest.mark.slow
def test_a_service_container_that_vanishes_costs_an_attempt(tmp_path: Path, unique: str) -> None:
    slow = f"sleep 3\n#---\n{SOLUTION[1]}"
    suite = suite_with_notes(tmp_path, rounds=(slow, slow))

    def kill() -> None:
        wanted = [f"--filter=label=uniclaw.run={unique}", "--filter=label=uniclaw.role=service"]
        until = time.monotonic() + 60
        while time.monotonic() < until:
            command = ["docker", "ps", "-q", *wanted]
            for found in subprocess.run(
                command, capture_output=True, text=True, check=False
            ).stdout.split():
                time.sleep(1.5)
                subprocess.run(["docker", "rm", "-f", found], capture_output=True, check=False)
                return
            time.sleep(0.2)

    killer = threading.Thread(target=kill)
    killer.start()
    record = only(run(suite, tmp_path / "runs", environment="docker", run=unique))
    killer.join()
    assert [e.outcome for e in record.earlier] == [Outcome.ENVIRONMENT_LOST]
    assert record.outcome is Outcome.PASS
    assert containers(unique) == []


def test_fault_13_what_a_killed_runner_left_of_services_is_swept(
    tmp_path: Path, unique: str
) -> None:
    suite = suite_with_notes(tmp_path, rounds=("sleep 60\n",))
    command = [sys.executable, "-m", "uniclaw.cli", "run", str(suite), "--run", unique]
    process = subprocess.Popen(
        [*command, "--runs-dir", str(tmp_path / "runs")],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    until = time.monotonic() + 60
    while len(containers(unique)) < 2 and time.monotonic() < until:
        time.sleep(0.1)
    process.kill()
    process.wait()
    assert len(containers(unique)) >= 2
    clean(run=unique)
    assert containers(unique) == []


def test_validate_plays_tasks_with_services_and_their_mutants(tmp_path: Path) -> None:
    suite = suite_with_notes(tmp_path, rounds=(SOLUTION[1],))
    mutants = tmp_path / "hidden" / "count" / "mutants"
    mutants.mkdir()
    for name, script in (
        ("read.sh", "rm results/notes.json\n"),
        ("answered.sh", '# set-state: notes /notes ["first"]\n'),
        ("silent.sh", "# drop-audit: notes.add\n"),
    ):
        (mutants / name).write_text(script, encoding="utf-8")
    report = validate_suite(str(suite), Plan(), notify=lambda _: None)
    (task,) = report.tasks
    assert task.problems == ()
    assert task.null_score == 0.0
    assert task.solution_passes
    assert [(m.line, m.exact) for m in task.mutants] == [
        ("answered", True),
        ("read", True),
        ("silent", True),
    ]


def test_an_agent_driven_by_a_model_uses_the_service_and_never_sees_its_files(
    tmp_path: Path, unique: str
) -> None:
    look = "grep -rlE 'notes[.]list' / --exclude-dir=proc --exclude-dir=sys 2>/dev/null; true"
    shell: JsonValue = {"name": "shell", "arguments": {"command": f"{READ}{look}\n{ADD}"}}
    executor = write_script(
        tmp_path / "executor.yaml",
        [
            {"when": {"last": "exit code"}, "reply": {"text": "Done."}},
            {"when": {}, "reply": {"tool_calls": [shell]}},
        ],
    )
    result = run(
        suite_with_notes(tmp_path),
        tmp_path / "runs",
        environment="docker",
        run=unique,
        executor=(f"loop:{executor}",),
    )
    record = only(result)
    assert record.outcome is Outcome.PASS
    trajectory = result.root / "episodes" / record.episode_id / "trajectory.jsonl"
    assert not re.search(r"/\S*main\.py", trajectory.read_text("utf-8"))


def test_the_process_environment_is_refused_before_anything_plays(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="docker alone"):
        run(suite_with_notes(tmp_path), tmp_path / "runs")
    assert not (tmp_path / "runs").exists()
