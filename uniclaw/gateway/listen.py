"""Sockets that speak HTTP/1.1 to an ASGI application: uvicorn's protocol, with bounds.

Refuses what no harness sends and a hostile client might: endless heads, absolute URIs,
CONNECT, upgrades, more connections than an episode may have. Must not know models.
"""

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable
from pathlib import Path

import httptools
import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from uniclaw.errors import UserError
from uniclaw.gateway.asgi import Receive, Scope, Send

App = Callable[[Scope, Receive, Send], Awaitable[None]]

MAX_HEAD_BYTES = 64_000
MAX_PATH_BYTES = 107
"""Of a unix socket, by the kernel."""
_KEEP_ALIVE_S = 75
_CLOSE_S = 10.0

_log = logging.getLogger("uniclaw.gateway.http")
_log.setLevel(logging.ERROR)  # a client's nonsense is no news


class DoorProtocol(HttpToolsProtocol):
    """One connection of a client."""

    max_connections = 256
    _in_head = True
    _heads = 0
    _head_bytes = 0

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Take the connection, or drop it when there are too many."""
        super().connection_made(transport)
        self.logger = _log
        if len(self.connections) > self.max_connections:
            transport.abort()

    def data_received(self, data: bytes) -> None:
        """Parse what came; a head that does not end is refused."""
        if self.transport.is_closing():
            return
        began_in_head, heads = self._in_head, self._heads
        super().data_received(data)
        # The last piece of a body leaves the next head to come: it is not part of one.
        if began_in_head and self._in_head and self._heads == heads:
            self._head_bytes += len(data)
            if self._head_bytes > MAX_HEAD_BYTES and not self.transport.is_closing():
                self.send_400_response("Request head too large.")

    def on_headers_complete(self) -> None:
        """Refuse targets that name another host."""
        self._in_head = False
        self._heads += 1
        self._head_bytes = 0
        size = len(self.url) + sum(len(n) + len(v) + 4 for n, v in self.headers)
        if not self.url.startswith(b"/") or size > MAX_HEAD_BYTES:
            raise httptools.HttpParserError("not a request to this server")
        if any(name == b"upgrade" for name, _ in self.headers):
            raise httptools.HttpParserError("no upgrades")
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """The next bytes are a head again."""
        self._in_head = True
        super().on_message_complete()


class Listener:
    """One socket and its connections."""

    def __init__(self, app: App, *, max_connections: int) -> None:
        bounded = type("DoorProtocol", (DoorProtocol,), {"max_connections": max_connections})
        self._config = uvicorn.Config(
            app,
            http=bounded,
            ws="none",
            lifespan="off",
            loop="none",
            interface="asgi3",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            date_header=False,
            timeout_keep_alive=_KEEP_ALIVE_S,
        )
        self._config.load()
        self._state = ServerState()
        self._protocol = bounded
        self._server: asyncio.Server | None = None
        self._path: Path | None = None

    async def listen_unix(self, path: Path) -> None:
        """Listen on a unix socket that only this user may open.

        Raises:
            UserError: the path is longer than the kernel takes.
        """
        if len(os.fsencode(path)) > MAX_PATH_BYTES:
            raise UserError(
                f"a socket's path has at most {MAX_PATH_BYTES} bytes; give a shorter directory",
                field="sockets",
                value=str(path),
            )
        loop = asyncio.get_running_loop()
        self._server = await loop.create_unix_server(self._connection, path=str(path))
        path.chmod(0o600)
        self._path = path

    async def listen_tcp(self, host: str, port: int) -> tuple[str, int]:
        """Listen on an address; returns the one taken."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(self._connection, host, port)
        name: tuple[str, int] = self._server.sockets[0].getsockname()[:2]
        return name

    async def close(self) -> None:
        """Stop listening, drop every connection, and wait for what they had running."""
        if self._server is not None:
            self._server.close()
        for connection in list(self._state.connections):
            connection.transport.abort()
        running = [t for t in self._state.tasks if t is not asyncio.current_task()]
        if running:
            await asyncio.wait(running, timeout=_CLOSE_S)
        if self._path is not None:
            self._path.unlink(missing_ok=True)

    def _connection(self) -> asyncio.Protocol:
        return self._protocol(config=self._config, server_state=self._state, app_state={})
