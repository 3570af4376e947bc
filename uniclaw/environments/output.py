"""Bounded collection of a command's output: head and tail are kept, the rest is counted.

Must not know where the bytes come from.
"""

from collections import deque
from typing import Literal

Stream = Literal["stdout", "stderr"]


class HeadTail:
    """Keeps the first and the last bytes of two streams, within one cap for both."""

    def __init__(self, max_bytes: int) -> None:
        self.total = 0
        self._head_left = max_bytes // 2
        self._tail_cap = max_bytes - max_bytes // 2
        self._head: list[tuple[Stream, bytes]] = []
        self._tail: deque[tuple[Stream, bytes]] = deque()
        self._tail_size = 0
        self._dropped = 0

    def add(self, stream: Stream, data: bytes) -> None:
        """Take the next bytes of a stream, in the order they came."""
        self.total += len(data)
        if self._head_left:
            taken = data[: self._head_left]
            self._head.append((stream, taken))
            self._head_left -= len(taken)
            data = data[len(taken) :]
        if data:
            self._tail.append((stream, data))
            self._tail_size += len(data)
            self._trim()

    def _trim(self) -> None:
        excess = self._tail_size - self._tail_cap
        while excess > 0:
            stream, data = self._tail.popleft()
            if len(data) > excess:
                self._tail.appendleft((stream, data[excess:]))
            gone = min(len(data), excess)
            self._dropped += gone
            self._tail_size -= gone
            excess -= gone

    @property
    def truncated(self) -> bool:
        """Whether anything was dropped."""
        return self._dropped > 0

    def bytes_of(self, stream: Stream) -> bytes:
        """What was kept of one stream."""
        return b"".join(data for s, data in (*self._head, *self._tail) if s == stream)
