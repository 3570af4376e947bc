"""Stored exchanges as the upstream, or before it, looked up by the hash of the request."""

from collections import deque
from collections.abc import AsyncIterator, Iterable, Mapping

from uniclaw.gateway.exchange import Api, Ending, WireExchange
from uniclaw.gateway.http_client import TooLarge
from uniclaw.gateway.translate.write_requests import Style
from uniclaw.gateway.upstream import (
    ExchangeSource,
    NotRecorded,
    RecordedUpstream,
    Source,
    SourceReply,
    SourceRequest,
)


class StoredExchanges:
    """Answered exchanges of an earlier run.

    A request that was made several times gets its answers in order, and the last of them
    from then on.
    """

    def __init__(self, exchanges: Iterable[WireExchange]) -> None:
        self._by_hash: dict[str, deque[WireExchange]] = {}
        for exchange in exchanges:
            if exchange.ending is Ending.ANSWERED and exchange.reply is not None:
                self._by_hash.setdefault(exchange.request_hash, deque()).append(exchange)

    def find(self, request_hash: str) -> WireExchange | None:
        """The next exchange of a request."""
        found = self._by_hash.get(request_hash)
        if not found:
            return None
        return found.popleft() if len(found) > 1 else found[0]


class _RecordedReply:
    """A stored answer."""

    def __init__(self, exchange: WireExchange, data: bytes) -> None:
        self.status = exchange.tries[-1].status or 200 if exchange.tries else 200
        kind = "text/event-stream" if exchange.stream else "application/json"
        self.headers: Mapping[str, str] = {"content-type": kind}
        self._data = data

    async def chunks(self) -> AsyncIterator[bytes]:
        """The body in one piece."""
        yield self._data

    async def read(self, max_bytes: int) -> bytes:
        """The whole body."""
        if len(self._data) > max_bytes:
            raise TooLarge(f"an answer of more than {max_bytes} bytes")
        return self._data

    def close(self) -> None:
        """Nothing to give up."""


class RecordedSource:
    """A recorded upstream. Makes no connection."""

    def __init__(self, upstream: RecordedUpstream) -> None:
        self._source = upstream.source
        self._found: dict[str, deque[WireExchange]] = {}

    def api_for(self, api: Api, request_hash: str) -> Api:
        """The API in which the answer was recorded."""
        found = self._source.find(request_hash)
        if found is None:
            return api
        self._found.setdefault(request_hash, deque()).append(found)
        return found.upstream_api

    @property
    def style(self) -> Style:
        """Never needed."""
        return Style()

    def secrets(self) -> tuple[bytes, ...]:
        """It has none."""
        return ()

    async def post(self, request: SourceRequest) -> _RecordedReply:
        """Answer with what was recorded.

        Raises:
            NotRecorded: nothing was, for this request.
        """
        waiting = self._found.get(request.request_hash)
        found = waiting.popleft() if waiting else None
        if not waiting:
            self._found.pop(request.request_hash, None)
        if found is None or found.reply is None or found.reply.truncated:
            raise NotRecorded(f"no recorded exchange for request {request.request_hash[:12]}")
        return _RecordedReply(found, found.reply.data)


class EarlierFirst:
    """Answers that were paid before, and the upstream for the rest."""

    def __init__(self, earlier: ExchangeSource, inner: Source) -> None:
        self._earlier = earlier
        self.inner = inner
        """Asked for what was not answered before."""
        self._found: dict[str, deque[WireExchange]] = {}

    def api_for(self, api: Api, request_hash: str) -> Api:
        """The API in which the answer was recorded, else the one that the upstream speaks."""
        found = self._earlier.find(request_hash)
        if found is None or found.reply is None or found.reply.truncated:
            return self.inner.api_for(api, request_hash)
        self._found.setdefault(request_hash, deque()).append(found)
        return found.upstream_api

    @property
    def style(self) -> Style:
        """The upstream's."""
        return self.inner.style

    def secrets(self) -> tuple[bytes, ...]:
        """The upstream's."""
        return self.inner.secrets()

    async def post(self, request: SourceRequest) -> SourceReply:
        """Answer with what was recorded, or ask."""
        waiting = self._found.get(request.request_hash)
        if not waiting:
            return await self.inner.post(request)
        found = waiting.popleft()
        if not waiting:
            del self._found[request.request_hash]
        return _RecordedReply(found, found.reply.data if found.reply else b"")
