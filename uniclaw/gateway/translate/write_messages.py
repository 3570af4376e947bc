"""A request, written for Anthropic messages."""

import re

from pydantic import JsonValue

from uniclaw.gateway.translate.content import messages_part
from uniclaw.gateway.translate.fields import Json, parse_object
from uniclaw.gateway.translate.talk import (
    Ask,
    Block,
    Call,
    File,
    Image,
    Named,
    Result,
    Said,
    Text,
    Thought,
)
from uniclaw.gateway.translate.write_requests import Style, split_system, told

_BAD_ID = re.compile(r"[^a-zA-Z0-9_-]")


def write_messages(ask: Ask, model: str, style: Style) -> Json:
    """The body of `POST /v1/messages`."""
    lead, rest = split_system(ask.messages)
    body: Json = {
        "model": model,
        "max_tokens": ask.max_tokens or style.max_tokens,
        "messages": _messages(rest),
        "stream": ask.stream,
    }
    if lead.strip():
        body["system"] = lead
    if ask.temperature is not None:
        body["temperature"] = min(ask.temperature, 1.0)
    if ask.top_p is not None and ask.temperature is None:
        body["top_p"] = ask.top_p
    if ask.stop:
        body["stop_sequences"] = list(ask.stop)
    if ask.tools:
        body["tools"] = [
            {
                "name": tool.name,
                "description": told(tool),
                "input_schema": {"type": "object", **tool.parameters},
            }
            for tool in ask.tools
        ]
        choice = _choice(ask)
        if choice is not None:
            body["tool_choice"] = choice
    if ask.schema is not None:
        _schema(ask, body, style)
    ask.dropped += [f"`{n}`" for n, v in (("seed", ask.seed), ("effort", ask.effort)) if v]
    return body


def _choice(ask: Ask) -> Json | None:
    names = {"auto": "auto", "none": "none", "required": "any"}
    if isinstance(ask.choice, Named):
        choice: Json = {"type": "tool", "name": ask.choice.name}
    elif ask.choice is not None:
        choice = {"type": names[ask.choice]}
    elif ask.parallel is False:
        choice = {"type": "auto"}
    else:
        return None
    if ask.parallel is False and choice["type"] != "none":
        choice["disable_parallel_tool_use"] = True
    return choice


def _schema(ask: Ask, body: Json, style: Style) -> None:
    schema = ask.schema
    if schema is None or schema.schema is None or not style.schemas:
        ask.dropped.append("`response_format`")
        return
    body["output_config"] = {"format": {"type": "json_schema", "schema": dict(schema.schema)}}


def _messages(messages: list[Said]) -> list[JsonValue]:
    """Neighbours of one role are merged: all results of a turn must stand together."""
    merged: list[tuple[str, list[JsonValue]]] = []
    for said in messages:
        role = "assistant" if said.role == "assistant" else "user"
        blocks: list[JsonValue] = [block for b in said.blocks for block in _blocks(b)]
        if merged and merged[-1][0] == role:
            merged[-1][1].extend(blocks)
        elif blocks:
            merged.append((role, blocks))
    return [{"role": role, "content": blocks} for role, blocks in merged]


def _blocks(block: Block) -> list[Json]:
    if isinstance(block, Text):
        return [messages_part(block)] if block.text.strip() else []
    if isinstance(block, Image | File):
        return [messages_part(block)]
    if isinstance(block, Call):
        return [_tool_use(block)]
    if isinstance(block, Result):
        return [_tool_result(block)]
    return _thinking(block)


def _thinking(thought: Thought) -> list[Json]:
    if not thought.signature:
        return []
    return [{"type": "thinking", "thinking": thought.text, "signature": thought.signature}]


def _tool_use(call: Call) -> Json:
    given: JsonValue = {"input": call.arguments} if call.custom else parse_object(call.arguments)
    if given is None:
        given = {"arguments": call.arguments}  # broken text of an earlier answer
    return {
        "type": "tool_use",
        "id": _BAD_ID.sub("_", call.id) or "call",
        "name": call.name,
        "input": given,
    }


def _tool_result(result: Result) -> Json:
    record: Json = {
        "type": "tool_result",
        "tool_use_id": _BAD_ID.sub("_", result.call_id) or "call",
    }
    content: list[JsonValue] = [block for part in result.parts for block in _blocks(part)]
    if content:
        record["content"] = content
    if result.is_error:
        record["is_error"] = True
    return record
