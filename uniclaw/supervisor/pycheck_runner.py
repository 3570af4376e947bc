"""Runs inside a grader environment: authors' check functions, OCR and workbook reading.

Standard library alone, Python 3.9 or later, started as `python3 -I pycheck_runner.py JOBS NONCE`
in the directory that the paths of JOBS start at. It must never run anything of the agent's: the
frozen files are data that functions read.

JOBS is a JSON file `{evidence, sources, references, checks, jobs}`. Each job
`{index, kind, base, timeout_s, payload}` is done in a child process that is killed at its
deadline; at the end the directory of JOBS is removed. Kinds and payloads: `python`
`{file, function, args}`, `table` `{path, sheet}`, `ocr` `{path, language}`. The answer is one
line on stdout, `NONCE [{index, status, value, reason}]`; whatever functions print goes nowhere.

`function(evidence, references, **args)` receives the two readers below.
"""

from __future__ import annotations

import fnmatch
import importlib.util
import json
import os
import posixpath
import select
import shutil
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import TypedDict, cast

MAX_ANSWER_BYTES = 24_000_000
MAX_REASON = 400


class EntryData(TypedDict):
    """A path of the frozen tree."""

    path: str
    kind: str
    change: str
    skipped: str | None


class EvidenceData(TypedDict):
    """What a round left."""

    root: str
    round: int
    entries: list[EntryData]
    events: list[dict[str, object]]
    final_message: str
    probes: list[dict[str, object]]


class JobData(TypedDict):
    """One job."""

    index: int
    kind: str
    base: str
    timeout_s: float
    payload: dict[str, object]


class JobsData(TypedDict):
    """The jobs file."""

    evidence: EvidenceData
    sources: str
    references: str
    checks: str
    jobs: list[JobData]


class Answer(TypedDict):
    """What came of a job."""

    status: str
    value: object
    reason: str


class Unavailable(Exception):
    """A tool or module is missing: nothing can be said about the evidence."""


class Evidence:
    """What an author's function may read of a round."""

    def __init__(self, data: EvidenceData, base: str, sources: str) -> None:
        """Bind the frozen files.

        Args:
            data: `evidence` of the jobs file.
            base: absolute path inside that relative paths start at.
            sources: directory of the task's original sources.
        """
        self._root = Path(data["root"])
        self._base = base
        self._sources = Path(sources)
        self._entries = {entry["path"]: entry for entry in data["entries"]}
        self._probes = {str(probe["id"]): probe for probe in data["probes"]}
        self.events = data["events"]
        """Records of all trajectory events so far."""
        self.final_message = data["final_message"]
        self.round = data["round"]

    def _entry(self, path: str) -> EntryData | None:
        return self._entries.get(posixpath.normpath(posixpath.join(self._base, path)))

    def path(self, path: str) -> Path | None:
        """Where a frozen regular file lies here, or None."""
        entry = self._entry(path)
        if entry is None or entry["kind"] != "file" or entry["skipped"]:
            return None
        return (self._root / entry["path"].lstrip("/")).resolve()

    def text(self, path: str) -> str | None:
        """A file's text (bad bytes become U+FFFD), or None."""
        found = self.path(path)
        if found is None:
            return None
        data = found.read_bytes()
        encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
        return data.decode(encoding, "replace")

    def json(self, path: str) -> object:
        """A file's JSON value; None when it is missing or does not parse (NaN does not)."""
        text = self.text(path)
        if text is None:
            return None
        try:
            return json.loads(text, parse_constant=_refuse)
        except (ValueError, RecursionError):
            return None

    def glob(self, pattern: str) -> list[str]:
        """Paths inside of frozen regular files that match, sorted; `*` spans directories."""
        wanted = posixpath.join(self._base, pattern)
        return sorted(
            path
            for path, entry in self._entries.items()
            if entry["kind"] == "file"
            and not entry["skipped"]
            and fnmatch.fnmatchcase(path, wanted)
        )

    def source(self, relative: str) -> Path | None:
        """Where an original source of the task lies here, or None."""
        clean = posixpath.normpath(relative)
        if clean.startswith(("/", "..")):
            return None
        found = self._sources / clean
        return found.resolve() if found.is_file() else None

    def changed(self, path: str) -> bool:
        """Whether a path is new or differs from what was there before the agent."""
        entry = self._entry(path)
        return entry is not None and entry["change"] != "same"

    def probe(self, probe_id: str) -> dict[str, object] | None:
        """`{id, exit_code, stdout, truncated}` of a state probe, or None."""
        return self._probes.get(probe_id)


class References:
    """What an author's function may read of the references, by paths as `references/x.json`."""

    def __init__(self, root: str) -> None:
        """Bind the directory that holds them."""
        self._root = Path(root)

    def path(self, relative: str) -> Path:
        """Where a reference file or directory lies here.

        Raises:
            FileNotFoundError: it does not.
        """
        found = self._root / posixpath.normpath(relative).lstrip("/")
        if ".." in found.parts or not found.exists():
            raise FileNotFoundError(f"no reference {relative!r}")
        return found.resolve()

    def text(self, relative: str) -> str:
        """A reference file's text."""
        return self.path(relative).read_text(encoding="utf-8-sig")

    def json(self, relative: str) -> object:
        """A reference file's JSON value."""
        return json.loads(self.text(relative))


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


Work = Callable[[], object]
"""A job that is ready to be done: what fails from here on fails on the evidence."""


def python_work(data: JobsData, job: JobData) -> Work:
    """Load an author's file; the work is the call of its function."""
    payload = job["payload"]
    path = Path(data["checks"]) / str(payload["file"])
    sys.path.insert(0, str(path.resolve().parent))
    module = _load(path, "uniclaw_checks")
    function = cast("Callable[..., object]", getattr(module, str(payload["function"])))
    evidence = Evidence(data["evidence"], job["base"], data["sources"])
    references = References(data["references"])
    args = cast("dict[str, object]", payload["args"])
    return lambda: function(evidence, references, **args)


def table_work(data: JobsData, job: JobData) -> Work:
    """The work gives rows of a workbook's sheet as text."""
    reader = _load(Path(__file__).resolve().parent / "xlsx_reader.py", "xlsx_reader")
    read_sheet = cast("Callable[[Path | None, object], object]", reader.read_sheet)
    evidence = Evidence(data["evidence"], job["base"], data["sources"])
    path = evidence.path(str(job["payload"]["path"]))
    return lambda: read_sheet(path, job["payload"]["sheet"])


def ocr_work(data: JobsData, job: JobData) -> Work:
    """The work gives the text that tesseract reads from an image."""
    evidence = Evidence(data["evidence"], job["base"], data["sources"])
    path = evidence.path(str(job["payload"]["path"]))
    language = str(job["payload"]["language"])
    if shutil.which("tesseract") is None:
        raise Unavailable("tesseract is not in the task's environment image")

    def read() -> str:
        command = ["tesseract", str(path), "stdout", "-l", language]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True)
        complaint = done.stderr.decode("utf-8", "replace")
        if done.returncode == 0:
            return done.stdout.decode("utf-8", "replace")
        if "Failed loading language" in complaint or "Error opening data file" in complaint:
            raise Unavailable(f"tesseract has no language {language!r}")
        raise ValueError(f"tesseract cannot read the image: {complaint[-200:]}")

    return read


def _load(path: Path, name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, str(path))
    if spec is None or spec.loader is None:
        raise Unavailable(f"{path.name} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def describe(error: BaseException) -> str:
    """An exception in one line, with the place in the author's file."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f" (line {frames[-1].lineno} of {Path(frames[-1].filename).name})" if frames else ""
    return f"{type(error).__name__}: {error}{where}"[:MAX_REASON]


def answer(data: JobsData, job: JobData, writing: int) -> None:
    """Do one job and write what came of it; an exception goes on after it was written."""
    kinds = {"python": python_work, "table": table_work, "ocr": ocr_work}
    ready = False
    try:
        work = kinds[job["kind"]](data, job)
        ready = True
        reply = _done(work())
    except BaseException as error:  # also SystemExit and KeyboardInterrupt of a function
        _send(writing, _broken(error, ready))
        raise
    _send(writing, reply)


def _broken(error: BaseException, ready: bool) -> Answer:
    if isinstance(error, Unavailable):
        return {"status": "unavailable", "value": None, "reason": str(error)}
    if not ready or isinstance(error, ImportError):
        reason = f"the check cannot be loaded: {describe(error)}"
        return {"status": "unavailable", "value": None, "reason": reason}
    return _failed(f"the check broke on this evidence: {describe(error)}")


def _failed(reason: str) -> Answer:
    return {"status": "failed", "value": None, "reason": reason}


def _done(value: object) -> Answer:
    try:
        size = len(json.dumps(value))
    except (TypeError, ValueError, RecursionError):  # said by its type, and refused by the reader
        return {"status": "done", "value": f"<{type(value).__name__}>", "reason": ""}
    if size > MAX_ANSWER_BYTES:
        return _failed("the answer is too large")
    return {"status": "done", "value": value, "reason": ""}


def _send(writing: int, reply: Answer) -> None:
    with os.fdopen(writing, "wb") as stream:
        stream.write(json.dumps(reply).encode("ascii"))


def in_child(data: JobsData, job: JobData) -> Answer:
    """Do one job in a process of its own, killed with all its children at the deadline."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setpgid(0, 0)
            os.close(reading)
            _volunteer()
            answer(data, job, writing)
        finally:
            os._exit(0)
    os.close(writing)
    received, in_time = _receive(reading, time.monotonic() + job["timeout_s"])
    os.close(reading)
    _kill_group(child)
    _, status = os.waitpid(child, 0)
    if not in_time:
        return _failed(f"the check was stopped after {job['timeout_s']:g} s")
    try:
        return cast("Answer", json.loads(received.decode("ascii")))
    except ValueError:
        return _failed(f"the check's process died (signal {status & 0x7F})")


def _volunteer() -> None:
    """Be the first to go when memory runs out, so that the other checks are still answered."""
    try:
        Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")
    except OSError:
        return


def _receive(reading: int, deadline: float) -> tuple[bytes, bool]:
    chunks: list[bytes] = []
    while True:
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([reading], [], [], left)[0]:
            return b"", False
        chunk = os.read(reading, 1 << 16)
        if not chunk:
            return b"".join(chunks), True
        chunks.append(chunk)


def _kill_group(child: int) -> None:
    for kill in (os.killpg, os.kill):  # the group may not exist yet
        try:
            kill(child, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            continue


def main(jobs_file: str, nonce: str) -> None:
    """Do all jobs and write the answers."""
    data: JobsData = json.loads(Path(jobs_file).read_text(encoding="utf-8"))
    channel = os.fdopen(os.dup(1), "wb")
    silence = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(silence, descriptor)
    answers = [{**in_child(data, job), "index": job["index"]} for job in data["jobs"]]
    channel.write(f"\n{nonce} {json.dumps(answers)}\n".encode("ascii"))
    channel.close()
    shutil.rmtree(Path(jobs_file).parent, ignore_errors=True)  # the next round brings its own


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
