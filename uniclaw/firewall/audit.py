"""Audit published episodes of the reference: what their feedback messages leaked.

Reads the trace files of the reference's project page. Tool arguments and results are left out of
them, so a value that only stood there counts as hidden: the rates are upper bounds.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import cast

from pydantic import JsonValue

from uniclaw.errors import UserError
from uniclaw.firewall.decision import Hit
from uniclaw.firewall.screening import Screen
from uniclaw.records import Count, Progress, Record, Unit

MAX_TRACE_BYTES = 64_000_000


class TraceMessage(Record):
    """One feedback message of a published episode, with what was visible before it."""

    trace: str
    task_id: str
    round: Count
    message: str
    visible: tuple[str, ...]
    history: tuple[str, ...]


class AuditedMessage(Record):
    """What the screen says of it."""

    trace: str
    task_id: str
    round: Count
    message: str
    decision: str
    hits: tuple[Hit, ...]


class AuditReport(Record):
    """All messages of a directory of traces."""

    traces: Count
    messages: Count
    leaking: Count
    leak_rate: Unit | None
    note: str
    rows: tuple[AuditedMessage, ...]


def read_trace(path: Path) -> tuple[TraceMessage, ...]:
    """Feedback messages that were delivered in one published episode, oldest first.

    Raises:
        UserError: not such a file.
    """
    try:
        if path.stat().st_size > MAX_TRACE_BYTES:
            raise UserError(f"larger than {MAX_TRACE_BYTES} bytes", file=path)
        document = cast("JsonValue", json.loads(path.read_bytes().decode("utf-8", "replace")))
    except (OSError, ValueError, RecursionError) as error:
        raise UserError(f"cannot be read as a trace: {error}", file=path) from error
    task_id = _text(_at(_at(document, "taskSummary"), "taskId"))
    if not task_id:
        raise UserError("expected a published trace", file=path, field="taskSummary.taskId")
    out: list[TraceMessage] = []
    for attempt in _items(_at(document, "attemptDetails")):
        said = list(_said(attempt))
        history: list[str] = []
        for number, item in enumerate(_items(_at(attempt, "continuations")), 1):
            message = _text(_at(item, "safeUserFeedback"))
            if message:
                before = _before(said, message)
                out.append(
                    TraceMessage(
                        trace=path.name, task_id=task_id, round=number, message=message,
                        visible=tuple(before), history=tuple(history),
                    )
                )  # fmt: skip
                history.append(message)
    return tuple(out)


def audit(paths: Sequence[Path], screen: Callable[[str], Screen]) -> AuditReport:
    """Screen every delivered message of some traces.

    Args:
        paths: trace files.
        screen: gives the screen of a task; `UserError` for unknown tasks goes through.
    """
    rows: list[AuditedMessage] = []
    for path in paths:
        for item in read_trace(path):
            decision = screen(item.task_id).check(
                item.message, visible=item.visible, progress=Progress(), history=item.history
            )
            rows.append(
                AuditedMessage(
                    trace=item.trace, task_id=item.task_id, round=item.round, message=item.message,
                    decision=decision.decision, hits=decision.hits,
                )
            )  # fmt: skip
    leaking = sum(row.decision == "leak" for row in rows)
    return AuditReport(
        traces=len(paths),
        messages=len(rows),
        leaking=leaking,
        leak_rate=leaking / len(rows) if rows else None,
        note=(
            "tool arguments and results are left out of the published traces, so what only stood"
            " there counts as hidden: the rate is an upper bound"
        ),
        rows=tuple(rows),
    )


def trace_files(directory: Path) -> tuple[Path, ...]:
    """Trace files of a directory, sorted.

    Raises:
        UserError: there are none.
    """
    files = tuple(sorted(directory.glob("*.json"))) if directory.is_dir() else ()
    if not files:
        raise UserError("no trace files (*.json)", file=directory)
    return files


def _said(attempt: JsonValue) -> Iterator[tuple[str, str]]:
    """Role and text of all messages of a transcript."""
    for entry in _items(_at(attempt, "transcript")):
        message = _at(entry, "message")
        for part in _items(_at(message, "content")):
            text = _text(_at(part, "text"))
            if text:
                yield _text(_at(message, "role")), text


def _before(said: Sequence[tuple[str, str]], message: str) -> list[str]:
    """Texts up to the place where the message was delivered; all when it is not found."""
    out: list[str] = []
    head = message[:60]
    for role, text in said:
        if role == "user" and head in text:
            break
        out.append(text)
    return out


def _at(value: JsonValue, key: str) -> JsonValue:
    return value.get(key) if isinstance(value, dict) else None


def _items(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else []


def _text(value: JsonValue) -> str:
    return value if isinstance(value, str) else ""
