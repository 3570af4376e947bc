"""A streamed answer, written event by event in the harness's API."""

from abc import ABC, abstractmethod

from pydantic import JsonValue

from uniclaw.gateway.exchange import Api
from uniclaw.gateway.sse import write_event
from uniclaw.gateway.translate.blocks import Block, Sequencer, Step
from uniclaw.gateway.translate.fields import Json, encode
from uniclaw.gateway.translate.replies import (
    TO_CHAT,
    TO_MESSAGES,
    custom_input,
    write_output_item,
    write_response,
)
from uniclaw.gateway.translate.talk import (
    Answer,
    Call,
    Finished,
    Names,
    Piece,
    Refusal,
    Started,
    Text,
    Thought,
)
from uniclaw.gateway.usage import write_usage
from uniclaw.records import Usage


class StreamWriter(ABC):
    """Writes one answer."""

    def __init__(self, names: Names, *, created: int) -> None:
        self._names = names
        self._created = created
        self._sequencer = Sequencer()
        self._head = Started("", "")
        self._begun = False

    def write(self, piece: Piece) -> bytes:
        """Events for one piece; `Failed` writes none, the caller words its own error."""
        if isinstance(piece, Started):
            self._head = piece
            return self._begin()
        steps = self._sequencer.feed(piece)
        if isinstance(piece, Finished):
            steps = self._sequencer.finish()
        if not steps and not isinstance(piece, Finished):
            return b""
        out = [self._begin(), *(self._step(step) for step in steps)]
        if isinstance(piece, Finished):
            out.append(self._finish(piece))
        return b"".join(out)

    def _begin(self) -> bytes:
        if self._begun:
            return b""
        self._begun = True
        return self._start()

    def _is_custom(self, block: Block) -> bool:
        return block.custom or block.name in self._names.custom

    def _held(self, block: Block) -> bool:
        """Whether the pieces are JSON of which the harness wants one decoded string."""
        return self._is_custom(block) and not block.custom

    @abstractmethod
    def _start(self) -> bytes: ...

    @abstractmethod
    def _step(self, step: Step) -> bytes: ...

    @abstractmethod
    def _finish(self, piece: Finished) -> bytes: ...


# --- chat completions --------------------------------------------------------------------

_CHAT_KEYS = {"text": "content", "thought": "reasoning_content", "refusal": "refusal"}


class ChatStreamWriter(StreamWriter):
    """Writes chat completion chunks."""

    def __init__(self, names: Names, *, created: int, include_usage: bool) -> None:
        super().__init__(names, created=created)
        self._include_usage = include_usage
        self._calls = -1
        self._refused = False

    def _chunk(self, delta: Json, finish: str | None = None) -> bytes:
        choice: Json = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
        return self._event([choice], {"usage": None} if self._include_usage else {})

    def _event(self, choices: list[JsonValue], more: Json) -> bytes:
        head: Json = {
            "id": self._head.id or "chatcmpl-uniclaw",
            "object": "chat.completion.chunk",
            "created": self._created,
            "model": self._head.model,
            "choices": choices,
        }
        return write_event(encode({**head, **more}))

    def _start(self) -> bytes:
        return self._chunk({"role": "assistant", "content": ""})

    def _step(self, step: Step) -> bytes:
        block = step.block
        if block.kind != "call":
            self._refused = self._refused or block.kind == "refusal"
            return self._chunk({_CHAT_KEYS[block.kind]: step.text}) if step.what == "piece" else b""
        if step.what == "open":
            self._calls += 1
            return self._call(block, block.name, "", first=True)
        if step.what == "piece":
            return b"" if self._held(block) else self._call(block, None, step.text)
        return self._call(block, None, custom_input(block.text)) if self._held(block) else b""

    def _call(self, block: Block, name: str | None, text: str, *, first: bool = False) -> bytes:
        custom = self._is_custom(block)
        inner: Json = {"input" if custom else "arguments": text}
        if name is not None:
            inner["name"] = name
        kind = "custom" if custom else "function"
        call: Json = {"index": self._calls, kind: inner}
        if first:
            call = {"index": self._calls, "id": block.call_id, "type": kind, kind: inner}
        return self._chunk({"tool_calls": [call]})

    def _finish(self, piece: Finished) -> bytes:
        told = piece.finish == "refusal" and self._refused
        out = self._chunk({}, "stop" if told else TO_CHAT[piece.finish])
        if self._include_usage:
            out += self._event([], {"usage": write_usage("chat", piece.usage)})
        return out + write_event(b"[DONE]")


# --- Anthropic messages ------------------------------------------------------------------


class MessagesStreamWriter(StreamWriter):
    """Writes Anthropic message events."""

    def _event(self, kind: str, **fields: JsonValue) -> bytes:
        return write_event(encode({"type": kind, **fields}), kind)

    def _start(self) -> bytes:
        usage = write_usage("messages", self._head.usage or Usage())
        message: Json = {
            "id": self._head.id or "msg_uniclaw",
            "type": "message",
            "role": "assistant",
            "model": self._head.model,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": usage,
        }
        return self._event("message_start", message=message)

    def _step(self, step: Step) -> bytes:
        block = step.block
        if step.what == "open":
            return self._event(
                "content_block_start", index=block.index, content_block=_opened(block)
            )
        if step.what == "piece":
            delta = _delta(block, step.text)
            return self._event("content_block_delta", index=block.index, delta=delta)
        out = b""
        if block.kind == "thought":
            signed: Json = {"type": "signature_delta", "signature": block.signature}
            out = self._event("content_block_delta", index=block.index, delta=signed)
        return out + self._event("content_block_stop", index=block.index)

    def _finish(self, piece: Finished) -> bytes:
        ended: Json = {"stop_reason": TO_MESSAGES[piece.finish], "stop_sequence": None}
        usage = write_usage("messages", piece.usage)
        return self._event("message_delta", delta=ended, usage=usage) + self._event("message_stop")


def _opened(block: Block) -> Json:
    if block.kind == "call":
        return {"type": "tool_use", "id": block.call_id, "name": block.name, "input": {}}
    if block.kind == "thought":
        return {"type": "thinking", "thinking": "", "signature": ""}
    return {"type": "text", "text": ""}


def _delta(block: Block, text: str) -> Json:
    if block.kind == "call":
        return {"type": "input_json_delta", "partial_json": text}
    if block.kind == "thought":
        return {"type": "thinking_delta", "thinking": text}
    return {"type": "text_delta", "text": text}


# --- responses ---------------------------------------------------------------------------


class ResponsesStreamWriter(StreamWriter):
    """Writes responses events, numbered as they come."""

    def __init__(self, names: Names, *, created: int) -> None:
        super().__init__(names, created=created)
        self._number = 0
        self._items: list[Json] = []
        self._blocks: list[Text | Thought | Call | Refusal] = []
        self._ids: dict[int, JsonValue] = {}

    def _event(self, kind: str, **fields: JsonValue) -> bytes:
        data: Json = {"type": kind, "sequence_number": self._number, **fields}
        self._number += 1
        return write_event(encode(data), kind)

    def _answer(self, finish: Finished | None) -> Answer:
        usage = Usage() if finish is None else finish.usage
        reason = "stop" if finish is None else finish.finish
        blocks = tuple(self._blocks)
        return Answer(self._head.id or "resp_uniclaw", self._head.model, blocks, reason, usage)

    def _start(self) -> bytes:
        opened = write_response(self._answer(None), [], created=self._created)
        opened |= {"status": "in_progress", "usage": None}
        return self._event("response.created", response=opened) + self._event(
            "response.in_progress", response=opened
        )

    def _item(self, block: Block, value: Text | Thought | Call | Refusal) -> Json:
        return write_output_item(value, self._head.id, block.index, self._names)

    def _step(self, step: Step) -> bytes:
        block = step.block
        if step.what == "open":
            return self._open(block)
        if step.what == "piece":
            return b"" if self._held(block) else self._piece(block, step.text)
        value = _value(block)
        item = self._item(block, value)
        out = self._close(block, item)
        self._items.append(item)
        self._blocks.append(value)
        return out + self._event("response.output_item.done", output_index=block.index, item=item)

    def _open(self, block: Block) -> bytes:
        empty = Block(block.kind, block.index, block.call_id, block.name, block.custom)
        item = self._item(empty, _value(empty, whole=False))
        part = _part(item)
        for key in ("content", "summary"):
            if key in item:
                item[key] = []
        if block.kind != "thought":
            item["status"] = "in_progress"
        out = self._event("response.output_item.added", output_index=block.index, item=item)
        self._ids[block.index] = item["id"]
        place = self._place(block)
        if block.kind == "thought":
            return out + self._event("response.reasoning_summary_part.added", **place, part=part)
        if block.kind != "call":
            return out + self._event("response.content_part.added", **place, part=part)
        return out

    def _place(self, block: Block) -> dict[str, JsonValue]:
        item_id = self._ids[block.index]
        place: dict[str, JsonValue] = {"item_id": item_id, "output_index": block.index}
        if block.kind == "thought":
            return {**place, "summary_index": 0}
        return place if block.kind == "call" else {**place, "content_index": 0}

    def _kind(self, block: Block) -> str:
        if block.kind == "call":
            custom = self._is_custom(block)
            return f"response.{'custom_tool_call_input' if custom else 'function_call_arguments'}"
        names = {"text": "output_text", "thought": "reasoning_summary_text", "refusal": "refusal"}
        return f"response.{names[block.kind]}"

    def _piece(self, block: Block, text: str) -> bytes:
        more: dict[str, JsonValue] = {"logprobs": []} if block.kind == "text" else {}
        return self._event(f"{self._kind(block)}.delta", **self._place(block), delta=text, **more)

    def _close(self, block: Block, item: Json) -> bytes:
        place = self._place(block)
        kind = f"{self._kind(block)}.done"
        if block.kind == "call":
            if "input" not in item:
                named = {"name": item["name"], "arguments": item["arguments"]}
                return self._event(kind, **place, **named)
            given = item["input"]
            out = b""
            if self._held(block):
                out = self._piece(block, given if isinstance(given, str) else "")
            return out + self._event(kind, **place, input=given)
        if block.kind == "refusal":
            out = self._event(kind, **place, refusal=block.text)
        elif block.kind == "thought":
            out = self._event(kind, **place, text=block.text)
        else:
            out = self._event(kind, **place, text=block.text, logprobs=[])
        ended = "reasoning_summary_part" if block.kind == "thought" else "content_part"
        return out + self._event(f"response.{ended}.done", **place, part=_part(item))

    def _finish(self, piece: Finished) -> bytes:
        final = write_response(self._answer(piece), self._items, created=self._created)
        return self._event(f"response.{final['status']}", response=final)


def _value(block: Block, *, whole: bool = True) -> Text | Thought | Call | Refusal:
    if block.kind == "call":
        text = block.text or ("" if block.custom or not whole else "{}")
        return Call(block.call_id, block.name, text, block.custom)
    if block.kind == "thought":
        return Thought(block.text, block.signature)
    return Refusal(block.text) if block.kind == "refusal" else Text(block.text)


def _part(item: Json) -> JsonValue:
    parts = item.get("content") or item.get("summary")
    return parts[0] if isinstance(parts, list) and parts else None


def stream_writer(
    api: Api, names: Names, *, created: int, include_usage: bool = True
) -> StreamWriter:
    """The writer of an API's streams."""
    if api == "chat":
        return ChatStreamWriter(names, created=created, include_usage=include_usage)
    if api == "messages":
        return MessagesStreamWriter(names, created=created)
    return ResponsesStreamWriter(names, created=created)
