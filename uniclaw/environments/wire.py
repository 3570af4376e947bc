"""The Docker engine as we use it: the SDK's low-level client with types, and its raw streams.

Must not know what an environment or an image recipe is.
"""

import select
import socket
import struct
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import IO, Literal, Protocol, cast

from pydantic import JsonValue

from uniclaw.environments.output import Stream
from uniclaw.errors import EngineError

Json = Mapping[str, JsonValue]


_FRAME_HEADER = struct.Struct(">BxxxL")
_STDERR = 2
_RECV_BYTES = 1 << 16
_FIRST_IDLE_S, _LAST_IDLE_S = 0.05, 0.5


class DockerApi(Protocol):
    """The part of `docker.APIClient` that is used here, typed."""

    base_url: str

    @property
    def api_version(self) -> str:
        """Negotiated version, like `1.41`."""
        ...

    def ping(self) -> bool:
        """Whether the engine answers."""
        ...

    def close(self) -> None:
        """Release connections."""
        ...

    def version(self) -> Json:
        """Versions of the engine's parts."""
        ...

    def info(self) -> Json:
        """What the engine runs on."""
        ...

    def create_host_config(self, **options: object) -> Mapping[str, object]:
        """Build a HostConfig."""
        ...

    def create_container(
        self,
        image: str,
        command: Sequence[str] | None = None,
        *,
        hostname: str | None = None,
        user: str | None = None,
        stdin_open: bool = False,
        environment: Mapping[str, str] | None = None,
        name: str | None = None,
        entrypoint: Sequence[str] | None = None,
        working_dir: str | None = None,
        host_config: Mapping[str, object] | None = None,
        labels: Mapping[str, str] | None = None,
    ) -> Json:
        """Create; the answer holds `Id`."""
        ...

    def start(self, container: str) -> None:
        """Start a created container."""
        ...

    def wait(self, container: str, timeout: float | None = None) -> Json:
        """Wait for its end; the answer holds `StatusCode`."""
        ...

    def inspect_container(self, container: str) -> Json:
        """Everything of a container."""
        ...

    def remove_container(self, container: str, *, v: bool = False, force: bool = False) -> None:
        """Remove."""
        ...

    def containers(
        self, *, all: bool, filters: Mapping[str, object], size: bool = False
    ) -> Sequence[Json]:
        """List."""
        ...

    def kill(self, container: str, signal: str | None = None) -> None:
        """Send a signal to its init; SIGKILL if None."""
        ...

    def create_network(
        self, name: str, *, labels: Mapping[str, str], internal: bool = False
    ) -> Json:
        """Create."""
        ...

    def create_volume(self, name: str, *, labels: Mapping[str, str]) -> Json:
        """Create."""
        ...

    def networks(self, *, filters: Mapping[str, object]) -> Sequence[Json]:
        """List."""
        ...

    def remove_network(self, net_id: str) -> None:
        """Remove."""
        ...

    def volumes(self, *, filters: Mapping[str, object]) -> Json:
        """List; under the key `Volumes`."""
        ...

    def remove_volume(self, name: str, *, force: bool = False) -> None:
        """Remove."""
        ...

    def images(self, *, filters: Mapping[str, object]) -> Sequence[Json]:
        """List."""
        ...

    def inspect_image(self, image: str) -> Json:
        """Everything of an image."""
        ...

    def remove_image(self, image: str, *, force: bool = False) -> object:
        """Remove."""
        ...

    def tag(self, image: str, repository: str, tag: str) -> bool:
        """Name an image."""
        ...

    def pause(self, container: str) -> None:
        """Freeze all processes."""
        ...

    def unpause(self, container: str) -> None:
        """Let them run."""
        ...

    def put_archive(self, container: str, path: str, data: bytes | IO[bytes]) -> bool:
        """Unpack a tar."""
        ...

    def commit(
        self,
        container: str,
        *,
        repository: str,
        tag: str,
        pause: bool = True,
        conf: Mapping[str, object] | None = None,
    ) -> Json:
        """Save the file system as an image; the answer holds `Id`."""
        ...

    def exec_create(
        self,
        container: str,
        cmd: Sequence[str],
        *,
        stdin: bool = False,
        user: str = "",
        environment: Mapping[str, str] | None = None,
        workdir: str | None = None,
    ) -> Json:
        """Prepare a command; the answer holds `Id`."""
        ...

    def exec_start(self, exec_id: str, *, socket: Literal[True]) -> object:
        """Start it and hand over the connection."""
        ...

    def exec_inspect(self, exec_id: str) -> Json:
        """`Running`, `ExitCode`, `Pid`."""
        ...

    def attach_socket(self, container: str, params: Mapping[str, int]) -> object:
        """Attach to a container's streams."""
        ...

    def pull(self, repository: str, *, tag: str, stream: Literal[True]) -> Iterator[bytes]:
        """Pull, progress as JSON lines."""
        ...

    def import_image(self, src: str, *, repository: str, tag: str, changes: Sequence[str]) -> str:
        """Make an image of a tar file."""
        ...

    def head(self, url: str, *, params: Mapping[str, str], timeout: float) -> "Answer":
        """`requests.Session.head`."""
        ...

    def get(self, url: str, *, params: Mapping[str, str], timeout: float, stream: bool) -> "Answer":
        """`requests.Session.get`."""
        ...


class Answer(Protocol):
    """What is used of a `requests.Response`."""

    status_code: int
    headers: Mapping[str, str]

    def iter_content(self, chunk_size: int) -> Iterator[bytes]:
        """The body as it comes."""
        ...

    def close(self) -> None:
        """Drop the rest of the body."""
        ...


def text_of(value: JsonValue | None) -> str:
    """A string field of the engine's answer; anything else is a protocol error."""
    if not isinstance(value, str):
        raise EngineError(f"the engine answered {value!r} where a string was expected")
    return value


def mapping_of(value: JsonValue | None) -> dict[str, JsonValue]:
    """An object field of the engine's answer; null and absence read as empty."""
    return value if isinstance(value, dict) else {}


class Frames:
    """Incremental parser of the engine's multiplexed streams; hands out pieces as they come."""

    def __init__(self) -> None:
        self._header = b""
        self._stream: Stream = "stdout"
        self._left = 0

    def feed(self, data: bytes) -> Iterator[tuple[Stream, bytes]]:
        """Pieces of payload in `data`, with the stream each belongs to."""
        view = memoryview(data)
        while view:
            if self._left == 0:
                need = _FRAME_HEADER.size - len(self._header)
                self._header += bytes(view[:need])
                view = view[need:]
                if len(self._header) < _FRAME_HEADER.size:
                    return
                kind, self._left = cast("tuple[int, int]", _FRAME_HEADER.unpack(self._header))
                self._stream = "stderr" if kind == _STDERR else "stdout"
                self._header = b""
                continue
            piece = bytes(view[: self._left])
            view = view[self._left :]
            self._left -= len(piece)
            yield self._stream, piece


class _Buffered(Protocol):
    def peek(self, size: int = 0, /) -> bytes: ...
    def read1(self, size: int = -1, /) -> bytes: ...


class Connection:
    """The connection of an exec or attach after the upgrade: a raw, non-blocking socket.

    The HTTP client may have read the first bytes of the stream together with the response's
    headers; they are taken from its buffer, where plain use of the SDK's socket loses them.
    """

    def __init__(self, raw: object) -> None:
        response: object = getattr(raw, "_response")  # noqa: B009 - private in the SDK
        buffered: object = response
        for step in ("raw", "_fp", "fp"):
            buffered = getattr(buffered, step)
        self._response = cast("IO[bytes]", response)
        self._socket = cast("socket.socket", getattr(raw, "_sock", raw))
        self._socket.setblocking(False)
        reader = cast("_Buffered", buffered)
        self._early = reader.read1(len(early)) if (early := reader.peek()) else b""
        self.at_end = False
        """The other side ended the stream."""

    def receive(
        self, stdin: bytes = b"", *, deadline: float, idle_s: float | None = None
    ) -> Iterator[bytes]:
        """Send `stdin` and yield what comes, until the end of the stream or the deadline.

        `deadline` is in `time.monotonic()`. An empty piece means that nothing came for
        `idle_s` (growing from a twentieth to half a second if None). Afterwards `at_end`
        says which end it was.
        """
        if self._early:
            yield self._early
            self._early = b""
        pending = memoryview(stdin)
        if not pending:
            self._end_input()
        wait_s = idle_s or _FIRST_IDLE_S
        while not self.at_end:
            left = deadline - time.monotonic()
            if left <= 0:
                return
            readable, writable, _ = select.select(
                [self._socket], [self._socket] if pending else [], [], min(left, wait_s)
            )
            if writable:
                pending = self._send(pending)
            if readable:
                data = self._read()
                if data:
                    yield data
            elif not writable:
                yield b""
                wait_s = idle_s or min(wait_s * 2, _LAST_IDLE_S)

    def pump(
        self,
        stdin: bytes,
        on_data: Callable[[bytes], None],
        on_idle: Callable[[], bool],
        *,
        deadline: float,
        idle_s: float | None = None,
    ) -> Literal["eof", "deadline", "idle"]:
        """Receive until the end of the stream, the deadline, or `on_idle` says stop."""
        for data in self.receive(stdin, deadline=deadline, idle_s=idle_s):
            if data:
                on_data(data)
            elif on_idle():
                return "idle"
        return "eof" if self.at_end else "deadline"

    def _send(self, pending: memoryview) -> memoryview:
        try:
            pending = pending[self._socket.send(pending[:_RECV_BYTES]) :]
        except BlockingIOError:
            return pending
        except OSError:
            # The program ended without reading its input; its output is still to be read.
            return memoryview(b"")
        if not pending:
            self._end_input()
        return pending

    def _end_input(self) -> None:
        try:
            self._socket.shutdown(socket.SHUT_WR)
        except OSError:
            return

    def _read(self) -> bytes:
        try:
            data = self._socket.recv(_RECV_BYTES)
        except BlockingIOError:
            return b""
        except OSError:
            data = b""
        self.at_end = not data
        return data

    def close(self) -> None:
        """Close the connection; what the program writes from now on is lost."""
        self._response.close()
        self._socket.close()
