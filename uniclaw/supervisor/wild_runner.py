"""Runs inside a grader container: calls an imported grader once and says what it returned.

    python3 -I wild_runner.py JOB.json        (the nonce is the first line of standard input)

JOB: `{grader, transcript, workspace, lib, audits: {PORT: {PATH: document}}}`, paths absolute.
Standard output gets one line, the nonce and a JSON object:

    {"status": "returned", "values": {...}, "unusual": {KEY: WORDS}}
    {"status": "raised" | "returned another type", "reason": TEXT}

Whatever the grader prints goes to standard error. Standard library only.
"""

from __future__ import annotations

import http.server
import json
import math
import os
import sys
import threading
import traceback
import types
from collections.abc import Callable
from pathlib import Path
from typing import TypedDict, cast

MAX_TEXT = 4_000
MAX_ITEMS = 500
MAX_DEPTH = 6


class Job(TypedDict):
    """What to do; see the module."""

    grader: str
    transcript: str
    workspace: str
    lib: str
    audits: dict[str, dict[str, object]]


class Answer(TypedDict, total=False):
    """What came of it; see the module."""

    status: str
    reason: str
    values: dict[str, object]
    unusual: dict[str, str]


def main() -> None:
    """Do the job named on the command line."""
    nonce = sys.stdin.readline().strip()
    job = cast("Job", json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
    # The grader may print anything, also by file descriptor; the answer has its own.
    answer = os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(2, 1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sys.path.append(job["lib"])
    for port, documents in job["audits"].items():
        serve(int(port), documents)
    answer.write(f"{nonce} {json.dumps(grade(job))}\n")
    answer.flush()
    # Threads and exit handlers of the grader must not hold up its end.
    os._exit(0)


class _Call:
    """Whatever a grader raises, `SystemExit` too, is its result and not the runner's end."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.problem: str | None = None

    def __enter__(self) -> _Call:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: types.TracebackType | None,
    ) -> bool:
        if error is None:
            return False
        told = "".join(traceback.format_exception_only(kind, error)).strip()
        own = [f for f in traceback.extract_tb(trace) if f.filename == self.file]
        line = f" (its line {own[-1].lineno})" if own else ""
        self.problem = f"{told[:MAX_TEXT]}{line}"
        return True


def grade(job: Job) -> Answer:
    """Call the grader."""
    result: object = None
    with _Call(job["grader"]) as call:
        result = _load(job)(transcript=_transcript(job), workspace_path=job["workspace"])
    if call.problem is not None:
        return {"status": "raised", "reason": call.problem}
    if not isinstance(result, dict):
        kind = "None" if result is None else type(result).__name__
        return {"status": "returned another type", "reason": f"{kind}; expected a mapping"}
    unusual: dict[str, str] = {}
    pairs = list(cast("dict[object, object]", result).items())[:MAX_ITEMS]
    values = {str(key)[:200]: plain(value, str(key)[:200], unusual, 0) for key, value in pairs}
    return {"status": "returned", "values": values, "unusual": unusual}


def _load(job: Job) -> Callable[..., object]:
    module = types.ModuleType("wild_task_grader")
    module.__file__ = job["grader"]
    sys.modules[module.__name__] = module
    source = Path(job["grader"]).read_text(encoding="utf-8")
    exec(compile(source, job["grader"], "exec"), module.__dict__)
    return cast("Callable[..., object]", module.__dict__["grade"])


def _transcript(job: Job) -> list[object]:
    lines = Path(job["transcript"]).read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines if line.strip()]


def plain(value: object, key: str, unusual: dict[str, str], depth: int) -> object:
    """The value as JSON has it; what JSON has not is noted under its key."""
    value = _unwrapped(value)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return value[:MAX_TEXT].encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, (int, float)):
        if isinstance(value, float) and not math.isfinite(value):
            unusual[key] = str(value)
            return None
        return value if abs(value) < 1e300 else repr(value)[:200]
    if depth < MAX_DEPTH and isinstance(value, dict):
        pairs = list(cast("dict[object, object]", value).items())[:MAX_ITEMS]
        return {str(k)[:200]: plain(v, key, unusual, depth + 1) for k, v in pairs}
    if depth < MAX_DEPTH and isinstance(value, (list, tuple, set, frozenset)):
        members = list(cast("list[object]", value))[:MAX_ITEMS]
        return [plain(v, key, unusual, depth + 1) for v in members]
    unusual.setdefault(key, f"a {type(value).__name__}")
    return repr(value)[:200]


def _unwrapped(value: object) -> object:
    """The plain number inside a number of a numerical library."""
    item = getattr(value, "item", None)
    if not callable(item):
        return value
    try:
        return item()
    except (TypeError, ValueError):
        return value


def serve(port: int, documents: dict[str, object]) -> None:
    """Answer GET requests for the recorded documents, and nothing else, on a loopback port."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            document = documents.get(self.path.partition("?")[0].rstrip("/"))
            found = document is not None
            body = json.dumps(document if found else {"error": "not found"}).encode()
            self.send_response(200 if found else 404)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def _refuse(self) -> None:
            self.send_error(405, "what was recorded cannot be changed")

        do_POST = do_PUT = do_PATCH = do_DELETE = _refuse

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()


if __name__ == "__main__":
    main()
