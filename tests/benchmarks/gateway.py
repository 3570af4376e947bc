"""What a hop through the gateway costs, against a direct call to the same server.

    python -m tests.benchmarks.gateway [--requests N] [--repeat N] [--loop asyncio|uvloop]

Three processes: a scripted model server, the gateway, and this client; so the gateway's
memory is its own. Direct and gateway calls alternate in one run, and the medians of the two
give each ratio. The server answers without delay, which is the hardest case: a real model
takes hundreds of milliseconds to its first token. `paced` shows a server that does take time
(20 ms a chunk), `sdk` the official client that harnesses use in place of bare sockets; its own
work is in both sides of its ratio. The target is judged for each of the three.
Ends with one line of JSON.
"""

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import NamedTuple

CHUNKS = 24
TEXT = "lorem ip" * CHUNKS
SYSTEM = "You are a careful assistant that works in a terminal. " * 80
TOOL = {
    "type": "function",
    "function": {
        "name": "shell",
        "description": "Run a command.",
        "parameters": {"type": "object", "properties": {"command": {"type": "string"}}},
    },
}
MODEL = "scripted-model"
STREAMS = 32
TARGET = 1.5


# --- the three processes -----------------------------------------------------------------


def serve_model(port: int) -> None:
    """A scripted model server, until killed."""
    import uvicorn

    from uniclaw.models.script import parse_script
    from uniclaw.testing.wire import ScriptedServer

    quick = {"text": TEXT, "chunk_chars": 8}
    slow = {**quick, "chunk_delay_s": 0.02}
    rules = [{"when": {"last_user": "^slow"}, "reply": slow}, {"reply": quick}]
    app = ScriptedServer(parse_script({"rules": rules}), keep_requests=False).app()
    uvicorn.run(app, port=port, log_level="error", access_log=False, lifespan="off")


def run_loop(main: Coroutine[None, None, None], loop: str) -> None:
    """Run on the loop that was asked for."""
    if loop == "uvloop":
        import uvloop

        uvloop.run(main)
    else:
        asyncio.run(main)


async def serve_gateway(upstream: str) -> None:
    """The gateway in front of the server; tells where it is, until killed."""
    from pydantic import SecretStr

    from uniclaw.gateway.exchange import WireExchange
    from uniclaw.gateway.gateway import Gateway
    from uniclaw.gateway.upstream import ProviderUpstream

    seen = [0]

    def count(exchange: WireExchange) -> None:
        seen[0] += exchange.usage is not None

    spec = ProviderUpstream(
        spec="openai/gpt-4o",
        model=MODEL,
        base_url=f"{upstream}/v1",
        api_key=SecretStr("sk-benchmark-key"),
        apis=("chat",),
    )
    async with Gateway(port=0) as gateway:
        door = await gateway.open_episode("bench", spec, on_exchange=count)
        told = {"url": gateway.url, "token": door.token, "socket": str(door.socket_path)}
        print(json.dumps(told), flush=True)
        await asyncio.Event().wait()


# --- a bare client -----------------------------------------------------------------------


class Timed(NamedTuple):
    """One request as the client saw it, in seconds."""

    total_s: float
    first_s: float


def request_bytes(path: str, token: str, *, stream: bool, text: str) -> bytes:
    """A request as a harness sends it: about 5 kB."""
    messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": text}]
    fields: dict[str, object] = {"model": MODEL, "stream": stream}
    if path.endswith("responses"):
        tool = (
            {"type": "function", **TOOL["function"]} if isinstance(TOOL["function"], dict) else {}
        )
        fields |= {"instructions": SYSTEM, "input": text, "tools": [tool]}
    else:
        fields |= {"messages": messages, "tools": [TOOL]}
        if stream:
            fields["stream_options"] = {"include_usage": True}
    body = json.dumps(fields).encode()
    head = (
        f"POST {path} HTTP/1.1\r\nhost: model\r\nauthorization: Bearer {token}\r\n"
        f"content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


class Line:
    """A kept-alive connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def to(cls, url: str) -> "Line":
        """Connect to a loopback address."""
        host, _, port = url.removeprefix("http://").partition(":")
        return cls(*await asyncio.open_connection(host, int(port)))

    async def ask(self, request: bytes) -> Timed:
        """Send and read to the end."""
        began = time.perf_counter()
        self._writer.write(request)
        data = bytearray()
        first = 0.0
        while not _complete(data):
            piece = await self._reader.read(65_536)
            if not piece:
                raise ConnectionError(f"closed after {bytes(data[:300])!r}")
            data += piece
            if not first and b"lorem" in data:
                first = time.perf_counter() - began
        if not data.startswith(b"HTTP/1.1 200") or not first:
            raise ConnectionError(f"bad answer {bytes(data[:300])!r}")
        return Timed(time.perf_counter() - began, first)

    def close(self) -> None:
        """Hang up."""
        self._writer.close()


def _complete(data: bytearray) -> bool:
    if data.endswith(b"0\r\n\r\n"):
        return True
    head, found, body = data.partition(b"\r\n\r\n")
    if not found:
        return False
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            return len(body) >= int(line.split(b":")[1])
    return False


# --- measures ----------------------------------------------------------------------------


class Pair(NamedTuple):
    """Medians of direct and gateway calls, in milliseconds."""

    direct_ms: float
    gateway_ms: float
    direct_first_ms: float
    gateway_first_ms: float

    def line(self, name: str) -> str:
        """One line of the table."""
        return (
            f"{name:<22} {self.direct_ms:8.2f} {self.gateway_ms:8.2f}  x{self.ratio:5.2f}   "
            f"{self.direct_first_ms:8.2f} {self.gateway_first_ms:8.2f}  x{self.first_ratio:5.2f}"
        )

    @property
    def ratio(self) -> float:
        """Whole request."""
        return self.gateway_ms / self.direct_ms

    @property
    def first_ratio(self) -> float:
        """First content."""
        return self.gateway_first_ms / self.direct_first_ms

    def record(self) -> dict[str, float]:
        """For the JSON line."""
        values = self._asdict() | {"ratio": self.ratio, "first_ratio": self.first_ratio}
        return {key: round(value, 3) for key, value in values.items()}


Ask = Callable[[], Awaitable[Timed]]


async def alternate(direct: Ask, through: Ask, repeat: int) -> Pair:
    """Alternate the two, and take medians."""
    for ask in (direct, through):
        for _ in range(5):
            await ask()
    first: list[Timed] = []
    second: list[Timed] = []
    for turn in range(repeat):
        for ask, into in ((direct, first), (through, second))[:: 1 if turn % 2 else -1]:
            into.append(await ask())

    def median(values: list[float]) -> float:
        return statistics.median(values) * 1000

    return Pair(
        median([t.total_s for t in first]),
        median([t.total_s for t in second]),
        median([t.first_s for t in first]),
        median([t.first_s for t in second]),
    )


class Places(NamedTuple):
    """Where the processes are."""

    model: str
    gateway: str
    token: str


async def bare(
    places: Places,
    repeat: int,
    *,
    stream: bool,
    text: str = "hello",
    path: str = "/v1/chat/completions",
) -> Pair:
    """Bare sockets; `path` is the gateway's, the direct call is always chat completions."""
    straight = request_bytes("/v1/chat/completions", "none", stream=stream, text=text)
    via = request_bytes(path, places.token, stream=stream, text=text)
    one, two = await Line.to(places.model), await Line.to(places.gateway)
    try:
        return await alternate(lambda: one.ask(straight), lambda: two.ask(via), repeat)
    finally:
        one.close()
        two.close()


async def with_sdk(places: Places, repeat: int) -> Pair:
    """The official client, as harnesses use it."""
    import openai

    def asker(client: openai.AsyncOpenAI) -> Ask:
        async def ask() -> Timed:
            began = time.perf_counter()
            first = 0.0
            stream = await client.chat.completions.create(
                model=MODEL,
                messages=[
                    {"role": "system", "content": SYSTEM},
                    {"role": "user", "content": "hello"},
                ],
                stream=True,
                stream_options={"include_usage": True},
            )
            async for chunk in stream:
                if not first and chunk.choices and chunk.choices[0].delta.content:
                    first = time.perf_counter() - began
            return Timed(time.perf_counter() - began, first)

        return ask

    direct = openai.AsyncOpenAI(api_key="none", base_url=f"{places.model}/v1")
    through = openai.AsyncOpenAI(api_key=places.token, base_url=f"{places.gateway}/v1")
    async with direct, through:
        return await alternate(asker(direct), asker(through), repeat)


async def rate(url: str, token: str, requests: int, lines: int = 8) -> float:
    """Requests a second, that many at a time."""
    request = request_bytes("/v1/chat/completions", token, stream=False, text="hello")
    each = max(1, requests // lines)

    async def work() -> None:
        line = await Line.to(url)
        for _ in range(each):
            await line.ask(request)
        line.close()

    began = time.perf_counter()
    await asyncio.gather(*(work() for _ in range(lines)))
    return each * lines / (time.perf_counter() - began)


async def streams(url: str, token: str) -> tuple[int, float]:
    """Errors and seconds of many slow streams at a time."""
    request = request_bytes("/v1/chat/completions", token, stream=True, text="slow")

    async def work() -> None:
        line = await Line.to(url)
        await line.ask(request)
        line.close()

    began = time.perf_counter()
    done = await asyncio.gather(*(work() for _ in range(STREAMS)), return_exceptions=True)
    return sum(isinstance(r, BaseException) for r in done), time.perf_counter() - began


def rss_mb(pid: int) -> float:
    """Resident memory of a process."""
    pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


async def memory(places: Places, pid: int, requests: int) -> dict[str, float]:
    """Resident memory over many streamed requests: after a tenth of them, and at the end."""
    request = request_bytes("/v1/chat/completions", places.token, stream=True, text="hello")
    lines = [await Line.to(places.gateway) for _ in range(4)]

    async def work(line: Line, count: int) -> None:
        for _ in range(count):
            await line.ask(request)

    warm = max(1, requests // 10 // len(lines))
    await asyncio.gather(*(work(line, warm) for line in lines))
    before = rss_mb(pid)
    rest = max(1, requests // len(lines) - warm)
    await asyncio.gather(*(work(line, rest) for line in lines))
    for line in lines:
        line.close()
    after = rss_mb(pid)
    return {"requests": requests, "rss_warm_mb": round(before, 1), "rss_end_mb": round(after, 1)}


# --- the run -----------------------------------------------------------------------------


async def measure(places: Places, gateway_pid: int, requests: int, repeat: int) -> bool:
    """Measure everything, print it; whether the targets hold."""
    print(
        f"{'':<22} {'direct':>8} {'gateway':>8}  {'ratio':>6}   {'first':>8} {'gateway':>8}  ratio"
    )
    pairs: dict[str, Pair] = {}

    async def pair(name: str, made: Awaitable[Pair]) -> None:
        pairs[name] = await made
        print(pairs[name].line(name), flush=True)

    await pair("stream", bare(places, repeat, stream=True))
    await pair("whole", bare(places, repeat, stream=False))
    await pair("sdk", with_sdk(places, max(20, repeat // 2)))
    await pair("paced", bare(places, max(8, repeat // 20), stream=True, text="slow"))
    translated = bare(places, repeat, stream=True, path="/v1/responses")
    await pair("responses over chat", translated)
    direct_rate = await rate(places.model, "none", max(80, repeat * 2))
    through_rate = await rate(places.gateway, places.token, max(80, repeat * 2))
    print(
        f"requests/s, 8 at a time: direct {direct_rate:.0f}, gateway {through_rate:.0f}, ", end=""
    )
    print(f"ratio x{direct_rate / through_rate:.2f}")
    _, floor_s = await streams(places.model, "none")
    errors, streams_s = await streams(places.gateway, places.token)
    print(
        f"{STREAMS} streams at a time: {errors} errors, {streams_s:.2f} s (direct {floor_s:.2f} s)"
    )
    held = await memory(places, gateway_pid, requests)
    grown = f"{held['rss_warm_mb']} -> {held['rss_end_mb']} MB"
    print(f"resident memory over {requests} requests: {grown}")
    met = {
        "sdk": verdict(pairs["sdk"]),
        "bare": verdict(pairs["stream"]),
        "paced": verdict(pairs["paced"]),
        "streams_without_error": errors == 0,
        "memory_flat": held["rss_end_mb"] <= held["rss_warm_mb"] * 1.1 + 1,
    }
    for name, value in met.items():
        print(f"target x{TARGET}, {name}: {value}")
    print(
        json.dumps(
            {
                "benchmark": "gateway",
                **{name.replace(" ", "_"): p.record() for name, p in pairs.items()},
                "requests_per_s": {"direct": round(direct_rate), "gateway": round(through_rate)},
                "streams": {"count": STREAMS, "errors": errors, "seconds": round(streams_s, 3)},
                "memory": held,
                "target_ratio": TARGET,
                "met": met,
            }
        )
    )
    return errors == 0


def verdict(pair: Pair) -> dict[str, bool]:
    """Whether a pair of medians keeps the target."""
    return {"request": pair.ratio <= TARGET, "first_token": pair.first_ratio <= TARGET}


def free_port() -> int:
    """A loopback port nobody listens on."""
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def start(*arguments: str) -> subprocess.Popen[str]:
    """One of the other processes."""
    command = [sys.executable, "-m", "tests.benchmarks.gateway", *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


async def answered(url: str) -> None:
    """Return when the server answers."""
    for _ in range(600):
        try:
            (await Line.to(url)).close()
        except OSError:
            await asyncio.sleep(0.05)
        else:
            return
    raise TimeoutError(url)


async def client(model: str, gateway: subprocess.Popen[str], requests: int, repeat: int) -> bool:
    """Wait for both and measure."""
    await answered(model)
    line = gateway.stdout.readline() if gateway.stdout is not None else ""
    told = json.loads(line)
    return await measure(Places(model, told["url"], told["token"]), gateway.pid, requests, repeat)


def main() -> int:
    """Run the benchmark, or one of its processes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=1000, help="for the memory measure")
    parser.add_argument("--repeat", type=int, default=200, help="calls of each kind")
    parser.add_argument("--loop", choices=("asyncio", "uvloop"), default="asyncio")
    parser.add_argument("--serve-model", type=int, metavar="PORT")
    parser.add_argument("--serve-gateway", metavar="URL")
    options = parser.parse_args()
    if options.serve_model:
        serve_model(options.serve_model)
        return 0
    if options.serve_gateway:
        run_loop(serve_gateway(options.serve_gateway), options.loop)
        return 0
    port = free_port()
    model = f"http://127.0.0.1:{port}"
    server = start("--serve-model", str(port))
    gateway = start("--serve-gateway", model, "--loop", options.loop)
    try:
        held = asyncio.run(client(model, gateway, options.requests, options.repeat))
    finally:
        for process in (gateway, server):
            process.kill()
            process.wait()
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
