"""A task that asks for a network reaches what it named, through the recording proxy alone."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from player import only, run
from pydantic import JsonValue
from suite_builder import write_task

from uniclaw.errors import UserError
from uniclaw.records import Outcome
from uniclaw.store.run_store import RunStore

pytestmark = pytest.mark.docker

ASK = """
import os, socket, urllib.request, json
def ask(url):
    try:
        with urllib.request.urlopen(url, timeout=20) as reply:
            return reply.status, reply.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, ""
port = os.environ["SITE"]
found = {"n": int(ask(f"http://localhost.localdomain:{port}/number")[1])}
found["other"] = ask("http://example.org/")[0]
try:
    socket.create_connection(("127.0.0.1", int(port)), 3).close()
    found["direct"] = "reached"
except OSError:
    found["direct"] = "refused"
json.dump(found, open("results/out.json", "w"))
"""


class _Site(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = b"3"
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None: ...


@pytest.fixture
def site() -> Iterator[int]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Site)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server.server_address[1]
    server.shutdown()
    thread.join()
    server.server_close()


def _suite(root: Path, port: int) -> Path:
    solution = f"mkdir -p results\nexport SITE={port}\npython3 - <<'PY'{ASK}PY\n#: Three.\n"
    solution = solution.replace("localhost.localdomain", "localhost")
    # Python does not send requests for localhost to a proxy: `no_proxy` names it.
    solution = solution.replace("import os,", "import urllib.error, os,").replace(
        "port = os", "os.environ['no_proxy'] = os.environ['NO_PROXY'] = ''\nport = os"
    )
    checks: list[JsonValue] = [
        {"pointer": "/n", "value": 3},
        {"pointer": "/other", "value": 403},
        {"pointer": "/direct", "value": "refused"},
    ]
    log: list[JsonValue] = [{"pointer": "/requests/0/outcome", "value": "answered"}]
    rubric: dict[str, JsonValue] = {
        "threshold": 1.0,
        "checkpoints": [
            {
                "id": "seen",
                "weight": 0.5,
                "description": "What the site says.",
                "check": {"kind": "json", "path": "out.json", "asserts": checks},
            },
            {
                "id": "asked",
                "weight": 0.5,
                "description": "The site was asked.",
                "check": {"kind": "state", "probe": "network", "asserts": log},
            },
        ],
    }
    return write_task(
        root, task={"network": [f"localhost:{port}"]}, rubric=rubric, rounds=(solution,)
    )


def test_a_task_reaches_what_it_named_and_the_log_is_evidence(tmp_path: Path, site: int) -> None:
    suite = _suite(tmp_path, site)
    consent = {"network": True, "private_hosts": (f"localhost:{site}",)}
    result = run(suite, tmp_path / "runs", environment="docker", **consent)
    record = only(result)
    assert record.outcome is Outcome.PASS, record.model_dump_json(indent=1)
    frozen = next((result.root / "episodes" / record.episode_id).rglob("frozen*.json"))
    probes = json.loads(frozen.read_text(encoding="utf-8"))["probes"]
    log = json.loads(next(p["stdout"] for p in probes if p["id"] == "network"))
    assert [line["outcome"] for line in log["requests"]] == ["answered", "denied"]
    with RunStore.open(result.root) as store:
        assert store.get_blob(log["requests"][0]["response"]["sha256"]) == b"3"


def test_a_server_of_this_machine_needs_the_consent_of_who_runs(tmp_path: Path, site: int) -> None:
    suite = _suite(tmp_path, site)
    record = only(run(suite, tmp_path / "runs", environment="docker", network=True))
    assert record.outcome is not Outcome.PASS


def test_a_network_needs_consent(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="--network"):
        run(_suite(tmp_path, 80), tmp_path / "runs")


def test_the_process_environment_has_no_recorded_network(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="docker"):
        run(_suite(tmp_path, 80), tmp_path / "runs", network=True)
