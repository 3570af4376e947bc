"""How much one episode may have at a time, so that flooding hurts only the one who floods.

Must not know what a request is.
"""

import asyncio
from typing import Annotated

from pydantic import Field

from uniclaw.gateway.complaints import flooded
from uniclaw.records import Count, Record


class DoorLimits(Record):
    """Bounds of one episode's door."""

    max_concurrent: Annotated[int, Field(ge=1)] = 32
    """Requests served at a time."""
    max_queued: Count = 64
    """Requests that wait for a place; one more gets 429 at once."""
    max_connections: Annotated[int, Field(ge=1)] = 256
    """Open connections; one more is dropped."""
    max_body_bytes: Annotated[int, Field(ge=1)] = 32_000_000
    """Of one request; a larger one gets 413."""
    max_held_bytes: Annotated[int, Field(ge=1)] = 96_000_000
    """Of all requests being served; more gets 429."""
    max_reply_bytes: Annotated[int, Field(ge=1)] = 64_000_000
    """Of one answer that is not streamed."""
    recorded_bytes: Count = 16_000_000
    """Of one answer that are kept for the record; the rest is only counted."""
    body_timeout_s: Annotated[float, Field(gt=0)] = 60.0
    """For the whole body of a request to arrive."""
    hold_s: Annotated[float, Field(ge=0)] = 1.0
    """How long the opening of a stream may be held back, until its first content shows that
    it is an answer; an error before that is retried."""


class Admission:
    """Places and memory of one episode."""

    def __init__(self, limits: DoorLimits) -> None:
        self._limits = limits
        self._places = asyncio.Semaphore(limits.max_concurrent)
        self._queued = 0
        self._held = 0
        self.heavy = asyncio.Lock()
        """Held while a large body is read and looked at, and as long again."""

    async def enter(self) -> None:
        """Take a place, or wait for one.

        Raises:
            Complaint: too many wait already.
        """
        if not self._places.locked():
            await self._places.acquire()
            return
        if self._queued >= self._limits.max_queued:
            raise flooded(f"more than {self._limits.max_queued} requests wait already")
        self._queued += 1
        try:
            await self._places.acquire()
        finally:
            self._queued -= 1

    def leave(self) -> None:
        """Give the place back."""
        self._places.release()

    def hold(self, size: int) -> None:
        """Count bytes of a body.

        Raises:
            Complaint: the episode's requests hold too much together.
        """
        if self._held + size > self._limits.max_held_bytes:
            raise flooded("the requests being served are too large together")
        self._held += size

    def drop(self, size: int) -> None:
        """Bytes of a body are no longer held."""
        self._held -= size
