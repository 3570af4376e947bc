"""A small HTTP server for one service: bounded in bytes, time and connections.

Turns a request into a `Request` and a `Reply` into bytes. Must not know any service.
"""

import contextlib
import json
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlsplit

MAX_BODY_BYTES = 1_000_000
MAX_CONNECTIONS = 64
MAX_FIELDS = 500
REQUEST_S = 15.0
"""How long a client may take for its whole request."""

_DRAINED_BYTES = 8_000_000
_SWEEP_S = 0.5
_PATIENCE_S = 0.1
HEADERS = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'",
}


class Problem(Exception):
    """A request that is refused, with the status and a text for the client."""

    def __init__(self, status: int, message: str, **more: Any) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.more = more


@dataclass
class Reply:
    """An answer."""

    body: bytes = b""
    status: int = 200
    kind: str = "text/plain; charset=utf-8"
    headers: dict[str, str] = field(default_factory=dict)


def json_reply(value: Any, status: int = 200) -> Reply:
    """A JSON document, readable in a terminal."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=1) + "\n"
    return Reply(text.encode("utf-8"), status, "application/json; charset=utf-8")


def text_reply(text: str, status: int = 200) -> Reply:
    """Plain text."""
    return Reply(text.encode("utf-8"), status)


def see(path: str) -> Reply:
    """To another page, after a form."""
    return Reply(b"", 303, headers={"Location": quote(path, safe="/?=&#%:.-_~")})


@dataclass
class Request:
    """What a client asks, with readers that refuse what is not as expected."""

    method: str
    path: str
    segments: tuple[str, ...]
    query: dict[str, str]
    body: dict[str, Any] = field(default_factory=dict)
    note: dict[str, Any] = field(default_factory=dict)
    """What the service says of it in the audit."""
    action: str | None = None
    """Name in the audit, where it is not the route's."""
    page: str = ""

    @property
    def wants_html(self) -> bool:
        """Whether a refusal should be a page."""
        return not self.segments or self.segments[0] != "api"

    def has(self, name: str) -> bool:
        """Whether the body has the field."""
        return self.body.get(name) is not None

    def text(
        self, name: str, *, needed: bool = False, default: str = "", most: int = 200_000
    ) -> str:
        """A text field of the body; numbers are taken as text."""
        value = self.body.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool):
            value = str(value)
        if value is None or value == "":
            if needed:
                raise Problem(400, f"`{name}` is missing")
            return default
        if not isinstance(value, str):
            raise Problem(400, f"`{name}`: expected text")
        if len(value) > most:
            raise Problem(400, f"`{name}`: more than {most} characters")
        return value.strip() if needed else value

    def line(self, name: str, *, needed: bool = False, default: str = "") -> str:
        """A text of one line."""
        text = self.text(name, needed=needed, default=default, most=2000)
        return " ".join(text.split())

    def texts(self, name: str, *, needed: bool = False) -> list[str]:
        """A list of texts; text is split at commas and semicolons."""
        value = self.body.get(name)
        if isinstance(value, str):
            value = [part.strip() for part in value.replace(";", ",").split(",")]
        if value is None:
            value = []
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise Problem(400, f"`{name}`: expected a list of texts")
        found = [item.strip() for item in value if item.strip()]
        if len(found) > MAX_FIELDS:
            raise Problem(400, f"`{name}`: more than {MAX_FIELDS} entries")
        if needed and not found:
            raise Problem(400, f"`{name}` is missing")
        return found

    def flag(self, name: str, *, default: bool = False) -> bool:
        """A truth value of the body."""
        value = self.body.get(name)
        if value is None:
            return default
        if isinstance(value, bool):
            return value
        words = {"true": True, "1": True, "yes": True, "on": True, "": False}
        words |= {"false": False, "0": False, "no": False, "off": False}
        found = words.get(value.strip().lower()) if isinstance(value, str) else None
        if found is None:
            raise Problem(400, f"`{name}`: expected true or false")
        return found

    def number(self, name: str, default: int, *, low: int = 0, high: int = 1000) -> int:
        """A whole number of the query or the body."""
        value = self.query.get(name, self.body.get(name))
        if value is None or value == "":
            return default
        text = str(value).strip()
        # `isdecimal` alone takes digits of other scripts, which mean the same.
        if not text.isdecimal() or len(text) > 9 or not low <= int(text) <= high:
            raise Problem(400, f"`{name}`: expected a whole number from {low} to {high}")
        return int(text)


def parse_body(data: bytes, kind: str) -> dict[str, Any]:
    """The fields of a JSON object or of a form.

    `curl -d` calls everything a form, so a body that begins like an object is read as one.

    Raises:
        Problem: it is neither.
    """
    kind = kind.split(";")[0].strip().lower()
    if kind.startswith("multipart/"):
        raise Problem(415, "multipart forms are not taken; send JSON or a plain form")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Problem(400, "the body is not UTF-8") from error
    if not text.strip():
        return {}
    if "json" in kind or text.lstrip().startswith("{"):
        return _parse_json(text)
    try:
        pairs = parse_qsl(text, keep_blank_values=True, max_num_fields=MAX_FIELDS)
    except ValueError as error:
        raise Problem(400, "the form has too many fields") from error
    return dict(pairs)


def _parse_json(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text, parse_constant=_no_constant)
        # Lone surrogates are no text; they could not be written to the log.
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8")
    except (ValueError, RecursionError) as error:
        raise Problem(400, f"the body is no JSON: {str(error)[:200]}") from error
    if not isinstance(value, dict):
        raise Problem(400, "the body is no JSON object")
    return value


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON number")


def parse_target(method: str, target: str) -> Request:
    """Split a request target; every segment is decoded after the split, so `%2F` stays inside."""
    try:
        parts = urlsplit(target)
        path = parts.path or "/"
        segments = tuple(unquote(s, errors="strict") for s in path.split("/") if s)
        pairs = parse_qsl(parts.query, keep_blank_values=True, max_num_fields=MAX_FIELDS)
        query = {name: value.strip() for name, value in pairs}
    except ValueError as error:
        raise Problem(400, "the address is broken") from error
    if any(part in {".", ".."} or "\0" in part or "\n" in part for part in segments):
        raise Problem(404, "there is no such page")
    return Request(method, path, segments, query)


Answer = Callable[[str, str, bytes | Problem, str], Reply]
"""Of method, target, body (or why there is none) and its content type."""


class Server(ThreadingHTTPServer):
    """Threads up to a limit; connections that take too long are cut."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, address: tuple[str, int], answer: Answer) -> None:
        self.answer = answer
        self.deadlines: dict[socket.socket, float] = {}
        self.slots = threading.BoundedSemaphore(MAX_CONNECTIONS)
        super().__init__(address, _Handler)
        threading.Thread(target=self._sweep, daemon=True).start()

    def process_request(self, request: Any, client_address: Any) -> None:
        """Give the connection a thread; who has kept one waiting longest makes room."""
        while not self.slots.acquire(timeout=_PATIENCE_S):
            self._cut(sorted(list(self.deadlines.items()), key=lambda item: item[1])[:1])
        self.deadlines[request] = time.monotonic() + REQUEST_S
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Answer, then give the place back."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self.deadlines.pop(request, None)
            self.slots.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that go away are no news."""

    def _sweep(self) -> None:
        while True:
            time.sleep(_SWEEP_S)
            now = time.monotonic()
            self._cut([item for item in list(self.deadlines.items()) if now > item[1]])

    def _cut(self, late: list[tuple[socket.socket, float]]) -> None:
        for connection, _ in late:
            self.deadlines.pop(connection, None)
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


class _Handler(BaseHTTPRequestHandler):
    """One connection, one request."""

    protocol_version = "HTTP/1.1"
    timeout = REQUEST_S
    server: Server

    def log_message(self, format: str, *args: Any) -> None:
        """The audit is the log."""

    def _serve(self) -> None:
        self.close_connection = True
        body = self._body()
        # The whole request is here: from now on it is our time, not the client's.
        self.server.deadlines.pop(self.connection, None)
        kind = self.headers.get("Content-Type", "")
        reply = self.server.answer(self.command, self.path, body, kind)
        self.server.deadlines[self.connection] = time.monotonic() + REQUEST_S
        # `send_response` would add the time of day: answers are the same every time.
        self.send_response_only(reply.status)
        for name, value in {**HEADERS, **reply.headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Type", reply.kind)
        self.send_header("Content-Length", str(len(reply.body)))
        self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(reply.body)

    def _body(self) -> bytes | Problem:
        if self.headers.get("Transfer-Encoding"):
            return Problem(411, "send a Content-Length")
        said = self.headers.get("Content-Length", "0").strip()
        if not (said.isascii() and said.isdecimal()):
            return Problem(400, "Content-Length is no number")
        size = int(said[:18])
        if size > MAX_BODY_BYTES:
            # Read a good deal of it, or the client would see a broken connection and no reply.
            self._drain(min(size, _DRAINED_BYTES))
            return Problem(413, f"the body has more than {MAX_BODY_BYTES} bytes")
        data = self.rfile.read(size)
        return data if len(data) == size else Problem(400, "the body ends too early")

    def _drain(self, size: int) -> None:
        while size > 0:
            data = self.rfile.read(min(size, 65536))
            if not data:
                return
            size -= len(data)

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = _serve
    do_OPTIONS = do_TRACE = do_CONNECT = _serve
