"""Finds what the reference benchmark left on disk: run directories, and published traces.

A run directory is `<backend>/<model>/<category>/<task>/` with a `summary.json` and one directory
per attempt (`score.json`, `meta.json`, `supervision_trace.jsonl`, `transcript.jsonl`,
`timeline.json`). A trace is one JSON document that holds the same for one task. Any file may be
missing: a killed run has no summary. Links are never followed.
"""

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from pydantic import JsonValue

from uniclaw.errors import UserError

Json = Mapping[str, JsonValue]
MAX_BYTES = 256 * 1024 * 1024
ATTEMPT_FILES = ("score.json", "meta.json", "supervision_trace.jsonl")
_PARTS = 4
"""Path of a task: backend, model, category, task."""


class Source(NamedTuple):
    """One task as one setting played it: its attempt that counts, and how many there were."""

    path: Path
    task_id: str
    backend: str
    model: str
    category: str | None
    """None where the source does not say."""
    status: str | None
    attempts: int
    score: Json
    supervision: tuple[Json, ...]
    """One entry a round."""
    messages: tuple[Json, ...]
    """Of the transcript."""
    phases: tuple[Json, ...]
    """Of the timeline."""
    roles: Json
    """Settings of the supervisor and the user simulator."""
    usage: Json


def object_of(value: JsonValue) -> Json:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def objects_of(value: JsonValue) -> tuple[Json, ...]:
    """The objects of a list."""
    return (
        tuple(item for item in value if isinstance(item, dict)) if isinstance(value, list) else ()
    )


def text_of(value: JsonValue) -> str | None:
    """A text that is not empty."""
    return value if isinstance(value, str) and value else None


def find_sources(root: Path) -> Iterator[Source | UserError]:
    """Everything below a directory; what cannot be read comes as the error that names it."""
    if not root.is_dir():
        raise UserError("no such directory", field="source", value=str(root))
    for text, names, files in os.walk(root, followlinks=False):
        names.sort()
        here = Path(text)
        attempts = [here / n for n in names if _is_attempt(here / n)]
        try:
            if attempts:
                names[:] = []
                yield _of_directory(root, here, attempts)
            else:
                for name in sorted(files):
                    if name.endswith(".json") and (trace := _trace(here / name)) is not None:
                        yield trace
        except UserError as error:
            yield error


def _is_attempt(path: Path) -> bool:
    plain = (path / name for name in ATTEMPT_FILES)
    return not path.is_symlink() and any(p.is_file() and not p.is_symlink() for p in plain)


def _load(path: Path) -> JsonValue:
    """One JSON document; None when there is no such file."""
    if path.is_symlink() or not path.is_file():
        return None
    try:
        if path.stat().st_size > MAX_BYTES:
            raise UserError(f"larger than {MAX_BYTES} bytes", file=path)
        return json.loads(path.read_bytes().decode("utf-8", "replace"))
    except OSError as error:
        raise UserError(f"cannot be read: {error.strerror}", file=path) from error
    except (json.JSONDecodeError, RecursionError) as error:
        raise UserError(f"not JSON: {error}", file=path) from error


def _lines(path: Path) -> tuple[Json, ...]:
    """Objects of a file of JSON lines; lines that are none are left out, as after a kill."""
    if path.is_symlink() or not path.is_file() or path.stat().st_size > MAX_BYTES:
        return ()
    found: list[Json] = []
    for line in path.read_bytes().decode("utf-8", "replace").splitlines():
        try:
            found.extend(objects_of([json.loads(line)]))
        except (json.JSONDecodeError, RecursionError):
            continue
    return tuple(found)


def _number(value: JsonValue) -> float:
    return float(value) if isinstance(value, int | float) and value == value else -1.0


def _of_directory(root: Path, task: Path, attempts: list[Path]) -> Source:
    summary = object_of(_load(task / "summary.json"))
    scores = {path: object_of(_load(path / "score.json")) for path in attempts}
    # The reference shows the best attempt; without a score the last one is all there is.
    best = max(attempts, key=lambda p: (_number(scores[p].get("best_supervisor_score")), p.name))
    meta = object_of(_load(best / "meta.json"))
    own = object_of(_load(best / "summary.json"))
    parts = task.relative_to(root.parent).parts[-_PARTS:] if task != root else (task.name,)
    place = dict(zip(("task", "category", "model", "backend"), reversed(parts), strict=False))

    def said(*names: str) -> str | None:
        values = (text_of(d.get(n)) for d in (summary, own, meta) for n in names)
        return next((v for v in values if v), None)

    return Source(
        path=best,
        task_id=said("taskId", "task_id") or place["task"],
        backend=said("backend", "agentSys", "agent_sys") or place.get("backend", "unknown"),
        model=said("model") or place.get("model", "unknown"),
        category=said("category") or place.get("category"),
        status=said("finalStatus", "final_status"),
        attempts=len(attempts),
        score=scores[best],
        supervision=_lines(best / "supervision_trace.jsonl"),
        messages=_lines(best / "transcript.jsonl"),
        phases=objects_of(object_of(_load(best / "timeline.json")).get("phases")),
        roles=object_of(meta.get("supervision") or summary.get("supervision")),
        usage=object_of(own.get("usageSummary") or meta.get("usageSummary")),
    )


def _trace(path: Path) -> Source | None:
    document = object_of(_load(path))
    summary, details = document.get("taskSummary"), objects_of(document.get("attemptDetails"))
    if not isinstance(summary, dict) or not details:
        return None
    chosen = document.get("selectedAttemptPath")
    detail = next((d for d in details if d.get("attemptPath") == chosen), details[-1])
    task_id, backend = text_of(summary.get("taskId")), text_of(summary.get("backend"))
    if task_id is None or backend is None:
        raise UserError("a trace names its task and backend", file=path, field="taskSummary")
    return Source(
        path=path,
        task_id=task_id,
        backend=backend,
        model=text_of(summary.get("model")) or "unknown",
        category=text_of(summary.get("category")),
        status=text_of(summary.get("finalStatus")),
        attempts=len(details),
        score=object_of(detail.get("score")),
        supervision=objects_of(detail.get("supervisionTrace")),
        messages=objects_of(detail.get("transcript")),
        phases=objects_of(object_of(detail.get("timeline")).get("phases")),
        roles=object_of(document.get("supervision")),
        usage=object_of(document.get("usageSummary")),
    )
