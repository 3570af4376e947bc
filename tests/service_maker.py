"""A small background service for tests: a board of notes, written as an author would."""

import json
from collections.abc import Mapping
from pathlib import Path

from pydantic import JsonValue

PORT = 8099
SEED: Mapping[str, JsonValue] = {"notes": ["first"], "changes": {"1": ["came later"]}}

PROGRAM = r"""
import json, os, sys
from http.server import BaseHTTPRequestHandler, HTTPServer

with open("/service/seed/seed.json") as file:
    seed = json.load(file)
state = {"notes": list(seed["notes"]), "applied": 0}
if os.path.exists("/service/state/state.json"):
    with open("/service/state/state.json") as file:
        state = json.load(file)
with open("/service/state/audit.jsonl") as file:
    count = sum(1 for _ in file)


def current_round():
    try:
        with open("/service/control/round") as file:
            return int(file.read())
    except (OSError, ValueError):
        return 0


def save():
    with open("/service/state/.new", "w") as file:
        json.dump(state, file)
    os.replace("/service/state/.new", "/service/state/state.json")


class Handler(BaseHTTPRequestHandler):
    def answer(self, value):
        body = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words):
        pass

    def note(self, action, **more):
        global count
        count += 1
        line = {"n": count, "round": current_round(), "action": action, **more}
        with open("/service/state/audit.jsonl", "a") as file:
            file.write(json.dumps(line) + "\n")

    def changes(self):
        for number in range(state["applied"] + 1, current_round() + 1):
            state["notes"] += seed.get("changes", {}).get(str(number), [])
            state["applied"] = number
        save()

    def do_GET(self):
        if self.path == "/health":
            return self.answer({"ok": True})
        self.changes()
        self.note("die" if self.path == "/die" else "notes.list")
        if self.path == "/die":
            print("told to die", flush=True)
            os._exit(7)
        self.answer(state["notes"])

    def do_POST(self):
        self.changes()
        text = self.rfile.read(int(self.headers["Content-Length"])).decode()
        state["notes"].append(text)
        save()
        self.note("notes.add", text=text)
        self.answer({"ok": True})


save()
HTTPServer(("127.0.0.1", int(os.environ["NOTES_PORT"])), Handler).serve_forever()
"""

DESCRIPTION: Mapping[str, JsonValue] = {
    "description": "A board of notes.",
    "command": ["python3", "/service/program/main.py"],
    "port": PORT,
    "ready": {"path": "/health", "timeout_s": 10},
    "env": {"NOTES_PORT": str(PORT)},
}


def write_service(
    home: Path,
    *,
    program: str = PROGRAM,
    seed: Mapping[str, JsonValue] | None = SEED,
    description: Mapping[str, JsonValue] = DESCRIPTION,
) -> Path:
    """Write `service.yaml`, `program/main.py` and `seed.json` into a directory."""
    (home / "program").mkdir(parents=True)
    (home / "program" / "main.py").write_text(program, encoding="utf-8")
    (home / "service.yaml").write_text(json.dumps(dict(description)), encoding="utf-8")
    if seed is not None:
        (home / "seed.json").write_text(json.dumps(dict(seed)), encoding="utf-8")
    return home
