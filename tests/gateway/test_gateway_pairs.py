"""Every API of a harness over every API of an upstream, with the official clients."""

import json
from typing import cast

import pytest
from anthropic.types import MessageParam, ToolParam
from gateway_world import APIS, PIXEL, SHELL_SCHEMA, World, say, world
from openai.types.chat import ChatCompletionMessageParam, ChatCompletionToolParam
from openai.types.responses import (
    Response,
    ResponseCompletedEvent,
    ResponseIncompleteEvent,
    ResponseInputParam,
)
from openai.types.responses import ToolParam as ResponsesToolParam

from uniclaw.gateway.exchange import Api, Ending
from uniclaw.ports import ChatRequest, ImagePart
from uniclaw.records import Usage

every_pair = pytest.mark.parametrize(
    ("client", "upstream"), [(c, u) for c in APIS for u in APIS], ids=lambda api: str(api)
)
both_ways = pytest.mark.parametrize("stream", [True, False], ids=["stream", "whole"])
USAGE = {"input": 100, "cache_read": 40, "cache_write": 7, "output": 11, "reasoning": 5}
CALLS = [
    {"name": "shell", "arguments": {"command": "ls 'ä' \"x\""}},
    {"name": "shell", "arguments": {"command": "pwd"}},
]
URL = f"data:image/png;base64,{PIXEL}"


# --- what each client sends and gets, in one form ----------------------------------------


class Got:
    """An answer as the official client parsed it."""

    def __init__(self) -> None:
        self.text = ""
        self.calls: list[tuple[str, str, object]] = []
        self.usage = Usage()
        self.finish: str | None = None


def chat_messages(*, image: bool, history: bool) -> list[ChatCompletionMessageParam]:
    user: object = "look"
    if image:
        user = [
            {"type": "text", "text": "look"},
            {"type": "image_url", "image_url": {"url": URL}},
        ]
    messages: list[object] = [
        {"role": "system", "content": "be brief"},
        {"role": "user", "content": user},
    ]
    if history:
        function = {"name": "shell", "arguments": json.dumps({"command": "ls"})}
        messages += [
            {
                "role": "assistant",
                "content": "I look.",
                "tool_calls": [{"id": "call_1", "type": "function", "function": function}],
            },
            {"role": "tool", "tool_call_id": "call_1", "content": "a.txt"},
        ]
    return cast("list[ChatCompletionMessageParam]", messages)


async def ask_chat(w: World, *, stream: bool, image: bool, history: bool) -> Got:
    got = Got()
    tool = {"name": "shell", "description": "Run.", "parameters": SHELL_SCHEMA}
    tools = cast("list[ChatCompletionToolParam]", [{"type": "function", "function": tool}])
    messages = chat_messages(image=image, history=history)
    if not stream:
        whole = await w.openai.chat.completions.create(
            model="any", messages=messages, tools=tools, max_tokens=99, temperature=0.5
        )
        message = whole.choices[0].message
        got.text, got.finish = message.content or "", whole.choices[0].finish_reason
        for call in message.tool_calls or ():
            assert call.type == "function"
            got.calls.append((call.id, call.function.name, json.loads(call.function.arguments)))
        usage = whole.usage
    else:
        usage = None
        parts: dict[int, list[str]] = {}
        async for chunk in await w.openai.chat.completions.create(
            model="any",
            messages=messages,
            tools=tools,
            max_tokens=99,
            temperature=0.5,
            stream=True,
            stream_options={"include_usage": True},
        ):
            usage = chunk.usage or usage
            for choice in chunk.choices:
                got.text += choice.delta.content or ""
                got.finish = choice.finish_reason or got.finish
                for piece in choice.delta.tool_calls or ():
                    part = parts.setdefault(piece.index, ["", "", ""])
                    part[0] += piece.id or ""
                    assert piece.function is not None
                    part[1] += piece.function.name or ""
                    part[2] += piece.function.arguments or ""
        got.calls = [(p[0], p[1], json.loads(p[2])) for _, p in sorted(parts.items())]
    assert usage is not None
    details, said = usage.prompt_tokens_details, usage.completion_tokens_details
    assert details is not None
    assert said is not None
    cached, written = details.cached_tokens or 0, details.cache_write_tokens or 0
    reasoning = said.reasoning_tokens or 0
    got.usage = Usage(
        input=usage.prompt_tokens - cached - written,
        cache_read=cached,
        cache_write=written,
        output=usage.completion_tokens - reasoning,
        reasoning=reasoning,
    )
    return got


def responses_input(*, image: bool, history: bool) -> ResponseInputParam:
    content: list[object] = [{"type": "input_text", "text": "look"}]
    if image:
        content.append({"type": "input_image", "image_url": URL, "detail": "auto"})
    items: list[object] = [{"type": "message", "role": "user", "content": content}]
    if history:
        items += [
            {
                "type": "message",
                "role": "assistant",
                "content": [{"type": "output_text", "text": "I look.", "annotations": []}],
            },
            {
                "type": "function_call",
                "call_id": "call_1",
                "name": "shell",
                "arguments": json.dumps({"command": "ls"}),
            },
            {"type": "function_call_output", "call_id": "call_1", "output": "a.txt"},
        ]
    return cast("ResponseInputParam", items)


async def ask_responses(w: World, *, stream: bool, image: bool, history: bool) -> Got:
    got = Got()
    tool = {
        "type": "function",
        "name": "shell",
        "description": "Run.",
        "parameters": SHELL_SCHEMA,
        "strict": False,
    }
    tools = cast("list[ResponsesToolParam]", [tool])
    given = responses_input(image=image, history=history)
    if stream:
        text = ""
        last: Response | None = None
        async for event in await w.openai.responses.create(
            model="any",
            instructions="be brief",
            input=given,
            tools=tools,
            max_output_tokens=99,
            temperature=0.5,
            stream=True,
        ):
            if event.type == "response.output_text.delta":
                text += event.delta
            elif isinstance(event, ResponseCompletedEvent | ResponseIncompleteEvent):
                last = event.response
        assert last is not None
        response = last
        assert text == response.output_text
    else:
        response = await w.openai.responses.create(
            model="any",
            instructions="be brief",
            input=given,
            tools=tools,
            max_output_tokens=99,
            temperature=0.5,
        )
    got.text = response.output_text
    got.finish = response.status
    for item in response.output:
        if item.type == "function_call":
            got.calls.append((item.call_id, item.name, json.loads(item.arguments)))
    usage = response.usage
    assert usage is not None
    cached = usage.input_tokens_details.cached_tokens
    written = usage.input_tokens_details.cache_write_tokens
    reasoning = usage.output_tokens_details.reasoning_tokens
    got.usage = Usage(
        input=usage.input_tokens - cached - written,
        cache_read=cached,
        cache_write=written,
        output=usage.output_tokens - reasoning,
        reasoning=reasoning,
    )
    return got


def anthropic_messages(*, image: bool, history: bool) -> list[MessageParam]:
    content: list[object] = [{"type": "text", "text": "look"}]
    if image:
        source = {"type": "base64", "media_type": "image/png", "data": PIXEL}
        content.append({"type": "image", "source": source})
    messages: list[object] = [{"role": "user", "content": content}]
    if history:
        call = {"type": "tool_use", "id": "call_1", "name": "shell", "input": {"command": "ls"}}
        result = {"type": "tool_result", "tool_use_id": "call_1", "content": "a.txt"}
        messages += [
            {"role": "assistant", "content": [{"type": "text", "text": "I look."}, call]},
            {"role": "user", "content": [result]},
        ]
    return cast("list[MessageParam]", messages)


async def ask_messages(w: World, *, stream: bool, image: bool, history: bool) -> Got:
    got = Got()
    tools = cast(
        "list[ToolParam]", [{"name": "shell", "description": "Run.", "input_schema": SHELL_SCHEMA}]
    )
    messages = anthropic_messages(image=image, history=history)
    if stream:
        async with w.anthropic.messages.stream(
            model="any",
            max_tokens=99,
            system="be brief",
            messages=messages,
            tools=tools,
        ) as stream_:
            message = await stream_.get_final_message()
    else:
        message = await w.anthropic.messages.create(
            model="any", max_tokens=99, system="be brief", messages=messages, tools=tools
        )
    got.finish = message.stop_reason
    for block in message.content:
        if block.type == "text":
            got.text += block.text
        elif block.type == "tool_use":
            got.calls.append((block.id, block.name, block.input))
    usage = message.usage
    reasoning = usage.output_tokens_details.thinking_tokens if usage.output_tokens_details else 0
    got.usage = Usage(
        input=usage.input_tokens,
        cache_read=usage.cache_read_input_tokens or 0,
        cache_write=usage.cache_creation_input_tokens or 0,
        output=usage.output_tokens - reasoning,
        reasoning=reasoning,
    )
    return got


async def ask(
    w: World, client: Api, *, stream: bool, image: bool = False, history: bool = False
) -> Got:
    asker = {"chat": ask_chat, "responses": ask_responses, "messages": ask_messages}[client]
    return await asker(w, stream=stream, image=image, history=history)


def seen(w: World) -> ChatRequest:
    return w.server.calls[-1]


# --- the pairs ---------------------------------------------------------------------------


@every_pair
@both_ways
async def test_text_and_usage_cross(client: Api, upstream: Api, stream: bool) -> None:
    async with world([say("grüezi, 你好", usage=USAGE)], apis=(upstream,)) as w:
        got = await ask(w, client, stream=stream)
        assert got.text == "grüezi, 你好"
        assert got.finish in ("stop", "completed", "end_turn")
        assert got.usage == Usage.model_validate(USAGE)
        request = seen(w)
        assert [m.role for m in request.messages] == ["system", "user"]
        assert request.messages[0].text == "be brief"
        assert request.tools[0].name == "shell"
        assert request.tools[0].description == "Run."
        assert request.tools[0].parameters == SHELL_SCHEMA
        assert w.last.ending is Ending.ANSWERED
        assert w.last.usage == Usage.model_validate(USAGE)
        assert (w.last.api, w.last.upstream_api) == (client, upstream)
        assert w.gateway.spent("e1").usage == Usage.model_validate(USAGE)


@every_pair
@both_ways
async def test_parallel_calls_cross(client: Api, upstream: Api, stream: bool) -> None:
    rules: list[object] = [{"reply": {"text": "I look.", "tool_calls": CALLS, "chunk_chars": 3}}]
    async with world(rules, apis=(upstream,)) as w:
        got = await ask(w, client, stream=stream)
        assert got.text == "I look."
        assert [(name, args) for _, name, args in got.calls] == [
            (c["name"], c["arguments"]) for c in CALLS
        ]
        assert len({call_id for call_id, _, _ in got.calls}) == 2
        assert got.finish in ("tool_calls", "completed", "tool_use")


@every_pair
async def test_images_and_history_cross(client: Api, upstream: Api) -> None:
    async with world([say()], apis=(upstream,)) as w:
        await ask(w, client, stream=True, image=True, history=True)
        request = seen(w)
        images = [p for m in request.messages for p in m.parts if isinstance(p, ImagePart)]
        assert [(i.media_type, i.data_base64) for i in images] == [("image/png", PIXEL)]
        said = [m for m in request.messages if m.role == "assistant"]
        assert "I look." in "".join(m.text for m in said)
        calls = [c for m in said for c in m.tool_calls]
        assert [(c.id, c.name, c.arguments) for c in calls] == [
            ("call_1", "shell", {"command": "ls"})
        ]
        results = [m for m in request.messages if m.role == "tool"]
        assert [(m.tool_call_id, m.text) for m in results] == [("call_1", "a.txt")]


@every_pair
@both_ways
async def test_an_answer_cut_by_its_limit_says_so(client: Api, upstream: Api, stream: bool) -> None:
    async with world([say("half an ans", finish="length")], apis=(upstream,)) as w:
        got = await ask(w, client, stream=stream)
        assert got.finish in ("length", "incomplete", "max_tokens")


@every_pair
async def test_the_limit_on_the_answer_crosses(client: Api, upstream: Api) -> None:
    async with world([say()], apis=(upstream,)) as w:
        await ask(w, client, stream=False)
        body = w.server.requests[-1].body
        assert isinstance(body, dict)
        limits = [body.get(k) for k in ("max_tokens", "max_output_tokens")]
        assert 99 in limits
        assert body["model"] == "scripted-model"
