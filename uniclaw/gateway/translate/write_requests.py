"""A request, written for chat completions or responses."""

from typing import NamedTuple

from pydantic import JsonValue

from uniclaw.gateway.translate.content import chat_part, responses_part
from uniclaw.gateway.translate.fields import Json, dump, object_of
from uniclaw.gateway.translate.talk import (
    Ask,
    Call,
    File,
    Image,
    Named,
    Part,
    Result,
    Said,
    Schema,
    Text,
    Thought,
    Tool,
)


class Style(NamedTuple):
    """What differs between servers of one API."""

    limit_field: str = "max_tokens"
    """Chat: name of the limit on the answer."""
    max_tokens: int = 16_384
    """Messages: the limit when the harness gave none; the API demands one."""
    schemas: bool = True
    """Whether the server takes a JSON schema for the answer."""


def _joined(parts: list[Part]) -> str:
    return "\n".join(p.text for p in parts if isinstance(p, Text))


def _drop(ask: Ask, **fields: object) -> None:
    ask.dropped.extend(f"`{name}`" for name, value in fields.items() if value not in (None, ()))


# --- chat completions --------------------------------------------------------------------


def write_chat(ask: Ask, model: str, style: Style) -> Json:
    """The body of `POST /v1/chat/completions`."""
    body: Json = {
        "model": model,
        "messages": [m for said in ask.messages for m in _chat_messages(said)],
        "stream": ask.stream,
    }
    if ask.stream:
        body["stream_options"] = {"include_usage": True}
    optional: dict[str, JsonValue] = {
        style.limit_field: ask.max_tokens,
        "temperature": ask.temperature,
        "top_p": ask.top_p,
        "stop": list(ask.stop) or None,
        "seed": ask.seed,
        "reasoning_effort": ask.effort,
    }
    body |= {key: value for key, value in optional.items() if value is not None}
    if ask.tools:
        body["tools"] = [_chat_tool(tool) for tool in ask.tools]
        if ask.parallel is not None:
            body["parallel_tool_calls"] = ask.parallel
        if isinstance(ask.choice, Named):
            body["tool_choice"] = {"type": "function", "function": {"name": ask.choice.name}}
        elif ask.choice is not None:
            body["tool_choice"] = ask.choice
    if ask.schema is not None:
        body["response_format"] = _chat_schema(ask.schema)
    return body


def _chat_schema(schema: Schema) -> Json:
    if schema.schema is None:
        return {"type": "json_object"}
    inner: Json = {"name": schema.name, "schema": dict(schema.schema)}
    if schema.strict is not None:
        inner["strict"] = schema.strict
    return {"type": "json_schema", "json_schema": inner}


def _chat_tool(tool: Tool) -> Json:
    function: Json = {
        "name": tool.name,
        "description": told(tool),
        "parameters": dict(tool.parameters) or {"type": "object", "properties": {}},
    }
    if tool.strict and not tool.custom:
        function["strict"] = True
    return {"type": "function", "function": function}


def told(tool: Tool) -> str:
    """The description; of a custom tool with its grammar, which a function cannot carry."""
    if not tool.custom:
        return tool.description
    grammar = object_of(dict(tool.grammar or {}))
    inner = object_of(grammar.get("grammar")) or grammar
    definition = inner.get("definition")
    lead = "The tool takes one free text; give it as `input`."
    parts = [tool.description, lead]
    if isinstance(definition, str) and definition:
        parts.append(f"Grammar ({inner.get('syntax')}) of the text:\n{definition}")
    return "\n\n".join(part for part in parts if part)


def _chat_messages(said: Said) -> list[Json]:
    if said.role == "tool":
        return _chat_results(said)
    parts: list[Part] = [b for b in said.blocks if isinstance(b, Text | Image | File)]
    message: Json = {"role": said.role}
    calls = [b for b in said.blocks if isinstance(b, Call)]
    if said.role in ("system", "assistant") or all(isinstance(p, Text) for p in parts):
        text = _joined(parts)
        message["content"] = text if text or not calls else None
    else:
        message["content"] = [chat_part(p) for p in parts]
    if calls:
        message["tool_calls"] = [_chat_call(call) for call in calls]
    elif said.role == "assistant" and not parts:
        return []  # reasoning alone, which this API cannot carry
    return [message]


def _chat_call(call: Call) -> Json:
    arguments = dump({"input": call.arguments}) if call.custom else call.arguments
    function: Json = {"name": call.name, "arguments": arguments}
    return {"id": call.id, "type": "function", "function": function}


def _chat_results(said: Said) -> list[Json]:
    """Results as tool messages; what they cannot hold follows as the user's, after all."""
    messages: list[Json] = []
    others: list[JsonValue] = []
    for block in said.blocks:
        if not isinstance(block, Result):
            continue
        text = _joined(list(block.parts))
        seen: list[JsonValue] = [chat_part(p) for p in block.parts if not isinstance(p, Text)]
        if seen and not text:
            text = "(see the attachment that follows)"
        content = f"Error: {text}" if block.is_error else text
        messages.append({"role": "tool", "tool_call_id": block.call_id, "content": content})
        others += seen
    if others:
        messages.append({"role": "user", "content": others})
    return messages


# --- responses ---------------------------------------------------------------------------


def write_responses(ask: Ask, model: str, style: Style) -> Json:
    """The body of `POST /v1/responses`."""
    lead, rest = split_system(ask.messages)
    body: Json = {
        "model": model,
        "input": [item for said in rest for item in _items(said)],
        "stream": ask.stream,
        "store": False,
    }
    optional: dict[str, JsonValue] = {
        "instructions": lead or None,
        "max_output_tokens": ask.max_tokens,
        "temperature": ask.temperature,
        "top_p": ask.top_p,
        "reasoning": {"effort": ask.effort} if ask.effort else None,
    }
    body |= {key: value for key, value in optional.items() if value is not None}
    if ask.tools:
        body["tools"] = [_responses_tool(tool) for tool in ask.tools]
        if ask.parallel is not None:
            body["parallel_tool_calls"] = ask.parallel
        if isinstance(ask.choice, Named):
            kind = "custom" if ask.choice.name in ask.names.custom else "function"
            body["tool_choice"] = {"type": kind, "name": ask.choice.name}
        elif ask.choice is not None:
            body["tool_choice"] = ask.choice
    if ask.schema is not None and style.schemas:
        body["text"] = {"format": _responses_schema(ask.schema)}
    _drop(ask, stop=ask.stop, seed=ask.seed)
    return body


def split_system(messages: list[Said]) -> tuple[str, list[Said]]:
    """Text of the leading system messages, and the others."""
    count = 0
    while count < len(messages) and messages[count].role == "system":
        count += 1
    texts = [b.text for said in messages[:count] for b in said.blocks if isinstance(b, Text)]
    return "\n\n".join(texts), messages[count:]


def _responses_schema(schema: Schema) -> Json:
    if schema.schema is None:
        return {"type": "json_object"}
    given: Json = {"type": "json_schema", "name": schema.name, "schema": dict(schema.schema)}
    if schema.strict is not None:
        given["strict"] = schema.strict
    return given


def _responses_tool(tool: Tool) -> Json:
    if tool.custom:
        given: Json = {"type": "custom", "name": tool.name, "description": tool.description}
        if tool.grammar:
            inner = object_of(tool.grammar.get("grammar"))
            given["format"] = {"type": "grammar", **inner} if inner else dict(tool.grammar)
        return given
    parameters = dict(tool.parameters) or {"type": "object", "properties": {}}
    return {
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": parameters,
        "strict": bool(tool.strict),
    }


def _items(said: Said) -> list[Json]:
    items: list[Json] = []
    parts: list[Part] = [b for b in said.blocks if isinstance(b, Text | Image | File)]
    if parts:
        output = said.role == "assistant"
        content: list[JsonValue] = [responses_part(p, output=output) for p in parts]
        role = "developer" if said.role == "system" else said.role
        items.append({"type": "message", "role": role, "content": content})
    for block in said.blocks:
        if isinstance(block, Call):
            items.append(_call_item(block))
        elif isinstance(block, Result):
            items.append(_result_item(block))
        elif isinstance(block, Thought):
            continue  # only its own provider could check it
    return items


def _call_item(call: Call) -> Json:
    item: Json = {"call_id": call.id, "name": call.name}
    if call.custom:
        return {"type": "custom_tool_call", **item, "input": call.arguments}
    return {"type": "function_call", **item, "arguments": call.arguments}


def _result_item(result: Result) -> Json:
    output: JsonValue = [responses_part(p) for p in result.parts]
    if all(isinstance(p, Text) for p in result.parts):
        text = _joined(list(result.parts))
        output = f"Error: {text}" if result.is_error else text
    kind = "custom_tool_call_output" if result.custom else "function_call_output"
    return {"type": kind, "call_id": result.call_id, "output": output}
