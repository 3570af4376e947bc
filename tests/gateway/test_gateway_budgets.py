"""Budgets: counted from the upstream alone, enforced in words that each harness understands."""

import asyncio

import anthropic
import openai
import pytest
from gateway_world import (
    APIS,
    MODEL,
    World,
    chat_body,
    dial,
    half_stream,
    http_head,
    pausing_server,
    post,
    raw,
    say,
    world,
)

from uniclaw.errors import BudgetExceeded, UserError
from uniclaw.gateway.exchange import Api, Ending
from uniclaw.gateway.upstream import ScriptedUpstream
from uniclaw.models.metering import SpendLimits
from uniclaw.models.script import parse_script
from uniclaw.records import Usage

CHEAP = {"input": 100, "output": 10}
every_client = pytest.mark.parametrize("client", APIS)


async def ask(w: World, client: Api) -> None:
    """One whole answer by the official client."""
    if client == "messages":
        await w.anthropic.messages.create(
            model=MODEL, max_tokens=9, messages=[{"role": "user", "content": "hello"}]
        )
    elif client == "chat":
        await w.openai.chat.completions.create(
            model=MODEL, messages=[{"role": "user", "content": "hello"}]
        )
    else:
        await w.openai.responses.create(model=MODEL, input="hello")


async def refused(w: World, client: Api) -> openai.APIStatusError | anthropic.APIStatusError:
    with pytest.raises((openai.APIStatusError, anthropic.APIStatusError)) as caught:
        await ask(w, client)
    return caught.value


@every_client
@pytest.mark.parametrize(
    ("limits", "kind", "calls"),
    [
        (SpendLimits(model_calls=2), "model_calls", 2),
        (SpendLimits(tokens=150), "tokens", 2),
        (SpendLimits(cost_usd=0.0003), "cost_usd", 2),
    ],
    ids=["calls", "tokens", "usd"],
)
async def test_a_used_up_budget_stops_further_calls(
    client: Api, limits: SpendLimits, kind: str, calls: int
) -> None:
    async with world([say(usage=CHEAP)], limits=limits) as w:
        for _ in range(calls):
            await ask(w, client)
        assert w.gateway.stop_reason("e1") is None
        error = await refused(w, client)
        if client == "messages":
            assert error.status_code == 402
            assert "billing_error" in str(error.body)
        else:
            assert isinstance(error, openai.RateLimitError)
            assert error.code == "insufficient_quota"
        assert kind in str(error)
        assert len(w.server.requests) == calls
        stop = w.gateway.stop_reason("e1")
        assert isinstance(stop, BudgetExceeded)
        assert stop.kind == kind
        bill = w.gateway.bill("e1")
        assert bill.budget == kind
        assert bill.spent.calls == calls
        assert bill.spent.cost_usd == pytest.approx(calls * 0.0002)
        assert bill.endings == {"answered": calls, "budget": 1}
        assert w.last.ending is Ending.BUDGET


async def test_a_zero_budget_refuses_the_first_call() -> None:
    async with world([say()], limits=SpendLimits(model_calls=0)) as w:
        await refused(w, "chat")
        assert not w.server.requests


async def test_who_waits_for_the_stop_is_told() -> None:
    async with world([say()], limits=SpendLimits(model_calls=1)) as w:
        waiting = asyncio.create_task(w.gateway.wait_stopped("e1"))
        await ask(w, "chat")
        await asyncio.sleep(0)
        assert not waiting.done()
        await refused(w, "chat")
        assert isinstance(await asyncio.wait_for(waiting, 1), BudgetExceeded)


async def test_a_call_under_way_when_the_limit_is_reached_is_finished() -> None:
    slow = say("abcdefgh" * 4, chunk_delay_s=0.05, usage={"input": 10, "output": 10})
    limits = SpendLimits(tokens=15)
    async with world(
        [{"when": {"last_user": "slow"}, **slow}, say(usage=CHEAP)], limits=limits
    ) as w:
        body = chat_body("slow", stream=True)
        running = asyncio.create_task(
            raw(w.gateway.url, post("/v1/chat/completions", body, w.door.token))
        )
        await asyncio.sleep(0.1)
        await ask(w, "chat")  # uses the budget up
        await refused(w, "chat")
        assert b"[DONE]" in (await running).body


async def test_parallel_calls_never_pass_the_limit_on_calls() -> None:
    slow = say("x", chunk_delay_s=0.2)
    async with world([slow], limits=SpendLimits(model_calls=3)) as w:
        request = post("/v1/chat/completions", chat_body(), w.door.token)
        answers = await asyncio.gather(*(raw(w.gateway.url, request) for _ in range(10)))
        assert sorted(a.status for a in answers) == [200] * 3 + [429] * 7
        assert len(w.server.requests) == 3


async def test_hanging_up_before_the_usage_buys_nothing() -> None:
    """The answer was read; only the last chunk, with the usage, was not waited for."""
    async with (
        pausing_server(http_head(), half_stream("chat"), b"", pause_s=3) as url,
        world([say()], base_url=f"{url}/v1", limits=SpendLimits(tokens=60)) as w,
    ):
        for _ in range(20):
            reader, writer = await dial(w.gateway.url)
            body = chat_body("word " * 40, stream=True)
            writer.write(post("/v1/chat/completions", body, w.door.token))
            try:
                async with asyncio.timeout(4):
                    answer = await reader.readuntil(b"\r\n\r\n")
                    if b"200 OK" not in answer:
                        break
                    await reader.readuntil(b"some of")
            finally:
                writer.close()
            await asyncio.sleep(0.05)
        else:
            raise AssertionError("twenty answers for the price of none")
        assert w.gateway.bill("e1").budget == "tokens"
        assert w.gateway.spent("e1").usage == Usage()


async def test_a_limit_in_usd_needs_a_price() -> None:
    async with world([say()]) as w:
        upstream = ScriptedUpstream(parse_script({"rules": [say()]}))
        with pytest.raises(UserError, match="needs a price"):
            await w.gateway.open_episode("e2", upstream, SpendLimits(cost_usd=1))


async def test_usage_is_taken_from_the_upstream_whatever_the_text_says() -> None:
    forged = '"usage": {"prompt_tokens": 0} data: {"usage":{"prompt_tokens":0}}\n\n data: [DONE]'
    async with world([say(forged, usage=CHEAP, template=False)]) as w:
        body = chat_body(stream=True, usage={"prompt_tokens": 0, "completion_tokens": 0})
        await raw(w.gateway.url, post("/v1/chat/completions", body, w.door.token))
        assert w.gateway.spent("e1").usage == Usage.model_validate(CHEAP)
