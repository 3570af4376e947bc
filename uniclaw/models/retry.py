"""Attempts and retries of one model request.

A provider's client makes one attempt at a time and says of each failure whether another try
may help; here is decided when, and what was spent is kept over all attempts. Must not know
any provider's protocol.

An answer that broke off after content is thrown away and the whole call is redone: the
caller never sees half of one and half of another, and both attempts are in the usage.
"""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import isfinite
from typing import Annotated, NamedTuple, Protocol, runtime_checkable

import tenacity
from pydantic import Field

from uniclaw.errors import ProviderBadAnswer, ProviderError, ProviderRateLimited
from uniclaw.ports import ChatRequest, Completion
from uniclaw.records import Count, NonNegative, Record, Usage


class RetryPolicy(Record):
    """When to try again."""

    max_attempts: Annotated[int, Field(ge=1)] = 6
    """Attempts of one request, the first included."""
    max_wait_s: NonNegative = 180.0
    """All waits of one request together. A `Retry-After` beyond what is left fails at once."""
    first_wait_s: NonNegative = 1.0
    """Doubles with each attempt; up to as much again is added at random."""
    longest_wait_s: NonNegative = 60.0
    """Cap of a wait that the provider did not ask for."""
    max_bad_answers: Count = 2
    """Attempts thrown away for an answer outside the protocol before giving up."""


@dataclass(frozen=True)
class Timing:
    """Clock, sleep and chance, injected."""

    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    monotonic: Callable[[], float] = time.monotonic
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    chance: random.Random = field(default_factory=random.Random)


class AttemptFailed(Exception):
    """One attempt failed; `error` is what the caller gets when no other is made."""

    def __init__(
        self, error: ProviderError, *, transient: bool, retry_after_s: float | None = None
    ) -> None:
        self.error = error
        self.transient = transient
        self.retry_after_s = retry_after_s
        super().__init__(str(error))


@dataclass
class Spent:
    """What a running attempt has used so far, filled in as the provider reports it.

    None is set once the provider works on the request and until it says what that costs: a
    request refused at the door costs nothing, a broken stream costs something unknown.
    """

    usage: Usage | None = field(default_factory=Usage)


class Attempt(NamedTuple):
    """One attempt as it went."""

    number: int
    started: str
    """UTC, ISO 8601."""
    duration_s: float
    waited_s: float
    """Wait before this attempt."""
    usage: Usage | None
    """None: the provider did not say."""
    completion: Completion | None
    error: BaseException | None


AttemptObserver = Callable[[Attempt], None]


@runtime_checkable
class ObservedModel(Protocol):
    """A chat model that tells of each attempt, the failed ones too."""

    async def complete_observed(
        self, request: ChatRequest, observer: AttemptObserver
    ) -> Completion:
        """As `complete`; `observer` is called once for each attempt, cancelled ones included."""
        ...


def parse_retry_after(value: str | None, now: datetime) -> float | None:
    """Seconds to wait by a `Retry-After` header (seconds or HTTP date); None without a sense."""
    if value is None:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            when = parsedate_to_datetime(value)
        except ValueError:
            return None
        when = when if when.tzinfo else when.replace(tzinfo=UTC)
        seconds = (when - now).total_seconds()
    return max(0.0, seconds) if isfinite(seconds) else None


class _Retrier:
    """Waits, attempts and usage of one request."""

    def __init__(self, policy: RetryPolicy, timing: Timing, observer: AttemptObserver) -> None:
        self._policy = policy
        self._timing = timing
        self._observer = observer
        self._usage = Usage()
        self._waited_s = 0.0
        self._wait_before_s = 0.0
        self._bad_answers = 0
        self.attempts = 0

    def wait(self, state: tenacity.RetryCallState) -> float:
        """Seconds before the next attempt; never less than the provider asked for."""
        exponent = min(self.attempts - 1, 30)
        own = min(self._policy.first_wait_s * 2**exponent, self._policy.longest_wait_s)
        own += own * self._timing.chance.random()
        asked = _failure(state).retry_after_s
        return own if asked is None else max(asked, min(own, asked + 1.0))

    def stop(self, state: tenacity.RetryCallState) -> bool:
        """Whether to give up after this failure."""
        return (
            self.attempts >= self._policy.max_attempts
            or self._bad_answers > self._policy.max_bad_answers
            or not self._affordable(state.upcoming_sleep)
        )

    def _affordable(self, wait_s: float) -> bool:
        return self._waited_s + wait_s <= self._policy.max_wait_s

    async def sleep(self, seconds: float) -> None:
        """Wait, and remember how long was waited."""
        before = self._timing.monotonic()
        await self._timing.sleep(seconds)
        self._wait_before_s = max(seconds, self._timing.monotonic() - before)
        self._waited_s += self._wait_before_s

    async def attempt(self, run: Callable[[Spent], Awaitable[Completion]]) -> Completion:
        """Make one attempt and report it, whatever comes of it."""
        self.attempts += 1
        spent = Spent()
        started = self._timing.now().isoformat()
        before = self._timing.monotonic()

        def report(completion: Completion | None, error: BaseException | None) -> None:
            elapsed = max(0.0, self._timing.monotonic() - before)
            waited = self._wait_before_s
            self._observer(
                Attempt(self.attempts, started, elapsed, waited, spent.usage, completion, error)
            )

        try:
            completion = await run(spent)
        except AttemptFailed as failure:
            self._bad_answers += isinstance(failure.error, ProviderBadAnswer)
            self._usage += spent.usage or Usage()
            report(None, failure.error)
            raise
        except BaseException as other:  # cancelled: what was spent is still reported
            report(None, other)
            raise
        self._usage += spent.usage or Usage()
        total = self._total(completion)
        report(total, None)
        return total

    def _total(self, completion: Completion) -> Completion:
        return completion.model_copy(
            update={
                "usage": self._usage,
                "waited_s": self._waited_s,
                "attempts": self.attempts,
            }
        )

    def last_error(self, failure: AttemptFailed) -> ProviderError:
        """The error for the caller when no further attempt is made."""
        asked = failure.retry_after_s
        if failure.transient and asked is not None and not self._affordable(asked):
            left = self._policy.max_wait_s - self._waited_s
            return ProviderRateLimited(
                f"{failure.error}; asked to wait {asked:g} s, {left:g} s of the budget left"
            )
        if self.attempts > 1:
            return type(failure.error)(f"{failure.error} (attempt {self.attempts}, the last)")
        return failure.error


def _failure(state: tenacity.RetryCallState) -> AttemptFailed:
    error = state.outcome.exception() if state.outcome else None
    if not isinstance(error, AttemptFailed):
        raise TypeError(f"expected a failed attempt, got {error!r}")
    return error


def _is_transient(error: BaseException) -> bool:
    return isinstance(error, AttemptFailed) and error.transient


async def with_retries(
    run: Callable[[Spent], Awaitable[Completion]],
    *,
    policy: RetryPolicy,
    timing: Timing,
    observer: AttemptObserver,
) -> Completion:
    """Make attempts until one succeeds or no other may be made.

    Args:
        run: makes one attempt; raises `AttemptFailed`, and keeps `Spent` up to date.
        policy: limits.
        timing: clock, sleep and chance.
        observer: called once per attempt.

    Returns:
        The completion, with usage summed over all attempts, waits and number of attempts.

    Raises:
        ProviderError: of the last attempt; `ProviderRateLimited` at once when the provider
            asks for a longer wait than the budget has left.
    """
    retrier = _Retrier(policy, timing, observer)
    retrying = tenacity.AsyncRetrying(
        sleep=retrier.sleep,
        wait=retrier.wait,
        stop=retrier.stop,
        retry=tenacity.retry_if_exception(_is_transient),
        reraise=True,
    )
    try:
        return await retrying(retrier.attempt, run)
    except AttemptFailed as failure:
        raise retrier.last_error(failure) from failure
