"""Writes what a harness reported as events: bounded, free of what no record may hold, with times.

Must not know any harness.
"""

import json
import math
from collections.abc import Mapping

from pydantic import JsonValue

from uniclaw.harnesses.events import EventLog
from uniclaw.harnesses.pictures import KeepPicture, pictures_in
from uniclaw.records import Event

MAX_TEXT = 100_000
"""Characters of one event's text; head and tail are kept."""
_MAX_ARGUMENT = 400_000


def clean_text(text: str) -> str:
    """The text without lone surrogates, which no UTF-8 can hold."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def clean_value(value: JsonValue) -> JsonValue:
    """A value that any record can hold."""
    if isinstance(value, str):
        return clean_text(value[:_MAX_ARGUMENT])
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {clean_text(key): clean_value(part) for key, part in value.items()}
    if isinstance(value, list):
        return [clean_value(part) for part in value]
    return value


def arguments_of(raw: JsonValue) -> dict[str, JsonValue]:
    """Arguments of a call, given as an object or as its JSON text."""
    if isinstance(raw, str):
        try:
            raw = json.loads(raw, parse_constant=str)
        except (ValueError, RecursionError):
            return {"_raw": clean_value(raw)}
    cleaned = clean_value(raw)
    return cleaned if isinstance(cleaned, dict) else {"_raw": cleaned}


def content_text(content: JsonValue) -> str:
    """The text of a message's content: a string, or blocks; images are named in brackets."""
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        content = [content]
    if not isinstance(content, list):
        return ""
    return "\n".join(part for part in map(_block, content) if part)


def _block(block: JsonValue) -> str:
    if isinstance(block, str):
        return block
    if not isinstance(block, dict):
        return ""
    kind = str(block.get("type", ""))
    if "image" in kind:
        return _image(block)
    text = block.get("text")
    if isinstance(text, str):
        return text
    return content_text(block.get("content")) if "content" in block else ""


def _image(block: Mapping[str, JsonValue]) -> str:
    source = block.get("source")
    place = source if isinstance(source, dict) else block
    media = place.get("media_type") or place.get("mimeType") or "image"
    data = place.get("data")
    size = f", {len(data) * 3 // 4} bytes" if isinstance(data, str) else ""
    return f"[image {media}{size}]"


class Recorder:
    """The events of one turn."""

    def __init__(self, round_number: int, keep_picture: KeepPicture | None = None) -> None:
        self._now = 0.0
        self._keep = keep_picture
        self._log = EventLog(round_number, clock=lambda: self._now)
        self._open: dict[str, str] = {}

    @property
    def events(self) -> tuple[Event, ...]:
        """All so far."""
        return self._log.events

    def at(self, seconds: float) -> "Recorder":
        """Set the time of the next events; it never runs backwards."""
        self._now = max(self._now, seconds)
        return self

    def user(self, text: str) -> None:
        """The message that began the turn."""
        self._log.message("user", clean_text(text))

    def assistant(self, text: str) -> None:
        """Something the agent said; nothing when it is empty."""
        if text.strip():
            self._log.message("assistant", _bounded(clean_text(text))[0])

    def reasoning(self, text: str) -> None:
        """Something the agent thought, where the program tells."""
        if text.strip():
            self._log.reasoning(_bounded(clean_text(text))[0])

    def note(self, text: str) -> None:
        """A remark of ours."""
        self._log.note(clean_text(text))

    def call(self, tool: str, call_id: str, arguments: JsonValue) -> None:
        """A tool call."""
        tool, call_id = clean_text(tool) or "unknown", clean_text(call_id)
        self._open[call_id] = tool
        self._log.call(tool, call_id, arguments_of(arguments))

    def result(
        self,
        call_id: str,
        text: str,
        *,
        tool: str | None = None,
        exit_code: int | None = None,
        content: JsonValue = None,
    ) -> None:
        """A tool's result; its name follows from the call where it is not given.

        Pictures in `content` are kept beside the event.
        """
        call_id = clean_text(call_id)
        shown, whole = _bounded(clean_text(text))
        self._log.result(
            clean_text(tool) if tool else self._open.get(call_id, "unknown"),
            call_id,
            shown,
            exit_code=exit_code,
            truncated=shown != whole,
            total_bytes=len(whole.encode()) if shown != whole else None,
            images=self._pictures(content),
        )

    def _pictures(self, content: JsonValue) -> tuple[str, ...]:
        if self._keep is None:
            return ()
        kept = [self._keep(data) for data in pictures_in(content)]
        return tuple(ref for ref in kept if ref is not None)


def _bounded(text: str) -> tuple[str, str]:
    if len(text) <= MAX_TEXT:
        return text, text
    half = MAX_TEXT // 2
    left_out = len(text) - 2 * half
    return f"{text[:half]}\n[{left_out} characters left out]\n{text[-half:]}", text
