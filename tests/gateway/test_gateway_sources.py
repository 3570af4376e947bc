"""A script in this process, and recorded exchanges, as the upstream."""

import json

import pytest
from gateway_world import (
    APIS,
    MODEL,
    chat_body,
    post,
    provider,
    raw,
    say,
    world,
)
from pydantic import JsonValue

from uniclaw.errors import UserError
from uniclaw.gateway.exchange import PATHS, Api, Ending, WireExchange
from uniclaw.gateway.gateway import Gateway
from uniclaw.gateway.recorded import StoredExchanges
from uniclaw.gateway.upstream import (
    ProviderUpstream,
    RecordedUpstream,
    ScriptedUpstream,
    proxy_for,
    upstream_of,
)
from uniclaw.models.script import ScriptedError, parse_script
from uniclaw.models.settings import ModelSettings
from uniclaw.records import Usage
from uniclaw.runner.wire_tape import WireTape

BODIES: dict[Api, dict[str, object]] = {
    "chat": chat_body("go", tools=[]),
    "responses": {"model": MODEL, "input": "go"},
    "messages": {"model": MODEL, "max_tokens": 9, "messages": [{"role": "user", "content": "go"}]},
}
RULES: list[object] = [
    {
        "when": {"last_user": "go"},
        "reply": {
            "text": "a {{ last_user }} b",
            "tool_calls": [{"name": "shell", "arguments": {"command": "ls"}}],
            "chunk_chars": 3,
            "usage": {"input": 12, "cache_read": 4, "output": 6, "reasoning": 2},
        },
    },
    say(),
]
every_api = pytest.mark.parametrize("api", APIS)
both_ways = pytest.mark.parametrize("stream", [True, False], ids=["stream", "whole"])


# --- scripted ----------------------------------------------------------------------------


@every_api
@both_ways
async def test_a_script_in_process_answers_like_the_scripted_server(api: Api, stream: bool) -> None:
    """Same decision, same text, calls and usage; checked against the server on the wire."""
    body = {**BODIES[api], "stream": stream}
    async with world(RULES, apis=(api,)) as w:
        script = ScriptedUpstream(parse_script({"rules": RULES}))
        kept: list[WireExchange] = []
        door = await w.gateway.open_episode("scripted", script, on_exchange=kept.append)
        here = await raw(w.gateway.url, post(f"/v1{PATHS[api]}", body, door.token))
        there = await raw(w.gateway.url, post(f"/v1{PATHS[api]}", body, w.door.token))
        assert here.status == there.status == 200
        assert kept[0].usage == w.last.usage == Usage(input=12, cache_read=4, output=6, reasoning=2)
        assert (
            here.headers["content-type"].split(";")[0]
            == there.headers["content-type"].split(";")[0]
        )
        if not stream:
            assert _facts(json.loads(here.body)) == _facts(json.loads(there.body))


def _facts(value: JsonValue) -> JsonValue:
    """Without ids, which each server makes in its own way, and what is empty."""
    if isinstance(value, dict):
        kept = {k: _facts(v) for k, v in value.items() if k not in ("id", "created")}
        return {k: v for k, v in kept.items() if v not in (None, [], {})}
    return [_facts(v) for v in value] if isinstance(value, list) else value


KINDS = {
    "status": ({"status": 503}, 503),
    "rate limit": ({"status": 429, "retry_after": 9999}, 429),
    "disconnect": ({"kind": "disconnect"}, 502),
    "cut": ({"kind": "cut"}, 502),
    "eof": ({"kind": "eof"}, 502),
    "garbage": ({"kind": "garbage"}, 502),
    "stream": ({"kind": "stream", "code": "overloaded_error"}, 529),
}


@every_api
@both_ways
@pytest.mark.parametrize("kind", KINDS)
async def test_scripted_failures_are_those_of_a_provider(kind: str, api: Api, stream: bool) -> None:
    fields, status = KINDS[kind]
    error = ScriptedError.model_validate(fields)
    script = ScriptedUpstream(parse_script({"rules": [{"error": error.model_dump()}]}))
    async with world([say()], upstream=script) as w:
        body = {**BODIES[api], "stream": stream}
        answer = await raw(w.gateway.url, post(f"/v1{PATHS[api]}", body, w.door.token))
        expected = 429 if status == 529 and api != "messages" else status
        assert answer.status == expected
        assert w.last.ending.of_provider
        assert not w.last.partial


async def test_a_script_is_asked_the_model_name_of_the_harness() -> None:
    rules = [{"when": {"model": "small"}, **say("small talk")}, say("big talk")]
    script = ScriptedUpstream(parse_script({"rules": rules}))
    async with world([say()], upstream=script) as w:
        for name, said in (("small-1", "small talk"), (MODEL, "big talk")):
            answer = await w.openai.chat.completions.create(
                model=name, messages=[{"role": "user", "content": "x"}]
            )
            assert answer.choices[0].message.content == said


# --- recorded ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("api", "upstream"), [(c, u) for c in APIS for u in APIS], ids=lambda a: str(a)
)
@both_ways
async def test_a_recorded_run_plays_again_without_a_provider(
    api: Api, upstream: Api, stream: bool
) -> None:
    request = {**BODIES[api], "stream": stream}
    async with world(RULES, apis=(upstream,)) as w:
        first = await raw(w.gateway.url, post(f"/v1{PATHS[api]}", request, w.door.token))
        lines = [e.model_dump_json() for e in w.exchanges]
    stored = StoredExchanges(WireExchange.model_validate_json(line) for line in lines)
    again = RecordedUpstream(stored, "openai/m")
    async with world([say("must not be asked")], upstream=again) as w:
        second = await raw(w.gateway.url, post(f"/v1{PATHS[api]}", request, w.door.token))
        assert not w.server.requests
        assert second.status == first.status
        if api == upstream:
            assert second.body == first.body
        else:
            assert len(second.body) == len(first.body)  # but for the time of day
        assert w.last.usage == Usage(input=12, cache_read=4, output=6, reasoning=2)
        other = {**request, "temperature": 0.9}
        missing = await raw(w.gateway.url, post(f"/v1{PATHS[api]}", other, w.door.token))
        assert missing.status == 400
        assert w.last.ending is Ending.NOT_RECORDED


@both_ways
async def test_what_was_answered_before_is_not_asked_again(stream: bool) -> None:
    request: dict[str, object] = {**BODIES["chat"], "stream": stream}
    path = "/v1/chat/completions"
    async with world(RULES) as w:
        first = await raw(w.gateway.url, post(path, request, w.door.token))
        tape = WireTape([w.last], lambda said: None)
        spec = provider(w.server, ("chat",))
        door = await w.gateway.open_episode("e2", spec, None, w.exchanges.append, earlier=tape)
        asked = len(w.server.requests)
        second = await raw(w.gateway.url, post(path, request, door.token))
        assert second.body == first.body
        assert len(w.server.requests) == asked
        assert [tape.gave(w.last.request_hash) for _ in range(2)] == [True, False]
        # Another request, and the same a second time, go to the provider.
        for body in ({**request, "temperature": 0.9}, request):
            assert (await raw(w.gateway.url, post(path, body, door.token))).status == 200
            assert w.last.ending is Ending.ANSWERED
            assert not tape.gave(w.last.request_hash)
        assert len(w.server.requests) == asked + 2


async def test_a_request_made_several_times_gets_its_answers_in_order() -> None:
    async with world([say("{{ last_user }}")]) as w:
        lines: list[WireExchange] = []
        for text in ("one", "two"):
            await raw(w.gateway.url, post("/v1/chat/completions", chat_body(text), w.door.token))
            lines.append(w.last.model_copy(update={"request_hash": "same"}))
    stored = StoredExchanges(lines)
    found = [stored.find("same") for _ in range(3)]
    texts = [f.request.text or "" for f in found if f is not None]
    assert ["one" in t for t in texts] == [True, False, False]
    assert stored.find("other") is None


# --- names -------------------------------------------------------------------------------


def test_the_upstream_of_a_name() -> None:
    settings = ModelSettings.from_environ(
        {
            "OPENAI_API_KEY": "sk-1",
            "ANTHROPIC_API_KEY": "sk-2",
            "ANTHROPIC_BASE_URL": "http://local/v1/",
        }
    )
    first = upstream_of("openai/gpt-x", settings, environ={"HTTPS_PROXY": "http://p:1"})
    assert isinstance(first, ProviderUpstream)
    assert first.apis == ("chat", "responses")
    assert first.base_url == "https://api.openai.com/v1"
    assert first.output_limit_field == "max_completion_tokens"
    assert first.proxy == "http://p:1"
    second = upstream_of("anthropic/claude-x", settings)
    assert isinstance(second, ProviderUpstream)
    assert second.apis == ("messages",)
    assert second.base_url == "http://local"
    assert "sk-2" not in repr(second)
    with pytest.raises(UserError, match="OPENAI_API_KEY"):
        upstream_of("openai/gpt-x", ModelSettings())


def test_no_proxy_is_honoured() -> None:
    environ = {"https_proxy": "http://p:1", "no_proxy": "localhost,.corp.example"}
    assert proxy_for("https://api.example/v1", environ) == "http://p:1"
    assert proxy_for("https://llm.corp.example", environ) is None
    assert proxy_for("http://api.example", environ) is None


async def test_misuse_is_told() -> None:
    script = ScriptedUpstream(parse_script({"rules": [say()]}))
    gateway = Gateway()
    with pytest.raises(UserError, match="async with"):
        await gateway.open_episode("e", script)
    async with gateway:
        await gateway.open_episode("e", script)
        with pytest.raises(UserError, match="open already"):
            await gateway.open_episode("e", script)
        with pytest.raises(UserError, match="port=0"):
            _ = gateway.url
        with pytest.raises(UserError, match="no such episode"):
            await gateway.close_episode("x")
