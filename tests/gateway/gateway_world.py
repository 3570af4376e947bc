"""A scripted model server, a gateway in front of it, and real clients in front of that."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import anthropic
import openai
from pydantic import SecretStr

from uniclaw.gateway.admission import DoorLimits
from uniclaw.gateway.exchange import Api, WireExchange
from uniclaw.gateway.gateway import Door, Gateway
from uniclaw.gateway.upstream import ProviderUpstream, UpstreamSpec
from uniclaw.models.metering import SpendLimits
from uniclaw.models.retry import RetryPolicy, Timing
from uniclaw.models.script import ScriptedError, parse_script
from uniclaw.models.script_reply import Reply
from uniclaw.pricing import PriceTable
from uniclaw.records import Usage
from uniclaw.testing.wire import Fault, ScriptedServer
from uniclaw.testing.wire_replies import error_frame, stream_frames
from uniclaw.testing.wire_requests import parse_request

APIS: tuple[Api, ...] = ("chat", "responses", "messages")
KEY = "sk-provider-key-0123456789"
MODEL = "scripted-model"
NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
PRICES = PriceTable.model_validate(
    {
        "version": "t",
        "source": "test",
        "models": {
            "openai/m": {"input": 1.0, "cache_read": 0.1, "cache_write": 1.25, "output": 10}
        },
    }
)
PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"
    "+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
SHELL_SCHEMA: dict[str, object] = {
    "type": "object",
    "properties": {"command": {"type": "string"}},
    "required": ["command"],
}


class Naps:
    """Takes the place of sleep: remembers, and moves the clock."""

    def __init__(self) -> None:
        self.taken: list[float] = []
        self.at = 1000.0

    async def __call__(self, seconds: float) -> None:
        self.taken.append(seconds)
        self.at += seconds
        await asyncio.sleep(0)

    def monotonic(self) -> float:
        return self.at


class World(NamedTuple):
    """Everything of one test."""

    server: ScriptedServer
    gateway: Gateway
    door: Door
    exchanges: list[WireExchange]
    naps: Naps
    openai: openai.AsyncOpenAI
    anthropic: anthropic.AsyncAnthropic

    @property
    def last(self) -> WireExchange:
        return self.exchanges[-1]


def provider(
    server: ScriptedServer, apis: Sequence[Api], *, retry: RetryPolicy | None = None, **more: object
) -> ProviderUpstream:
    """The upstream that the scripted server is."""
    url = server.anthropic_url if tuple(apis) == ("messages",) else server.openai_url
    return ProviderUpstream.model_validate(
        {
            "spec": "openai/m",
            "model": MODEL,
            "base_url": url,
            "api_key": SecretStr(KEY),
            "apis": tuple(apis),
            "timeout_s": 10,
            "retry": retry or RetryPolicy(),
            **more,
        }
    )


@asynccontextmanager
async def world(
    rules: list[object],
    *faults: Fault,
    apis: Sequence[Api] = ("chat",),
    limits: SpendLimits | None = None,
    door_limits: DoorLimits | None = None,
    retry: RetryPolicy | None = None,
    watch: Callable[[str, str], None] | None = None,
    sockets: Path | None = None,
    upstream: UpstreamSpec | None = None,
    **more: object,
) -> AsyncGenerator[World]:
    """Start everything, with one open episode named `e1`."""
    naps = Naps()
    timing = Timing(sleep=naps, monotonic=naps.monotonic, now=lambda: NOW)
    exchanges: list[WireExchange] = []
    async with (
        ScriptedServer(parse_script({"rules": rules}), faults=faults) as server,
        Gateway(port=0, prices=PRICES, timing=timing, sockets=sockets) as gateway,
    ):
        spec = upstream or provider(server, apis, retry=retry, **more)
        door = await gateway.open_episode(
            "e1", spec, limits, exchanges.append, watch, door_limits=door_limits
        )
        async with (
            openai_client(gateway.url, door.token) as first,
            anthropic_client(gateway.url, door.token) as second,
        ):
            yield World(server, gateway, door, exchanges, naps, first, second)


def openai_client(url: str, token: str) -> openai.AsyncOpenAI:
    return openai.AsyncOpenAI(api_key=token, base_url=f"{url}/v1", max_retries=0, timeout=20)


def anthropic_client(url: str, token: str) -> anthropic.AsyncAnthropic:
    return anthropic.AsyncAnthropic(api_key=token, base_url=url, max_retries=0, timeout=20)


def say(text: str = "good day to you", **more: object) -> dict[str, object]:
    return {"reply": {"text": text, "chunk_chars": 4, **more}}


# --- bare HTTP ---------------------------------------------------------------------------


class Answer(NamedTuple):
    """A raw answer."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> dict[str, object]:
        return json.loads(self.body)


def post(
    path: str, body: bytes | dict[str, object], token: str | None = None, **headers: str
) -> bytes:
    """The bytes of a request."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    lines = [f"POST {path} HTTP/1.1", "host: gateway", f"content-length: {len(data)}"]
    if token is not None:
        lines.append(f"authorization: Bearer {token}")
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode() + data


def chat_body(text: str = "hello", **more: object) -> dict[str, object]:
    return {"model": MODEL, "messages": [{"role": "user", "content": text}], **more}


async def raw(where: str | Path, request: bytes, *, timeout_s: float = 10.0) -> Answer:
    """Send bytes to the port or to a socket, and read one answer whole."""
    async with asyncio.timeout(timeout_s):
        reader, writer = await dial(where)
        try:
            writer.write(request)
            return await read_answer(reader)
        finally:
            writer.close()


async def dial(where: str | Path) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    if isinstance(where, Path):
        return await asyncio.open_unix_connection(str(where))
    host, _, port = where.removeprefix("http://").partition(":")
    return await asyncio.open_connection(host, int(port))


async def read_answer(reader: asyncio.StreamReader) -> Answer:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *rest = head.strip().split("\r\n")
    headers = {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in rest)}
    status = int(first.split(" ")[1])
    if "content-length" in headers:
        return Answer(status, headers, await reader.readexactly(int(headers["content-length"])))
    body = b""
    while True:
        size = int((await reader.readline()).strip() or b"0", 16)
        body += await reader.readexactly(size)
        await reader.readline()
        if size == 0:
            return Answer(status, headers, body)


# --- servers that answer in their own way ------------------------------------------------


@asynccontextmanager
async def pausing_server(*pieces: bytes, pause_s: float = 0.05) -> AsyncGenerator[str]:
    """A server that gives the same bytes to every request, with pauses between; its address."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        gone: asyncio.Task[bytes] | None = None
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
            await reader.readexactly(length)
            gone = asyncio.create_task(reader.read())
            for index, piece in enumerate(pieces):
                if index:
                    await asyncio.wait({gone}, timeout=pause_s)
                writer.write(piece)
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # the gateway hung up
        finally:
            if gone is not None:
                gone.cancel()
            writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    async with server:
        host, port = server.sockets[0].getsockname()[:2]
        yield f"http://{host}:{port}"
        await asyncio.sleep(0.05)  # for the gateway's hang-ups to arrive


def http_head(kind: str = "text/event-stream", status: str = "200 OK") -> bytes:
    return f"HTTP/1.1 {status}\r\ncontent-type: {kind}\r\n\r\n".encode()


def half_stream(api: Api) -> bytes:
    """The opening of a streamed answer and one piece of its text."""
    wire = parse_request(
        api,
        {
            "model": MODEL,
            "stream": True,
            "messages": [{"role": "user", "content": "hello"}],
            "input": "hello",
        },
    )
    reply = Reply("some of the answer", (), "stop", Usage(input=9, output=4), chunk_chars=18)
    data = b""
    for frame in stream_frames(wire, reply):
        data += frame.data
        if frame.content:
            break
    return data


def error_event_of(api: Api, code: str) -> bytes:
    wire = parse_request(api, {"model": MODEL, "messages": [], "input": "x"})
    return error_frame(wire, ScriptedError(code=code, message="too busy")).data
