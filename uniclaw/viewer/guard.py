"""Who may ask: the Host header, the token, and the headers that every answer carries."""

import hmac
import ipaddress
import socket
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qsl, urlencode

from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

COOKIE = "uniclaw_view"
LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
CSP = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self';"
    " media-src 'self'; connect-src 'self';"
    " form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
SANDBOX = "sandbox; default-src 'none'; frame-ancestors 'none'"
HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "x-frame-options": "DENY",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}


def is_loopback(host: str) -> bool:
    """Whether an address to listen on is reached from this machine alone."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


@dataclass(frozen=True, kw_only=True)
class Door:
    """Who is let in."""

    host: str
    token: str | None

    def knows(self, header: str) -> bool:
        """Whether a Host header names this server.

        A page of another site that points its own name at this address (DNS rebinding) sends
        that name here.
        """
        name = header.strip().lower()
        if name.startswith("["):
            name = name[1:].partition("]")[0]
        elif name.count(":") == 1:
            name = name.partition(":")[0]
        if name in LOOPBACK_NAMES or name == self.host.lower():
            return True
        if is_loopback(self.host):
            return False
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return name in {socket.gethostname().lower(), socket.getfqdn().lower()}
        return True

    def admits(self, given: str | None) -> bool:
        """Whether a token is the right one; any is where none is asked for."""
        if self.token is None:
            return True
        return given is not None and hmac.compare_digest(given.encode(), self.token.encode())


class Guard:
    """ASGI middleware: refuses strangers, and adds the headers."""

    def __init__(self, app: ASGIApp, door: Door) -> None:
        """Stand before an application."""
        self._app = app
        self._door = door

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        headers = {k.decode("latin-1").lower(): v.decode("latin-1") for k, v in scope["headers"]}
        refusal = self._refusal(scope, headers)
        app: ASGIApp = refusal or self._app
        await app(scope, receive, _with_headers(send))

    def _refusal(self, scope: Scope, headers: dict[str, str]) -> Response | None:
        if not self._door.knows(headers.get("host", "")):
            return PlainTextResponse("unknown host\n", 421)
        if scope["method"] not in ("GET", "HEAD"):
            return PlainTextResponse("read only\n", 405)
        if self._door.token is None:
            return None
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        asked = next((value for name, value in query if name == "token"), None)
        if asked is not None and self._door.admits(asked):
            return self._enter(scope, [(n, v) for n, v in query if n != "token"], asked)
        bearer = headers.get("authorization", "").removeprefix("Bearer ").strip()
        if self._door.admits(bearer) or self._door.admits(_cookie(headers.get("cookie", ""))):
            return None
        return PlainTextResponse("a token is needed: open the address that was printed\n", 401)

    def _enter(self, scope: Scope, query: list[tuple[str, str]], token: str) -> Response:
        """Put the token in a cookie, so that it stands in no further address."""
        from urllib.parse import quote

        # Two slashes at the start would be another host.
        path = "/" + quote(str(scope["path"])).lstrip("/")
        answer = RedirectResponse(path + (f"?{urlencode(query)}" if query else ""), 303)
        answer.set_cookie(COOKIE, token, httponly=True, samesite="strict", path="/")
        return answer


def _cookie(header: str) -> str | None:
    try:
        found = SimpleCookie(header).get(COOKIE)
    except CookieError:
        return None
    return None if found is None else found.value


def _with_headers(send: Send) -> Callable[[Message], Awaitable[None]]:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            present = {name.lower() for name, _ in message["headers"]}
            extra = {"content-security-policy": CSP, "cache-control": "no-store", **HEADERS}
            message["headers"] = [
                *message["headers"],
                *((k.encode(), v.encode()) for k, v in extra.items() if k.encode() not in present),
            ]
        await send(message)

    return sending
