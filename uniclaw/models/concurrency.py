"""How many requests a provider gets at a time: fewer while it refuses for its rate.

Additive increase, multiplicative decrease: a refusal halves the number, a window of answers
without one raises it by one. Must not know which role asks.
"""

import asyncio
import time
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime

from uniclaw.errors import ProviderRateLimited
from uniclaw.models.retry import Attempt, AttemptObserver, ObservedModel
from uniclaw.ports import ChatModel, ChatRequest, Completion
from uniclaw.records import Usage

START = 16
"""Requests at a time before anything is known, where no limit is set."""
MOST = 256


class Gate:
    """Slots of one provider, shared by all models and episodes of a run."""

    def __init__(self, limit: int | None = None) -> None:
        """Open with `limit` slots and never more; None starts with a guess that may grow."""
        self._most = limit or MOST
        self.slots = limit or START
        self._busy = 0
        self._good = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    @asynccontextmanager
    async def slot(self) -> AsyncGenerator[None]:
        """Hold one slot; waits in turn for it."""
        if self._busy >= self.slots or self._waiting:
            turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(turn)
            self._wake()
            try:
                await turn
            except asyncio.CancelledError:
                if turn.done() and not turn.cancelled():
                    self._free()
                raise
        else:
            self._busy += 1
        try:
            yield
        finally:
            self._free()

    def _free(self) -> None:
        self._busy -= 1
        self._wake()

    def _wake(self) -> None:
        while self._waiting and self._busy < self.slots:
            turn = self._waiting.popleft()
            if not turn.done():
                self._busy += 1
                turn.set_result(None)

    def refused(self) -> None:
        """The provider refused for its rate."""
        self.slots = max(1, self.slots // 2)
        self._good = 0

    def answered(self) -> None:
        """The provider answered."""
        self._good += 1
        if self._good >= self.slots and self.slots < self._most:
            self.slots += 1
            self._good = 0
            self._wake()


class GatedModel:
    """A model whose requests take a slot of their provider."""

    def __init__(self, inner: ChatModel, gate: Gate) -> None:
        self._inner = inner
        self._gate = gate

    @property
    def spec(self) -> str:
        """`PROVIDER/NAME` of the model inside."""
        return self._inner.spec

    async def complete(self, request: ChatRequest) -> Completion:
        """Answer one request; see `ports.ChatModel`."""
        return await self.complete_observed(request, lambda attempt: None)

    async def complete_observed(
        self, request: ChatRequest, observer: AttemptObserver
    ) -> Completion:
        """Answer one request in a slot, and learn from each attempt."""

        def learn(attempt: Attempt) -> None:
            if isinstance(attempt.error, ProviderRateLimited):
                self._gate.refused()
            elif attempt.completion is not None:
                self._gate.answered()
            observer(attempt)

        async with self._gate.slot():
            if isinstance(self._inner, ObservedModel):
                return await self._inner.complete_observed(request, learn)
            return await observed(self._inner, request, learn)

    async def close(self) -> None:
        """Close the model inside."""
        await self._inner.close()


async def observed(model: ChatModel, request: ChatRequest, observer: AttemptObserver) -> Completion:
    """Observe a model that tells of no attempts: the call is the only one."""
    started, before = datetime.now(UTC).isoformat(), time.monotonic()
    try:
        completion = await model.complete(request)
    except BaseException as error:  # cancelled ones are told of too
        observer(Attempt(1, started, time.monotonic() - before, 0.0, Usage(), None, error))
        raise
    elapsed = time.monotonic() - before
    observer(Attempt(1, started, elapsed, 0.0, completion.usage, completion, None))
    return completion
