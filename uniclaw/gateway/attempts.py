"""Attempts of one request at its upstream: when to try again, and what each one used.

The harness has got nothing yet while another attempt may be made. Must not know any API.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeVar

from uniclaw.errors import ProviderBadAnswer, ProviderError, ProviderRateLimited
from uniclaw.gateway.exchange import Try
from uniclaw.gateway.meter import Meter
from uniclaw.models.retry import AttemptFailed, RetryPolicy, Timing
from uniclaw.records import Usage

T = TypeVar("T")


@dataclass
class TryState:
    """What a running attempt has used so far, filled in as the provider reports it."""

    status: int | None = None
    usage: Usage | None = field(default_factory=Usage)
    """None once the provider may work on the request and until it says what that costs."""
    estimate: Usage | None = None
    """What the report leaves out."""


class Attempts:
    """The attempts of one request."""

    def __init__(self, policy: RetryPolicy, timing: Timing, meter: Meter) -> None:
        self._policy = policy
        self._timing = timing
        self._meter = meter
        self._bad_answers = 0
        self._wait_before_s = 0.0
        self.waited_s = 0.0
        self.tries: list[Try] = []
        self.costs: list[float | None] = []
        self.estimates: list[Usage] = []

    async def run(self, attempt: Callable[[TryState], Awaitable[T]]) -> T:
        """Make attempts until one succeeds or no other may be made.

        Raises:
            AttemptFailed: the last one.
        """
        while True:
            state = TryState()
            began = self._timing.monotonic()
            error: BaseException | None = None
            try:
                return await attempt(state)
            except AttemptFailed as failure:
                error = failure.error
                self._bad_answers += isinstance(failure.error, ProviderBadAnswer)
                wait_s = self._wait(failure)
                if wait_s is None:
                    raise
            except BaseException as other:
                error = other  # cancelled: what was spent is still counted
                raise
            finally:
                self._note(state, self._timing.monotonic() - began, error)
            await self._sleep(wait_s)

    def usage(self) -> Usage | None:
        """Of all attempts, as reported; None when the provider never said."""
        known = [t.usage for t in self.tries if t.usage is not None]
        return sum(known, Usage()) if known else None

    def cost_usd(self) -> float | None:
        """Of all attempts; None when one is unknown."""
        known = [cost for cost in self.costs if cost is not None]
        return sum(known) if len(known) == len(self.costs) else None

    def estimate(self) -> Usage | None:
        """Of all attempts."""
        return sum(self.estimates, Usage()) if self.estimates else None

    def _note(self, state: TryState, elapsed_s: float, error: BaseException | None) -> None:
        self.costs.append(self._meter.count(state.usage, state.estimate))
        if state.estimate is not None:
            self.estimates.append(state.estimate)
        self.tries.append(
            Try(
                status=state.status,
                error=None if error is None else str(error),
                error_kind=None if error is None else type(error).__name__,
                waited_s=self._wait_before_s,
                duration_s=max(0.0, elapsed_s),
                usage=state.usage,
            )
        )

    def _wait(self, failure: AttemptFailed) -> float | None:
        """Seconds before another attempt; None when there is none."""
        number = len(self.tries) + 1
        spent = number >= self._policy.max_attempts
        if not failure.transient or spent or self._bad_answers > self._policy.max_bad_answers:
            return None
        own = min(self._policy.first_wait_s * 2 ** min(number - 1, 30), self._policy.longest_wait_s)
        own += own * self._timing.chance.random()
        asked = failure.retry_after_s
        wait_s = own if asked is None else max(asked, min(own, asked + 1.0))
        left = self._policy.max_wait_s - self.waited_s
        if wait_s <= left:
            return wait_s
        if asked is not None and asked > left:
            problem = f"{failure.error}; asked to wait {asked:g} s, {left:g} s of the budget left"
            failure.error = _same_kind(failure.error, problem)
        return None

    async def _sleep(self, seconds: float) -> None:
        before = self._timing.monotonic()
        with self._meter.waiting():
            await self._timing.sleep(seconds)
        self._wait_before_s = max(seconds, self._timing.monotonic() - before)
        self.waited_s += self._wait_before_s


def _same_kind(error: ProviderError, problem: str) -> ProviderError:
    return ProviderRateLimited(problem) if isinstance(error, ProviderRateLimited) else error
