"""Stored gateway exchanges of an episode: what a harness in a container is answered in a replay."""

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from pydantic import ValidationError

from uniclaw.errors import StoreError
from uniclaw.gateway.exchange import Ending, WireExchange
from uniclaw.store.run_store import CallRow, RunStore

_SHOWN = 160
"""Characters of a difference that are shown on each side."""
_MARK = b'"upstream_api"'
"""A field that every stored gateway exchange has, and no exchange of a role."""


def is_wire(data: bytes) -> bool:
    """Whether a stored exchange went through the gateway."""
    return _MARK in data and b'"request_hash"' in data and data.startswith(b'{"schema_version"')


def wire_exchanges(store: RunStore, rows: Iterable[CallRow]) -> Iterator[WireExchange]:
    """The gateway's exchanges among stored calls, in order.

    Raises:
        StoreError: one is missing or damaged.
    """
    for row in rows:
        data = store.get_blob(row.blob)
        if not is_wire(data):
            continue
        try:
            yield WireExchange.model_validate_json(data)
        except ValidationError as error:
            raise StoreError(f"exchange {row.blob} of {row.episode_id}: {error}") from error


class WireTape:
    """The answered exchanges of one episode, each given once, in the order of the recording."""

    def __init__(self, exchanges: Iterable[WireExchange], on_miss: Callable[[str], None]) -> None:
        """Load.

        Args:
            exchanges: of the episode.
            on_miss: told of each request that was not recorded.
        """
        self._left: deque[WireExchange] = deque(
            e for e in exchanges if e.ending is Ending.ANSWERED and e.reply is not None
        )
        self._on_miss = on_miss
        self._given = Counter[str]()
        """Answers that were given and whose request has not ended yet."""

    def gave(self, request_hash: str) -> bool:
        """Whether a request that ended now had its answer from here."""
        given = self._given[request_hash] > 0
        self._given[request_hash] -= given
        return given

    def find(self, request_hash: str) -> WireExchange | None:
        """The next exchange of a request; see `gateway.upstream.ExchangeSource`."""
        for exchange in self._left:
            if exchange.request_hash == request_hash:
                self._left.remove(exchange)
                self._given[request_hash] += 1
                return exchange
        return None

    @property
    def empty(self) -> bool:
        """Whether nothing is left."""
        return not self._left

    def heard(self, exchange: WireExchange) -> None:
        """Say which request was not recorded, and where it parts from the next recorded one."""
        if exchange.ending is not Ending.NOT_RECORDED:
            return
        if not self._left:
            self._on_miss(
                "a request of 'executor' through the gateway is one more than were recorded"
            )
            return
        asked, recorded = _text(exchange), _text(self._left[0])
        pairs = enumerate(zip(asked, recorded, strict=False))
        at = next((i for i, (a, b) in pairs if a != b), min(len(asked), len(recorded)))
        start = max(0, at - _SHOWN // 2)
        self._on_miss(
            "a request of 'executor' through the gateway was not recorded; the next recorded one"
            f" differs at character {at}: recorded {recorded[start : start + _SHOWN]!r},"
            f" asked {asked[start : start + _SHOWN]!r}"
        )


class StoredWires(NamedTuple):
    """What a harness inside is answered from the store."""

    tape: WireTape | None = None
    offline: bool = False
    """Nothing else answers; otherwise the provider is asked for what is not on the tape."""

    @property
    def recorded(self) -> WireTape | None:
        """In place of the provider."""
        return self.tape if self.offline else None

    @property
    def earlier(self) -> WireTape | None:
        """Before the provider."""
        return None if self.offline or self.tape is None or self.tape.empty else self.tape

    def gave(self, exchange: WireExchange) -> bool:
        """Whether a request that ended was answered from the store."""
        if self.tape is None:
            return False
        if self.offline:
            self.tape.heard(exchange)
        return self.tape.gave(exchange.request_hash) or self.offline


def _text(exchange: WireExchange) -> str:
    return exchange.request.data.decode("utf-8", "replace")
