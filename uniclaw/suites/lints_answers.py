"""Lints of what the agent can read: files that hold the answer, and histories that do."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

from pydantic import JsonValue

from uniclaw.suites.bundle import Finding, TaskBundle
from uniclaw.suites.files import scan_tree
from uniclaw.suites.git_files import beside_head

_MIN_BYTES = 16
_MIN_QUOTED_CHARS = 200
_MAX_BYTES = 2_000_000
_NAMED = re.compile(
    r"(?:^|[_.\- ])(?:answers?|answer[_-]?key|solutions?|ground[_-]?truth|expected(?:[_-]\w+)?"
    r"|gold|rubric|eval[_-]?rule|checker|grader)(?:[_.\- ]|$)",
    re.IGNORECASE,
)


def readable_files(bundle: TaskBundle) -> Mapping[str, Path]:
    """What a task brings into the agent's environment: sources, skills, installers."""
    found = {f"sources/{name}": path for name, path in bundle.sources.items()}
    trees = {f"skills/{name}": path for name, path in bundle.skills.items()}
    for service in bundle.task.services:
        if service.oneshot and service.name in bundle.services:
            trees[f"services/{service.name}"] = bundle.services[service.name]
    for prefix, directory in trees.items():
        for name, path in scan_tree(directory).files.items():
            found[f"{prefix}/{name}"] = path
    return found


def answer_lints(bundle: TaskBundle, references: Path) -> Iterator[Finding]:
    """Readable files that are, hold or quote a reference, or are named like one.

    Args:
        bundle: the task.
        references: directory of its reference files.
    """
    hidden = scan_tree(references).files
    readable = readable_files(bundle)
    for name, path in readable.items():
        for reference, place in hidden.items():
            how = _holds(path, place)
            if how is not None:
                message = f"{name} {how} references/{reference}"
                yield Finding(bundle.task_id, "warning", "answer-leak", message)
    for name in readable:
        if ".git/" not in f"{name}/" and _NAMED.search(PurePosixPath(name).name):
            message = f"{name} is named like an answer, and the agent can read it"
            yield Finding(bundle.task_id, "warning", "answer-name", message)
    for repository, what in beside_head(readable).items():
        message = f"{repository} holds more than its HEAD: {what}"
        yield Finding(bundle.task_id, "warning", "history-leak", message)


def _holds(path: Path, reference: Path) -> str | None:
    """How a file gives a reference away; None when it does not."""
    size = reference.stat().st_size
    if size < _MIN_BYTES or max(size, path.stat().st_size) > _MAX_BYTES:
        same = size >= _MIN_BYTES and size == path.stat().st_size
        return "is the same file as" if same and _equal(path, reference) else None
    if path.stat().st_size == size and _equal(path, reference):
        return "is the same file as"
    wanted = _text(reference)
    text = _text(path)
    if wanted is None or text is None:
        return None
    said = _json(wanted, reference)
    if said is not None and said == _json(text, path):
        return "says the same as"
    squeezed = " ".join(wanted.split())
    if len(squeezed) >= _MIN_QUOTED_CHARS and squeezed in " ".join(text.split()):
        return "quotes all of"
    return None


def _equal(one: Path, two: Path) -> bool:
    with one.open("rb") as first, two.open("rb") as second:
        while True:
            left, right = first.read(1 << 20), second.read(1 << 20)
            if left != right or not left:
                return left == right


def _text(path: Path) -> str | None:
    data = path.read_bytes()
    return None if b"\0" in data[:8192] else data.decode("utf-8", "replace")


def _json(text: str, path: Path) -> JsonValue:
    if path.suffix.lower() != ".json":
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
