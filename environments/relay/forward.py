"""Carries bytes between a loopback port of this network namespace and a unix socket.

Knows nothing of what it carries: every piece is passed on as it comes, one side's end of input
is passed on as such while the other side may go on, and a slow reader slows its writer.
"""

import argparse
import asyncio
import contextlib
import pathlib

CONNECTIONS = 256
"""At once; more are closed as they come."""
HIGH_WATER = 1 << 20


class Side(asyncio.Protocol):
    """One end of a connection; what it receives goes out at its peer."""

    def __init__(self) -> None:
        self.peer: Side | None = None
        self.transport: asyncio.Transport | None = None
        self.early = bytearray()
        self.early_end = False
        self.ended = False
        self.count: set[Side] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        transport.set_write_buffer_limits(high=HIGH_WATER)

    def join(self, peer: "Side") -> None:
        """Pass on to `peer` what came before it was there, and everything after."""
        self.peer = peer
        if self.early:
            peer.write(bytes(self.early))
            self.early.clear()
        if self.early_end:
            peer.end()
        if self.transport is not None and not self.transport.is_closing():
            self.transport.resume_reading()

    def data_received(self, data: bytes) -> None:
        if self.peer is None:
            self.early += data
        else:
            self.peer.write(data)

    def eof_received(self) -> bool:
        if self.peer is None:
            self.early_end = True
        else:
            self.peer.end()
        self.ended = True
        self._close_when_both_ended()
        return True

    def write(self, data: bytes) -> None:
        if self.transport is not None and not self.transport.is_closing():
            self.transport.write(data)

    def end(self) -> None:
        """The other side will send no more."""
        with contextlib.suppress(OSError, RuntimeError):
            if self.transport is not None and not self.transport.is_closing():
                self.transport.write_eof()
        self._close_when_both_ended()

    def _close_when_both_ended(self) -> None:
        if self.ended and self.peer is not None and self.peer.ended:
            for side in (self, self.peer):
                if side.transport is not None:
                    side.transport.close()

    def pause_writing(self) -> None:
        if self.peer is not None and self.peer.transport is not None:
            with contextlib.suppress(RuntimeError):
                self.peer.transport.pause_reading()

    def resume_writing(self) -> None:
        if self.peer is not None and self.peer.transport is not None:
            with contextlib.suppress(RuntimeError):
                self.peer.transport.resume_reading()

    def connection_lost(self, error: Exception | None) -> None:
        if self.count is not None:
            self.count.discard(self)
        peer = self.peer
        if peer is not None and peer.transport is not None:
            if error is not None:
                peer.transport.abort()
            else:
                peer.transport.close()


class Forwarder:
    """Accepts connections and joins each to a new one of the socket."""

    def __init__(self, target: str) -> None:
        self.target = target
        self.open: set[Side] = set()
        self.tasks: set[asyncio.Task[None]] = set()

    def accept(self) -> Side:
        side = _Accepted(self)
        return side

    async def dial(self, side: Side) -> None:
        assert side.transport is not None
        try:
            loop = asyncio.get_running_loop()
            _, upstream = await loop.create_unix_connection(Side, self.target)
        except OSError:
            side.transport.abort()
            return
        upstream.peer = side
        if side.transport.is_closing():
            if upstream.transport is not None:
                upstream.transport.abort()
            return
        side.join(upstream)


class _Accepted(Side):
    def __init__(self, forwarder: Forwarder) -> None:
        super().__init__()
        self._forwarder = forwarder

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        assert self.transport is not None
        if len(self._forwarder.open) >= CONNECTIONS:
            self.transport.abort()
            return
        self.transport.pause_reading()
        self._forwarder.open.add(self)
        self.count = self._forwarder.open
        task = asyncio.ensure_future(self._forwarder.dial(self))
        self._forwarder.tasks.add(task)
        task.add_done_callback(self._forwarder.tasks.discard)


async def serve(ways: "list[tuple[int, str]]", ready: str) -> None:
    """Listen until the process is ended."""
    loop = asyncio.get_running_loop()
    servers = [
        await loop.create_server(Forwarder(target).accept, "127.0.0.1", port, backlog=CONNECTIONS)
        for port, target in ways
    ]
    pathlib.Path(ready).write_bytes(b"")
    await asyncio.gather(*(server.serve_forever() for server in servers))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True, action="append")
    parser.add_argument("--target", required=True, action="append", help="unix socket of a port")
    parser.add_argument("--ready", required=True, help="file to make once it listens")
    given = parser.parse_args()
    asyncio.run(serve(list(zip(given.port, given.target, strict=True)), given.ready))


if __name__ == "__main__":
    main()
