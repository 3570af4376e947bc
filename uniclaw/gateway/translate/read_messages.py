"""An Anthropic messages request, read."""

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
    texts_of,
)
from uniclaw.gateway.translate.talk import (
    Ask,
    Block,
    Call,
    Choice,
    Named,
    Result,
    Said,
    Schema,
    Thought,
    Tool,
)


def read_messages(body: Json) -> Ask:
    """Read a request.

    Raises:
        BadRequest: it has no messages.
    """
    if not isinstance(body.get("messages"), list):
        raise BadRequest("`messages`: expected a list")
    choice = object_of(body.get("tool_choice"))
    alone = bool_of(choice.get("disable_parallel_tool_use"))
    config = object_of(body.get("output_config"))
    ask = Ask(
        model=text_of(body.get("model")),
        stream=body.get("stream") is True,
        messages=[],
        tools=[],
        choice=_choice(choice),
        parallel=None if alone is None else not alone,
        max_tokens=int_of(body.get("max_tokens")),
        temperature=float_of(body.get("temperature")),
        top_p=float_of(body.get("top_p")),
        stop=texts_of(body.get("stop_sequences")),
        schema=_schema(object_of(config.get("format"))),
        include_usage=True,
    )
    if object_of(body.get("thinking")).get("type") in ("enabled", "adaptive"):
        ask.dropped.append("`thinking`")
    system = read_parts(body.get("system"), ask.dropped)
    if system:
        ask.messages.append(Said("system", tuple(system)))
    for item in objects_of(body.get("messages")):
        _message(ask, item)
    for tool in objects_of(body.get("tools")):
        _tool(ask, tool)
    return ask


def _message(ask: Ask, item: Json) -> None:
    content = item.get("content")
    blocks = objects_of(content)
    parts = read_parts(content, ask.dropped)
    if item.get("role") == "assistant":
        said = [b for block in blocks if (b := _own(block)) is not None]
        thoughts = [b for b in said if isinstance(b, Thought)]
        calls = [b for b in said if isinstance(b, Call)]
        ask.messages.append(Said("assistant", (*thoughts, *parts, *calls)))
        return
    results = tuple(_result(ask, b) for b in blocks if b.get("type") == "tool_result")
    if results:
        ask.messages.append(Said("tool", results))
    if parts or not results:
        role = "system" if item.get("role") == "system" else "user"
        ask.messages.append(Said(role, tuple(parts)))


def _own(block: Json) -> Block | None:
    if block.get("type") == "tool_use":
        arguments = dump(object_of(block.get("input")))
        return Call(text_of(block.get("id")), text_of(block.get("name")), arguments)
    if block.get("type") == "thinking":
        return Thought(text_of(block.get("thinking")), text_of(block.get("signature")))
    return None


def _result(ask: Ask, block: Json) -> Result:
    parts = read_parts(block.get("content"), ask.dropped)
    failed = block.get("is_error") is True
    return Result(text_of(block.get("tool_use_id")), tuple(parts), is_error=failed)


def _tool(ask: Ask, item: Json) -> None:
    name = text_of(item.get("name"))
    if item.get("type") not in (None, "custom") or not name:
        ask.dropped.append(f"tool of type {text_of(item.get('type'))!r}")
        return
    told = text_of(item.get("description"))
    schema = object_of(item.get("input_schema"))
    ask.tools.append(Tool(name, told, schema, bool_of(item.get("strict"))))


def _choice(record: Json) -> Choice | None:
    kind = record.get("type")
    if kind == "tool":
        name = text_of(record.get("name"))
        return Named(name) if name else None
    if kind == "any":
        return "required"
    return "auto" if kind == "auto" else "none" if kind == "none" else None


def _schema(given: JsonValue) -> Schema | None:
    record = object_of(given)
    if record.get("type") != "json_schema":
        return None
    return Schema(object_of(record.get("schema")))
