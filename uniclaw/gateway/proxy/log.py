"""What went through the proxy: one line for each request, and the bodies within a budget."""

import hashlib
import zlib
from collections.abc import Callable
from typing import Annotated, Literal

from pydantic import Field

from uniclaw.records import Count, NonNegative, Record

MAX_LINES = 20_000
MAX_BODY = 2_000_000
"""Bytes kept of one body."""
MAX_BODIES = 200_000_000
"""Bytes kept of all bodies of an episode."""


class Capture(Record):
    """A body as it was sent, or the part of it that was kept."""

    sha256: str
    """Of what was kept."""
    kept_bytes: Count
    total_bytes: Count
    content_type: str | None = None
    decoded: bool = False
    """gzip or deflate was undone before it was kept."""


class NetworkRequest(Record):
    """One request of the agent."""

    n: Annotated[int, Field(ge=1)]
    round: Count
    at_s: NonNegative
    """Seconds since the proxy opened."""
    duration_s: NonNegative
    method: str
    url: str
    outcome: Literal["answered", "denied", "failed"]
    status: int | None = None
    reason: str | None = None
    """Why it was denied or failed."""
    request: Capture | None = None
    response: Capture | None = None


class NetworkLog(Record):
    """All requests so far."""

    requests: tuple[NetworkRequest, ...] = ()
    dropped: Count = 0
    """Requests past the limit of lines; they were refused."""


class Body:
    """Collects a body as it passes."""

    def __init__(self) -> None:
        self._kept = bytearray()
        self.total = 0

    def add(self, data: bytes) -> None:
        """Take note of a piece."""
        self.total += len(data)
        self._kept += data[: max(0, MAX_BODY - len(self._kept))]

    def text(self) -> str:
        """What was kept, as text."""
        return self._kept.decode("utf-8", "replace")

    def kept(self, encoding: str | None) -> tuple[bytes, bool]:
        """What was kept, and whether a content encoding was undone."""
        data = bytes(self._kept)
        if (encoding or "").strip().lower() not in ("gzip", "deflate"):
            return data, False
        try:
            return zlib.decompressobj(wbits=47).decompress(data, MAX_BODY), True
        except zlib.error:
            return data, False


class Recording:
    """The log of one episode."""

    def __init__(self, keep: Callable[[bytes], str] | None = None) -> None:
        """Begin.

        Args:
            keep: stores bytes and returns their sha256; None only hashes.
        """
        self._keep = keep or _sha256
        self._lines: list[NetworkRequest] = []
        self._bytes = 0
        self.dropped = 0
        self.round = 0

    @property
    def full(self) -> bool:
        """Whether no further request can be recorded; an unrecorded one is not carried."""
        return len(self._lines) >= MAX_LINES

    def next_number(self) -> int:
        """Number of the next line."""
        return len(self._lines) + 1

    def add(self, line: NetworkRequest) -> None:
        """Write a line."""
        self._lines.append(line.model_copy(update={"n": self.next_number()}))

    def capture(self, body: Body, content_type: str | None, encoding: str | None) -> Capture | None:
        """Keep a body; None when there was none."""
        if body.total == 0:
            return None
        data, decoded = body.kept(encoding)
        if self._bytes + len(data) > MAX_BODIES:
            data, decoded = b"", False
        self._bytes += len(data)
        return Capture(
            sha256=self._keep(data),
            kept_bytes=len(data),
            total_bytes=body.total,
            content_type=content_type,
            decoded=decoded,
        )

    def snapshot(self) -> NetworkLog:
        """Everything so far."""
        return NetworkLog(requests=tuple(self._lines), dropped=self.dropped)


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
