"""One request to a server on the open network, streamed in both directions."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from typing import NamedTuple

import h11

from uniclaw.gateway.proxy.rules import Rules

CONNECT_S = 30.0
IDLE_S = 120.0
_READ = 65_536
_HOP = (
    b"connection",
    b"keep-alive",
    b"proxy-connection",
    b"proxy-authorization",
    b"proxy-authenticate",
    b"te",
    b"trailer",
    b"transfer-encoding",
    b"upgrade",
)


class Failed(Exception):
    """The server could not be reached, or broke off; the text is told to the agent."""


class Target(NamedTuple):
    """Where a request goes."""

    secure: bool
    host: str
    port: int

    @property
    def origin(self) -> str:
        """`https://host[:port]`."""
        scheme, usual = ("https", 443) if self.secure else ("http", 80)
        return f"{scheme}://{self.authority if self.port != usual else self.name}"

    @property
    def name(self) -> str:
        """The host as it stands in an address."""
        return f"[{self.host}]" if ":" in self.host else self.host

    @property
    def authority(self) -> str:
        """`host:port`."""
        return f"{self.name}:{self.port}"


Headers = list[tuple[bytes, bytes]]


def passed_on(headers: Headers) -> Headers:
    """Headers without those that speak of one connection alone."""
    named = {
        word.strip().lower()
        for name, value in headers
        if name.lower() == b"connection"
        for word in value.split(b",")
    }
    return [(n, v) for n, v in headers if n.lower() not in _HOP and n.lower() not in named]


def header(headers: Headers, name: bytes) -> str | None:
    """The first value of a header."""
    found = next((value for key, value in headers if key.lower() == name), None)
    return None if found is None else found.decode("latin-1")


class Upstream:
    """A connection to a server, for one request."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._http = h11.Connection(h11.CLIENT)

    @classmethod
    async def dial(cls, target: Target, rules: Rules, trust: ssl.SSLContext) -> "Upstream":
        """Connect to one of the addresses that the rules allow.

        Raises:
            Denied: the rules allow none.
            Failed: none answers, or its certificate is not trusted.
        """
        last: BaseException | None = None
        for address in await rules.addresses(target.host, target.port):
            try:
                async with asyncio.timeout(CONNECT_S):
                    reader, writer = await asyncio.open_connection(
                        address,
                        target.port,
                        ssl=trust if target.secure else None,
                        server_hostname=target.host if target.secure else None,
                    )
                return cls(reader, writer)
            except (OSError, TimeoutError, ssl.SSLError) as error:
                last = error
        raise Failed(f"{target.authority} does not answer: {type(last).__name__}: {last}")

    async def send(self, event: h11.Event) -> None:
        """Send a part of the request."""
        data = self._http.send(event)
        try:
            if data:
                self._writer.write(data)
                async with asyncio.timeout(IDLE_S):
                    await self._writer.drain()
        except (OSError, TimeoutError) as error:
            raise Failed(f"the server broke off: {error}") from error

    async def head(self) -> h11.Response:
        """The head of the answer; interim answers are skipped."""
        while True:
            event = await self._next()
            if isinstance(event, h11.Response):
                return event
            if not isinstance(event, h11.InformationalResponse):
                raise Failed("the server closed the connection without an answer")

    async def body(self) -> AsyncIterator[bytes]:
        """The answer's body, as it comes."""
        while True:
            event = await self._next()
            if isinstance(event, h11.Data):
                yield bytes(event.data)
            elif isinstance(event, h11.EndOfMessage | h11.ConnectionClosed):
                return

    async def _next(self) -> h11.Event:
        try:
            while True:
                event = self._http.next_event()
                if event is h11.PAUSED:
                    raise Failed("the server changed the protocol")
                if event is not h11.NEED_DATA:
                    assert isinstance(event, h11.Event)
                    return event
                async with asyncio.timeout(IDLE_S):
                    self._http.receive_data(await self._reader.read(_READ))
        except (OSError, TimeoutError, h11.RemoteProtocolError) as error:
            raise Failed(f"the server broke off: {type(error).__name__}: {error}") from error

    def close(self) -> None:
        """Give the connection up."""
        self._writer.close()
