"""The little of ASGI that the gateway uses: a request coming in, an answer going out.

Must not know models.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from typing import NamedTuple, cast

from uniclaw.gateway.admission import Admission
from uniclaw.gateway.complaints import Complaint, malformed, too_large
from uniclaw.gateway.exchange import Ending

Message = MutableMapping[str, object]
Scope = MutableMapping[str, object]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]


class Incoming(NamedTuple):
    """The head of a request."""

    method: str
    path: str
    query: bytes
    headers: Mapping[str, str]
    """Names in lower case; of several with one name the last."""
    receive: Receive


def incoming(scope: Scope, receive: Receive) -> Incoming:
    """The request of a scope."""
    raw = cast("Iterable[tuple[bytes, bytes]]", scope["headers"])
    headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in raw}
    query = cast("bytes", scope.get("query_string", b""))
    return Incoming(str(scope["method"]), str(scope["path"]), query, headers, receive)


class Gone(Exception):
    """The client hung up."""


async def read_body(
    request: Incoming, admission: Admission, *, max_bytes: int, timeout_s: float
) -> bytes:
    """The body; its bytes stay counted in `admission` until `drop`.

    Raises:
        Complaint: too large, too slow, encoded, or more than the episode may hold.
        Gone: the client hung up first.
    """
    if request.headers.get("content-encoding", "identity") != "identity":
        raise Complaint(
            Ending.MALFORMED, "an encoded body is not served: send plain JSON", status=415
        )
    length = request.headers.get("content-length", "")
    if length.isdecimal() and int(length[:20]) > max_bytes:
        raise too_large(max_bytes)
    parts: list[bytes] = []
    size = 0
    done = False
    try:
        async with asyncio.timeout(timeout_s):
            while True:
                message = await request.receive()
                if message["type"] == "http.disconnect":
                    raise Gone
                piece = cast("bytes", message.get("body", b""))
                if size + len(piece) > max_bytes:
                    raise too_large(max_bytes)
                admission.hold(len(piece))
                size += len(piece)
                parts.append(piece)
                if not message.get("more_body"):
                    done = True
                    return parts[0] if len(parts) == 1 else b"".join(parts)
    except TimeoutError as error:
        slow = malformed(f"the body did not arrive within {timeout_s:g} s")
        slow.status = 408
        raise slow from error
    finally:
        if not done:
            admission.drop(size)


class Delivery:
    """The answer on its way to the client."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.status: int | None = None
        """None until the head was sent."""
        self.finished = False
        self._opening = asyncio.Lock()

    @property
    def opened(self) -> bool:
        """Whether the client has got the head."""
        return self.status is not None

    async def open(self, status: int, headers: Mapping[str, str], first: bytes = b"") -> None:
        """Send the head and the first piece, unless another task has already."""
        async with self._opening:
            if self.status is not None:
                if first:
                    await self.write(first)
                return
            self.status = status
            raw = [(k.encode("latin-1"), v.encode("latin-1")) for k, v in headers.items()]
            await self._send({"type": "http.response.start", "status": status, "headers": raw})
            if first:
                await self.write(first)

    async def write(self, data: bytes) -> None:
        """Send a piece; waits while the client does not read."""
        await self._send({"type": "http.response.body", "body": data, "more_body": True})

    async def finish(self, data: bytes = b"") -> None:
        """Send the last piece."""
        self.finished = True
        await self._send({"type": "http.response.body", "body": data, "more_body": False})

    async def whole(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        """Send an answer in one."""
        length = {"content-length": str(len(body))}
        await self.open(status, {**headers, **length})
        await self.finish(body)
