"""Whole episodes in live containers: limits, deaths, isolation, hidden text, and clean ends."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path

import pytest
from player import only, run
from pydantic import JsonValue
from suite_builder import RIGHT, WRONG, write_script, write_task

from uniclaw.environments.engine import connect
from uniclaw.records import Outcome
from uniclaw.store.run_store import RunStore

pytestmark = pytest.mark.docker
MARK = re.compile(r"qz[a-z]{3}mark\w*", re.IGNORECASE)


def containers(run_name: str) -> list[str]:
    api = connect()
    try:
        found = api.containers(all=True, filters={"label": f"uniclaw.run={run_name}"})
        return [str(c["Id"]) for c in found]
    finally:
        api.close()


def docker(*arguments: str) -> str:
    command = ["docker", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def test_an_episode_plays_in_a_container_and_leaves_nothing(tmp_path: Path, unique: str) -> None:
    record = only(run(write_task(tmp_path), tmp_path / "runs", environment="docker", run=unique))
    assert record.outcome is Outcome.PASS
    assert [r.verdict.score for r in record.rounds if r.verdict] == [0.25, 1.0]
    assert record.images["base"].startswith("uniclaw/base:")
    assert containers(unique) == []


def test_the_agent_is_not_root_and_has_no_network(tmp_path: Path, unique: str) -> None:
    look = (
        "id -u > results/uid\n#---\n"
        "cat /proc/net/route > results/routes; ls /sys/class/net > results/interfaces\n#---\n"
        "grep -E 'NoNewPrivs|CapEff' /proc/self/status > results/status\n#---\n" + RIGHT
    )
    result = run(
        write_task(tmp_path, rounds=(look,)), tmp_path / "runs", environment="docker", run=unique
    )
    files = result.root / "episodes" / only(result).episode_id / "evidence" / "0" / "workspace"
    said = {p.name: p.read_text(encoding="utf-8") for p in (files / "results").iterdir()}
    assert said["uid"].strip() == "1000"
    assert said["interfaces"].split() == ["lo"]
    assert len(said["routes"].strip().splitlines()) <= 1
    assert re.search(r"CapEff:\s*0+$", said["status"], re.MULTILINE)
    assert re.search(r"NoNewPrivs:\s*1", said["status"])


def test_fault_16_running_out_of_memory_is_the_agents_and_is_judged(
    tmp_path: Path, unique: str
) -> None:
    eat = f"{WRONG}#---\npython3 -c 'x = bytearray(600_000_000); print(len(x))'\n"
    record = only(
        run(
            write_task(tmp_path, rounds=(eat,)),
            tmp_path / "runs",
            environment="docker",
            run=unique,
            memory_bytes=100_000_000,
            feedback_rounds=0,
        )
    )
    assert record.outcome.scored
    assert record.final_score == 0.25
    assert record.rounds[0].stop.value == "resources"


def test_a_container_that_dies_costs_an_attempt_and_the_others_go_on(
    tmp_path: Path, unique: str
) -> None:
    suite = write_task(tmp_path, task_id="dies", rounds=("sleep 9\n",))
    write_task(tmp_path, task_id="lives")

    def kill() -> None:
        label = [f"--filter=label=uniclaw.run={unique}", "--filter=label=uniclaw.role=executor"]
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            for found in docker("ps", "-q", *label).split():
                if "sleep 9" in docker("top", found):
                    docker("rm", "-f", found)
                    return
            time.sleep(0.2)

    killer = threading.Thread(target=kill)
    killer.start()
    result = run(suite, tmp_path / "runs", environment="docker", run=unique)
    killer.join()
    by_task = {r.task_id: r for r in result.records}
    assert [e.outcome for e in by_task["dies"].earlier] == [Outcome.ENVIRONMENT_LOST]
    assert by_task["dies"].attempt == 2
    assert by_task["lives"].outcome is Outcome.PASS
    assert by_task["lives"].attempt == 1
    assert containers(unique) == []


@pytest.mark.parametrize("presses", [1, 2])
def test_fault_13_ctrl_c_ends_cleanly_and_leaves_no_container(
    tmp_path: Path, unique: str, presses: int
) -> None:
    slow = f"sleep {4 if presses == 1 else 60}\n#---\n{RIGHT}"
    suite = write_task(tmp_path, task_id="first", rounds=(slow,))
    for name in ("second", "third"):
        write_task(tmp_path, task_id=name, rounds=(slow,))
    command = [sys.executable, "-m", "uniclaw.cli", "run", str(suite), "--run", unique]
    process = subprocess.Popen(
        [*command, "--parallel", "1", "--json", "--runs-dir", str(tmp_path / "runs")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ},
    )
    deadline = time.monotonic() + 60
    while not containers(unique) and time.monotonic() < deadline:
        time.sleep(0.2)
    for _ in range(presses):
        process.send_signal(signal.SIGINT)
        time.sleep(0.5)
    out, errors = process.communicate(timeout=90)
    assert process.returncode == 1, errors
    episodes = json.loads(out)["episodes"]
    assert [e["outcome"] for e in episodes] == ["pass" if presses == 1 else "cancelled"]
    assert containers(unique) == []
    with RunStore.open(tmp_path / "runs" / unique) as store:
        assert store.counts()["unfinished"] == 2


HIDDEN: Mapping[str, JsonValue] = {
    "threshold": 0.9,
    "checkpoints": [
        {
            "id": "qzabcmark-line",
            "weight": 0.5,
            "description": "qzbcdmark the harbour ledger names it.",
            "artifact": "out.json",
            "check": {
                "kind": "json",
                "path": "out.json",
                "asserts": [{"pointer": "/n", "value": "qzcdemark"}],
            },
        },
        {
            "id": "judged",
            "weight": 0.5,
            "description": "qzdefmark in a description.",
            "check": {"kind": "judge", "criterion": "qzefgmark in a criterion."},
        },
    ],
    "caps": [
        {
            "id": "qzfghmark-cap",
            "max": 0.8,
            "description": "qzghimark in a cap.",
            "when": {"kind": "text", "path": "out.json", "contains": ["qzhijmark"]},
        }
    ],
    "pass_requires": {"judge": ["qzijkmark in a requirement."]},
    "references": ["references/t.json"],
    "secrets": ["qzjklmark phrase"],
}


def test_hidden_text_stays_on_the_supervisors_side(tmp_path: Path, unique: str) -> None:
    """Every rubric field is marked; the marks are looked for everywhere else."""
    search = (
        "(grep -rlIi --exclude-dir=proc --exclude-dir=sys -E 'qz[a-z]{3}mark' /"
        " 2>/dev/null; env | grep -i 'qz[a-z][a-z][a-z]mark'; true) > results/found.txt"
    )
    shell: JsonValue = {"name": "shell", "arguments": {"command": search}}
    executor = write_script(
        tmp_path / "executor.yaml",
        [
            {"when": {"last": "exit code"}, "reply": {"text": "Looked around."}},
            {"when": {}, "reply": {"tool_calls": [shell]}},
        ],
    )
    lines: JsonValue = [
        {"id": name, "met": 0.0, "evidence": ["r0.e0"], "reason": "not seen"}
        for name in ("judged", "requires-1")
    ]
    judge = write_script(
        tmp_path / "judge.yaml",
        [{"when": {"purpose": "judge"}, "reply": {"json": {"lines": lines}}}],
    )
    user = write_script(
        tmp_path / "user.yaml",
        [{"when": {}, "reply": {"json": {"message": "Please look again, something is off."}}}],
    )
    suite = write_task(
        tmp_path,
        rubric=HIDDEN,
        references={"t.json": {"qzklmmark": "qzlmnmark value"}},
        task={"budget": {"turn_s": 60, "feedback_rounds": 1}},
    )
    result = run(
        suite,
        tmp_path / "runs",
        environment="docker",
        run=unique,
        executor=(f"loop:{executor}",),
        supervisor=(judge,),
        user_simulator=(user,),
        firewall=("paper",),
    )
    record = only(result)
    assert record.outcome is Outcome.EXECUTOR_INCOMPLETE
    assert len(record.rounds) == 2
    episode = result.root / "episodes" / record.episode_id
    outside = [
        *episode.glob("rounds/*/message.json"),
        *episode.glob("rounds/*/view-*.json"),
        *episode.glob("rounds/*/draft-*.json"),
        *episode.glob("rounds/*/turn.json"),
        *(p for p in episode.glob("evidence/**/*") if p.is_file()),
        episode / "trajectory.jsonl",
    ]
    assert len(outside) >= 8
    for path in outside:
        found = MARK.findall(path.read_text(encoding="utf-8", errors="replace"))
        assert found == [], path
    said = (episode / "evidence" / "0" / "workspace" / "results" / "found.txt").read_text(
        encoding="utf-8"
    )
    assert said == ""
    with RunStore.open(result.root) as store:
        calls = store.calls(record.episode_id)
        assert {c.role for c in calls} == {"executor", "judge", "user_simulator"}
        for call in calls:
            text = store.get_blob(call.blob).decode()
            assert bool(MARK.search(text)) == (call.role == "judge"), call.role
