"""The client towards the upstream: framing, kept connections, silence, TLS, proxies."""

import asyncio
import ssl
import subprocess
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from uniclaw.gateway.http_client import HttpPool, TooLarge
from uniclaw.gateway.http_connection import UpstreamBroken

Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def serving(handler: Handler, context: ssl.SSLContext | None = None) -> AsyncGenerator[str]:
    """A server; its `host:port`."""
    running: set[asyncio.Task[None]] = set()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is not None:
            running.add(task)
            task.add_done_callback(running.discard)
        try:
            await handler(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0, ssl=context)
    async with server:
        host, port = server.sockets[0].getsockname()[:2]
        yield f"{host}:{port}"
        for task in list(running):
            task.cancel()
        await asyncio.sleep(0.02)


@asynccontextmanager
async def pool(**more: object) -> AsyncGenerator[HttpPool]:
    made = HttpPool(**more)  # pyright: ignore[reportArgumentType] - a context or a timeout
    yield made
    made.close()
    await asyncio.sleep(0.02)


async def read_request(reader: asyncio.StreamReader) -> tuple[bytes, bytes]:
    head = await reader.readuntil(b"\r\n\r\n")
    length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
    return head, await reader.readexactly(length)


def answering(answer: bytes, *, close: bool = False, seen: list[bytes] | None = None) -> Handler:
    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            head, body = await read_request(reader)
            if seen is not None:
                seen.append(head + body)
            writer.write(answer)
            await writer.drain()
            if close:
                return

    return handle


async def ask(made: HttpPool, address: str, *, scheme: str = "http", **more: object) -> bytes:
    timeout_s = float(str(more.pop("timeout_s", 5)))
    reply = await made.post(
        f"{scheme}://{address}/v1/x?y=1",
        [("authorization", "Bearer k")],
        b"body",
        timeout_s=timeout_s,
        **more,  # pyright: ignore[reportArgumentType] - only `proxy`
    )
    return await reply.read(1_000_000)


ANSWERS = {
    "length": (b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello", False),
    "chunked": (
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n",
        False,
    ),
    "until the end": (b"HTTP/1.0 200 OK\r\n\r\nhello", True),
    "early hints": (
        b"HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n"
        b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello",
        False,
    ),
}


@pytest.mark.parametrize("kind", ANSWERS)
async def test_every_framing_is_read(kind: str) -> None:
    answer, close = ANSWERS[kind]
    seen: list[bytes] = []
    async with serving(answering(answer, close=close, seen=seen)) as address, pool() as made:
        assert await ask(made, address) == b"hello"
        assert await ask(made, address) == b"hello"
        assert seen[0].startswith(b"POST /v1/x?y=1 HTTP/1.1\r\nhost: 127.0.0.1:")
        assert seen[0].endswith(b"body")


async def test_a_kept_connection_that_was_closed_is_replaced_in_silence() -> None:
    async def once(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(ANSWERS["length"][0])
        await writer.drain()
        await read_request(reader)  # the second is read and never answered

    async with serving(once) as address, pool() as made:
        for _ in range(3):
            assert await ask(made, address) == b"hello"


BROKEN = {
    "closed": b"",
    "no http": b"SSH-2.0-OpenSSH\r\n\r\n",
    "short": b"HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\nhello",
    "half a chunk": b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n20\r\nhello",
    "both": b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
    "endless head": b"HTTP/1.1 200 OK\r\nx: " + b"a" * 400_000,
    "upgrade": b"HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n",
}


@pytest.mark.parametrize("kind", BROKEN)
async def test_a_broken_answer_is_told(kind: str) -> None:
    async with serving(answering(BROKEN[kind], close=True)) as address, pool() as made:
        with pytest.raises(UpstreamBroken):
            await ask(made, address)


async def test_silence_is_told_and_slow_answers_are_not_silence() -> None:
    async def slow(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\n")
        for piece in (b"ab", b"cd", b"ef"):
            await asyncio.sleep(0.15)
            writer.write(piece)
            await writer.drain()

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        await asyncio.sleep(5)

    async with pool() as made:
        async with serving(slow) as address:
            assert await ask(made, address, timeout_s=0.3) == b"abcdef"
        async with serving(silent) as address:
            with pytest.raises(UpstreamBroken, match="silent"):
                await ask(made, address, timeout_s=0.2)


async def test_an_answer_over_the_cap_is_cut() -> None:
    async with serving(answering(ANSWERS["length"][0])) as address, pool() as made:
        reply = await made.post(f"http://{address}/", [], b"", timeout_s=5)
        with pytest.raises(TooLarge):
            await reply.read(4)


async def test_a_reader_that_stops_pauses_the_server() -> None:
    sent = 0

    async def flood(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        await read_request(reader)
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        while sent < 200_000_000:
            writer.write(b"x" * 100_000)
            await writer.drain()
            sent += 100_000

    async with serving(flood) as address, pool() as made:
        reply = await made.post(f"http://{address}/", [], b"", timeout_s=5)
        await asyncio.sleep(0.3)
        assert sent < 20_000_000
        reply.close()


async def test_no_line_end_gets_into_a_header() -> None:
    async with pool() as made:
        with pytest.raises(ValueError, match="line end"):
            await made.post("http://127.0.0.1:1/", [("a", "b\r\nc: d")], b"", timeout_s=1)


async def test_no_connection_says_that_nothing_was_sent() -> None:
    async with pool() as made:
        with pytest.raises(UpstreamBroken) as caught:
            await ask(made, "127.0.0.1:9")
        assert not caught.value.sent


# --- TLS and proxies ---------------------------------------------------------------------


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate of 127.0.0.1, with its key."""
    path = tmp_path_factory.mktemp("tls") / "both.pem"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
    command += ["-nodes", "-days", "2", "-subj", "/CN=127.0.0.1", "-keyout", str(path)]
    command += ["-addext", "subjectAltName=IP:127.0.0.1", "-out", str(path.with_suffix(".crt"))]
    subprocess.run(command, check=True, capture_output=True)
    both = path.read_bytes() + path.with_suffix(".crt").read_bytes()
    path.write_bytes(both)
    return path


def server_context(certificate: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return context


async def test_tls_is_spoken_and_checked(certificate: Path) -> None:
    trusting = ssl.create_default_context(cafile=str(certificate))
    handler = answering(ANSWERS["length"][0])
    async with serving(handler, server_context(certificate)) as address:
        async with pool(context=trusting) as made:
            assert await ask(made, address, scheme="https") == b"hello"
            assert await ask(made, address, scheme="https") == b"hello"
        async with pool() as made:
            with pytest.raises(UpstreamBroken, match="certificate"):
                await ask(made, address, scheme="https")


async def test_a_proxy_is_asked_for_a_tunnel(certificate: Path) -> None:
    seen: list[bytes] = []

    async def proxy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        seen.append(head)
        host, _, port = head.split(b" ")[1].decode().partition(":")
        if port == "1":
            writer.write(b"HTTP/1.1 403 Forbidden\r\n\r\n")
            return
        inner_reader, inner_writer = await asyncio.open_connection(host, int(port))
        writer.write(b"HTTP/1.1 200 Established\r\n\r\n")

        async def pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
            while data := await source.read(65_536):
                sink.write(data)
                await sink.drain()

        both = [
            asyncio.create_task(pump(reader, inner_writer)),
            asyncio.create_task(pump(inner_reader, writer)),
        ]
        try:
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in both:
                task.cancel()
            inner_writer.close()

    trusting = ssl.create_default_context(cafile=str(certificate))
    handler = answering(ANSWERS["length"][0])
    async with (
        serving(handler, server_context(certificate)) as address,
        serving(proxy) as between,
        pool(context=trusting) as made,
    ):
        via = f"http://{between}"
        assert await ask(made, address, scheme="https", proxy=via) == b"hello"
        assert seen[0].startswith(b"CONNECT 127.0.0.1:")
        assert b"Bearer" not in seen[0]
        with pytest.raises(UpstreamBroken, match="proxy refused"):
            await ask(made, "127.0.0.1:1", scheme="https", proxy=via)


async def test_a_proxy_gets_the_whole_address_of_a_plain_request() -> None:
    seen: list[bytes] = []
    async with serving(answering(ANSWERS["length"][0], seen=seen)) as between, pool() as made:
        assert await ask(made, "model.example", proxy=f"http://{between}") == b"hello"
        assert seen[0].startswith(b"POST http://model.example/v1/x?y=1 HTTP/1.1\r\nhost: model.exa")
