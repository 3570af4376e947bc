"""Server-sent events: bytes cut at event borders, names and data of events.

Must not know what events mean.
"""

import re
from typing import NamedTuple

MAX_EVENT_BYTES = 16_000_000
_BORDER = re.compile(rb"\r?\n\r?\n|\r\r")


class EventTooLarge(ValueError):
    """An event does not end within `MAX_EVENT_BYTES`."""


class EventSplitter:
    """Cuts a stream of bytes into whole events; keeps what has not ended yet."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> list[bytes]:
        """Events that `data` completes, each with its blank line.

        Raises:
            EventTooLarge: one event is larger than any sane one.
        """
        if self._rest:
            data = self._rest + data
        if b"\r" in data:
            return self._feed_any(data)
        events = data.split(b"\n\n")
        self._keep(events.pop())
        return [event + b"\n\n" for event in events]

    def _feed_any(self, data: bytes) -> list[bytes]:
        events: list[bytes] = []
        start = 0
        for border in _BORDER.finditer(data):
            if border.end() == len(data) and data.endswith(b"\r"):
                break  # the line end may be cut in two
            events.append(data[start : border.end()])
            start = border.end()
        self._keep(data[start:])
        return events

    def _keep(self, rest: bytes) -> None:
        if len(rest) > MAX_EVENT_BYTES:
            raise EventTooLarge(f"an event of more than {MAX_EVENT_BYTES} bytes")
        self._rest = rest

    def rest(self) -> bytes:
        """What came after the last whole event."""
        rest, self._rest = self._rest, b""
        return rest


class Event(NamedTuple):
    """One event; `data` lines joined by newlines."""

    name: str
    data: bytes


def parse_event(event: bytes) -> Event:
    """Name and data of one event."""
    name = ""
    lines: list[bytes] = []
    for line in event.splitlines():
        if line.startswith(b"data:"):
            lines.append(line[6:] if line[5:6] == b" " else line[5:])
        elif line.startswith(b"event:"):
            name = line[6:].strip().decode("utf-8", "replace")
    return Event(name, b"\n".join(lines))


def write_event(data: bytes, name: str | None = None) -> bytes:
    """One event."""
    head = f"event: {name}\n".encode() if name else b""
    return b"%sdata: %s\n\n" % (head, data)
