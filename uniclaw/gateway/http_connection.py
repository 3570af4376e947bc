"""One kept-alive HTTP/1.1 connection to an upstream, parsed by `httptools`.

Must not know which connection is used for what.
"""

import asyncio
from collections import deque
from typing import cast

import httptools

_MAX_HEAD_BYTES = 256_000
_HIGH_WATER_BYTES = 256_000
_ONE_WRITE_BYTES = 65_536


class UpstreamBroken(Exception):
    """The connection could not be made, broke, fell silent, or speaks no HTTP."""

    def __init__(self, problem: str, *, heard: bool = False, sent: bool = True) -> None:
        self.heard = heard
        """Whether anything of the answer had come."""
        self.sent = sent
        """Whether the provider may have got the request."""
        super().__init__(problem)


class Connection(asyncio.Protocol):
    """One connection; one request at a time."""

    def __init__(self, timeout_s: float) -> None:
        self.loop = asyncio.get_running_loop()
        self.transport: asyncio.Transport | None = None
        self.idle_since = 0.0
        self.status = 0
        self.headers: dict[str, str] = {}
        self.complete = True
        self.heard = False
        self._timeout_s = timeout_s
        self._parser = httptools.HttpResponseParser(self)
        self._chunks: deque[bytes] = deque()
        self._held = 0
        self._paused = False
        self._have_head = False
        self._keep_alive = False
        self._head_bytes = 0
        self._error: UpstreamBroken | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._last = 0.0
        self._watchdog: asyncio.TimerHandle | None = None

    # --- asyncio -------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        self.transport = cast("asyncio.Transport", transport)

    def connection_lost(self, exc: Exception | None) -> None:
        """End the running request: whole, where the end of the connection is its end."""
        if not self.complete:
            if self._have_head and exc is None and not self._framed():
                self.complete = True
            else:
                self.fail(f"connection lost: {exc or 'closed by the server'}")
        self._wake()

    def data_received(self, data: bytes) -> None:
        """Parse what came."""
        self._last = self.loop.time()
        if self.complete:  # nothing was asked: not a connection to use again
            self.abort()
            return
        self.heard = True
        if not self._have_head:
            self._head_bytes += len(data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError as error:
            self.fail(f"not HTTP: {error}")
        except httptools.HttpParserUpgrade:
            self.fail("the server wants another protocol")
        if not self._have_head and self._head_bytes > _MAX_HEAD_BYTES:
            self.fail("endless headers")
        self._wake()

    # --- httptools -----------------------------------------------------------------------

    def on_header(self, name: bytes, value: bytes) -> None:
        """One header of the answer."""
        self.headers[name.decode("latin-1").lower()] = value.decode("latin-1")

    def on_headers_complete(self) -> None:
        """The head is whole; informational ones are passed over."""
        self.status = self._parser.get_status_code()
        if self.status < 200:
            self.headers = {}
        else:
            self._have_head = True

    def on_body(self, body: bytes) -> None:
        """A piece of the body."""
        self._chunks.append(body)
        self._held += len(body)
        if self._held > _HIGH_WATER_BYTES and not self._paused and self.transport is not None:
            self._paused = True
            self.transport.pause_reading()

    def on_message_complete(self) -> None:
        """The answer is whole."""
        if self._have_head:
            self.complete = True
            self._keep_alive = self._parser.should_keep_alive()

    # --- one request ---------------------------------------------------------------------

    async def request(self, head: bytes, body: bytes) -> None:
        """Send a request and return when the head of the answer is there."""
        if self.transport is None or self.transport.is_closing():
            raise UpstreamBroken("connection lost: closed by the server")
        self._parser = httptools.HttpResponseParser(self)
        self.status, self.headers = 0, {}
        self.complete, self.heard = False, False
        self._have_head, self._keep_alive, self._head_bytes = False, False, 0
        self._last = self.loop.time()
        self._watchdog = self.loop.call_later(self._timeout_s, self._watch)
        self.transport.write(head + body if len(body) < _ONE_WRITE_BYTES else head)
        if len(body) >= _ONE_WRITE_BYTES:
            self.transport.write(body)
        while not self._have_head:
            if self._error is not None:
                raise self._error
            await self._wait()

    async def chunk(self) -> bytes | None:
        """The next piece of the body; None at its end.

        Raises:
            UpstreamBroken: it broke off.
        """
        while not self._chunks:
            if self._error is not None:
                raise self._error
            if self.complete:
                return None
            await self._wait()
        chunk = self._chunks.popleft() if len(self._chunks) == 1 else b"".join(self._chunks)
        self._chunks.clear()
        self._held = 0
        if self._paused and self.transport is not None and not self.transport.is_closing():
            self._paused = False
            self._last = self.loop.time()
            self.transport.resume_reading()
        return chunk

    def reusable(self) -> bool:
        """Whether another request may be sent."""
        if self._watchdog is not None:
            self._watchdog.cancel()
            self._watchdog = None
        return (
            self.complete
            and self._error is None
            and not self._chunks
            and self.transport is not None
            and not self.transport.is_closing()
            and self._framed()
            and self._keep_alive
        )

    def closing(self) -> bool:
        """Whether it can no longer be used."""
        return self.transport is None or self.transport.is_closing()

    def abort(self) -> None:
        """Drop the connection."""
        if self._watchdog is not None:
            self._watchdog.cancel()
        if self.transport is not None:
            self.transport.abort()

    def fail(self, problem: str) -> None:
        """End the request with an error."""
        if self._error is None:
            self._error = UpstreamBroken(problem, heard=self.heard)
        self.abort()

    def _framed(self) -> bool:
        return "content-length" in self.headers or "transfer-encoding" in self.headers

    def _watch(self) -> None:
        silent = self.loop.time() - self._last
        if silent >= self._timeout_s and not self._paused:
            self.fail(f"silent for {silent:.0f} s")
            self._wake()
        else:
            left = max(self._timeout_s - silent, 0.05)
            self._watchdog = self.loop.call_later(left, self._watch)

    async def _wait(self) -> None:
        self._waiter = self.loop.create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)
