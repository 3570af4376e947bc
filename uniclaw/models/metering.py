"""Count what a role spends, stop it at its limits, and tell of every exchange.

Must not know which role it is.
"""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Self

from uniclaw.errors import BudgetExceeded, UserError
from uniclaw.models.retry import Attempt, ObservedModel
from uniclaw.ports import ChatModel, ChatRequest, Completion
from uniclaw.pricing import PriceTable
from uniclaw.records import (
    SCHEMA_VERSION,
    Budget,
    Count,
    NonNegative,
    Record,
    RoleUsage,
    Usage,
)


class SpendLimits(Record):
    """What may be spent in all. None means no limit of that kind."""

    model_calls: Count | None = None
    tokens: Count | None = None
    cost_usd: NonNegative | None = None

    @classmethod
    def of(cls, budget: Budget) -> Self:
        """The limits of an episode's budget."""
        return cls(model_calls=budget.model_calls, tokens=budget.tokens, cost_usd=budget.cost_usd)

    def less(self, spent: RoleUsage) -> "SpendLimits":
        """What is left of them."""
        calls, tokens, cost = self.model_calls, self.tokens, self.cost_usd
        return SpendLimits(
            model_calls=None if calls is None else max(0, calls - spent.calls),
            tokens=None if tokens is None else max(0, tokens - spent.usage.total),
            cost_usd=None if cost is None else max(0.0, cost - (spent.cost_usd or 0.0)),
        )


class Exchange(Record):
    """One attempt of one model request, as stored."""

    schema_version: int = SCHEMA_VERSION
    model: str
    """`PROVIDER/NAME`."""
    purpose: str
    request: ChatRequest
    completion: Completion | None = None
    """With usage, waits and attempts summed over the request; None for a failed attempt."""
    error: str | None = None
    error_kind: str | None = None
    """Class name of the error."""
    attempt: Count = 1
    started: str
    """UTC, ISO 8601."""
    duration_s: NonNegative
    waited_s: NonNegative = 0
    """Wait before this attempt."""
    usage: Usage | None = None
    """Of this attempt alone; None when the provider did not say."""
    cost_usd: NonNegative | None = None
    """Of this attempt alone; None when usage or price is unknown."""


ExchangeObserver = Callable[[Exchange], None]


class MeteredModel:
    """A chat model that counts, with limits checked before each call.

    A call is one request, whatever number of attempts it took; usage and cost are those of
    all attempts. A call that is under way when the limit is reached is finished.
    """

    def __init__(
        self,
        inner: ChatModel,
        limits: SpendLimits,
        prices: PriceTable,
        on_exchange: ExchangeObserver | None = None,
    ) -> None:
        if limits.cost_usd is not None and prices.price(inner.spec) is None:
            raise UserError(
                f"a limit in USD needs a price for {inner.spec!r}; add it to a file for --prices",
                field="cost_usd",
                value=limits.cost_usd,
            )
        self._inner = inner
        self._limits = limits
        self._prices = prices
        self._on_exchange = on_exchange
        self._calls = 0
        self._usage = Usage()
        self._cost_usd = 0.0
        self._cost_known = True

    @property
    def spec(self) -> str:
        """`PROVIDER/NAME` of the model inside."""
        return self._inner.spec

    def spent(self) -> RoleUsage:
        """Everything so far; cost None when it is unknown for at least one attempt."""
        return RoleUsage(
            calls=self._calls,
            usage=self._usage,
            cost_usd=self._cost_usd if self._cost_known else None,
        )

    async def complete(self, request: ChatRequest) -> Completion:
        """Answer one request; see `ports.ChatModel`.

        Raises:
            BudgetExceeded: a limit is already used up; the provider is not asked.
        """
        self._check()
        self._calls += 1

        def observe(attempt: Attempt) -> None:
            self._count(request, attempt)

        if isinstance(self._inner, ObservedModel):
            return await self._inner.complete_observed(request, observe)
        return await self._plain(request, observe)

    async def close(self) -> None:
        """Close the model inside."""
        await self._inner.close()

    def _check(self) -> None:
        used = (
            ("model_calls", self._limits.model_calls, float(self._calls)),
            ("tokens", self._limits.tokens, float(self._usage.total)),
            ("cost_usd", self._limits.cost_usd, self._cost_usd),
        )
        for kind, limit, value in used:
            if limit is not None and value >= limit:
                raise BudgetExceeded(kind, limit, value)

    async def _plain(self, request: ChatRequest, observe: Callable[[Attempt], None]) -> Completion:
        """A model that tells of no attempts: the call is the only one."""
        started = datetime.now(UTC).isoformat()
        before = time.monotonic()
        try:
            completion = await self._inner.complete(request)
        except BaseException as error:  # cancelled ones are told of too
            observe(Attempt(1, started, time.monotonic() - before, 0.0, Usage(), None, error))
            raise
        elapsed = time.monotonic() - before
        observe(Attempt(1, started, elapsed, 0.0, completion.usage, completion, None))
        return completion

    def _count(self, request: ChatRequest, attempt: Attempt) -> None:
        cost = None if attempt.usage is None else self._prices.cost(self.spec, attempt.usage)
        if attempt.usage == Usage():
            cost = 0.0  # refused at the door: nothing was used, whatever the price
        self._usage += attempt.usage or Usage()
        self._cost_usd += cost or 0.0
        self._cost_known = self._cost_known and cost is not None
        if self._on_exchange is not None:
            self._on_exchange(self._exchange(request, attempt, cost))

    def _exchange(self, request: ChatRequest, attempt: Attempt, cost: float | None) -> Exchange:
        error = attempt.error
        return Exchange(
            model=self.spec,
            purpose=request.purpose,
            request=request,
            completion=attempt.completion,
            error=None if error is None else str(error),
            error_kind=None if error is None else type(error).__name__,
            attempt=attempt.number,
            started=attempt.started,
            duration_s=attempt.duration_s,
            waited_s=attempt.waited_s,
            usage=attempt.usage,
            cost_usd=cost,
        )
