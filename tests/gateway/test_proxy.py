"""The recording proxy: what it carries, what it refuses, what it keeps."""

import asyncio
import gzip
import ssl
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from uniclaw.errors import FirewallBreach, UserError
from uniclaw.gateway.proxy import rules as rules_module
from uniclaw.gateway.proxy.certificates import Authority
from uniclaw.gateway.proxy.log import MAX_BODY, NetworkRequest
from uniclaw.gateway.proxy.proxy import RecordingProxy
from uniclaw.gateway.proxy.rules import Denied, Rules, parse_pattern

CLOSE = ("Connection: close",)


class Web(NamedTuple):
    """A server of ours on loopback."""

    port: int
    seen: list[bytes]


@asynccontextmanager
async def web(answer: bytes, context: ssl.SSLContext | None = None) -> AsyncGenerator[Web]:
    """Answers every request with the same bytes, and closes."""
    seen: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = 0
        for line in head.split(b"\r\n"):
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        seen.append(head + (await reader.readexactly(length) if length else b""))
        writer.write(answer)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context)
    async with server:
        yield Web(server.sockets[0].getsockname()[1], seen)


def reply(body: bytes, *headers: str, status: str = "200 OK") -> bytes:
    lines = [f"HTTP/1.1 {status}", f"content-length: {len(body)}", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


class Rig(NamedTuple):
    """A proxy that is open."""

    proxy: RecordingProxy
    authority: Authority
    socket: Path
    kept: list[bytes]

    async def ask(self, request: bytes) -> bytes:
        """One plain request to the proxy."""
        reader, writer = await asyncio.open_unix_connection(str(self.socket))
        writer.write(request)
        answer = await reader.read()
        writer.close()
        return answer

    async def ask_inside(self, host: str, port: int, request: bytes) -> bytes:
        """One request through a CONNECT, checking the proxy's certificate as an agent would."""
        reader, writer = await asyncio.open_unix_connection(str(self.socket))
        writer.write(f"CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode())
        head = await reader.readuntil(b"\r\n\r\n")
        if b" 200 " not in head:
            answer = head + await reader.read()
            writer.close()
            return answer
        trust = ssl.create_default_context(cadata=self.authority.pem.decode())
        await writer.start_tls(trust, server_hostname=host)
        writer.write(request)
        answer = await reader.read()
        writer.close()
        return answer

    def only(self) -> NetworkRequest:
        """The one request of the log."""
        (line,) = self.proxy.log().requests
        return line


@asynccontextmanager
async def rig(
    tmp_path: Path,
    rules: Rules,
    *,
    watch: Callable[[str, str], None] = lambda _where, _text: None,
    trust: ssl.SSLContext | None = None,
) -> AsyncGenerator[Rig]:
    kept: list[bytes] = []

    def keep(data: bytes) -> str:
        kept.append(data)
        return str(len(kept))

    authority, socket = Authority(), tmp_path / "proxy.sock"
    proxy = RecordingProxy(socket, rules, authority, keep=keep, watch=watch, trust=trust)
    await proxy.open()
    try:
        yield Rig(proxy, authority, socket, kept)
    finally:
        await proxy.close()
    assert not socket.exists()


def local(port: int, network: tuple[str, ...] | None = None) -> Rules:
    names = network if network is not None else (f"localhost:{port}",)
    return Rules.of(names, frozenset({("localhost", port)}))


def get(port: int, path: str = "/a?b=1", *headers: str) -> bytes:
    lines = [
        f"GET http://localhost:{port}{path} HTTP/1.1",
        "Host: other.example",
        *(headers or CLOSE),
        "",
        "",
    ]
    return "\r\n".join(lines).encode()


async def test_a_plain_request_is_carried_and_kept(tmp_path: Path) -> None:
    async with (
        web(reply(b"hello", "content-type: text/plain")) as site,
        rig(tmp_path, local(site.port)) as way,
    ):
        way.proxy.begin_round(2)
        answer = await way.ask(get(site.port))
        line = way.only()
    assert answer.startswith(b"HTTP/1.1 200")
    assert answer.endswith(b"hello")
    assert (line.method, line.status, line.outcome, line.round) == ("GET", 200, "answered", 2)
    assert line.url == f"http://localhost:{site.port}/a?b=1"
    assert line.response is not None
    assert way.kept[int(line.response.sha256) - 1] == b"hello"
    # The host that was looked at is the host that is asked, whatever the agent wrote.
    assert f"host: localhost:{site.port}".encode() in site.seen[0].lower()
    assert b"other.example" not in site.seen[0]


async def test_a_body_is_sent_on_and_both_are_kept(tmp_path: Path) -> None:
    packed = gzip.compress(b"an answer")
    async with (
        web(reply(packed, "content-encoding: gzip")) as site,
        rig(tmp_path, local(site.port)) as way,
    ):
        request = (
            f"POST http://localhost:{site.port}/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
            "Proxy-Authorization: Basic eA==\r\nContent-Length: 5\r\n\r\nhello"
        )
        answer = await way.ask(request.encode())
        line = way.only()
    assert answer.endswith(packed)
    assert site.seen[0].endswith(b"hello")
    assert b"proxy-authorization" not in site.seen[0].lower()
    assert line.response is not None
    assert line.response.decoded
    assert way.kept == [b"hello", b"an answer"]


async def test_https_is_opened_here_and_the_server_s_certificate_is_checked(tmp_path: Path) -> None:
    other = Authority()
    trust = ssl.create_default_context(cadata=other.pem.decode())
    request = b"GET /secret HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    async with (
        web(reply(b"sealed"), other.context_for("localhost")) as site,
        rig(tmp_path, local(site.port), trust=trust) as way,
    ):
        answer = await way.ask_inside("localhost", site.port, request)
        line = way.only()
        async with rig(tmp_path, local(site.port)) as distrusting:
            refused = await distrusting.ask_inside("localhost", site.port, request)
            failed = distrusting.only()
    assert answer.endswith(b"sealed")
    assert line.url == f"https://localhost:{site.port}/secret"
    assert b" 502 " in refused.split(b"\r\n")[0] + b" "
    assert failed.outcome == "failed"
    assert "ertificate" in str(failed.reason) or "CERTIFICATE" in str(failed.reason)


async def test_fault_2_a_host_that_is_not_listed_is_refused_and_logged(tmp_path: Path) -> None:
    async with web(reply(b"no")) as site, rig(tmp_path, local(site.port, ("example.org",))) as way:
        answer = await way.ask(get(site.port))
        tunnel = await way.ask_inside("localhost", site.port, b"")
        lines = way.proxy.log().requests
    assert answer.startswith(b"HTTP/1.1 403")
    assert tunnel.startswith(b"HTTP/1.1 403")
    assert [line.outcome for line in lines] == ["denied", "denied"]
    assert site.seen == []


@pytest.mark.parametrize(
    "host", ["localhost", "127.0.0.1", "169.254.169.254", "10.0.0.1", "[::1]", "[::ffff:127.0.0.1]"]
)
async def test_an_open_network_does_not_reach_this_machine(tmp_path: Path, host: str) -> None:
    async with rig(tmp_path, Rules.of("open")) as way:
        answer = await way.ask(
            f"GET http://{host}/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode()
        )
        line = way.only()
    assert answer.startswith(b"HTTP/1.1 403")
    assert line.outcome == "denied"


async def test_a_name_that_resolves_inside_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop = asyncio.get_running_loop()

    async def resolve(*_: object, **__: object) -> list[object]:
        return [(2, 1, 6, "", ("93.184.216.34", 80)), (2, 1, 6, "", ("192.168.1.1", 80))]

    monkeypatch.setattr(loop, "getaddrinfo", resolve)
    with pytest.raises(Denied, match="inside"):
        await Rules.of(("rebound.example",)).addresses("rebound.example", 80)
    assert rules_module.WEB_PORTS == (80, 443)


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"GET /no-host HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
        b"GET ftp://localhost/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
        b"GET http://localhost:99999/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
        b"CONNECT :443 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    ],
)
async def test_what_is_no_request_for_a_host_is_refused(
    tmp_path: Path, request_bytes: bytes
) -> None:
    async with rig(tmp_path, Rules.of("open")) as way:
        answer = await way.ask(request_bytes)
        assert answer.startswith(b"HTTP/1.1 403")
        assert way.only().outcome == "denied"


async def test_garbage_closes_the_connection_alone(tmp_path: Path) -> None:
    async with web(reply(b"still here")) as site, rig(tmp_path, local(site.port)) as way:
        assert b"200" not in await way.ask(b"\x16\x03\x01\x00\xff garbage\r\n\r\n")
        assert (await way.ask(get(site.port))).endswith(b"still here")


async def test_another_protocol_is_not_carried(tmp_path: Path) -> None:
    async with web(reply(b"no")) as site, rig(tmp_path, local(site.port)) as way:
        headers = ("Connection: Upgrade", "Upgrade: websocket")
        answer = await way.ask(get(site.port, "/", *headers))
    assert answer.startswith(b"HTTP/1.1 403")
    assert site.seen == []


async def test_a_body_past_the_limit_goes_through_and_is_kept_in_part(tmp_path: Path) -> None:
    big = b"x" * (MAX_BODY + 100_000)
    async with web(reply(big)) as site, rig(tmp_path, local(site.port)) as way:
        answer = await way.ask(get(site.port))
        line = way.only()
    assert answer.endswith(big)
    assert line.response is not None
    assert (line.response.kept_bytes, line.response.total_bytes) == (MAX_BODY, len(big))


async def test_half_an_answer_is_closed_and_said_to_be_failed(tmp_path: Path) -> None:
    async with (
        web(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf") as site,
        rig(tmp_path, local(site.port)) as way,
    ):
        answer = await way.ask(get(site.port))
        assert way.only().outcome == "failed"
    assert answer.endswith(b"half")


async def test_hidden_text_does_not_leave(tmp_path: Path) -> None:
    def watch(where: str, text: str) -> None:
        if "CANARY" in text:
            raise FirewallBreach(where)

    async with web(reply(b"no")) as site, rig(tmp_path, local(site.port), watch=watch) as way:
        await way.ask(get(site.port, "/?q=CANARY"))
        assert isinstance(way.proxy.breach, FirewallBreach)
    assert site.seen == []


@pytest.mark.parametrize("text", ["", "http://x", "a b", "x:0", "x:70000", "*", "x/y", "-x.org"])
def test_an_entry_that_is_no_host_is_refused(text: str) -> None:
    with pytest.raises(UserError, match="network"):
        parse_pattern(text)


def test_patterns_match_whole_names() -> None:
    below = parse_pattern("*.example.org")
    assert below.matches("a.example.org", 443)
    assert not below.matches("example.org", 443)
    assert not below.matches("badexample.org", 443)
    assert not below.matches("a.example.org", 8080)
    assert parse_pattern("x.org:8080").matches("x.org", 8080)
    assert not parse_pattern("x.org:8080").matches("x.org", 443)
