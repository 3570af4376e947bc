"""Answers from stored exchanges: none is paid twice, and a run can be played again offline.

A request is recognised by its content. What is drawn afresh for every prompt (fence nonces,
canaries) is taken out first, so that the same question asked again has the same key. Must not
know which role asks, nor where exchanges are stored.
"""

import hashlib
import json
import re
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import NamedTuple

from uniclaw import errors
from uniclaw.errors import ProviderError, ProviderRefused
from uniclaw.models.concurrency import observed
from uniclaw.models.metering import Exchange
from uniclaw.models.retry import Attempt, AttemptObserver, ObservedModel
from uniclaw.ports import ChatModel, ChatRequest, Completion

_NONCE = re.compile(r'nonce=\\?"([0-9a-f]{32})\\?"')
LATER = ("top_p", "effort")
"""Fields that older recordings do not have; unset, they are no part of a request's key."""
_SHOWN = 160
"""Characters of a difference that are shown on each side."""


class CassetteMiss(ProviderRefused):
    """A request that was not recorded; the message names the first difference."""


def canonical(request: ChatRequest, drawn: Mapping[str, str]) -> str:
    """A request as text, without what was drawn at random for it.

    Args:
        request: the request.
        drawn: label -> text that was drawn for this episode, such as canaries.
    """
    data = request.model_dump(mode="json")
    for name in LATER:
        if data[name] is None:
            del data[name]
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, sort_keys=True)
    for nonce in dict.fromkeys(_NONCE.findall(text)):
        text = text.replace(nonce, "nonce")
    for label, token in drawn.items():
        text = text.replace(token, f"drawn:{label}")
    return text


def request_key(request: ChatRequest, drawn: Mapping[str, str]) -> str:
    """SHA-256 of the canonical request."""
    return hashlib.sha256(canonical(request, drawn).encode("utf-8", "replace")).hexdigest()


class Recorded(NamedTuple):
    """One stored exchange with the key of its request."""

    key: str
    exchange: Exchange


class Tape:
    """The stored exchanges of one episode, each answered once, in the order of the recording."""

    def __init__(
        self,
        recorded: Iterable[Recorded],
        *,
        failures: bool,
        on_miss: Callable[[str], None] = lambda said: None,
    ) -> None:
        """Load.

        Args:
            recorded: in the order they ended.
            failures: keep requests that ended in an error too (for an exact replay).
            on_miss: told of each request that was not recorded and is refused.
        """
        self.on_miss = on_miss
        self._calls: defaultdict[tuple[str, str], deque[tuple[Exchange, ...]]] = defaultdict(deque)
        self._order: list[tuple[Exchange, ...]] = []
        self._taken: set[int] = set()
        for key, group in _requests(recorded):
            if failures or group[-1].completion is not None:
                self._calls[group[0].model, key].append(group)
                self._order.append(group)

    @property
    def empty(self) -> bool:
        """Whether nothing was recorded."""
        return not self._order

    def take(self, model: str | None, key: str) -> tuple[Exchange, ...] | None:
        """The next recorded attempts of a request; None when there is none left.

        Args:
            model: `PROVIDER/NAME` that was asked; None takes any.
            key: of the request.
        """
        wanted = [k for k in self._calls if k[1] == key and (model is None or k[0] == model)]
        for found in wanted:
            queue = self._calls[found]
            if queue:
                group = queue.popleft()
                self._taken.add(id(group))
                return group
        return None

    def left(self, purpose: str | None = None) -> list[ChatRequest]:
        """Requests that nobody asked for yet."""
        return [
            group[0].request
            for group in self._order
            if id(group) not in self._taken and (purpose is None or group[0].purpose == purpose)
        ]


def _requests(recorded: Iterable[Recorded]) -> Iterator[tuple[str, tuple[Exchange, ...]]]:
    """Attempts of one request together: they follow one another and count up from 1."""
    open_groups: dict[tuple[str, str], list[Exchange]] = {}
    for key, exchange in recorded:
        place = (exchange.model, key)
        group = open_groups.pop(place, [])
        if group and exchange.attempt == 1:
            yield key, tuple(group)
            group = []
        group.append(exchange)
        if exchange.completion is not None:
            yield key, tuple(group)
        else:
            open_groups[place] = group
    for (_, key), group in open_groups.items():
        yield key, tuple(group)


def first_difference(request: ChatRequest, expected: ChatRequest, drawn: Mapping[str, str]) -> str:
    """Where two requests part, as text around the first differing character."""
    one, two = canonical(request, drawn), canonical(expected, drawn)
    at = next((i for i, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), None)
    at = min(len(one), len(two)) if at is None else at
    start = max(0, at - _SHOWN // 2)
    return (
        f"at character {at}: recorded {two[start : start + _SHOWN]!r},"
        f" asked {one[start : start + _SHOWN]!r}"
    )


class CassetteModel:
    """A model that answers from a tape; what is not on it goes to `inner`, or is refused."""

    def __init__(
        self,
        spec: str,
        tape: Tape,
        *,
        inner: ChatModel | None,
        drawn: Mapping[str, str],
        any_model: bool = False,
        mark_reused: Callable[[bool], None] = lambda reused: None,
    ) -> None:
        """Bind a tape.

        Args:
            spec: `PROVIDER/NAME` this stands for.
            tape: stored exchanges of the episode.
            inner: the real model; None refuses what is not on the tape.
            drawn: what was drawn for this episode.
            any_model: answer with any model's stored answer to the same request.
            mark_reused: told True before an attempt from the tape is observed, then False.
        """
        self._spec = spec
        self._tape = tape
        self._inner = inner
        self._drawn = drawn
        self._any_model = any_model
        self._mark_reused = mark_reused

    @property
    def spec(self) -> str:
        """The model this stands for."""
        return self._spec

    async def complete(self, request: ChatRequest) -> Completion:
        """Answer one request; see `ports.ChatModel`."""
        return await self.complete_observed(request, lambda attempt: None)

    async def complete_observed(
        self, request: ChatRequest, observer: AttemptObserver
    ) -> Completion:
        """Answer from the tape, each recorded attempt observed, or ask the model inside.

        Raises:
            CassetteMiss: not recorded, and there is no model inside.
        """
        key = request_key(request, self._drawn)
        group = self._tape.take(None if self._any_model else self._spec, key)
        if group is not None:
            return self._play(group, observer)
        if self._inner is None:
            said = self._miss(request)
            self._tape.on_miss(said)
            raise CassetteMiss(said)
        if isinstance(self._inner, ObservedModel):
            return await self._inner.complete_observed(request, observer)
        return await observed(self._inner, request, observer)

    def _play(self, group: tuple[Exchange, ...], observer: AttemptObserver) -> Completion:
        self._mark_reused(True)
        try:
            for exchange in group:
                observer(_attempt(exchange))
        finally:
            self._mark_reused(False)
        last = group[-1]
        if last.completion is None:
            raise _error_of(last)
        return last.completion

    def _miss(self, request: ChatRequest) -> str:
        left = self._tape.left(request.purpose)
        if not left:
            return f"no recorded call of {request.purpose!r} is left; this one is one too many"
        return (
            f"a call of {request.purpose!r} was not recorded; the next recorded one differs"
            f" {first_difference(request, left[0], self._drawn)}"
        )

    async def close(self) -> None:
        """Close the model inside."""
        if self._inner is not None:
            await self._inner.close()


def _attempt(exchange: Exchange) -> Attempt:
    error = None if exchange.completion is not None else _error_of(exchange)
    return Attempt(
        exchange.attempt,
        datetime.now(UTC).isoformat(),
        0.0,
        exchange.waited_s,
        exchange.usage,
        exchange.completion,
        error,
    )


def _error_of(exchange: Exchange) -> ProviderError:
    kind = getattr(errors, exchange.error_kind or "", ProviderError)
    wanted = kind if isinstance(kind, type) and issubclass(kind, ProviderError) else ProviderError
    return wanted(exchange.error or "recorded failure")
