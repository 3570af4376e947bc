"""Listens on one episode's socket."""

import asyncio
import ssl
import time
from collections.abc import Callable
from pathlib import Path

from uniclaw.errors import FirewallBreach
from uniclaw.gateway.proxy.certificates import Authority
from uniclaw.gateway.proxy.client import Client, Way
from uniclaw.gateway.proxy.log import NetworkLog, Recording
from uniclaw.gateway.proxy.rules import Rules

CONNECTIONS = 128
"""At once; more are closed as they come."""


class RecordingProxy:
    """The way out of one episode's environment."""

    def __init__(
        self,
        socket: Path,
        rules: Rules,
        authority: Authority,
        *,
        keep: Callable[[bytes], str] | None = None,
        watch: Callable[[str, str], None] = lambda _where, _text: None,
        trust: ssl.SSLContext | None = None,
    ) -> None:
        """Bind; nothing listens yet.

        Args:
            socket: unix socket to make.
            rules: what may be reached.
            authority: signs for the hosts that are asked for.
            keep: stores a body and returns its sha256.
            watch: raises for text that may not leave the environment.
            trust: certificates of servers; None takes the system's.
        """
        self._socket = socket
        self._recording = Recording(keep)
        self._way = Way(
            rules=rules,
            authority=authority,
            trust=trust or ssl.create_default_context(),
            recording=self._recording,
            watch=watch,
            opened=time.monotonic(),
        )
        self._server: asyncio.Server | None = None
        self._clients: set[asyncio.Task[None]] = set()
        self.breach: FirewallBreach | None = None
        """What `watch` raised; the episode ends with it."""

    async def open(self) -> None:
        """Listen."""
        self._server = await asyncio.start_unix_server(self._accept, str(self._socket))
        self._socket.chmod(0o600)

    @property
    def certificate(self) -> bytes:
        """PEM that environments behind this proxy trust."""
        return self._way.authority.pem

    def begin_round(self, number: int) -> None:
        """Requests from now on belong to this round."""
        self._recording.round = number

    def log(self) -> NetworkLog:
        """Everything so far."""
        return self._recording.snapshot()

    async def close(self) -> None:
        """Stop listening and cut what is open. Idempotent."""
        server, self._server = self._server, None
        if server is not None:
            server.close()
        for task in self._clients:
            task.cancel()
        await asyncio.gather(*self._clients, return_exceptions=True)
        self._socket.unlink(missing_ok=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self._clients) >= CONNECTIONS:
            writer.close()
            return
        task = asyncio.current_task()
        assert task is not None
        self._clients.add(task)
        try:
            await Client(reader, writer, self._way).serve()
        except FirewallBreach as error:
            self.breach = error
        finally:
            self._clients.discard(task)
