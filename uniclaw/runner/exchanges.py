"""Stores every model exchange of an episode, and stops a request that carries a canary."""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import NamedTuple

from uniclaw.config import Effort
from uniclaw.failpoints import reach
from uniclaw.gateway.exchange import Ending, WireExchange
from uniclaw.models.cassette import request_key
from uniclaw.models.metering import Exchange
from uniclaw.ports import ChatModel, ChatRequest, Completion
from uniclaw.records import EpisodeId, RoleUsage, Usage
from uniclaw.store.atomic import to_json
from uniclaw.store.run_store import CallRow, RunStore


class Recorder:
    """Writes the exchanges of one episode, in the order they ended."""

    def __init__(
        self,
        store: RunStore,
        episode: EpisodeId,
        attempt: int,
        drawn: Mapping[str, str] | None = None,
        redact: Callable[[str], str] = str,
    ) -> None:
        """Bind to an episode's attempt.

        Args:
            store: of the run.
            episode: id of the attempt.
            attempt: its number.
            drawn: texts drawn at random for it, such as canaries; no part of a request's key.
            redact: takes out what must not be stored.
        """
        self._store = store
        self._episode = episode
        self._attempt = attempt
        self._drawn = drawn or {}
        self._redact = redact
        self._next = store.next_call(episode)
        self._reused = False
        # An attempt that goes on after its runner died: these are on record already.
        known = store.calls(episode) if self._next else []
        self._known = Counter(row.request for row in known if row.ok)

    def mark_reused(self, reused: bool) -> None:
        """Whether the exchanges that follow were answered from the store."""
        self._reused = reused

    def observer(self, role: str) -> Callable[[Exchange], None]:
        """What a metered model of this role calls."""

        def observe(exchange: Exchange) -> None:
            key = request_key(exchange.request, self._drawn)
            if self._reused and self._known[key]:
                self._known[key] -= 1
                return
            reach("call.before")
            blob = self._store.put_blob(self._redact(to_json(exchange)).encode())
            spent = RoleUsage(
                calls=1 if exchange.attempt == 1 else 0,
                usage=exchange.usage or Usage(),
                cost_usd=exchange.cost_usd,
            )
            self._store.add_call(
                CallRow(
                    self._episode,
                    self._attempt,
                    self._next,
                    role,
                    exchange.model,
                    exchange.error is None,
                    blob,
                    spent,
                    key,
                    self._reused,
                )
            )
            self._next += 1

        return observe

    def record_wire(self, exchange: WireExchange, *, reused: bool = False) -> None:
        """What the gateway calls for each request of a harness inside.

        Args:
            exchange: the request and what became of it.
            reused: answered from the store.
        """
        reach("call.before")
        blob = self._store.put_blob(self._redact(to_json(exchange)).encode())
        self._store.add_call(
            CallRow(
                self._episode,
                self._attempt,
                self._next,
                exchange.purpose,
                exchange.model,
                exchange.ending is Ending.ANSWERED,
                blob,
                _spent(exchange),
                exchange.request_hash,
                reused,
            )
        )
        self._next += 1


def _spent(exchange: WireExchange) -> RoleUsage:
    return RoleUsage(calls=1, usage=exchange.usage or Usage(), cost_usd=exchange.cost_usd)


class Sampling(NamedTuple):
    """What a cell says of its model's sampling; None leaves it to the request."""

    temperature: float | None = None
    top_p: float | None = None
    effort: Effort | None = None

    @property
    def changes(self) -> dict[str, object]:
        """Fields of a request, with what replaces them."""
        return {name: value for name, value in self._asdict().items() if value is not None}


class WatchedModel:
    """A model of a role outside the supervisor's side: no hidden text may be sent to it."""

    def __init__(
        self,
        inner: ChatModel,
        role: str,
        watch: Callable[[str, str], None],
        *,
        sampling: Sampling | None = None,
    ) -> None:
        """Wrap a model.

        Args:
            inner: the model.
            role: for the path that a breach names.
            watch: raises `FirewallBreach` when its second argument holds a canary.
            sampling: replaces each request's own, where it says something.
        """
        self._sampling = {} if sampling is None else sampling.changes
        self._inner = inner
        self._role = role
        self._watch = watch

    @property
    def spec(self) -> str:
        """`PROVIDER/NAME` of the model inside."""
        return self._inner.spec

    async def complete(self, request: ChatRequest) -> Completion:
        """Answer one request after it was looked at; see `ports.ChatModel`.

        Raises:
            FirewallBreach: the request carries a canary; it was not sent.
        """
        texts = [message.text for message in request.messages]
        texts += [to_json(dict(c.arguments)) for m in request.messages for c in m.tool_calls]
        self._watch(f"a request of the {self._role}'s model", "\n".join(texts))
        if self._sampling:
            request = request.model_copy(update=self._sampling)
        return await self._inner.complete(request)

    async def close(self) -> None:
        """Close the model inside."""
        await self._inner.close()
