"""The audit of a service: one JSON line per request or event, within limits.

The host alone reads it; it is not reachable over HTTP.
"""

import json
from pathlib import Path
from typing import Any

MAX_LINES = 100_000
MAX_BYTES = 7_000_000
READS_SHARE = 0.8
"""Reads are not logged beyond this share of the limits, so that writes still are."""
MAX_TEXT = 4000
"""Characters of one text."""
MAX_MEMBERS = 500
"""Of one list or object."""
MAX_LINE_BYTES = 100_000
KEPT = ("n", "round", "actor", "action", "ok", "method", "path", "status", "id", "error")
"""Fields of a line that is too long."""


class Audit:
    """An append-only log. Not for several threads at once: the service's lock is around it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lines = 0
        self.bytes = 0
        if path.exists():
            data = path.read_bytes()
            if data and not data.endswith(b"\n"):
                # The last writer died in the middle of a line.
                with path.open("ab") as file:
                    file.write(b"\n")
                data += b"\n"
            self.lines, self.bytes = data.count(b"\n"), len(data)

    def append(self, entries: list[tuple[dict[str, Any], bool]]) -> int:
        """Write entries, numbered; returns how many there was no room for.

        Args:
            entries: each with whether it is of a mere read.
        """
        text, dropped = b"", 0
        for entry, is_read in entries:
            share = READS_SHARE if is_read else 1.0
            data = line_of({"n": self.lines + 1, **entry})
            if self.lines >= MAX_LINES * share or self.bytes + len(data) > MAX_BYTES * share:
                dropped += 1
                continue
            self.lines += 1
            self.bytes += len(data)
            text += data
        if text:
            with self.path.open("ab") as file:
                file.write(text)
        return dropped


def line_of(entry: dict[str, Any]) -> bytes:
    """An entry as a line; one that is very long keeps its first fields alone."""
    data = json.dumps(shortened(entry), ensure_ascii=False, allow_nan=False).encode()
    if len(data) > MAX_LINE_BYTES:
        kept = {k: v for k, v in entry.items() if k in KEPT}
        data = json.dumps({**shortened(kept), "cut": True}, ensure_ascii=False).encode()
    return data + b"\n"


def shortened(value: Any) -> Any:
    """A value with its long texts and lists cut."""
    if isinstance(value, str) and len(value) > MAX_TEXT:
        return value[:MAX_TEXT] + "…"
    if isinstance(value, dict):
        return {k[:MAX_TEXT]: shortened(v) for k, v in list(value.items())[:MAX_MEMBERS]}
    if isinstance(value, list):
        return [shortened(v) for v in value[:MAX_MEMBERS]]
    return value
