"""What a streamed answer says of itself, read while its bytes pass through.

After the first content an event is parsed only when it may hold usage, an error or the end:
plain substring checks, because a regular expression here costs more than all else. Must not
change a byte.
"""

from abc import ABC, abstractmethod

from pydantic import JsonValue

from uniclaw.gateway.exchange import Api
from uniclaw.gateway.sse import Event, parse_event
from uniclaw.gateway.translate.fields import (
    Json,
    int_of,
    object_of,
    objects_of,
    parse_object,
    text_of,
)
from uniclaw.gateway.usage import read_usage
from uniclaw.records import Usage


class Observer(ABC):
    """Watches the events of one answer."""

    def __init__(self) -> None:
        self.usage: Usage | None = None
        """As reported so far."""
        self.usage_final = False
        """Whether the report covers the whole answer."""
        self.content = False
        """Whether a piece of the answer itself has come."""
        self.ended = False
        """Whether the answer was brought to its end."""
        self.error: JsonValue = None
        """An error reported inside the stream."""
        self.garbage = False
        """An event was no JSON."""
        self.usage_only = False
        """Whether the last event carries usage and nothing else."""

    def look(self, raw: bytes) -> Event | None:
        """Take note of one event; returns it parsed, where it was parsed."""
        self.usage_only = False
        if self.content and self._dull(raw):
            return None
        event = parse_event(raw)
        if not event.data:
            return event
        if event.data == b"[DONE]":
            self.ended = True
            return event
        data = parse_object(event.data)
        if data is None:
            self.garbage = True
        else:
            self._note(event.name, data)
        return event

    @abstractmethod
    def _note(self, name: str, data: Json) -> None: ...

    @abstractmethod
    def _dull(self, raw: bytes) -> bool:
        """Whether an event can only be a further piece of content. When in doubt, no."""

    def _use(self, api: Api, value: JsonValue, *, final: bool) -> None:
        found = read_usage(api, value, self.usage)
        if found is not None:
            self.usage = found
            self.usage_final = final


class _Chat(Observer):
    def _dull(self, raw: bytes) -> bool:
        goes_on = b'"finish_reason": null' in raw or b'"finish_reason":null' in raw
        return (
            goes_on
            and b'"error"' not in raw
            and b'"usage":{' not in raw
            and b'"usage": {' not in raw
            and raw.startswith(b"data:")
        )

    def _note(self, name: str, data: Json) -> None:
        self.error = data.get("error") or (data if name == "error" else None)
        choices = objects_of(data.get("choices"))
        self._use("chat", data.get("usage"), final=True)
        self.usage_only = not choices and isinstance(data.get("usage"), dict)
        for choice in choices:
            delta = object_of(choice.get("delta"))
            said = any(value for key, value in delta.items() if key != "role")
            finished = bool(text_of(choice.get("finish_reason")))
            self.ended = self.ended or finished
            self.content = self.content or said or finished


class _Messages(Observer):
    def _dull(self, raw: bytes) -> bool:
        return raw.startswith((b"event: content_block_delta\n", b"event: ping\n"))

    def _note(self, name: str, data: Json) -> None:
        kind = text_of(data.get("type")) or name
        if kind == "error":
            self.error = data.get("error") or data
        elif kind == "message_start":
            usage = object_of(data.get("message")).get("usage")
            self._use("messages", usage, final=False)
        elif kind == "message_delta":
            self._use("messages", data.get("usage"), final=True)
            self.content = True
        elif kind == "message_stop":
            self.ended = True
        elif kind == "content_block_start":
            block = object_of(data.get("content_block"))
            self.content = self.content or block.get("type") not in ("text", "thinking")
        elif kind == "content_block_delta":
            self.content = True


class _Responses(Observer):
    _opening = frozenset({"response.created", "response.in_progress", "response.queued"})

    def _dull(self, raw: bytes) -> bool:
        return raw.startswith(b"event: response.") and b".delta\n" in raw[:80]

    def _note(self, name: str, data: Json) -> None:
        kind = text_of(data.get("type")) or name
        response = object_of(data.get("response"))
        if kind == "error":
            self.error = data.get("error") or data
        elif kind in ("response.completed", "response.incomplete", "response.failed"):
            self._use("responses", response.get("usage"), final=True)
            self.ended = kind != "response.failed"
            self.error = response.get("error") or "failed" if not self.ended else None
            self.content = self.content or self.ended
        elif kind in ("response.output_item.added", "response.content_part.added"):
            item = object_of(data.get("item"))
            self.content = self.content or text_of(item.get("type")).endswith("_call")
        elif kind not in self._opening and (int_of(data.get("output_index")) is not None):
            self.content = True


def observer(api: Api) -> Observer:
    """The observer of an API's streams."""
    return {"chat": _Chat, "messages": _Messages, "responses": _Responses}[api]()
