"""A chat completions request, read."""

from pydantic import JsonValue

from uniclaw.gateway.translate.content import read_parts
from uniclaw.gateway.translate.fields import (
    BadRequest,
    Json,
    bool_of,
    float_of,
    int_of,
    object_of,
    objects_of,
    text_of,
    texts_of,
)
from uniclaw.gateway.translate.talk import (
    FREE_TEXT,
    Ask,
    Block,
    Call,
    Choice,
    Named,
    Result,
    Role,
    Said,
    Schema,
    Tool,
)

_ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
}


def read_chat(body: Json) -> Ask:
    """Read a request.

    Raises:
        BadRequest: it has no messages.
    """
    if not isinstance(body.get("messages"), list):
        raise BadRequest("`messages`: expected a list")
    ask = Ask(
        model=text_of(body.get("model")),
        stream=body.get("stream") is True,
        messages=[],
        tools=[],
        choice=_choice(body.get("tool_choice")),
        parallel=bool_of(body.get("parallel_tool_calls")),
        max_tokens=int_of(body.get("max_completion_tokens")) or int_of(body.get("max_tokens")),
        temperature=float_of(body.get("temperature")),
        top_p=float_of(body.get("top_p")),
        stop=texts_of(body.get("stop")),
        seed=int_of(body.get("seed")),
        effort=text_of(body.get("reasoning_effort")) or None,
        schema=_schema(object_of(body.get("response_format"))),
        include_usage=object_of(body.get("stream_options")).get("include_usage") is True,
    )
    for item in objects_of(body.get("messages")):
        _message(ask, item)
    for tool in objects_of(body.get("tools")):
        _tool(ask, tool)
    return ask


def _message(ask: Ask, item: Json) -> None:
    role = _ROLES.get(text_of(item.get("role")), "user")
    parts = read_parts(item.get("content"), ask.dropped)
    if role == "tool":
        result = Result(text_of(item.get("tool_call_id")), tuple(parts))
        last = ask.messages[-1] if ask.messages else None
        if last is not None and last.role == "tool":
            ask.messages[-1] = Said("tool", (*last.blocks, result))
        else:
            ask.messages.append(Said("tool", (result,)))
        return
    blocks: list[Block] = [*parts]
    if role == "assistant":
        blocks += [_call(call) for call in objects_of(item.get("tool_calls"))]
    ask.messages.append(Said(role, tuple(blocks)))


def _call(item: Json) -> Call:
    if item.get("type") == "custom":
        custom = object_of(item.get("custom"))
        name, given = text_of(custom.get("name")), text_of(custom.get("input"))
        return Call(text_of(item.get("id")), name, given, custom=True)
    function = object_of(item.get("function"))
    arguments = text_of(function.get("arguments")) or "{}"
    return Call(text_of(item.get("id")), text_of(function.get("name")), arguments)


def _tool(ask: Ask, item: Json) -> None:
    if item.get("type") == "custom":
        custom = object_of(item.get("custom"))
        name = text_of(custom.get("name"))
        grammar = object_of(custom.get("format")) or None
        ask.names.custom.add(name)
        told = text_of(custom.get("description"))
        ask.tools.append(Tool(name, told, FREE_TEXT, custom=True, grammar=grammar))
        return
    function = object_of(item.get("function"))
    if not text_of(function.get("name")):
        ask.dropped.append(f"tool of type {text_of(item.get('type'))!r}")
        return
    ask.tools.append(
        Tool(
            text_of(function.get("name")),
            text_of(function.get("description")),
            object_of(function.get("parameters")),
            bool_of(function.get("strict")),
        )
    )


def _choice(value: JsonValue) -> Choice | None:
    if value in ("auto", "none", "required"):
        return value  # pyright: ignore[reportReturnType] - narrowed by the literals above
    record = object_of(value)
    inner = object_of(record.get("function")) or object_of(record.get("custom"))
    name = text_of(inner.get("name"))
    return Named(name) if name else None


def _schema(given: Json) -> Schema | None:
    if given.get("type") == "json_object":
        return Schema(None)
    if given.get("type") != "json_schema":
        return None
    inner = object_of(given.get("json_schema"))
    name = text_of(inner.get("name")) or "answer"
    return Schema(object_of(inner.get("schema")), name, bool_of(inner.get("strict")))
