"""The same API on both sides: bytes pass as they come, and are only read."""

import asyncio
import json
import time

import pytest
from gateway_world import APIS, KEY, MODEL, chat_body, dial, post, provider, raw, say, world

from uniclaw.gateway.exchange import PATHS, Api
from uniclaw.gateway.gateway import Gateway
from uniclaw.models.script import parse_script
from uniclaw.testing.wire import ScriptedServer

BODIES: dict[Api, dict[str, object]] = {
    "chat": chat_body(stream_options={"include_usage": True}),
    "responses": {"model": MODEL, "input": "hello", "store": False},
    "messages": {
        "model": MODEL,
        "max_tokens": 10,
        "messages": [{"role": "user", "content": "hello"}],
    },
}
every_api = pytest.mark.parametrize("api", APIS)


@every_api
@pytest.mark.parametrize("stream", [True, False], ids=["stream", "whole"])
async def test_the_answer_is_byte_for_byte_the_upstreams(api: Api, stream: bool) -> None:
    async with world([say()], apis=(api,)) as w:
        request = {**BODIES[api], "stream": stream}
        direct = await raw(w.server.url, post(f"/v1{PATHS[api]}", request))
        through = await raw(w.gateway.url, post(f"/v1{PATHS[api]}", request, w.door.token))
        assert through.status == 200
        assert through.body == direct.body
        assert through.headers["content-type"] == direct.headers["content-type"]


@every_api
async def test_the_request_is_byte_for_byte_the_harness_own(api: Api) -> None:
    async with world([say()], apis=(api,)) as w:
        data = json.dumps({**BODIES[api], "stream": True}, indent=3).encode()
        await raw(w.gateway.url, post(f"/v1{PATHS[api]}", data, w.door.token))
        assert w.last.sent is None
        assert w.last.request.data == data
        assert w.server.requests[-1].body == json.loads(data)


async def test_nothing_is_held_back() -> None:
    """Each piece arrives while the upstream is still busy with the next."""
    rules: list[object] = [say("abcdefgh" * 2, chunk_delay_s=0.08)]
    async with world(rules, apis=("chat",)) as w:
        reader, writer = await dial(w.gateway.url)
        writer.write(post("/v1/chat/completions", chat_body(stream=True), w.door.token))
        began = time.monotonic()
        arrivals: list[float] = []
        data = b""
        while b"[DONE]" not in data:
            piece = await reader.read(65_536)
            assert piece
            data += piece
            arrivals.append(time.monotonic() - began)
        writer.close()
        assert len(arrivals) >= 4
        assert arrivals[0] < 0.2
        assert arrivals[-1] - arrivals[0] > 0.15


async def test_usage_is_asked_for_and_hidden_where_the_harness_did_not_ask() -> None:
    async with world([say(usage={"input": 5, "output": 3})], apis=("chat",)) as w:
        answer = await raw(
            w.gateway.url, post("/v1/chat/completions", chat_body(stream=True), w.door.token)
        )
        events = [e for e in answer.body.split(b"\n\n") if e]
        assert events[-1] == b"data: [DONE]"
        chunks = [json.loads(e.removeprefix(b"data: ")) for e in events[:-1]]
        assert all(c["choices"] for c in chunks)
        assert w.last.usage is not None
        assert (w.last.usage.input, w.last.usage.output) == (5, 3)
        body = w.server.requests[-1].body
        assert isinstance(body, dict)
        assert body["stream_options"] == {"include_usage": True}


async def test_headers_are_scrubbed_both_ways() -> None:
    async with world([say()], apis=("messages",)) as w:
        request = post(
            "/v1/messages?beta=true&x=../../y",
            BODIES["messages"],
            w.door.token,
            cookie="secret=1",
            x_forwarded_for="10.0.0.1",
            openai_organization="org-1",
            anthropic_beta="tools-2024",
        )
        answer = await raw(w.gateway.url, request)
        assert answer.status == 200
        sent = w.server.requests[-1].headers
        assert sent["x-api-key"] == KEY
        assert sent["anthropic-beta"] == "tools-2024"
        assert "anthropic-version" in sent
        for name in ("cookie", "x-forwarded-for", "openai-organization", "authorization"):
            assert name not in sent
        assert w.door.token not in str(sent)
        assert set(answer.headers) <= {"content-type", "content-length", "request-id"}


async def test_the_model_is_the_configured_one_whatever_is_asked() -> None:
    async with world([say()], apis=("chat",)) as w:
        body = {**chat_body(), "model": "the-most-expensive"}
        await raw(w.gateway.url, post("/v1/chat/completions", body, w.door.token))
        sent = w.server.requests[-1].body
        assert isinstance(sent, dict)
        assert sent["model"] == MODEL
        assert w.last.asked_model == "the-most-expensive"


@pytest.mark.parametrize("path", ["/", "/v1", "/health", "/v1/models", "/models"])
@pytest.mark.parametrize("method", ["GET", "HEAD"])
async def test_probes_are_answered_and_not_counted(method: str, path: str) -> None:
    async with world([say()]) as w:
        head = f"{method} {path} HTTP/1.1\r\nhost: g\r\n"
        reader, writer = await dial(w.gateway.url)
        writer.write(f"{head}authorization: Bearer {w.door.token}\r\n\r\n".encode())
        assert (await reader.readline()).startswith(b"HTTP/1.1 200")
        writer.close()
        assert w.gateway.spent("e1").calls == 0
        assert not w.server.requests


@pytest.mark.parametrize("path", ["/props", "/v1/props", "/version", "/api/tags", "/v1/files"])
async def test_probes_of_other_servers_are_not_found(path: str) -> None:
    async with world([say()]) as w:
        request = f"GET {path} HTTP/1.1\r\nauthorization: Bearer {w.door.token}\r\n\r\n"
        answer = await raw(w.gateway.url, request.encode())
        assert answer.status == 404
        assert "error" in answer.json


async def test_the_model_list_is_what_the_official_clients_expect() -> None:
    async with world([say()]) as w:
        assert [m.id for m in (await w.openai.models.list()).data] == [MODEL]
        assert [m.id for m in (await w.anthropic.models.list()).data] == [MODEL]
        assert (await w.openai.models.retrieve(MODEL)).id == MODEL


@pytest.mark.parametrize("upstream", APIS)
async def test_tokens_are_counted_for_messages(upstream: Api) -> None:
    async with world([say(usage={"input": 77})], apis=(upstream,)) as w:
        counted = await w.anthropic.messages.count_tokens(
            model="any", messages=[{"role": "user", "content": "hello " * 40}]
        )
        assert counted.input_tokens == 77 if upstream == "messages" else counted.input_tokens > 20
        assert w.gateway.spent("e1").calls == 0


async def test_many_streams_at_a_time_are_kept_apart() -> None:
    reply = {"text": "you said {{ last_user }}", "chunk_chars": 2, "chunk_delay_s": 0.01}
    async with world([{"reply": reply}]) as w:

        async def one(number: int) -> None:
            body = chat_body(f"number {number}", stream=True)
            answer = await raw(
                w.gateway.url, post("/v1/chat/completions", body, w.door.token), timeout_s=30
            )
            chunks = [
                json.loads(e.removeprefix(b"data: "))
                for e in answer.body.split(b"\n\n")
                if e.startswith(b"data: {")
            ]
            text = "".join(c["choices"][0]["delta"].get("content") or "" for c in chunks)
            assert text == f"you said number {number}"

        await asyncio.gather(*(one(n) for n in range(32)))
        assert w.gateway.spent("e1").calls == 32
        assert len(w.exchanges) == 32


async def test_connections_to_the_upstream_are_kept() -> None:
    async with (
        ScriptedServer(parse_script({"rules": [say()]})) as server,
        Gateway(port=0) as gateway,
    ):
        door = await gateway.open_episode("e", provider(server, ("chat",)))
        request = post("/v1/chat/completions", chat_body(stream=True), door.token)
        for _ in range(5):
            assert (await raw(gateway.url, request)).status == 200
        pool = gateway._pool  # pyright: ignore[reportPrivateUsage] - nothing public tells
        kept = [c for idle in pool._idle.values() for c in idle]  # pyright: ignore[reportPrivateUsage]
        assert len(kept) == 1
