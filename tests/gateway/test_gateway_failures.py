"""What goes wrong upstream, as the harness, the budgets and the record see it."""

import asyncio
import json
import time

import anthropic
import openai
import pytest
from gateway_world import (
    APIS,
    KEY,
    MODEL,
    World,
    chat_body,
    dial,
    error_event_of,
    half_stream,
    http_head,
    pausing_server,
    post,
    raw,
    say,
    world,
)

from uniclaw.gateway.admission import DoorLimits
from uniclaw.gateway.exchange import Api, Ending, WireExchange
from uniclaw.models.retry import RetryPolicy
from uniclaw.models.script import ScriptedError
from uniclaw.records import Usage
from uniclaw.testing.wire import Fault

ONCE = RetryPolicy(max_attempts=1)
every_pair = pytest.mark.parametrize(
    ("client", "upstream"), [(c, u) for c in APIS for u in APIS], ids=lambda api: str(api)
)


def fault(times: int = 1, **more: object) -> Fault:
    return Fault(ScriptedError.model_validate(more), times=times)


async def stream_text(w: World, client: Api) -> str:
    """The streamed answer by the official client; raises what that client raises."""
    if client == "messages":
        async with w.anthropic.messages.stream(
            model=MODEL, max_tokens=50, messages=[{"role": "user", "content": "hello"}]
        ) as stream:
            return await stream.get_final_text()
    text = ""
    if client == "chat":
        async for chunk in await w.openai.chat.completions.create(
            model=MODEL, messages=[{"role": "user", "content": "hello"}], stream=True
        ):
            text += chunk.choices[0].delta.content or "" if chunk.choices else ""
        return text
    async for event in await w.openai.responses.create(model=MODEL, input="hello", stream=True):
        if event.type == "response.output_text.delta":
            text += event.delta
        elif event.type == "response.failed":
            raise openai.APIError(str(event.response.error), None, body=None)  # pyright: ignore[reportArgumentType] - what the SDK does not raise by itself
    return text


# --- before anything was sent ------------------------------------------------------------


@every_pair
async def test_retry_after_is_honoured_and_recorded_as_a_wait(client: Api, upstream: Api) -> None:
    limited = fault(times=2, status=429, code="rate_limit_error", retry_after=7)
    async with world([say()], limited, apis=(upstream,)) as w:
        assert await stream_text(w, client) == "good day to you"
        assert w.naps.taken == [7.0, 7.0] or all(7.0 <= nap <= 8.0 for nap in w.naps.taken)
        assert w.gateway.waits("e1") == pytest.approx(sum(w.naps.taken))
        assert w.last.waited_s == pytest.approx(sum(w.naps.taken))
        assert [t.status for t in w.last.tries] == [429, 429, 200]
        assert w.last.ending is Ending.ANSWERED
        assert w.gateway.spent("e1").calls == 1


@every_pair
async def test_a_wait_beyond_the_budget_fails_at_once(client: Api, upstream: Api) -> None:
    limited = fault(times=9, status=429, code="rate_limit_error", retry_after=9999)
    async with world([say()], limited, apis=(upstream,)) as w:
        with pytest.raises((openai.RateLimitError, anthropic.RateLimitError)):
            await stream_text(w, client)
        assert w.naps.taken == []
        assert w.last.ending is Ending.RATE_LIMITED
        assert "9999" in (w.last.error or "")
        assert "ProviderRateLimited" in (w.gateway.bill("e1").provider_error or "")


@pytest.mark.parametrize("status", [500, 502, 503, 529])
async def test_server_errors_are_retried(status: int) -> None:
    async with world([say()], fault(times=2, status=status)) as w:
        assert await stream_text(w, "chat") == "good day to you"
        assert len(w.naps.taken) == 2
        assert [t.error_kind for t in w.last.tries][-1] is None
        assert w.gateway.bill("e1").provider_error is None


@every_pair
async def test_a_refusal_of_the_provider_is_passed_on_and_not_retried(
    client: Api, upstream: Api
) -> None:
    refused = fault(times=5, status=404, code="not_found_error", message=f"no model; {KEY}")
    async with world([say()], refused, apis=(upstream,)) as w:
        with pytest.raises((openai.NotFoundError, anthropic.NotFoundError)) as caught:
            await stream_text(w, client)
        assert KEY not in str(caught.value)
        assert w.naps.taken == []
        assert w.last.ending is Ending.PROVIDER_REFUSED
        assert w.last.usage == Usage()
        assert w.last.cost_usd == 0.0
        assert KEY not in w.last.model_dump_json()


async def test_the_providers_quota_is_not_retried() -> None:
    quota = fault(times=5, status=429, code="insufficient_quota", message="pay first")
    async with world([say()], quota) as w:
        with pytest.raises(openai.RateLimitError):
            await stream_text(w, "chat")
        assert w.last.ending is Ending.PROVIDER_REFUSED
        assert w.gateway.bill("e1").budget is None


async def test_a_dropped_connection_is_retried() -> None:
    async with world([say()], fault(times=1, kind="disconnect")) as w:
        assert await stream_text(w, "chat") == "good day to you"
        assert len(w.last.tries) == 2


async def test_an_upstream_that_is_not_there_is_a_provider_error() -> None:
    async with world([say()], retry=ONCE, base_url="http://127.0.0.1:9/v1") as w:
        with pytest.raises(openai.InternalServerError):
            await stream_text(w, "chat")
        assert w.last.ending is Ending.PROVIDER_ERROR
        assert w.last.usage == Usage()
        assert w.last.estimate is None


# --- inside a 200 answer -----------------------------------------------------------------


@every_pair
async def test_fault_42_overload_inside_a_stream_is_retried_before_content(
    client: Api, upstream: Api
) -> None:
    overloaded = fault(kind="stream", code="overloaded_error", after_chunks=0)
    async with world([say()], overloaded, apis=(upstream,)) as w:
        assert await stream_text(w, client) == "good day to you"
        assert [t.error_kind for t in w.last.tries] == ["ProviderRateLimited", None]
        assert w.last.ending is Ending.ANSWERED


async def test_fault_42_overload_after_the_opening_is_retried_too() -> None:
    """Anthropic says `message_start` first and only then that it is overloaded."""
    script = fault(kind="garbage", after_chunks=0)
    async with world([say()], script, apis=("messages",)) as w:
        assert await stream_text(w, "messages") == "good day to you"
        assert [t.error_kind for t in w.last.tries] == ["ProviderBadAnswer", None]


@every_pair
async def test_fault_42_overload_after_content_ends_the_stream_and_both_calls_are_billed(
    client: Api, upstream: Api
) -> None:
    error = error_event_of(upstream, "overloaded_error")
    async with (
        pausing_server(http_head(), half_stream(upstream), error) as url,
        world([say()], apis=(upstream,), base_url=base(url, upstream)) as w,
    ):
        for calls in (1, 2):  # the harness asks again
            with pytest.raises((openai.APIError, anthropic.APIError)):
                await stream_text(w, client)
            broken = w.last
            assert broken.ending is Ending.RATE_LIMITED
            assert broken.partial
            assert len(broken.tries) == 1
            assert broken.estimate is not None
            assert broken.estimate.output > 0
            bill = w.gateway.bill("e1")
            assert bill.spent.calls == calls
            assert bill.spent.cost_usd is None
            assert bill.estimate.output == calls * broken.estimate.output
            assert bill.spent.usage.input == (9 * calls if upstream == "messages" else 0)


def base(url: str, upstream: Api) -> str:
    return url if upstream == "messages" else f"{url}/v1"


BREAKS = {
    "eof": b"",
    "garbage": b'event: message_delta\ndata: {"choices": [{"delta": \xff\xfe\n\n',
    "other error": b'data: {"error": {"message": "boom", "type": "server_error"}}\n\n',
}


@every_pair
@pytest.mark.parametrize("kind", BREAKS)
async def test_half_a_stream_is_an_error_and_no_answer(
    client: Api, upstream: Api, kind: str
) -> None:
    end = BREAKS[kind]
    if kind == "other error":
        end = error_event_of(upstream, "server_error")
    async with (
        pausing_server(http_head(), half_stream(upstream), end) as url,
        world([say()], apis=(upstream,), base_url=base(url, upstream)) as w,
    ):
        with pytest.raises((openai.APIError, anthropic.APIError)):
            await stream_text(w, client)
        assert w.last.ending is (
            Ending.PROVIDER_ERROR if kind == "other error" else Ending.BAD_ANSWER
        )
        assert w.last.partial
        assert w.last.reply is not None
        assert "some of the answer" in w.last.reply.data.decode("utf-8", "replace")


async def test_a_connection_that_drops_in_the_middle_is_a_provider_error() -> None:
    cut = http_head().replace(b"\r\n\r\n", b"\r\ncontent-length: 99999\r\n\r\n")
    async with (
        pausing_server(cut, half_stream("chat")) as url,
        world([say()], base_url=f"{url}/v1") as w,
    ):
        with pytest.raises(openai.APIError):
            await stream_text(w, "chat")
        assert w.last.ending is Ending.PROVIDER_ERROR
        assert w.last.partial


async def test_a_break_before_anything_was_passed_on_is_retried() -> None:
    broken = fault(kind="cut", after_chunks=0)
    async with world([say()], broken, apis=("messages",)) as w:
        assert await stream_text(w, "messages") == "good day to you"
        assert len(w.last.tries) == 2


async def test_a_long_opening_is_not_held_back_for_ever() -> None:
    """A model that thinks in silence: the head and the role still arrive."""
    opening = chunk({"role": "assistant", "content": ""})
    rest = chunk({"content": "hi"}) + chunk({}, finish="stop")
    limits = DoorLimits(hold_s=0.1)
    async with (
        pausing_server(http_head(), opening, rest, pause_s=0.5) as url,
        world([say()], base_url=f"{url}/v1", door_limits=limits) as w,
    ):
        reader, writer = await dial(w.gateway.url)
        began = time.monotonic()
        writer.write(post("/v1/chat/completions", chat_body(stream=True), w.door.token))
        await reader.readuntil(b"assistant")
        assert time.monotonic() - began < 0.9
        assert b"hi" in await reader.readuntil(b"stop")
        writer.close()


@pytest.mark.parametrize("kind", ["stream", "cut", "garbage"])
async def test_a_broken_whole_answer_is_retried(kind: str) -> None:
    async with world([say()], fault(kind=kind, code="server_error")) as w:
        answer = await w.openai.chat.completions.create(
            model=MODEL, messages=[{"role": "user", "content": "hello"}]
        )
        assert answer.choices[0].message.content == "good day to you"
        assert len(w.last.tries) == 2


async def test_garbage_is_given_up_after_two_retries() -> None:
    async with world([say()], fault(times=9, kind="garbage")) as w:
        with pytest.raises(openai.InternalServerError):
            await w.openai.chat.completions.create(
                model=MODEL, messages=[{"role": "user", "content": "hello"}]
            )
        assert w.last.ending is Ending.BAD_ANSWER
        assert len(w.last.tries) == 3


# --- the client ends it ------------------------------------------------------------------


async def settled(w: World, count: int = 1) -> WireExchange:
    for _ in range(400):
        if len(w.exchanges) >= count:
            return w.last
        await asyncio.sleep(0.01)
    raise AssertionError("nothing was recorded")


async def test_fault_44_a_client_that_hangs_up_leaves_its_partial_usage() -> None:
    slow = say("abcdefgh" * 40, chunk_delay_s=0.05, usage={"input": 50, "output": 90})
    async with world([slow], apis=("messages",)) as w:
        body: dict[str, object] = {"model": MODEL, "max_tokens": 9, "stream": True}
        body["messages"] = [{"role": "user", "content": "hello"}]
        reader, writer = await dial(w.gateway.url)
        writer.write(post("/v1/messages", body, w.door.token))
        while b"text_delta" not in await reader.read(65_536):
            pass
        writer.close()
        exchange = await settled(w)
        assert exchange.ending is Ending.CLIENT_GONE
        assert exchange.usage is not None
        assert exchange.usage.input == 50
        assert exchange.cost_usd is None
        assert w.gateway.spent("e1").usage.input == 50


async def test_a_client_that_hangs_up_before_the_answer_cancels_the_upstream() -> None:
    slow = say("late", chunk_delay_s=5)
    async with world([slow]) as w:
        _, writer = await dial(w.gateway.url)
        writer.write(post("/v1/chat/completions", chat_body("x" * 4000), w.door.token))
        await asyncio.sleep(0.2)
        writer.close()
        exchange = await settled(w)
        assert exchange.ending is Ending.CLIENT_GONE
        assert exchange.usage is None
        assert exchange.estimate is not None
        assert exchange.estimate.input >= 1000


async def test_a_silent_upstream_is_given_up() -> None:
    slow = say("late", chunk_delay_s=5)
    async with world([slow], timeout_s=0.2, retry=ONCE) as w:
        answer = await raw(w.gateway.url, post("/v1/chat/completions", chat_body(), w.door.token))
        assert answer.status == 502
        assert "silent" in (w.last.error or "")


async def test_closing_an_episode_ends_and_records_what_runs() -> None:
    slow = say("abcdefgh" * 40, chunk_delay_s=0.05)
    async with world([slow]) as w:
        reader, writer = await dial(w.gateway.url)
        writer.write(post("/v1/chat/completions", chat_body(stream=True), w.door.token))
        assert b"200 OK" in await reader.read(65_536)
        bill = await w.gateway.close_episode("e1")
        writer.close()
        assert bill.endings == {"closed": 1}
        assert w.last.ending is Ending.CLOSED
        assert w.last.partial


# --- other servers' ways -----------------------------------------------------------------


def chunk(delta: dict[str, object], **more: object) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": more.pop("finish", None)}
    data = {"id": "c", "model": "m", "choices": [choice], **more}
    return f"data: {json.dumps(data)}\r\n\r\n".encode()


@pytest.mark.parametrize("client", APIS)
async def test_a_stream_with_other_line_ends_without_usage_and_done_is_whole(
    client: Api,
) -> None:
    body = chunk({"role": "assistant"}) + chunk({"content": "hi"}) + chunk({}, finish="stop")
    async with (
        pausing_server(http_head(), b": comment\r\n\r\n" + body) as url,
        world([say()], base_url=f"{url}/v1") as w,
    ):
        assert await stream_text(w, client) == "hi"
        assert w.last.ending is Ending.ANSWERED
        assert w.last.usage is None
        assert w.last.estimate is not None
        assert w.last.cost_usd is None


@pytest.mark.parametrize("client", APIS)
async def test_interleaved_calls_come_out_one_after_another(client: Api) -> None:
    def call(index: int, **function: str) -> dict[str, object]:
        return {"tool_calls": [{"index": index, "id": f"call_{index}", "function": function}]}

    body = b"".join(
        [
            chunk(call(0, name="shell", arguments='{"com')),
            chunk(call(1, name="other", arguments='{"a"')),
            chunk(call(0, arguments='mand": "ls"}')),
            chunk(call(1, arguments=": 1}")),
            chunk({}, finish="tool_calls"),
            b"data: [DONE]\n\n",
        ]
    )
    async with (
        pausing_server(http_head(), body) as url,
        world([say()], base_url=f"{url}/v1") as w,
    ):
        if client == "messages":
            async with w.anthropic.messages.stream(
                model=MODEL, max_tokens=50, messages=[{"role": "user", "content": "x"}]
            ) as stream:
                message = await stream.get_final_message()
            calls = [(b.name, b.input) for b in message.content if b.type == "tool_use"]
        elif client == "responses":
            response = None
            async for event in await w.openai.responses.create(model=MODEL, input="x", stream=True):
                if event.type == "response.completed":
                    response = event.response
            assert response is not None
            calls = [
                (i.name, json.loads(i.arguments))
                for i in response.output
                if i.type == "function_call"
            ]
        else:
            return
        assert calls == [("shell", {"command": "ls"}), ("other", {"a": 1})]


@pytest.mark.parametrize("client", APIS)
async def test_reasoning_of_a_chat_server_is_mapped(client: Api) -> None:
    body = (
        chunk({"role": "assistant", "reasoning_content": "let me "})
        + chunk({"reasoning_content": "think"})
        + chunk({"content": "done"})
        + chunk({}, finish="stop")
        + b"data: [DONE]\n\n"
    )
    async with (
        pausing_server(http_head(), body) as url,
        world([say()], base_url=f"{url}/v1") as w,
    ):
        if client == "messages":
            async with w.anthropic.messages.stream(
                model=MODEL, max_tokens=50, messages=[{"role": "user", "content": "x"}]
            ) as stream:
                message = await stream.get_final_message()
            assert [b.type for b in message.content] == ["thinking", "text"]
            assert message.content[0].type == "thinking"
            assert message.content[0].thinking == "let me think"
        elif client == "responses":
            kinds: list[str] = []
            async for event in await w.openai.responses.create(model=MODEL, input="x", stream=True):
                kinds.append(event.type)
            assert "response.reasoning_summary_text.delta" in kinds
            assert kinds[-1] == "response.completed"
        else:
            assert await stream_text(w, client) == "done"
        assert w.last.first_content_s is not None


async def test_a_page_of_html_is_a_bad_answer() -> None:
    async with (
        pausing_server(http_head("text/html"), b"<html>maintenance</html>") as url,
        world([say()], base_url=f"{url}/v1", retry=ONCE) as w,
    ):
        answer = await raw(
            w.gateway.url, post("/v1/chat/completions", chat_body(stream=True), w.door.token)
        )
        assert answer.status == 502
        assert w.last.ending is Ending.BAD_ANSWER


async def test_an_endless_event_is_cut() -> None:
    from uniclaw.gateway import sse

    async with (
        pausing_server(http_head(), b"data: " + b"x" * (sse.MAX_EVENT_BYTES + 10)) as url,
        world([say()], base_url=f"{url}/v1", retry=ONCE) as w,
    ):
        answer = await raw(
            w.gateway.url, post("/v1/chat/completions", chat_body(stream=True), w.door.token)
        )
        assert b"an event of more than" in answer.body
        assert w.last.ending is Ending.BAD_ANSWER
