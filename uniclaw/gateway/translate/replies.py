"""Whole answers, read and written."""

import json

from pydantic import JsonValue

from uniclaw.gateway.exchange import Api
from uniclaw.gateway.translate.fields import (
    Json,
    dump,
    object_of,
    objects_of,
    parse_object,
    text_of,
)
from uniclaw.gateway.translate.read_responses import SIGNED
from uniclaw.gateway.translate.talk import (
    Answer,
    Call,
    Finish,
    Names,
    Refusal,
    Text,
    Thought,
)
from uniclaw.gateway.usage import read_usage, write_usage
from uniclaw.records import Usage

AnswerBlock = Text | Thought | Call | Refusal

CHAT_FINISH: dict[str, Finish] = {
    "stop": "stop",
    "length": "length",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "content_filter": "refusal",
}
MESSAGES_FINISH: dict[str, Finish] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refusal",
}
TO_CHAT: dict[Finish, str] = {
    "stop": "stop",
    "length": "length",
    "tool_calls": "tool_calls",
    "refusal": "content_filter",
}
TO_MESSAGES: dict[Finish, str] = {
    "stop": "end_turn",
    "length": "max_tokens",
    "tool_calls": "tool_use",
    "refusal": "refusal",
}


class BadReply(ValueError):
    """An answer outside its protocol."""


def custom_input(arguments: str) -> str:
    """The free text of a custom tool, from the arguments of the function it became."""
    record = parse_object(arguments)
    return arguments if record is None else text_of(record.get("input"))


def finish_of_response(response: Json, *, said: Finish) -> Finish:
    """Why a response stopped; `said` is what its output alone would mean."""
    if response.get("status") == "incomplete":
        reason = object_of(response.get("incomplete_details")).get("reason")
        return "refusal" if reason == "content_filter" else "length"
    return said


# --- reading -----------------------------------------------------------------------------


def read_reply(api: Api, body: Json) -> Answer:
    """Read an answer.

    Raises:
        BadReply: it has nothing that its API demands.
    """
    reader = {"chat": _read_chat, "responses": _read_response, "messages": _read_message}[api]
    return reader(body)


def thought_of(message: Json) -> str:
    """Reasoning text that many chat servers put beside the content."""
    return text_of(message.get("reasoning_content")) or text_of(message.get("reasoning"))


def _read_chat(body: Json) -> Answer:
    choices = objects_of(body.get("choices"))
    if not choices:
        raise BadReply("no choice in the answer")
    message = object_of(choices[0].get("message"))
    blocks: list[AnswerBlock] = []
    if thought_of(message):
        blocks.append(Thought(thought_of(message)))
    if text_of(message.get("content")):
        blocks.append(Text(text_of(message.get("content"))))
    if text_of(message.get("refusal")):
        blocks.append(Refusal(text_of(message.get("refusal"))))
    for index, item in enumerate(objects_of(message.get("tool_calls"))):
        function = object_of(item.get("function"))
        arguments = function.get("arguments")
        raw = arguments if isinstance(arguments, str) else dump(object_of(arguments))
        call_id = text_of(item.get("id")) or f"call_{index}"
        blocks.append(Call(call_id, text_of(function.get("name")), raw or "{}"))
    finish = CHAT_FINISH.get(text_of(choices[0].get("finish_reason")), "stop")
    if finish == "stop":
        finish = _spoken_finish(blocks)
    return _answer("chat", body, blocks, finish)


def _spoken_finish(blocks: list[AnswerBlock]) -> Finish:
    if any(isinstance(b, Call) for b in blocks):
        return "tool_calls"
    return "refusal" if any(isinstance(b, Refusal) for b in blocks) else "stop"


def _answer(api: Api, body: Json, blocks: list[AnswerBlock], finish: Finish) -> Answer:
    usage = read_usage(api, body.get("usage")) or Usage()
    model = text_of(body.get("model"))
    return Answer(text_of(body.get("id")), model, tuple(blocks), finish, usage)


def _read_response(body: Json) -> Answer:
    if not isinstance(body.get("output"), list):
        raise BadReply("no output in the answer")
    blocks: list[AnswerBlock] = []
    for item in objects_of(body.get("output")):
        blocks += read_output_item(item)
    finish = finish_of_response(body, said=_spoken_finish(blocks))
    return _answer("responses", body, blocks, finish)


def read_output_item(item: Json) -> list[AnswerBlock]:
    """Blocks of one output item; kinds nobody else knows give none."""
    kind = item.get("type")
    if kind == "message":
        return [
            Refusal(text_of(part.get("refusal")))
            if part.get("type") == "refusal"
            else Text(text_of(part.get("text")))
            for part in objects_of(item.get("content"))
        ]
    call_id = text_of(item.get("call_id")) or text_of(item.get("id"))
    if kind == "function_call":
        return [Call(call_id, text_of(item.get("name")), text_of(item.get("arguments")) or "{}")]
    if kind == "custom_tool_call":
        given = text_of(item.get("input"))
        return [Call(call_id, text_of(item.get("name")), given, custom=True)]
    if kind == "reasoning":
        parts = objects_of(item.get("summary")) + objects_of(item.get("content"))
        text = "\n\n".join(text_of(part.get("text")) for part in parts)
        return [Thought(text)] if text else []
    return []


def _read_message(body: Json) -> Answer:
    if not isinstance(body.get("content"), list):
        raise BadReply("no content in the answer")
    blocks: list[AnswerBlock] = []
    for block in objects_of(body.get("content")):
        if block.get("type") == "text":
            blocks.append(Text(text_of(block.get("text"))))
        elif block.get("type") == "tool_use":
            arguments = dump(object_of(block.get("input")))
            blocks.append(Call(text_of(block.get("id")), text_of(block.get("name")), arguments))
        elif block.get("type") == "thinking":
            signature = text_of(block.get("signature"))
            blocks.append(Thought(text_of(block.get("thinking")), signature))
    finish = MESSAGES_FINISH.get(text_of(body.get("stop_reason")), "stop")
    return _answer("messages", body, blocks, finish)


# --- writing -----------------------------------------------------------------------------


def write_reply(api: Api, answer: Answer, names: Names, *, created: int) -> Json:
    """The body of an answer in an API.

    Args:
        api: the harness's.
        answer: what to say.
        names: tools that the harness knows in another form.
        created: Unix seconds.
    """
    if api == "messages":
        return _write_message(answer)
    if api == "responses":
        output = [write_output_item(b, answer.id, i, names) for i, b in enumerate(answer.blocks)]
        return write_response(answer, output, created=created)
    return _write_chat(answer, names, created)


def _write_chat(answer: Answer, names: Names, created: int) -> Json:
    thoughts = "".join(b.text for b in answer.blocks if isinstance(b, Thought))
    refused = "".join(b.text for b in answer.blocks if isinstance(b, Refusal))
    message: Json = {
        "role": "assistant",
        "content": "".join(b.text for b in answer.blocks if isinstance(b, Text)) or None,
        "refusal": refused or None,
    }
    if thoughts:
        message["reasoning_content"] = thoughts
    calls = [b for b in answer.blocks if isinstance(b, Call)]
    if calls:
        message["tool_calls"] = [chat_call(call, names) for call in calls]
    finish = "stop" if answer.finish == "refusal" and refused else TO_CHAT[answer.finish]
    choice: Json = {
        "index": 0,
        "message": message,
        "finish_reason": finish,
        "logprobs": None,
    }
    return {
        "id": answer.id or "chatcmpl-uniclaw",
        "object": "chat.completion",
        "created": created,
        "model": answer.model,
        "choices": [choice],
        "usage": write_usage("chat", answer.usage),
    }


def chat_call(call: Call, names: Names) -> Json:
    """A tool call of a chat message."""
    if call.name in names.custom:
        given = call.arguments if call.custom else custom_input(call.arguments)
        return {"id": call.id, "type": "custom", "custom": {"name": call.name, "input": given}}
    arguments = json.dumps({"input": call.arguments}) if call.custom else call.arguments
    function: Json = {"name": call.name, "arguments": arguments}
    return {"id": call.id, "type": "function", "function": function}


def _write_message(answer: Answer) -> Json:
    blocks: list[JsonValue] = [_message_block(block) for block in answer.blocks]
    return {
        "id": answer.id or "msg_uniclaw",
        "type": "message",
        "role": "assistant",
        "model": answer.model,
        "content": blocks,
        "stop_reason": TO_MESSAGES[answer.finish],
        "stop_sequence": None,
        "usage": write_usage("messages", answer.usage),
    }


def _message_block(block: AnswerBlock) -> Json:
    if isinstance(block, Call):
        given: Json = {"input": block.arguments}
        if not block.custom:
            given = parse_object(block.arguments) or {}
        return {"type": "tool_use", "id": block.id, "name": block.name, "input": given}
    if isinstance(block, Thought):
        return {"type": "thinking", "thinking": block.text, "signature": block.signature}
    return {"type": "text", "text": block.text}


def write_response(answer: Answer, output: list[Json], *, created: int) -> Json:
    """A finished response around its output items."""
    cut = answer.finish == "length"
    blocked = answer.finish == "refusal" and not any(isinstance(b, Refusal) for b in answer.blocks)
    reason = "max_output_tokens" if cut else "content_filter" if blocked else None
    items: list[JsonValue] = [*output]
    return {
        "id": answer.id or "resp_uniclaw",
        "object": "response",
        "created_at": created,
        "status": "incomplete" if reason else "completed",
        "error": None,
        "incomplete_details": {"reason": reason} if reason else None,
        "instructions": None,
        "metadata": {},
        "model": answer.model,
        "output": items,
        "parallel_tool_calls": True,
        "temperature": None,
        "tool_choice": "auto",
        "tools": [],
        "top_p": None,
        "usage": write_usage("responses", answer.usage),
    }


def write_output_item(block: AnswerBlock, answer_id: str, index: int, names: Names) -> Json:
    """One output item of a response."""
    if isinstance(block, Call):
        return _call_item(block, names)
    if isinstance(block, Thought):
        summary: list[JsonValue] = [{"type": "summary_text", "text": block.text}]
        item: Json = {"id": f"rs_{answer_id}_{index}", "type": "reasoning", "summary": summary}
        if block.signature:
            item["encrypted_content"] = SIGNED + block.signature
        return item
    content: Json = {"type": "refusal", "refusal": block.text}
    if isinstance(block, Text):
        content = {"type": "output_text", "text": block.text, "annotations": [], "logprobs": []}
    return {
        "id": f"msg_{answer_id}_{index}",
        "type": "message",
        "status": "completed",
        "role": "assistant",
        "content": [content],
    }


def _call_item(call: Call, names: Names) -> Json:
    namespace, name = names.namespaces.get(call.name, ("", call.name))
    item: Json = {"id": f"fc_{call.id}", "status": "completed", "call_id": call.id, "name": name}
    if namespace:
        item["namespace"] = namespace
    if call.custom or call.name in names.custom:
        given = call.arguments if call.custom else custom_input(call.arguments)
        return {"type": "custom_tool_call", **item, "input": given}
    return {"type": "function_call", **item, "arguments": call.arguments}
