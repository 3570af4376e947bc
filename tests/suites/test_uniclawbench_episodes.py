"""Imported tasks in live containers: services, set-up, private variables, and the whole loop."""

import json
from pathlib import Path

import pytest
from player import only, run
from pydantic import JsonValue
from suite_builder import write_script
from suite_makers import Checkout

from uniclaw.records import Outcome

pytestmark = pytest.mark.docker
TOKEN = "tok-93af27-zz81"
SERVER = """
from http.server import BaseHTTPRequestHandler, HTTPServer

class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"the board says 42")

HTTPServer(("127.0.0.1", 8123), Handler).serve_forever()
"""
SERVICES = [
    {"name": "tools", "start": "bash install.sh", "oneshot": True},
    {"name": "board", "start": "python3 server.py"},
]
MODEL = Path(__file__).resolve().parent / "uniclawbench-model.yaml"


def furnished(root: Path) -> Checkout:
    checkout = Checkout(root)
    checkout.task(services=SERVICES, skills=["adder"], pre_exec=["ops/populate.sh"])
    checkout.put("services/tools/install.sh", "mkdir -p /opt/tools && echo tool > /opt/tools/t\n")
    checkout.put("services/board/server.py", SERVER)
    checkout.put("skills/adder/SKILL.md", "# Adding\n")
    checkout.put("ops/populate.sh", 'echo "set up for $A_TOKEN from $(cat ops/x)" > /opt/setup\n')
    checkout.put("ops/x", "x")
    checkout.put(".privacy", "A_TOKEN\n")
    return checkout


def executor(root: Path) -> str:
    look = (
        "mkdir -p results; (cat /opt/tools/t /opt/setup /root/skills/adder/SKILL.md;"
        " curl -sS localhost:8123; echo; ls /opt/task-setup;"
        " grep -rl 8123 / --include=server.py 2>/dev/null;"
        " echo $A_TOKEN; echo -n $A_TOKEN | base64) > results/report.md 2>&1;"
        " cat results/report.md"
    )
    shell: JsonValue = {"name": "shell", "arguments": {"command": look}}
    return write_script(
        root / "executor.yaml",
        [
            {"when": {"last": "exit code"}, "reply": {"text": f"I saw {TOKEN}."}},
            {"when": {}, "reply": {"tool_calls": [shell]}},
        ],
    )


def test_an_imported_task_has_its_services_and_its_private_values_stand_nowhere(
    tmp_path: Path, unique: str
) -> None:
    private = tmp_path / "private.env"
    private.write_text(f"A_TOKEN={TOKEN}\n", encoding="utf-8")
    result = run(
        furnished(tmp_path).uri,
        tmp_path / "runs",
        environment="docker",
        run=unique,
        executor=(f"loop:{executor(tmp_path)}",),
        supervisor=(f"scripted/{MODEL}",),
        firewall=("paper",),
        privacy=private,
        feedback_rounds=1,
    )
    record = only(result)
    assert record.outcome.scored, record.reason
    evidence = result.root / "episodes" / record.episode_id / "evidence" / "0"
    said = (evidence / "tmp_workspace/results/report.md").read_text("utf-8").splitlines()
    assert said[:4] == ["tool", "set up for [A_TOKEN] from x", "# Adding", "the board says 42"]
    assert said[4:] == ["[A_TOKEN]", "[A_TOKEN]"]
    assert record.rounds[0].final_message == "I saw [A_TOKEN]."
    assert all("tok-93af27" not in r.message for r in record.rounds)
    holding = [
        path for path in result.root.rglob("*") if path.is_file() and b"93af27" in path.read_bytes()
    ]
    assert holding == []


def test_a_set_up_that_fails_is_nobodys_score(tmp_path: Path, unique: str) -> None:
    checkout = Checkout(tmp_path)
    checkout.task(pre_exec=["ops/populate.sh"])
    checkout.put("ops/populate.sh", "echo no board here; exit 3\n")
    result = run(
        checkout.uri,
        tmp_path / "runs",
        environment="docker",
        run=unique,
        executor=("null",),
        supervisor=(f"scripted/{MODEL}",),
        max_attempts=1,
    )
    record = only(result)
    assert record.outcome is Outcome.INFRA_ERROR
    assert "no board here" in (record.reason or "")
    (episode,) = json.loads(json.dumps(result.document))["episodes"]
    assert episode["reference"]["status"] == "pre_exec_failed"


@pytest.mark.reference
def test_the_runnable_ones_of_real_tasks_play_to_the_end(
    tmp_path: Path, unique: str, reference_data: Path
) -> None:
    result = run(
        f"uniclawbench:{reference_data / 'uniclawbench'}",
        tmp_path / "runs",
        environment="docker",
        run=unique,
        tasks=("*102_21*", "*101_1*"),
        executor=(f"loop:scripted/{MODEL}",),
        supervisor=(f"scripted/{MODEL}",),
        firewall=("paper",),
    )
    assert result.exit_code == 0
    assert {r.task_id[5:11] for r in result.records} == {
        *("101_11", "101_12", "101_13", "101_14", "102_21")
    }
    assert all(r.outcome.scored for r in result.records)
    assert "task_101_10_docker_audit" in result.left_out
    document = json.loads(json.dumps(result.document))
    statuses = {e["reference"]["status"] for e in document["episodes"]}
    assert statuses == {"budget_exhausted"}
