"""Replies of a script on three wire protocols, whole and as server-sent events.

Every id is derived from the reply, so that the same request gets the same bytes.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from uniclaw.models.script import ScriptedError
from uniclaw.models.script_reply import Reply
from uniclaw.ports import ToolCall
from uniclaw.records import Usage
from uniclaw.testing.wire_requests import WireRequest

Json = dict[str, object]
CREATED = 1_700_000_000


class Frame(NamedTuple):
    """One server-sent event."""

    data: bytes
    content: bool = False
    """Carries a piece of text or of arguments."""


def _frame(data: Json | str, *, event: str | None = None, content: bool = False) -> Frame:
    text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
    head = f"event: {event}\n" if event else ""
    return Frame(f"{head}data: {text}\n\n".encode(), content)


def _id(prefix: str, wire: WireRequest, reply: Reply) -> str:
    texts = [reply.text, *(c.id for c in reply.tool_calls), str(len(wire.chat.messages))]
    return prefix + hashlib.sha256("\0".join(texts).encode()).hexdigest()[:24]


def pieces(text: str, size: int) -> list[str]:
    """A text in chunks of `size` characters."""
    return [text[i : i + size] for i in range(0, len(text), size)]


def whole_body(wire: WireRequest, reply: Reply) -> Json:
    """The body of an answer that is not streamed."""
    if wire.api == "chat":
        return _chat_body(wire, reply)
    if wire.api == "responses":
        return _response(wire, reply, _output_items(wire, reply), status="completed")
    return _anthropic_body(wire, reply)


def stream_frames(wire: WireRequest, reply: Reply) -> Iterator[Frame]:
    """The events of a streamed answer."""
    if wire.api == "chat":
        return _chat_frames(wire, reply)
    if wire.api == "responses":
        return _responses_frames(wire, reply)
    return _anthropic_frames(wire, reply)


def error_body(wire: WireRequest, error: ScriptedError) -> Json:
    """The body of an HTTP error."""
    if wire.api == "messages":
        return {"type": "error", "error": {"type": error.code, "message": error.message}}
    return {"error": {"message": error.message, "type": error.code, "code": error.code}}


def error_frame(wire: WireRequest, error: ScriptedError) -> Frame:
    """An error inside a stream."""
    if wire.api == "messages":
        return _frame(error_body(wire, error), event="error")
    if wire.api == "chat":
        return _frame(error_body(wire, error))
    failed = {"code": error.code, "message": error.message}
    response: Json = {"id": "resp_failed", "object": "response", "status": "failed"}
    response |= {"error": failed, "output": [], "model": wire.model, "created_at": CREATED}
    data: Json = {"type": "response.failed", "sequence_number": 9999, "response": response}
    return _frame(data, event="response.failed")


# --- OpenAI chat completions -------------------------------------------------------------


def chat_usage(usage: Usage) -> Json:
    """Usage as chat completions report it: the whole, and parts of it."""
    prompt = usage.input + usage.cache_read + usage.cache_write
    completion = usage.output + usage.reasoning
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "prompt_tokens_details": {
            "cached_tokens": usage.cache_read,
            "cache_write_tokens": usage.cache_write,
        },
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
    }


def _chat_call(call: ToolCall) -> Json:
    function = {"name": call.name, "arguments": _arguments(call)}
    return {"id": call.id, "type": "function", "function": function}


def _arguments(call: ToolCall) -> str:
    return json.dumps(dict(call.arguments), ensure_ascii=False)


def _chat_finish(reply: Reply) -> str:
    return "stop" if reply.finish == "refusal" else reply.finish


def _chat_body(wire: WireRequest, reply: Reply) -> Json:
    refused = reply.finish == "refusal"
    message: Json = {
        "role": "assistant",
        "content": None if refused else reply.text or None,
        "refusal": reply.text if refused else None,
    }
    if reply.tool_calls:
        message["tool_calls"] = [_chat_call(c) for c in reply.tool_calls]
    return {
        "id": _id("chatcmpl-", wire, reply),
        "object": "chat.completion",
        "created": CREATED,
        "model": wire.model,
        "choices": [
            {"index": 0, "message": message, "finish_reason": _chat_finish(reply), "logprobs": None}
        ],
        "usage": chat_usage(reply.usage),
    }


def _chat_frames(wire: WireRequest, reply: Reply) -> Iterator[Frame]:
    head: Json = {
        "id": _id("chatcmpl-", wire, reply),
        "object": "chat.completion.chunk",
        "created": CREATED,
        "model": wire.model,
    }

    def chunk(delta: Json, finish: str | None = None, *, content: bool = False) -> Frame:
        choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
        usage = {"usage": None} if wire.include_usage else {}
        return _frame({**head, "choices": [choice], **usage}, content=content)

    yield chunk({"role": "assistant", "content": ""})
    key = "refusal" if reply.finish == "refusal" else "content"
    for piece in pieces(reply.text, reply.chunk_chars):
        yield chunk({key: piece}, content=True)
    for index, call in enumerate(reply.tool_calls):
        function: Json = {"name": call.name, "arguments": ""}
        start: Json = {"index": index, "id": call.id, "type": "function", "function": function}
        yield chunk({"tool_calls": [start]})
        for piece in pieces(_arguments(call), reply.chunk_chars):
            part = {"index": index, "function": {"arguments": piece}}
            yield chunk({"tool_calls": [part]}, content=True)
    yield chunk({}, _chat_finish(reply))
    if wire.include_usage:
        yield _frame({**head, "choices": [], "usage": chat_usage(reply.usage)})
    yield _frame("[DONE]")


# --- OpenAI responses --------------------------------------------------------------------


def responses_usage(usage: Usage) -> Json:
    """Usage as the responses API reports it: the whole, and parts of it."""
    heard = usage.input + usage.cache_read + usage.cache_write
    said = usage.output + usage.reasoning
    return {
        "input_tokens": heard,
        "input_tokens_details": {
            "cached_tokens": usage.cache_read,
            "cache_write_tokens": usage.cache_write,
        },
        "output_tokens": said,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning},
        "total_tokens": heard + said,
    }


def _content_part(reply: Reply, text: str) -> Json:
    if reply.finish == "refusal":
        return {"type": "refusal", "refusal": text}
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def _output_items(wire: WireRequest, reply: Reply) -> list[Json]:
    items: list[Json] = []
    if reply.text or not reply.tool_calls:
        items.append(
            {
                "id": _id("msg_", wire, reply),
                "type": "message",
                "status": "completed",
                "role": "assistant",
                "content": [_content_part(reply, reply.text)],
            }
        )
    for call in reply.tool_calls:
        item: Json = {"id": f"fc_{call.id}", "status": "completed"}
        item |= {"call_id": call.id, "name": call.name}
        if call.name in wire.custom_tools:
            item |= {"type": "custom_tool_call", "input": str(call.arguments.get("input", ""))}
        else:
            item |= {"type": "function_call", "arguments": _arguments(call)}
        items.append(item)
    return items


def _response(
    wire: WireRequest,
    reply: Reply,
    output: Sequence[Json],
    *,
    status: Literal["in_progress", "completed"],
) -> Json:
    cut = status == "completed" and reply.finish == "length"
    return {
        "id": _id("resp_", wire, reply),
        "object": "response",
        "created_at": CREATED,
        "status": "incomplete" if cut else status,
        "error": None,
        "incomplete_details": {"reason": "max_output_tokens"} if cut else None,
        "instructions": None,
        "metadata": {},
        "model": wire.model,
        "output": list(output),
        "parallel_tool_calls": True,
        "temperature": None,
        "tool_choice": "auto",
        "tools": [],
        "top_p": None,
        "usage": responses_usage(reply.usage) if status == "completed" else None,
    }


class _Numbered:
    """Events of a responses stream, numbered as they come."""

    def __init__(self) -> None:
        self._number = 0

    def __call__(self, kind: str, fields: Json) -> Frame:
        data: Json = {"type": kind, "sequence_number": self._number, **fields}
        self._number += 1
        return _frame(data, event=kind, content=kind.endswith(".delta"))


def _responses_frames(wire: WireRequest, reply: Reply) -> Iterator[Frame]:
    event = _Numbered()
    started = _response(wire, reply, (), status="in_progress")
    yield event("response.created", {"response": started})
    yield event("response.in_progress", {"response": started})
    items = _output_items(wire, reply)
    for index, item in enumerate(items):
        if item["type"] == "message":
            yield from _message_frames(event, index, item, reply)
        else:
            yield from _call_frames(event, index, item, reply.chunk_chars)
        yield event("response.output_item.done", {"output_index": index, "item": item})
    final = _response(wire, reply, items, status="completed")
    yield event(f"response.{final['status']}", {"response": final})


def _message_frames(event: _Numbered, index: int, item: Json, reply: Reply) -> Iterator[Frame]:
    opened: Json = {**item, "status": "in_progress", "content": []}
    yield event("response.output_item.added", {"output_index": index, "item": opened})
    place: Json = {"output_index": index, "item_id": item["id"], "content_index": 0}
    refused = reply.finish == "refusal"
    kind = "response.refusal" if refused else "response.output_text"
    logprobs: Json = {} if refused else {"logprobs": []}
    yield event("response.content_part.added", {**place, "part": _content_part(reply, "")})
    for piece in pieces(reply.text, reply.chunk_chars):
        yield event(f"{kind}.delta", {**place, "delta": piece, **logprobs})
    yield event(f"{kind}.done", {**place, "refusal" if refused else "text": reply.text, **logprobs})
    yield event("response.content_part.done", {**place, "part": _content_part(reply, reply.text)})


def _call_frames(event: _Numbered, index: int, item: Json, size: int) -> Iterator[Frame]:
    custom = item["type"] == "custom_tool_call"
    key = "input" if custom else "arguments"
    opened: Json = {**item, "status": "in_progress", key: ""}
    yield event("response.output_item.added", {"output_index": index, "item": opened})
    place: Json = {"output_index": index, "item_id": item["id"]}
    kind = f"response.{'custom_tool_call_input' if custom else 'function_call_arguments'}"
    for piece in pieces(str(item[key]), size):
        yield event(f"{kind}.delta", {**place, "delta": piece})
    named: Json = {} if custom else {"name": item["name"]}
    yield event(f"{kind}.done", {**place, **named, key: item[key]})


# --- Anthropic messages ------------------------------------------------------------------

_STOP = {
    "stop": "end_turn",
    "tool_calls": "tool_use",
    "length": "max_tokens",
    "refusal": "refusal",
}


def anthropic_usage(usage: Usage) -> Json:
    """Usage as messages report it: input without the cached, output with the reasoning."""
    return {
        "input_tokens": usage.input,
        "cache_read_input_tokens": usage.cache_read,
        "cache_creation_input_tokens": usage.cache_write,
        "output_tokens": usage.output + usage.reasoning,
        "output_tokens_details": {"thinking_tokens": usage.reasoning},
    }


def _tool_use(call: ToolCall, arguments: Json) -> Json:
    return {"type": "tool_use", "id": call.id, "name": call.name, "input": arguments}


def _anthropic_body(wire: WireRequest, reply: Reply) -> Json:
    blocks: list[Json] = [{"type": "text", "text": reply.text}] if reply.text else []
    blocks += [_tool_use(call, dict(call.arguments)) for call in reply.tool_calls]
    return {
        "id": _id("msg_", wire, reply),
        "type": "message",
        "role": "assistant",
        "model": wire.model,
        "content": blocks,
        "stop_reason": _STOP[reply.finish],
        "stop_sequence": None,
        "usage": anthropic_usage(reply.usage),
    }


def _anthropic_frames(wire: WireRequest, reply: Reply) -> Iterator[Frame]:
    def event(kind: str, *, content: bool = False, **fields: object) -> Frame:
        return _frame({"type": kind, **fields}, event=kind, content=content)

    body = _anthropic_body(wire, reply)
    usage = {**anthropic_usage(reply.usage), "output_tokens": 1}
    usage["output_tokens_details"] = None
    started: Json = {**body, "content": [], "stop_reason": None, "usage": usage}
    yield event("message_start", message=started)
    yield _frame({"type": "ping"}, event="ping")
    index = 0
    if reply.text:
        yield event("content_block_start", index=0, content_block={"type": "text", "text": ""})
        for piece in pieces(reply.text, reply.chunk_chars):
            delta = {"type": "text_delta", "text": piece}
            yield event("content_block_delta", content=True, index=0, delta=delta)
        yield event("content_block_stop", index=0)
        index = 1
    for call in reply.tool_calls:
        yield event("content_block_start", index=index, content_block=_tool_use(call, {}))
        for piece in pieces(_arguments(call), reply.chunk_chars):
            delta = {"type": "input_json_delta", "partial_json": piece}
            yield event("content_block_delta", content=True, index=index, delta=delta)
        yield event("content_block_stop", index=index)
        index += 1
    ended = {"stop_reason": _STOP[reply.finish], "stop_sequence": None}
    yield event("message_delta", delta=ended, usage=anthropic_usage(reply.usage))
    yield event("message_stop")
