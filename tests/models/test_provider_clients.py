"""The official SDKs against the scripted server: what is asked, and what comes back."""

import base64
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Literal

import pytest
from pydantic import SecretStr

from uniclaw.errors import (
    ProviderBadAnswer,
    ProviderError,
    ProviderRateLimited,
    ProviderRefused,
    UserError,
)
from uniclaw.models import create_bare_model, create_model
from uniclaw.models.metering import Exchange, MeteredModel, SpendLimits
from uniclaw.models.retry import RetryPolicy, Timing
from uniclaw.models.script import ScriptedError, parse_script
from uniclaw.models.settings import ModelSettings, ProviderSettings
from uniclaw.ports import (
    ChatRequest,
    ImagePart,
    Message,
    TextPart,
    ToolCall,
    ToolSpec,
    text_message,
)
from uniclaw.pricing import PriceTable
from uniclaw.records import Usage
from uniclaw.testing.wire import Fault, ScriptedServer

Provider = Literal["openai", "anthropic"]
PROVIDERS: tuple[Provider, ...] = ("openai", "anthropic")
both = pytest.mark.parametrize("provider", PROVIDERS)
both_ways = pytest.mark.parametrize("stream", [True, False], ids=["stream", "whole"])
NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
SHELL = ToolSpec(
    name="shell",
    description="Run a command.",
    parameters={
        "type": "object",
        "properties": {"command": {"type": "string"}},
        "required": ["command"],
    },
)
USAGE = {"input": 100, "cache_read": 40, "cache_write": 7, "output": 11, "reasoning": 5}


class Naps:
    """Takes the place of sleep: remembers, and moves the clock."""

    def __init__(self) -> None:
        self.taken: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.taken.append(seconds)


class World:
    """A server and a metered model of one provider."""

    def __init__(self, server: ScriptedServer, model: MeteredModel, naps: Naps) -> None:
        self.server = server
        self.model = model
        self.naps = naps
        self.exchanges: list[Exchange] = []


@asynccontextmanager
async def world(
    provider: Provider,
    rules: list[object],
    *faults: Fault,
    stream: bool = True,
    retry: RetryPolicy | None = None,
    prices: PriceTable | None = None,
    limits: SpendLimits | None = None,
) -> AsyncGenerator[World]:
    async with ScriptedServer(parse_script({"rules": rules}), faults=faults) as server:
        naps = Naps()
        url = server.openai_url if provider == "openai" else server.anthropic_url
        settings = ProviderSettings(
            base_url=url,
            api_key=SecretStr("sk-test"),
            timeout_s=20,
            stream=stream,
            retry=retry or RetryPolicy(),
        )
        exchanges: list[Exchange] = []
        model = create_model(
            f"{provider}/some-model",
            settings=ModelSettings(**{provider: settings}),
            on_exchange=exchanges.append,
            timing=Timing(sleep=naps, now=lambda: NOW),
            prices=prices,
            limits=limits,
        )
        it = World(server, model, naps)
        it.exchanges = exchanges
        try:
            yield it
        finally:
            await model.close()


def ask(text: str = "hello", **more: object) -> ChatRequest:
    messages = (text_message("system", "be brief"), text_message("user", text))
    return ChatRequest.model_validate({"messages": messages, **more})


def say(text: str = "good day", **more: object) -> dict[str, object]:
    return {"reply": {"text": text, "chunk_chars": 4, **more}}


@both
@both_ways
async def test_text_usage_and_key_cross_the_wire(provider: Provider, stream: bool) -> None:
    async with world(provider, [say(usage=USAGE)], stream=stream) as w:
        answer = await w.model.complete(ask(temperature=0.5))
        assert answer.text == "good day"
        assert answer.finish == "stop"
        assert answer.usage == Usage.model_validate(USAGE)
        assert answer.model == "some-model"
        assert (answer.waited_s, answer.attempts) == (0, 1)
        sent = w.server.requests[0]
        assert "sk-test" in (
            sent.headers.get("authorization", "") + sent.headers.get("x-api-key", "")
        )
        assert isinstance(sent.body, dict)
        assert sent.body["temperature"] == 0.5
        assert "purpose" not in json.dumps(sent.body)
        assert [m.role for m in w.server.calls[0].messages] == ["system", "user"]


@both
@both_ways
async def test_parallel_tool_calls_and_results(provider: Provider, stream: bool) -> None:
    rules: list[object] = [
        {"when": {"turn_tool_results_at_least": 2}, **say("done: {{ tool_results | join('+') }}")},
        {
            "reply": {
                "text": "two at once",
                "chunk_chars": 5,
                "tool_calls": [
                    {"name": "shell", "arguments": {"command": "ls -l 'ä'"}},
                    {"name": "shell", "arguments": {"command": "pwd", "n": [1, {"x": None}]}},
                ],
            }
        },
    ]
    async with world(provider, rules, stream=stream) as w:
        first = await w.model.complete(ask(tools=(SHELL,)))
        assert first.finish == "tool_calls"
        assert first.text == "two at once"
        assert [c.arguments for c in first.tool_calls] == [
            {"command": "ls -l 'ä'"},
            {"command": "pwd", "n": [1, {"x": None}]},
        ]
        history = (
            *ask().messages,
            Message(
                role="assistant", parts=(TextPart(text=first.text),), tool_calls=first.tool_calls
            ),
            *(
                Message(role="tool", parts=(TextPart(text=f"r{i}"),), tool_call_id=call.id)
                for i, call in enumerate(first.tool_calls)
            ),
        )
        second = await w.model.complete(ChatRequest(messages=history, tools=(SHELL,)))
        assert second.text == "done: r0+r1"
        seen = w.server.calls[1]
        assert [m.role for m in seen.messages] == ["system", "user", "assistant", "tool", "tool"]
        assert seen.messages[2].tool_calls == first.tool_calls
        assert seen.tools[0].name == "shell"
        assert seen.tools[0].parameters == SHELL.parameters


@both
async def test_images_also_in_tool_results(provider: Provider) -> None:
    image = ImagePart(media_type="image/png", data_base64=base64.b64encode(b"png").decode())
    call = ToolCall(id="call_1", name="look", arguments={})
    other = call.model_copy(update={"id": "call_2"})
    messages = (
        Message(role="user", parts=(TextPart(text="see"), image)),
        Message(role="assistant", tool_calls=(call, other)),
        Message(role="tool", parts=(TextPart(text="here"), image), tool_call_id="call_1"),
        Message(role="tool", parts=(image,), tool_call_id="call_2"),
    )
    async with world(provider, [{"when": {"images_at_least": 3}, **say("seen")}]) as w:
        answer = await w.model.complete(ChatRequest(messages=messages))
        assert answer.text == "seen"
        # results of one turn stand together
        roles = [m.role for m in w.server.calls[0].messages]
        assert roles[:4] == ["user", "assistant", "tool", "tool"]


@both
@both_ways
async def test_json_answer_of_a_schema(provider: Provider, stream: bool) -> None:
    schema = {
        "type": "object",
        "properties": {"met": {"type": "number"}},
        "required": ["met"],
        "additionalProperties": False,
    }
    wanted = {"met": 0.5}
    rules: list[object] = [{"when": {"wants_json": True}, "reply": {"json": wanted}}]
    async with world(provider, rules, stream=stream) as w:
        answer = await w.model.complete(ask(json_schema=schema))
        assert json.loads(answer.text) == wanted
        assert answer.finish == "stop"
        assert answer.tool_calls == ()
        assert w.server.calls[0].json_schema == schema
        body = w.server.requests[0].body
        assert isinstance(body, dict)
        if provider == "openai":
            form = body["response_format"]
            assert isinstance(form, dict)
            assert isinstance(form["json_schema"], dict)
            assert form["json_schema"]["strict"] is True
        else:
            assert body["tool_choice"] == {"type": "tool", "name": "answer"}


@both
@both_ways
@pytest.mark.parametrize("finish", ["length", "refusal"])
async def test_finish_reasons(provider: Provider, stream: bool, finish: str) -> None:
    async with world(provider, [say("I cannot", finish=finish)], stream=stream) as w:
        answer = await w.model.complete(ask())
        assert answer.finish == finish
        assert answer.text == "I cannot"


@both
async def test_broken_arguments_are_kept_as_invalid(provider: Provider) -> None:
    call = ToolCall(id="c", name="shell", arguments={}, invalid='{"command": ')
    messages = (
        *ask().messages,
        Message(role="assistant", tool_calls=(call,)),
        Message(role="tool", parts=(TextPart(text="not JSON"),), tool_call_id="c"),
    )
    async with world(provider, [say()]) as w:
        await w.model.complete(ChatRequest(messages=messages))
        back = w.server.calls[0].messages[2].tool_calls[0]
        assert back.invalid == ('{"command": ' if provider == "openai" else None)


# --- failures ----------------------------------------------------------------------------


def status(number: int, **more: object) -> ScriptedError:
    return ScriptedError.model_validate({"status": number, "code": f"e{number}", **more})


@both
@both_ways
@pytest.mark.parametrize("code", [429, 529, 500, 503, 408])
async def test_transient_status_is_tried_again(provider: Provider, stream: bool, code: int) -> None:
    async with world(provider, [say()], Fault(status(code), times=2), stream=stream) as w:
        answer = await w.model.complete(ask())
        assert answer.attempts == 3
        assert len(w.naps.taken) == 2
        assert answer.waited_s == pytest.approx(sum(w.naps.taken))
        assert w.naps.taken[0] >= 1
        assert w.naps.taken[1] >= 2


@both
@pytest.mark.parametrize("how", ["seconds", "date"])
async def test_retry_after_is_honoured_and_never_earlier(provider: Provider, how: str) -> None:
    at = format_datetime(NOW + timedelta(seconds=33), usegmt=True)
    after = 33 if how == "seconds" else at
    async with world(provider, [say()], Fault(status(429, retry_after=after))) as w:
        answer = await w.model.complete(ask())
        assert 33 <= w.naps.taken[0] <= 35
        assert answer.waited_s >= 33
        assert w.exchanges[1].waited_s == answer.waited_s


@both
@pytest.mark.parametrize("code", [429, 503])
async def test_retry_after_beyond_the_budget_fails_at_once(provider: Provider, code: int) -> None:
    policy = RetryPolicy(max_wait_s=60)
    fault = Fault(status(code, retry_after=61), times=99)
    async with world(provider, [say()], fault, retry=policy) as w:
        with pytest.raises(ProviderRateLimited, match="61 s"):
            await w.model.complete(ask())
        assert w.naps.taken == []
        assert len(w.server.requests) == 1


@both
@pytest.mark.parametrize(("code", "kind"), [(429, ProviderRateLimited), (500, ProviderError)])
async def test_attempts_run_out(provider: Provider, code: int, kind: type[ProviderError]) -> None:
    policy = RetryPolicy(max_attempts=3)
    async with world(provider, [say()], Fault(status(code), times=9), retry=policy) as w:
        with pytest.raises(ProviderError) as caught:
            await w.model.complete(ask())
        assert type(caught.value) is kind
        assert len(w.server.requests) == 3
        assert [e.error_kind for e in w.exchanges] == [kind.__name__] * 3


@both
@pytest.mark.parametrize("code", [400, 401, 403, 404, 413, 422])
async def test_refused_request_is_not_repeated(provider: Provider, code: int) -> None:
    async with world(provider, [say()], Fault(status(code), times=9)) as w:
        with pytest.raises(ProviderRefused, match=str(code)):
            await w.model.complete(ask())
        assert len(w.server.requests) == 1


async def test_used_up_quota_is_not_repeated() -> None:
    fault = Fault(status(429, code="insufficient_quota"), times=9)
    async with world("openai", [say()], fault) as w:
        with pytest.raises(ProviderRefused, match="insufficient_quota"):
            await w.model.complete(ask())
        assert len(w.server.requests) == 1


@both
@both_ways
@pytest.mark.parametrize("after_chunks", [0, 3])
async def test_fault_42_overload_inside_a_200_is_redone_whole(
    provider: Provider, stream: bool, after_chunks: int
) -> None:
    broken = ScriptedError(
        kind="stream", code="overloaded_error", after_chunks=after_chunks, text="x" * 400
    )
    async with world(provider, [say(usage=USAGE)], Fault(broken), stream=stream) as w:
        answer = await w.model.complete(ask())
        assert answer.text == "good day"  # nothing of the thrown-away half
        assert answer.attempts == 2
        assert [e.error_kind for e in w.exchanges] == ["ProviderRateLimited", None]
        assert w.exchanges[1].usage == Usage.model_validate(USAGE)
        if provider == "anthropic" and stream and after_chunks:
            first = w.exchanges[0].usage
            assert first is not None
            assert first.input > 0
            assert answer.usage == first + Usage.model_validate(USAGE)
            assert w.model.spent().usage == answer.usage  # both billed
        else:
            assert w.exchanges[0].usage is None  # unknown, and not zero


@both
@pytest.mark.parametrize("kind", ["cut", "eof", "garbage"])
@pytest.mark.parametrize("after_chunks", [0, 2])
async def test_broken_stream_is_redone_and_then_given_up(
    provider: Provider, kind: str, after_chunks: int
) -> None:
    error = ScriptedError.model_validate({"kind": kind, "after_chunks": after_chunks})
    async with world(provider, [say()], Fault(error)) as w:
        assert (await w.model.complete(ask())).text == "good day"
    async with world(provider, [say()], Fault(error, times=99)) as w:
        with pytest.raises(ProviderError) as caught:
            await w.model.complete(ask())
        if kind == "cut":
            assert len(w.server.requests) == 6
        else:
            assert type(caught.value) is ProviderBadAnswer
            assert len(w.server.requests) == 3


@both
@pytest.mark.parametrize("kind", ["garbage", "cut", "disconnect"])
async def test_broken_whole_answer(provider: Provider, kind: str) -> None:
    error = ScriptedError.model_validate({"kind": kind})
    async with world(provider, [say()], Fault(error), stream=False) as w:
        assert (await w.model.complete(ask())).text == "good day"
        assert w.exchanges[0].error_kind in ("ProviderBadAnswer", "ProviderError")


@both
async def test_nobody_listens(provider: Provider) -> None:
    async with world(provider, [say()], retry=RetryPolicy(max_attempts=2)) as w:
        await w.server.__aexit__(None, None, None)
        with pytest.raises(ProviderError, match="onnect"):
            await w.model.complete(ask())
        assert w.model.spent().cost_usd == 0.0  # nobody worked, nothing is owed


@both
async def test_fault_44_every_attempt_is_billed(provider: Provider) -> None:
    big = {"input": 2_000_000, "output": 10}
    prices = PriceTable.model_validate(
        {"version": "t", "source": "t", "models": {"some-model": {"input": 1, "output": 1000}}}
    )
    async with world(provider, [say(usage=big)], prices=prices) as w:
        await w.model.complete(ask("one"))
        w.server.faults.append(Fault(status(500), times=99))
        with pytest.raises(ProviderError):
            await w.model.complete(ask("two"))
        w.server.faults.clear()
        await w.model.complete(ask("three"))
        spent = w.model.spent()
        assert spent.calls == 3
        assert spent.usage == Usage(input=4_000_000, output=20)
        assert spent.cost_usd == pytest.approx(4.02)
        assert sum(e.cost_usd or 0 for e in w.exchanges) == pytest.approx(4.02)
        assert len(w.exchanges) == 8


@pytest.mark.parametrize(
    "spec", ["openai", "openai/", "gpt-4o", "mistral/x", "", "/x", "scripted/"]
)
def test_bad_spec_is_the_users_mistake(spec: str) -> None:
    with pytest.raises(UserError, match="expected openai/NAME"):
        create_bare_model(spec, settings=ModelSettings())


@both
def test_missing_key_is_the_users_mistake(provider: Provider) -> None:
    with pytest.raises(UserError, match=f"{provider.upper()}_API_KEY"):
        create_bare_model(f"{provider}/x", settings=ModelSettings())


def test_settings_of_the_environment_hide_the_key() -> None:
    settings = ModelSettings.from_environ(
        {"OPENAI_API_KEY": "sk-secret", "OPENAI_BASE_URL": "http://x/v1", "ANTHROPIC_API_KEY": ""}
    )
    assert settings.openai.base_url == "http://x/v1"
    assert settings.anthropic.api_key is None
    assert "sk-secret" not in settings.model_dump_json() + repr(settings)


@both
async def test_json_answer_beside_other_tools(provider: Provider) -> None:
    rules: list[object] = [
        {"when": {"tool_results_at_least": 1}, "reply": {"json": {"met": 1}}},
        {"reply": {"run": "cat x"}},
    ]
    schema: dict[str, object] = {"type": "object", "properties": {"met": {"type": "number"}}}
    async with world(provider, rules) as w:
        first = await w.model.complete(ask(json_schema=schema, tools=(SHELL,)))
        assert first.tool_calls[0].arguments == {"command": "cat x"}
        messages = (
            *ask().messages,
            Message(role="assistant", tool_calls=first.tool_calls),
            Message(role="tool", parts=(TextPart(text="y"),), tool_call_id=first.tool_calls[0].id),
        )
        request = ChatRequest.model_validate(
            {"messages": messages, "tools": (SHELL,), "json_schema": schema}
        )
        second = await w.model.complete(request)
        assert json.loads(second.text) == {"met": 1}
        assert second.tool_calls == ()


async def test_json_answer_by_tool_where_a_server_knows_no_schemas() -> None:
    script = parse_script({"rules": [{"reply": {"json": {"met": 1}}}]})
    async with ScriptedServer(script) as server:
        settings = ProviderSettings(
            base_url=server.openai_url, api_key=SecretStr("k"), json_answers="tool"
        )
        model = create_model("openai/m", settings=ModelSettings(openai=settings))
        answer = await model.complete(ask(json_schema={"type": "object"}))
        await model.close()
        assert json.loads(answer.text) == {"met": 1}
        body = server.requests[0].body
        assert isinstance(body, dict)
        assert "response_format" not in body
