"""The commands: documented JSON, exit codes, and messages that name file, field and value."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import JsonValue
from suite_builder import RUBRIC, WRONG, write_task


def uniclaw(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "uniclaw.cli", *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def test_run_and_show_print_the_documented_document(tmp_path: Path) -> None:
    suite = write_task(tmp_path)
    ran = uniclaw(
        "run", str(suite), "--environment", "process", "--run", "a", "--json", cwd=tmp_path
    )
    assert ran.returncode == 0, ran.stderr
    document = json.loads(ran.stdout)
    assert set(document) == {"run", "summary", "episodes"}
    episode = document["episodes"][0]
    for key in ("task", "cell", "trial", "outcome", "reason", "rounds", "usage", "seconds"):
        assert key in episode
    assert episode["outcome"] == "pass"
    assert episode["final_score"] == episode["best_score"] == 1.0
    for line in episode["checkpoints"]:
        assert set(line) >= {"id", "weight", "value", "evidence"}
    shown = uniclaw("show", "a", "--json", cwd=tmp_path)
    assert json.loads(shown.stdout) == document
    assert "[1/1] count" in ran.stderr


def test_an_episode_is_shown_as_a_conversation_or_as_events(tmp_path: Path) -> None:
    suite = write_task(tmp_path)
    uniclaw("run", str(suite), "--environment", "process", "--run", "a", cwd=tmp_path)
    document = json.loads(uniclaw("show", "a", "--json", cwd=tmp_path).stdout)
    name = f"a/{document['episodes'][0]['episode']}"
    talk = uniclaw("show", name, cwd=tmp_path).stdout
    assert "It is four." in talk
    assert "It is three." in talk
    events = json.loads(uniclaw("show", name, "--trajectory", "--json", cwd=tmp_path).stdout)
    assert {e["kind"] for e in events["trajectory"]} == {"message", "tool_call", "tool_result"}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["run", "nowhere"], "nowhere"),
        (["run", "suite", "--trials", "0"], "trials"),
        (["run", "suite", "--executor", "nobody"], "unknown harness"),
        (["run", "suite", "--firewall", "none-such"], "none-such"),
        (["run", "suite", "--tasks", "zzz"], "zzz"),
        (["run", "suite", "--run", "../x"], "../x"),
        (["run", "klingon:suite"], "klingon"),
        (["show", "none"], "no run there"),
        (["show"], "name a run"),
        (["show", "../../etc"], "no run there"),
        (["validate", "nowhere"], "nowhere"),
    ],
)
def test_a_mistake_exits_with_2_and_plays_nothing(
    tmp_path: Path, arguments: list[str], said: str
) -> None:
    write_task(tmp_path)
    done = uniclaw(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        ("suite/count/task.yaml", "task_id: [", "task.yaml"),
        ("suite/count/task.yaml", "task_id: count\ninstruction: x\ncolour: red\n", "colour"),
        (
            "suite/count/task.yaml",
            "task_id: count\ninstruction: x\nbudget: {turn_s: -1}\n",
            "turn_s",
        ),
        ("hidden/count/rubric.yaml", json.dumps({**RUBRIC, "threshold": 7}), "threshold"),
        ("hidden/count/rubric.yaml", json.dumps({**RUBRIC, "treshold": 1}), "treshold"),
    ],
)
def test_broken_files_are_named_with_field_and_value(
    tmp_path: Path, file: str, text: str, said: str
) -> None:
    suite = write_task(tmp_path)
    (tmp_path / file).write_text(text, encoding="utf-8")
    done = uniclaw("run", str(suite), "--environment", "process", cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert said in done.stderr
    assert Path(file).name in done.stderr


def test_a_run_exits_with_1_when_an_episode_has_no_score(tmp_path: Path) -> None:
    broken: JsonValue = {"kind": "python", "function": "check"}
    line: JsonValue = {"id": "x", "weight": 1.0, "description": "x", "check": broken}
    suite = write_task(tmp_path, rubric={"threshold": 1, "checkpoints": [line]}, rounds=(WRONG,))
    (tmp_path / "hidden" / "count" / "checks.py").write_text(
        "import nothing_of_that_name\ndef check(evidence, references): return 1\n",
        encoding="utf-8",
    )
    done = uniclaw(
        "run", str(suite), "--environment", "process", "--run", "a", "--json", cwd=tmp_path
    )
    assert done.returncode == 1
    episode = json.loads(done.stdout)["episodes"][0]
    assert episode["outcome"] == "infra_error"
    assert episode["final_score"] is None
    assert "nothing_of_that_name" in episode["reason"]


def test_validate_prints_the_documented_document(tmp_path: Path) -> None:
    suite = write_task(tmp_path)
    done = uniclaw("validate", str(suite), "--environment", "process", "--json", cwd=tmp_path)
    document = json.loads(done.stdout)
    task = document["tasks"][0]
    assert set(task) >= {
        "task_id",
        "runnable",
        "reasons",
        "checkpoints",
        "weights_sum",
        "caps",
        "null_score",
        "solution_score",
        "shortcuts",
        "mutants",
    }
    assert task["weights_sum"] == 1.0
    assert task["null_score"] == 0.0
    assert task["solution_score"] == 1.0
    assert set(task["shortcuts"]) == {"empty_files", "copied_inputs", "keyword_stuffing"}


def test_the_graph_is_printed_as_mermaid(tmp_path: Path) -> None:
    assert "graph TD;" in uniclaw("show", "--graph", cwd=tmp_path).stdout


def test_doctor_says_what_is_there(tmp_path: Path) -> None:
    done = uniclaw("doctor", "--json", cwd=tmp_path)
    subjects = {f["subject"]: f["state"] for f in json.loads(done.stdout)["findings"]}
    assert subjects["python"] == "ok"
    assert subjects["assets/roles"] == "ok"
    assert "docker" in subjects


@pytest.mark.docker
def test_images_are_listed_and_tested(tmp_path: Path) -> None:
    listed = json.loads(uniclaw("env", "list", "--json", cwd=tmp_path).stdout)
    names = {image["name"]: image for image in listed["images"]}
    assert {"base", "office"} <= set(names)
    assert names["base"]["digest"]
    tested = uniclaw("env", "test", "base", "--json", cwd=tmp_path)
    assert tested.returncode == 0, tested.stderr
    assert json.loads(tested.stdout)["images"][0]["ok"] is True


@pytest.mark.docker
def test_clean_removes_nothing_of_a_living_owner(tmp_path: Path) -> None:
    done = uniclaw("clean", "--run", "no-such-run", "--json", cwd=tmp_path)
    assert done.returncode == 0
    assert json.loads(done.stdout)["removed"]["containers"] == []
