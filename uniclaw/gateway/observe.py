"""What a streamed answer says of itself, read while its bytes pass through.

After the first content an event is parsed only when it may hold usage, an error or the end.
Must not change a byte.
"""

import re
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

    telling: re.Pattern[bytes]
    """What an event holds that must be parsed."""

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
        if self.content and not self.telling.search(raw):
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

    def _use(self, api: Api, value: JsonValue, *, final: bool) -> None:
        found = read_usage(api, value, self.usage)
        if found is not None:
            self.usage = found
            self.usage_final = final


class _Chat(Observer):
    telling = re.compile(
        rb'"usage"\s*:\s*\{|"error"\s*:\s*[^n\s]|"finish_reason"\s*:\s*"|\[DONE\]|^event:\s*error'
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
    telling = re.compile(rb'"(?:message_(?:start|delta|stop)|error)"|^event:\s*error')

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
    telling = re.compile(
        rb'"response\.(?:completed|incomplete|failed)"|"type"\s*:\s*"error"|^event:\s*error'
    )
    _opening = frozenset({"response.created", "response.in_progress", "response.queued"})

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
