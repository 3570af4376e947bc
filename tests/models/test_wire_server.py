"""The scripted server read by the official clients, on every protocol it speaks."""

import json
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anthropic
import httpx
import openai
import pytest
from openai.types.responses import ResponseFunctionToolCall

from uniclaw.models.script import ScriptedError, parse_script
from uniclaw.testing.wire import Fault, ScriptedServer

RULES: list[object] = [
    {"when": {"last": "it is mended"}, "reply": {"text": "all good"}},
    {
        "when": {"last_user": "mend"},
        "reply": {
            "text": "mending now",
            "run": "echo 'ä' > {{ last_user.split()[-1] }}",
            "chunk_chars": 3,
            "usage": {"input": 9, "cache_read": 4, "output": 6, "reasoning": 2},
        },
    },
    {"when": {"last_user": "never"}, "reply": {"text": "I will not", "finish": "refusal"}},
    {"when": {"last_user": "long"}, "reply": {"text": "cut he", "finish": "length"}},
    {
        "when": {"last_user": "slow"},
        "reply": {"text": "abcdef", "chunk_chars": 1, "chunk_delay_s": 0.1},
    },
    {"reply": {"text": "hello"}},
]
SHELL_SCHEMA: dict[str, object] = {
    "type": "object",
    "properties": {"cmd": {"type": "string"}},
    "required": ["cmd"],
}


@asynccontextmanager
async def openai_client(
    server: ScriptedServer,
) -> AsyncGenerator[openai.AsyncOpenAI]:
    async with openai.AsyncOpenAI(api_key="k", base_url=server.openai_url, max_retries=0) as client:
        yield client


@asynccontextmanager
async def anthropic_client(
    server: ScriptedServer,
) -> AsyncGenerator[anthropic.AsyncAnthropic]:
    async with anthropic.AsyncAnthropic(
        api_key="k", base_url=server.anthropic_url, max_retries=0
    ) as client:
        yield client


def serve(*faults: Fault) -> ScriptedServer:
    return ScriptedServer(parse_script({"rules": RULES}), faults=faults)


async def test_responses_stream_has_every_event_in_order() -> None:
    async with serve() as server, openai_client(server) as client:
        stream = await client.responses.create(
            model="m",
            instructions="be good",
            input=[{"role": "user", "content": [{"type": "input_text", "text": "mend x.txt"}]}],
            tools=[
                {
                    "type": "function",
                    "name": "exec_command",
                    "parameters": SHELL_SCHEMA,
                    "strict": False,
                }
            ],
            stream=True,
        )
        events = [event async for event in stream]
        kinds = [e.type for e in events]
        assert [e.sequence_number for e in events] == list(range(len(events)))
        without_deltas = [k for i, k in enumerate(kinds) if i == 0 or kinds[i - 1] != k]
        assert without_deltas == [
            "response.created",
            "response.in_progress",
            "response.output_item.added",
            "response.content_part.added",
            "response.output_text.delta",
            "response.output_text.done",
            "response.content_part.done",
            "response.output_item.done",
            "response.output_item.added",
            "response.function_call_arguments.delta",
            "response.function_call_arguments.done",
            "response.output_item.done",
            "response.completed",
        ]
        assert "".join(e.delta for e in events if e.type == "response.output_text.delta") == (
            "mending now"
        )
        last = events[-1]
        assert last.type == "response.completed"
        usage = last.response.usage
        assert usage is not None
        assert (usage.input_tokens, usage.input_tokens_details.cached_tokens) == (13, 4)
        assert (usage.output_tokens, usage.output_tokens_details.reasoning_tokens) == (8, 2)
        call = last.response.output[1]
        assert isinstance(call, ResponseFunctionToolCall)
        assert json.loads(call.arguments) == {"cmd": "echo 'ä' > x.txt"}
        deltas = [e.delta for e in events if e.type == "response.function_call_arguments.delta"]
        assert "".join(deltas) == call.arguments
        after = await client.responses.create(
            model="m",
            input=[
                {"role": "user", "content": "mend x.txt"},
                {
                    "type": "function_call",
                    "call_id": call.call_id,
                    "name": call.name,
                    "arguments": call.arguments,
                },
                {
                    "type": "function_call_output",
                    "call_id": call.call_id,
                    "output": "it is mended",
                },
            ],
        )
        assert after.output_text == "all good"
        assert [m.role for m in server.calls[1].messages] == ["user", "assistant", "tool"]
        assert server.calls[1].messages[2].text == "it is mended"


async def test_responses_ends_and_failures() -> None:
    failing = ScriptedError(kind="stream", code="server_error", message="no luck", after_chunks=1)
    async with serve() as server, openai_client(server) as client:
        long = await client.responses.create(model="m", input="long")
        assert long.status == "incomplete"
        assert long.output_text == "cut he"
        refused = [
            e async for e in await client.responses.create(model="m", input="never", stream=True)
        ]
        assert "response.refusal.delta" in [e.type for e in refused]
        server.faults.append(Fault(failing))
        events = [e async for e in await client.responses.create(model="m", input="x", stream=True)]
        assert events[-1].type == "response.failed"
        assert events[-1].response.error is not None
        assert events[-1].response.error.message == "no luck"
        server.faults.append(Fault(ScriptedError(status=429, retry_after=7)))
        with pytest.raises(openai.RateLimitError) as caught:
            await client.responses.create(model="m", input="x")
        assert caught.value.response.headers["retry-after"] == "7"


async def test_codex_shaped_request() -> None:
    body: dict[str, object] = {
        "model": "m",
        "instructions": "you are codex",
        "input": [
            {
                "type": "message",
                "role": "developer",
                "content": [{"type": "input_text", "text": "d"}],
            },
            {
                "type": "message",
                "role": "user",
                "content": [{"type": "input_text", "text": "mend a"}],
            },
            {"type": "reasoning", "summary": []},
            {"type": "custom_tool_call", "call_id": "c1", "name": "patch", "input": "***"},
            {"type": "custom_tool_call_output", "call_id": "c1", "output": "patched"},
        ],
        "tools": [
            {"type": "custom", "name": "patch"},
            {"type": "web_search"},
            {
                "type": "namespace",
                "name": "n",
                "tools": [{"type": "function", "name": "run", "parameters": SHELL_SCHEMA}],
            },
        ],
        "store": False,
        "stream": True,
    }
    async with serve() as server, httpx.AsyncClient() as client:
        answer = await client.post(f"{server.openai_url}/responses", json=body)
        assert answer.status_code == 200
        call = server.calls[0]
        assert [m.role for m in call.messages] == ["system", "system", "user", "assistant", "tool"]
        assert call.messages[3].tool_calls[0].arguments == {"input": "***"}
        assert [t.name for t in call.tools] == ["patch", "run"]
        assert '"name": "run"' in answer.text


async def test_messages_stream_is_read_by_the_sdks_accumulator() -> None:
    async with serve() as server, anthropic_client(server) as client:
        async with client.messages.stream(
            model="m",
            max_tokens=10,
            messages=[{"role": "user", "content": "mend y.txt"}],
            tools=[
                {
                    "type": "custom",
                    "name": "Bash",
                    "input_schema": {
                        "type": "object",
                        "properties": {"command": {"type": "string"}},
                    },
                }
            ],
        ) as stream:
            kinds = [event.type async for event in stream]
            message = await stream.get_final_message()
        assert kinds[0] == "message_start"
        assert kinds[-1] == "message_stop"
        assert [b.type for b in message.content] == ["text", "tool_use"]
        block = message.content[1]
        assert block.type == "tool_use"
        assert block.input == {"command": "echo 'ä' > y.txt"}
        assert message.stop_reason == "tool_use"
        assert (message.usage.input_tokens, message.usage.cache_read_input_tokens) == (9, 4)
        assert message.usage.output_tokens == 8
        assert message.usage.output_tokens_details is not None
        assert message.usage.output_tokens_details.thinking_tokens == 2
        count = await client.messages.count_tokens(
            model="m", messages=[{"role": "user", "content": "x" * 400}]
        )
        assert count.input_tokens == 100


async def test_reminders_beside_the_users_words_are_not_the_users() -> None:
    reminder = {"type": "text", "text": "<system-reminder>todo</system-reminder>"}
    messages: list[object] = [
        {"role": "user", "content": [reminder, {"type": "text", "text": "mend z"}]},
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "t1", "name": "Bash", "input": {}}],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "t1", "content": "it is mended"},
                reminder,
            ],
        },
    ]
    async with serve() as server, httpx.AsyncClient() as client:
        body = {"model": "m", "max_tokens": 5, "messages": messages}
        await client.post(f"{server.anthropic_url}/v1/messages", json=body)
        roles = [m.role for m in server.calls[0].messages]
        assert roles == ["system", "user", "assistant", "tool", "system"]


async def test_what_openclaw_adds_to_the_talk_is_not_the_users() -> None:
    added = "<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>> time: noon <<<END_OPENCLAW_INTERNAL_CONTEXT>>>"
    messages: list[object] = [
        {"role": "user", "content": "mend z"},
        {"role": "tool", "tool_call_id": "t1", "content": "it is mended"},
        {"role": "user", "content": added},
    ]
    async with serve() as server, httpx.AsyncClient() as client:
        body = {"model": "m", "messages": messages}
        answer = await client.post(f"{server.openai_url}/chat/completions", json=body)
        assert [m.role for m in server.calls[0].messages] == ["user", "tool", "system"]
        assert "all good" in answer.text


async def test_chat_stream_has_deltas_and_a_usage_chunk_only_when_asked() -> None:
    async with serve() as server, openai_client(server) as client:
        for options in ({"include_usage": True}, None):
            stream = await client.chat.completions.create(
                model="m",
                messages=[{"role": "user", "content": "mend a"}],
                tools=[
                    {"type": "function", "function": {"name": "run", "parameters": SHELL_SCHEMA}}
                ],
                stream=True,
                stream_options=openai.omit if options is None else {"include_usage": True},
            )
            chunks = [c async for c in stream]
            deltas = [
                piece.function.arguments or ""
                for c in chunks
                for choice in c.choices
                for piece in choice.delta.tool_calls or ()
                if piece.function
            ]
            assert json.loads("".join(deltas)) == {"cmd": "echo 'ä' > a"}
            assert len(deltas) > 3
            usages = [c.usage for c in chunks if c.usage]
            assert len(usages) == (1 if options else 0)


async def test_chunks_arrive_as_they_are_sent() -> None:
    async with serve() as server, openai_client(server) as client:
        began = time.monotonic()
        times: list[float] = []
        stream = await client.chat.completions.create(
            model="m", messages=[{"role": "user", "content": "slow"}], stream=True
        )
        async for chunk in stream:
            if chunk.choices and chunk.choices[0].delta.content:
                times.append(time.monotonic() - began)
        assert len(times) == 6
        assert times[-1] - times[0] > 0.4


async def test_probes_and_bad_requests() -> None:
    async with serve() as server, openai_client(server) as client:
        assert [m.id async for m in client.models.list()] == ["scripted-model"]
        assert (await client.models.retrieve("org/x")).id == "org/x"
        async with httpx.AsyncClient() as plain:
            assert (await plain.head(server.url)).status_code == 200
            assert (await plain.get(f"{server.url}/v1/props")).status_code == 404
            for data in (b"{", b"[]", b"\xff"):
                answer = await plain.post(f"{server.openai_url}/chat/completions", content=data)
                assert answer.status_code == 400
        assert server.calls == []


async def test_unix_socket(tmp_path: Path) -> None:
    path = tmp_path / "model.sock"
    script = parse_script({"rules": RULES})
    async with ScriptedServer(script, unix_socket=path):
        transport = httpx.AsyncHTTPTransport(uds=str(path))
        async with httpx.AsyncClient(transport=transport) as client:
            body = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
            answer = await client.post("http://model/v1/chat/completions", json=body)
            assert answer.json()["choices"][0]["message"]["content"] == "hello"
    assert not path.exists()


async def test_same_request_gets_the_same_bytes() -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": "mend q"}], "stream": True}
    async with serve() as server, httpx.AsyncClient() as client:
        url = f"{server.openai_url}/chat/completions"
        first, second = [(await client.post(url, json=body)).content for _ in range(2)]
        assert first == second
