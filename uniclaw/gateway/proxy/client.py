"""The agent's side of the proxy: HTTP requests, plain or inside a CONNECT that is opened here."""

import asyncio
import ssl
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

import h11

from uniclaw.gateway.proxy.certificates import Authority
from uniclaw.gateway.proxy.dial import (
    IDLE_S,
    Failed,
    Headers,
    Target,
    Upstream,
    header,
    passed_on,
)
from uniclaw.gateway.proxy.log import Body, NetworkRequest, Recording
from uniclaw.gateway.proxy.rules import Denied, Rules

_READ = 65_536
_HANDSHAKE_S = 20.0
_ENCODINGS = b"gzip, deflate"


class ClientGone(Exception):
    """The agent closed its connection, or speaks something else than HTTP."""


@dataclass(frozen=True)
class Way:
    """What all connections of an episode share."""

    rules: Rules
    authority: Authority
    trust: ssl.SSLContext
    recording: Recording
    watch: Callable[[str, str], None]
    """Raises for text that may not leave; gets where it was found, and the text."""
    opened: float


@dataclass
class _Call:
    """One request under way."""

    method: str
    url: str
    began: float
    sent: Body
    received: Body
    status: int | None = None
    content_type: str | None = None
    encoding: str | None = None
    sent_type: str | None = None
    started: bool = False
    """Whether the head of an answer went to the agent."""


class Client:
    """A connection of the agent."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, way: Way
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._way = way
        self._http = h11.Connection(h11.SERVER)
        self._inside: Target | None = None

    async def serve(self) -> None:
        """Answer requests until one side has enough."""
        try:
            while await self._one():
                if self._http.our_state is h11.DONE:
                    self._http.start_next_cycle()
        except (ClientGone, h11.RemoteProtocolError):
            return
        finally:
            self._writer.close()

    async def _one(self) -> bool:
        """One request; whether another may follow."""
        event = await self._next()
        if not isinstance(event, h11.Request):
            raise ClientGone
        method = event.method.decode("ascii", "replace")
        if method == "CONNECT" and self._inside is None:
            await self._open_tunnel(event.target.decode("latin-1"))
            return True
        await self._carry(method, event)
        return self._http.our_state is h11.DONE and self._http.their_state is h11.DONE

    # --- CONNECT -------------------------------------------------------------------------

    async def _open_tunnel(self, asked: str) -> None:
        call = _Call("CONNECT", f"https://{asked}", time.monotonic(), Body(), Body())
        try:
            target = _authority(asked)
            self._refuse_unrecorded()
            self._way.rules.check(target.host, target.port)
        except Denied as error:
            self._record(call, "denied", str(error))
            await self._complain(403, str(error))
            raise ClientGone from error
        # Nothing is read between our answer and the handshake, which is the next thing to come.
        transport = self._writer.transport
        assert isinstance(transport, asyncio.Transport)
        transport.pause_reading()
        transport.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        try:
            await self._writer.start_tls(
                self._way.authority.context_for(target.host), ssl_handshake_timeout=_HANDSHAKE_S
            )
        except (OSError, TimeoutError, ssl.SSLError) as error:
            self._record(call, "failed", f"no TLS with the agent: {type(error).__name__}: {error}")
            raise ClientGone from error
        self._inside = target
        self._http = h11.Connection(h11.SERVER)

    # --- requests ------------------------------------------------------------------------

    async def _carry(self, method: str, request: h11.Request) -> None:
        headers: Headers = [(bytes(n), bytes(v)) for n, v in request.headers]
        raw = request.target.decode("latin-1")
        call = _Call(method, raw[:4000], time.monotonic(), Body(), Body())
        call.sent_type = header(headers, b"content-type")
        upstream: Upstream | None = None
        try:
            self._refuse_unrecorded()
            target, path = self._target(raw)
            call.url = f"{target.origin}{path}"[:4000]
            if header(headers, b"upgrade") is not None:
                raise Denied("only HTTP requests are carried, no other protocol")
            self._way.rules.check(target.host, target.port)
            self._way.watch("a network request", f"{call.url}\n{_lines(headers)}")
            upstream = await Upstream.dial(target, self._way.rules, self._way.trust)
            await self._exchange(call, upstream, target, path, headers)
        except Denied as error:
            await self._end(call, "denied", str(error), 403)
        except (Failed, h11.LocalProtocolError, h11.RemoteProtocolError) as error:
            await self._end(call, "failed", str(error), 502)
        except ClientGone:
            self._record(call, "failed", "the agent closed its connection")
            raise
        else:
            self._record(call, "answered", None)
        finally:
            if upstream is not None:
                upstream.close()

    async def _exchange(
        self, call: _Call, upstream: Upstream, target: Target, path: str, headers: Headers
    ) -> None:
        kept = [
            (n, v) for n, v in passed_on(headers) if n.lower() not in (b"host", b"accept-encoding")
        ]
        has_length = any(n.lower() == b"content-length" for n, _ in kept)
        chunked = header(headers, b"transfer-encoding") is not None
        kept.insert(0, (b"Host", target.origin.partition("://")[2].encode("latin-1")))
        kept += [(b"Accept-Encoding", _ENCODINGS), (b"Connection", b"close")]
        if chunked and not has_length:
            kept.append((b"Transfer-Encoding", b"chunked"))
        await upstream.send(h11.Request(method=call.method, target=path, headers=kept))
        await self._send_body(call, upstream)
        answer = await upstream.head()
        answer_headers: Headers = [(bytes(n), bytes(v)) for n, v in answer.headers]
        call.status = answer.status_code
        call.content_type = header(answer_headers, b"content-type")
        call.encoding = header(answer_headers, b"content-encoding")
        call.started = True
        told = passed_on(answer_headers)
        await self._send(h11.Response(status_code=answer.status_code, headers=told))
        async for piece in upstream.body():
            call.received.add(piece)
            await self._send(h11.Data(data=piece))
        await self._send(h11.EndOfMessage())

    async def _send_body(self, call: _Call, upstream: Upstream) -> None:
        if self._http.they_are_waiting_for_100_continue:
            await self._send(h11.InformationalResponse(status_code=100, headers=[]))
        while True:
            event = await self._next()
            if isinstance(event, h11.Data):
                data = bytes(event.data)
                call.sent.add(data)
                self._way.watch("the body of a network request", call.sent.text())
                await upstream.send(h11.Data(data=data))
            elif isinstance(event, h11.EndOfMessage):
                await upstream.send(h11.EndOfMessage())
                return
            else:
                raise ClientGone

    def _target(self, raw: str) -> tuple[Target, str]:
        """Where a request goes, and its path there."""
        if self._inside is not None:
            if raw.startswith("/"):
                return self._inside, raw
            raise Denied("a request inside a tunnel has a path as its target")
        parts = urlsplit(raw)
        if parts.scheme != "http" or not parts.hostname:
            raise Denied("this is a proxy: ask for http://HOST/PATH, or CONNECT HOST:443")
        path = parts.path or "/"
        return (
            Target(False, parts.hostname.lower(), _port(parts.netloc, 80)),
            f"{path}?{parts.query}" if parts.query else path,
        )

    def _refuse_unrecorded(self) -> None:
        if self._way.recording.full:
            self._way.recording.dropped += 1
            raise Denied("this episode has made too many requests")

    # --- wire ----------------------------------------------------------------------------

    async def _next(self) -> h11.Event:
        while True:
            event = self._http.next_event()
            if event is h11.PAUSED:
                raise ClientGone
            if event is not h11.NEED_DATA:
                assert isinstance(event, h11.Event)
                return event
            try:
                async with asyncio.timeout(IDLE_S):
                    self._http.receive_data(await self._reader.read(_READ))
            except (OSError, TimeoutError) as error:
                raise ClientGone from error

    async def _send(self, event: h11.Event) -> None:
        data = self._http.send(event)
        if not data:
            return
        try:
            self._writer.write(data)
            async with asyncio.timeout(IDLE_S):
                await self._writer.drain()
        except (OSError, TimeoutError) as error:
            raise ClientGone from error

    async def _complain(self, status: int, text: str) -> None:
        body = f"{text}\n".encode("utf-8", "replace")
        headers = [
            ("content-type", "text/plain; charset=utf-8"),
            ("content-length", str(len(body))),
            ("connection", "close"),
        ]
        await self._send(h11.Response(status_code=status, headers=headers))
        await self._send(h11.Data(data=body))
        await self._send(h11.EndOfMessage())

    async def _end(
        self, call: _Call, outcome: Literal["denied", "failed"], reason: str, status: int
    ) -> None:
        self._record(call, outcome, reason)
        if call.started or self._http.our_state is not h11.SEND_RESPONSE:
            raise ClientGone  # half an answer went out; only closing says so
        await self._complain(status, reason)

    def _record(
        self, call: _Call, outcome: Literal["answered", "denied", "failed"], reason: str | None
    ) -> None:
        recording, now = self._way.recording, time.monotonic()
        recording.add(
            NetworkRequest(
                n=1,
                round=recording.round,
                at_s=round(call.began - self._way.opened, 3),
                duration_s=round(now - call.began, 3),
                method=call.method[:20],
                url=call.url,
                outcome=outcome,
                status=call.status,
                reason=reason,
                request=recording.capture(call.sent, call.sent_type, None),
                response=recording.capture(call.received, call.content_type, call.encoding),
            )
        )


def _authority(text: str) -> Target:
    parts = urlsplit(f"//{text}")
    if not parts.hostname:
        raise Denied("CONNECT needs HOST:PORT")
    return Target(True, parts.hostname.lower(), _port(text, 443))


def _port(netloc: str, usual: int) -> int:
    try:
        return urlsplit(f"//{netloc}").port or usual
    except ValueError as error:
        raise Denied("no such port") from error


def _lines(headers: Headers) -> str:
    return "\n".join(f"{n.decode('latin-1')}: {v.decode('latin-1')}" for n, v in headers)
