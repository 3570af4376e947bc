"""Builds the events of one turn with the ids that judges cite."""

import re
import time
from collections.abc import Callable, Mapping
from typing import Literal

from pydantic import JsonValue

from uniclaw.records import Event, EventKind

_QUESTION = re.compile(r"[?？][\"'”’)\]）】*_\s]*$")


class EventLog:
    """Collects events of one round; `r<round>.e<index>` from 0."""

    def __init__(self, round_number: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._round = round_number
        self._clock = clock
        self._start = clock()
        self._events: list[Event] = []

    @property
    def elapsed_s(self) -> float:
        """Seconds since the turn began."""
        return max(0.0, self._clock() - self._start)

    @property
    def events(self) -> tuple[Event, ...]:
        """All so far."""
        return tuple(self._events)

    def _add(self, event: Event) -> Event:
        self._events.append(event)
        return event

    def _id(self) -> str:
        return f"r{self._round}.e{len(self._events)}"

    def message(self, role: Literal["user", "assistant"], text: str) -> Event:
        """A message of the user or the assistant."""
        return self._add(
            Event(
                id=self._id(),
                round=self._round,
                kind=EventKind.MESSAGE,
                role=role,
                text=text,
                at_s=self.elapsed_s,
            )
        )

    def reasoning(self, text: str) -> Event:
        """What the assistant thought, where the program tells."""
        return self._add(
            Event(
                id=self._id(),
                round=self._round,
                kind=EventKind.REASONING,
                role="assistant",
                text=text,
                at_s=self.elapsed_s,
            )
        )

    def note(self, text: str) -> Event:
        """A remark of ours about the turn."""
        return self._add(
            Event(
                id=self._id(),
                round=self._round,
                kind=EventKind.NOTE,
                role="system",
                text=text,
                at_s=self.elapsed_s,
            )
        )

    def call(self, tool: str, call_id: str, arguments: Mapping[str, JsonValue]) -> Event:
        """A tool call."""
        return self._add(
            Event(
                id=self._id(),
                round=self._round,
                kind=EventKind.TOOL_CALL,
                role="assistant",
                tool=tool,
                call_id=call_id,
                arguments=arguments,
                at_s=self.elapsed_s,
            )
        )

    def result(
        self,
        tool: str,
        call_id: str,
        text: str,
        *,
        exit_code: int | None = None,
        truncated: bool = False,
        total_bytes: int | None = None,
        images: tuple[str, ...] = (),
    ) -> Event:
        """A tool's result."""
        return self._add(
            Event(
                id=self._id(),
                round=self._round,
                kind=EventKind.TOOL_RESULT,
                role="tool",
                tool=tool,
                call_id=call_id,
                text=text,
                exit_code=exit_code,
                truncated=truncated,
                total_bytes=total_bytes,
                images=images,
                at_s=self.elapsed_s,
            )
        )


def ends_in_question(message: str) -> bool:
    """Whether the last line that says something ends with a question mark (either width)."""
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    return bool(lines) and _QUESTION.search(lines[-1]) is not None
