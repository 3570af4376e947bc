"""Requests of three wire protocols as a `ChatRequest`, for the scripted model server.

Unknown kinds of content are left out: a script looks at texts, calls, results and images.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from pydantic import JsonValue

from uniclaw.models.answers import ANSWER_TOOL, parse_tool_call
from uniclaw.models.script_reply import by_speaker
from uniclaw.ports import ChatRequest, ImagePart, Message, TextPart, ToolCall, ToolSpec

Api = Literal["chat", "responses", "messages"]
Role = Literal["system", "user", "assistant", "tool"]

_ROLES: Mapping[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
}
_IMAGES = ("image/png", "image/jpeg", "image/gif", "image/webp")
_FREE_TEXT: dict[str, JsonValue] = {
    "type": "object",
    "properties": {"input": {"type": "string"}},
}


class WireRequest(NamedTuple):
    """A request as it came."""

    api: Api
    chat: ChatRequest
    model: str
    stream: bool
    include_usage: bool
    """Chat completions only: a last chunk with the usage."""
    answer_tool: str | None = None
    """The tool that a JSON answer must be given by."""
    custom_tools: frozenset[str] = frozenset()
    """Responses only: tools that take free text. Anthropic's `custom` are ordinary tools."""


def parse_request(api: Api, body: JsonValue) -> WireRequest:
    """Read the body of a request.

    Raises:
        ValueError: it is not an object.
    """
    if not isinstance(body, dict):
        raise ValueError("the body is not a JSON object")
    reader = {"chat": _chat, "responses": _responses, "messages": _anthropic}[api]
    listed = _items(body.get("tools"))
    free = [t for t in listed if t.get("type") == "custom"] if api == "responses" else []
    custom = frozenset(_str(tool.get("name")) for tool in free)
    tools = tuple(_tools(listed, custom))
    return WireRequest(
        api=api,
        chat=ChatRequest(messages=tuple(reader(body)), tools=tools, json_schema=_schema(body)),
        model=_str(body.get("model")),
        stream=body.get("stream") is True,
        include_usage=_dict(body.get("stream_options")).get("include_usage") is True,
        answer_tool=answer_tool(body),
        custom_tools=custom,
    )


def _str(value: JsonValue) -> str:
    return value if isinstance(value, str) else ""


def _dict(value: JsonValue) -> dict[str, JsonValue]:
    return value if isinstance(value, dict) else {}


def _items(value: JsonValue) -> list[dict[str, JsonValue]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _tools(tools: Sequence[dict[str, JsonValue]], custom: frozenset[str]) -> Iterator[ToolSpec]:
    for tool in tools:
        if tool.get("type") == "namespace":
            yield from _tools(_items(tool.get("tools")), custom)
            continue
        spec = _dict(tool.get("function")) or tool
        name = _str(spec.get("name"))
        parameters = _dict(spec.get("parameters")) or _dict(spec.get("input_schema"))
        if name in custom:
            parameters = _FREE_TEXT
        if name:
            description = _str(spec.get("description"))
            yield ToolSpec(name=name, description=description, parameters=parameters)


def _schema(body: dict[str, JsonValue]) -> dict[str, JsonValue] | None:
    given = _dict(body.get("response_format")) or _dict(_dict(body.get("text")).get("format"))
    if given.get("type") == "json_schema":
        return _dict(_dict(given.get("json_schema")).get("schema")) or _dict(given.get("schema"))
    if given.get("type") == "json_object":
        return {"type": "object"}
    forced = answer_tool(body)
    for tool in _items(body.get("tools")):
        spec = _dict(tool.get("function")) or tool
        if forced and spec.get("name") == forced:
            return _dict(spec.get("input_schema")) or _dict(spec.get("parameters"))
    return None


def answer_tool(body: dict[str, JsonValue]) -> str | None:
    """The tool that must be called; with any tool forced, the one that takes a JSON answer."""
    choice = body.get("tool_choice")
    named = _dict(choice)
    name = _str(named.get("name")) or _str(_dict(named.get("function")).get("name"))
    if name:
        return name
    offered = {
        _str(tool.get("name")) or _str(_dict(tool.get("function")).get("name"))
        for tool in _items(body.get("tools"))
    }
    any_tool = choice == "required" or named.get("type") == "any"
    return ANSWER_TOOL if any_tool and ANSWER_TOOL in offered else None


def _image(url: str) -> list[ImagePart]:
    head, _, data = url.partition(";base64,")
    media = head.removeprefix("data:")
    if media not in _IMAGES:
        return []
    return [ImagePart(media_type=media, data_base64=data)]


def _parts(content: JsonValue) -> list[TextPart | ImagePart]:
    """Text and images of a content value of any of the three protocols."""
    if isinstance(content, str):
        return [TextPart(text=content)] if content else []
    parts: list[TextPart | ImagePart] = []
    for item in _items(content):
        if isinstance(item.get("text"), str):
            parts.append(TextPart(text=_str(item["text"])))
        elif "image_url" in item:
            url = item["image_url"]
            parts.extend(_image(_str(_dict(url).get("url")) or _str(url)))
        elif item.get("type") == "image":
            source = _dict(item.get("source"))
            media, data = _str(source.get("media_type")), _str(source.get("data"))
            parts.extend(_image(f"data:{media};base64,{data}"))
    return parts


def _message(
    role: Role,
    parts: Sequence[TextPart | ImagePart],
    calls: Sequence[ToolCall] = (),
    call_id: str | None = None,
) -> Message:
    return Message(role=role, parts=tuple(parts), tool_calls=tuple(calls), tool_call_id=call_id)


def _said(
    role: Role, parts: list[TextPart | ImagePart], calls: Sequence[ToolCall] = ()
) -> Iterator[Message]:
    """What was said, and apart from it what a program put among the user's words."""
    if role == "user":
        for speaker, spoken in by_speaker(parts).items():
            if spoken:
                yield _message(speaker, spoken)
    elif parts or calls:
        yield _message(role, parts, calls)


# --- OpenAI chat completions -------------------------------------------------------------


def _chat(body: dict[str, JsonValue]) -> Iterator[Message]:
    for item in _items(body.get("messages")):
        role = _ROLES.get(_str(item.get("role")), "user")
        functions = [
            (_str(call.get("id")), _dict(call.get("function")))
            for call in _items(item.get("tool_calls"))
        ]
        calls = [
            parse_tool_call(call_id, _str(f.get("name")), _str(f.get("arguments")))
            for call_id, f in functions
        ]
        call_id = _str(item.get("tool_call_id")) or None
        parts = _parts(item.get("content"))
        if role == "user" and parts:
            yield from _said(role, parts)
        else:
            yield _message(role, parts, calls, call_id)


# --- OpenAI responses --------------------------------------------------------------------


def _responses(body: dict[str, JsonValue]) -> Iterator[Message]:
    instructions = _str(body.get("instructions"))
    if instructions:
        yield _message("system", [TextPart(text=instructions)])
    given = body.get("input")
    if isinstance(given, str):
        yield _message("user", [TextPart(text=given)])
    for item in _items(given):
        kind = _str(item.get("type")) or "message"
        call_id = _str(item.get("call_id"))
        if kind == "message":
            role = _ROLES.get(_str(item.get("role")), "user")
            yield _message(role, _parts(item.get("content")))
        elif kind.endswith("_call_output"):
            yield _message("tool", _output(item.get("output")), call_id=call_id)
        elif kind in ("function_call", "custom_tool_call"):
            raw = item.get("arguments")
            if raw is None:
                raw = json.dumps({"input": _str(item.get("input"))})
            call = parse_tool_call(call_id, _str(item.get("name")), _str(raw))
            yield _message("assistant", [], [call])


def _output(value: JsonValue) -> list[TextPart | ImagePart]:
    return [TextPart(text=json.dumps(value))] if isinstance(value, dict) else _parts(value)


# --- Anthropic messages ------------------------------------------------------------------


def _anthropic(body: dict[str, JsonValue]) -> Iterator[Message]:
    system = _parts(body.get("system"))
    if system:
        yield _message("system", system)
    for item in _items(body.get("messages")):
        role = _ROLES.get(_str(item.get("role")), "user")
        content = item.get("content")
        blocks = _items(content)
        calls = [
            ToolCall(
                id=_str(b.get("id")), name=_str(b.get("name")), arguments=_dict(b.get("input"))
            )
            for b in blocks
            if b.get("type") == "tool_use"
        ]
        for block in blocks:
            if block.get("type") == "tool_result":
                call_id = _str(block.get("tool_use_id"))
                yield _message("tool", _parts(block.get("content")), call_id=call_id)
        yield from _said(role, _parts(content), calls)
