"""Serve the pages: the socket, the token, the address to open."""

import contextlib
import secrets
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

from uniclaw.errors import UserError
from uniclaw.viewer.guard import Door, is_loopback
from uniclaw.viewer.render import Site


def listen(host: str, port: int) -> socket.socket:
    """A listening socket.

    Raises:
        UserError: the address cannot be had.
    """
    if not 0 <= port <= 65_535:
        raise UserError("expected 0 to 65535", field="port", value=port)
    name = host.strip("[]")
    family = socket.AF_INET6 if ":" in name else socket.AF_INET
    taken = socket.socket(family, socket.SOCK_STREAM)
    try:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind((name, port))
        taken.listen(128)
    except (OSError, OverflowError) as error:
        taken.close()
        raise UserError(
            f"cannot listen there: {error}", field="host", value=f"{host}:{port}"
        ) from error
    return taken


def address_of(host: str, port: int, token: str | None) -> str:
    """The address to open."""
    name = host.strip("[]")
    shown = f"[{name}]" if ":" in name else name
    tail = "" if token is None else f"?token={quote(token)}"
    return f"http://{shown}:{port}/{tail}"


def serve(
    runs: Path,
    *,
    host: str,
    port: int,
    token: str | None,
    hidden: bool,
    ready: Callable[[str], None],
) -> None:
    """Serve until interrupted.

    Args:
        runs: directory of runs; nothing outside is shown.
        host: address to listen on.
        port: 0 takes a free one.
        token: asked of every visitor; None makes one up where others than this machine can come.
        hidden: the hidden side of tasks can be asked for.
        ready: is told the address once the socket listens.

    Raises:
        UserError: the address cannot be had, or the token is weak.
    """
    import uvicorn

    from uniclaw.viewer.app import build_app

    if token is not None and len(token) < 8:
        raise UserError("expected 8 characters or more", field="token", value="*" * len(token))
    if token is None and not is_loopback(host):
        token = secrets.token_urlsafe(24)
    taken = listen(host, port)
    app = build_app(Site(runs=runs.resolve(), hidden=hidden), Door(host=host, token=token))
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        lifespan="off",
        timeout_graceful_shutdown=2,
    )
    threading.Thread(target=_warm, daemon=True).start()
    ready(address_of(host, int(taken.getsockname()[1]), token))
    with contextlib.suppress(KeyboardInterrupt):
        uvicorn.Server(config).run(sockets=[taken])


def _warm() -> None:
    """Load what the leaderboard needs before somebody asks for it; the first page needs none."""
    with contextlib.suppress(ImportError):
        from uniclaw.statistics import compare, foreign

        foreign.wilson(1, 2, compare.CompareOptions().level)
