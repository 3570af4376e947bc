"""Limits, sums and reports of the metered model."""

import asyncio
import os
import subprocess
import sys

import pytest
from pydantic import JsonValue, SecretStr

from uniclaw.errors import BudgetExceeded, ProviderError, UserError
from uniclaw.models import create_model
from uniclaw.models.metering import Exchange, MeteredModel, SpendLimits
from uniclaw.models.script import ScriptedError, parse_script
from uniclaw.models.scripted import ScriptedModel
from uniclaw.models.settings import ModelSettings, ProviderSettings
from uniclaw.ports import ChatRequest, text_message
from uniclaw.pricing import PriceTable
from uniclaw.records import Budget, Usage
from uniclaw.testing.wire import Fault, ScriptedServer

HELLO = ChatRequest(messages=(text_message("user", "hello"),), purpose="judge")
PRICES = PriceTable.model_validate(
    {"version": "t", "source": "t", "models": {"scripted/*": {"input": 1e6, "output": 2e6}}}
)
RULES: list[JsonValue] = [
    {"when": {"last_user": "bad"}, "error": {"status": 500, "message": "no luck"}},
    {"reply": {"text": "x", "usage": {"input": 2, "output": 1}}},
]


def metered(
    limits: SpendLimits, prices: PriceTable = PRICES
) -> tuple[MeteredModel, list[Exchange]]:
    exchanges: list[Exchange] = []
    inner = ScriptedModel(parse_script({"rules": RULES}), "m.yaml")
    return MeteredModel(inner, limits, prices, exchanges.append), exchanges


@pytest.mark.parametrize(
    ("limits", "calls", "kind", "used"),
    [
        (SpendLimits(model_calls=2), 2, "model_calls", 2),
        (SpendLimits(model_calls=0), 0, "model_calls", 0),
        (SpendLimits(tokens=7), 3, "tokens", 9),
        (SpendLimits(cost_usd=8), 2, "cost_usd", 8),
    ],
)
async def test_limit_stops_the_next_call_before_it_is_made(
    limits: SpendLimits, calls: int, kind: str, used: float
) -> None:
    model, exchanges = metered(limits)
    for _ in range(calls):
        await model.complete(HELLO)
    with pytest.raises(BudgetExceeded) as caught:
        await model.complete(HELLO)
    assert (caught.value.kind, caught.value.used) == (kind, used)
    assert len(exchanges) == calls
    assert model.spent().calls == calls


def test_limits_of_a_budget() -> None:
    budget = Budget(tokens=5, cost_usd=1.5, model_calls=9)
    assert SpendLimits.of(budget) == SpendLimits(model_calls=9, tokens=5, cost_usd=1.5)


def test_usd_limit_without_a_price_is_refused() -> None:
    with pytest.raises(UserError, match="needs a price"):
        metered(SpendLimits(cost_usd=1), PriceTable(version="t", source="t", models={}))


async def test_exchanges_hold_request_answer_and_failure() -> None:
    model, exchanges = metered(SpendLimits())
    await model.complete(HELLO)
    bad = ChatRequest(messages=(text_message("user", "bad"),))
    with pytest.raises(ProviderError):
        await model.complete(bad)
    good, failed = exchanges
    assert good.request == HELLO
    assert good.purpose == "judge"
    assert good.completion is not None
    assert good.completion.text == "x"
    assert (good.usage, good.cost_usd) == (Usage(input=2, output=1), 4.0)
    assert good.started.endswith("+00:00")
    assert (failed.completion, failed.error_kind) == (None, "ProviderError")
    assert "no luck" in (failed.error or "")
    assert Exchange.model_validate_json(failed.model_dump_json()) == failed
    spent = model.spent()
    assert (spent.calls, spent.cost_usd) == (2, 4.0)


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
async def test_cancelled_call_is_still_reported(provider: str) -> None:
    slow = {"text": "abc" * 30, "chunk_chars": 1, "chunk_delay_s": 0.2}
    async with ScriptedServer(parse_script({"rules": [{"reply": slow}]})) as server:
        url = server.openai_url if provider == "openai" else server.anthropic_url
        settings = ProviderSettings(base_url=url, api_key=SecretStr("k"))
        exchanges: list[Exchange] = []
        model = create_model(
            f"{provider}/m",
            settings=ModelSettings.model_validate({provider: settings}),
            on_exchange=exchanges.append,
        )
        task = asyncio.create_task(model.complete(HELLO))
        await asyncio.sleep(1.2)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await model.close()
    assert [e.error_kind for e in exchanges] == ["CancelledError"]
    usage = exchanges[0].usage
    assert usage is None if provider == "openai" else usage is not None and usage.input > 0
    assert exchanges[0].duration_s > 0.5


async def test_silence_beyond_the_timeout_is_tried_again() -> None:
    slow = {"text": "abc", "chunk_delay_s": 5}
    rules = [{"when": {"model": "slow"}, "reply": slow}, {"reply": {"text": "x"}}]
    async with ScriptedServer(parse_script({"rules": rules})) as server:
        settings = ProviderSettings.model_validate(
            {
                "base_url": server.openai_url,
                "api_key": "k",
                "timeout_s": 0.3,
                "retry": {"max_attempts": 2, "first_wait_s": 0.01},
            }
        )
        exchanges: list[Exchange] = []
        model = create_model(
            "openai/slow", settings=ModelSettings(openai=settings), on_exchange=exchanges.append
        )
        with pytest.raises(ProviderError, match=r"imeout|imed out"):
            await model.complete(HELLO)
        await model.close()
    assert len(exchanges) == 2
    assert all(e.usage is None for e in exchanges)
    assert model.spent().cost_usd is None


async def test_waits_are_real_by_default() -> None:
    fault = Fault(ScriptedError(status=429, retry_after="0.2"))
    script = parse_script({"rules": [{"reply": {"text": "x"}}]})
    async with ScriptedServer(script, faults=[fault]) as server:
        settings = ProviderSettings.model_validate(
            {
                "base_url": server.openai_url,
                "api_key": "k",
                "retry": {"first_wait_s": 0.0},
            }
        )
        model = create_model("openai/m", settings=ModelSettings(openai=settings))
        answer = await model.complete(HELLO)
        await model.close()
    assert 0.2 <= answer.waited_s < 5


def test_importing_the_room_imports_no_sdk() -> None:
    code = (
        "import sys; import uniclaw.models, uniclaw.models.metering, uniclaw.models.openai, "
        "uniclaw.models.anthropic; "
        "assert not {'openai', 'anthropic', 'httpx2', 'httpx'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env=dict(os.environ))
