"""A responses request, read: instructions, items, tools of Codex included.

A `namespace` of tools is flattened; tools that run at the provider are dropped and named.
"""

from pydantic import JsonValue

from uniclaw.gateway.translate.content import read_parts
from uniclaw.gateway.translate.fields import (
    BadRequest,
    Json,
    bool_of,
    dump,
    float_of,
    int_of,
    object_of,
    objects_of,
    text_of,
)
from uniclaw.gateway.translate.talk import (
    FREE_TEXT,
    Ask,
    Block,
    Call,
    Choice,
    Named,
    Part,
    Result,
    Role,
    Said,
    Schema,
    Text,
    Thought,
    Tool,
)

SIGNED = "uniclaw:"
"""Before a signature of another API that travels in `encrypted_content`."""

_ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
}


def read_responses(body: Json) -> Ask:
    """Read a request.

    Raises:
        BadRequest: it has no input.
    """
    given = body.get("input")
    if not isinstance(given, str | list):
        raise BadRequest("`input`: expected a string or a list")
    ask = Ask(
        model=text_of(body.get("model")),
        stream=body.get("stream") is True,
        messages=[],
        tools=[],
        parallel=bool_of(body.get("parallel_tool_calls")),
        max_tokens=int_of(body.get("max_output_tokens")),
        temperature=float_of(body.get("temperature")),
        top_p=float_of(body.get("top_p")),
        effort=text_of(object_of(body.get("reasoning")).get("effort")) or None,
        schema=_schema(object_of(object_of(body.get("text")).get("format"))),
        include_usage=True,
    )
    for tool in objects_of(body.get("tools")):
        _tool(ask, tool, "")
    ask.choice = _choice(ask, body.get("tool_choice"))
    instructions = text_of(body.get("instructions"))
    if instructions:
        ask.messages.append(Said("system", (Text(instructions),)))
    if isinstance(given, str):
        ask.messages.append(Said("user", (Text(given),)))
    for item in objects_of(given):
        _item(ask, item)
    return ask


# --- items -------------------------------------------------------------------------------


def _add(ask: Ask, role: Role, *blocks: Block) -> None:
    """Append; neighbours of the assistant or of tools are one message."""
    last = ask.messages[-1] if ask.messages else None
    if last is not None and last.role == role and role in ("assistant", "tool"):
        ask.messages[-1] = Said(role, (*last.blocks, *blocks))
    else:
        ask.messages.append(Said(role, blocks))


def _item(ask: Ask, item: Json) -> None:
    kind = text_of(item.get("type")) or "message"
    if kind == "message":
        role = _ROLES.get(text_of(item.get("role")), "user")
        _add(ask, role, *read_parts(item.get("content"), ask.dropped))
    elif kind == "reasoning":
        _reasoning(ask, item)
    elif kind.endswith("_call_output"):
        custom = kind == "custom_tool_call_output"
        parts = _output(item.get("output"), ask.dropped)
        _add(ask, "tool", Result(text_of(item.get("call_id")), tuple(parts), custom=custom))
    else:
        call = _call(ask, kind, item)
        if call is None:
            ask.dropped.append(f"item of type {kind!r}")
        else:
            _add(ask, "assistant", call)


def _call(ask: Ask, kind: str, item: Json) -> Call | None:
    call_id = text_of(item.get("call_id")) or text_of(item.get("id"))
    name = ask.names.flat(text_of(item.get("namespace")), text_of(item.get("name")))
    if kind == "function_call":
        return Call(call_id, name, text_of(item.get("arguments")) or "{}")
    if kind == "custom_tool_call":
        return Call(call_id, name, text_of(item.get("input")), custom=True)
    if kind in ("local_shell_call", "shell_call"):
        return Call(call_id, kind.removesuffix("_call"), dump(object_of(item.get("action"))))
    return None


def _reasoning(ask: Ask, item: Json) -> None:
    texts = [text_of(part.get("text")) for part in objects_of(item.get("summary"))]
    texts += [text_of(part.get("text")) for part in objects_of(item.get("content"))]
    sealed = text_of(item.get("encrypted_content"))
    signature = sealed.removeprefix(SIGNED) if sealed.startswith(SIGNED) else ""
    _add(ask, "assistant", Thought("\n\n".join(texts), signature))


def _output(value: JsonValue, dropped: list[str]) -> list[Part]:
    if isinstance(value, dict):
        return [Text(dump(value))]
    return read_parts(value, dropped)


# --- tools -------------------------------------------------------------------------------


def _tool(ask: Ask, item: Json, namespace: str) -> None:
    kind = text_of(item.get("type"))
    name = text_of(item.get("name"))
    if kind == "namespace":
        for inner in objects_of(item.get("tools")):
            _tool(ask, inner, name)
        return
    if kind not in ("function", "custom") or not name:
        ask.dropped.append(f"tool of type {kind!r}")
        return
    flat = _flat_name(ask, name, namespace)
    told = text_of(item.get("description"))
    if kind == "custom":
        ask.names.custom.add(flat)
        grammar = object_of(item.get("format")) or None
        ask.tools.append(Tool(flat, told, FREE_TEXT, custom=True, grammar=grammar))
        return
    parameters = object_of(item.get("parameters"))
    ask.tools.append(Tool(flat, told, parameters, bool_of(item.get("strict"))))


def _flat_name(ask: Ask, name: str, namespace: str) -> str:
    if not namespace:
        return name
    taken = {tool.name for tool in ask.tools}
    flat = f"{namespace}__{name}" if name in taken else name
    ask.names.namespaces[flat] = (namespace, name)
    return flat


def _choice(ask: Ask, value: JsonValue) -> Choice | None:
    if value in ("auto", "none", "required"):
        return value  # pyright: ignore[reportReturnType] - narrowed by the literals above
    record = object_of(value)
    if record.get("type") not in ("function", "custom"):
        return None
    name = ask.names.flat(text_of(record.get("namespace")), text_of(record.get("name")))
    return Named(name) if name else None


def _schema(given: Json) -> Schema | None:
    if given.get("type") == "json_object":
        return Schema(None)
    if given.get("type") != "json_schema":
        return None
    name = text_of(given.get("name")) or "answer"
    return Schema(object_of(given.get("schema")), name, bool_of(given.get("strict")))
