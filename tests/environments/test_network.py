"""The sidecar's namespace: the socket of the episode answers, and nothing else does."""

import asyncio
import socket
import tempfile
import threading
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import pytest

from uniclaw.environments.docker import DockerFactory
from uniclaw.environments.network import DOOR_PORT, SOCKET_NAME
from uniclaw.environments.wire import DockerApi, mapping_of, text_of
from uniclaw.errors import UserError
from uniclaw.ports import Environment, EnvironmentSpec

pytestmark = pytest.mark.docker

ASK = """
import socket, sys
try:
    s = socket.create_connection((sys.argv[1], int(sys.argv[2])), timeout=3)
    s.sendall(b"hello\\n")
    print("answered", s.recv(100))
except OSError as error:
    print("failed", type(error).__name__)
"""


@pytest.fixture
def door() -> Generator[Path, None, None]:
    # A unix socket's path has to be short.
    with tempfile.TemporaryDirectory(prefix="door-") as directory:
        Path(directory).chmod(0o755)
        yield Path(directory)


@asynccontextmanager
async def serving(door: Path, handler: object) -> AsyncGenerator[None, None]:
    server = await asyncio.start_unix_server(handler, door / SOCKET_NAME)  # type: ignore[arg-type]
    (door / SOCKET_NAME).chmod(0o666)
    try:
        yield
    finally:
        server.close()


@asynccontextmanager
async def environment(factory: DockerFactory, door: Path) -> AsyncGenerator[Environment, None]:
    made = await factory.start(EnvironmentSpec(image="base", door=str(door)))
    try:
        yield made
    finally:
        await made.close()


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()
    writer.write_eof()
    writer.close()


async def ask(env: Environment, host: str, port: int) -> str:
    done = await env.exec(["python3", "-c", ASK, host, str(port)], timeout_s=20)
    return done.stdout.decode()


@contextmanager
def host_listener() -> Generator[int, None, None]:
    """Something on the host that listens on all addresses."""
    server = socket.create_server(("0.0.0.0", 0))

    def run() -> None:
        while True:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            connection.sendall(b"host")
            connection.close()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        yield server.getsockname()[1]
    finally:
        server.shutdown(socket.SHUT_RDWR)
        server.close()
        thread.join()


def host_addresses() -> list[str]:
    found = {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)}
    probe = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    with probe:
        try:
            probe.connect(("192.0.2.1", 9))
            found.add(probe.getsockname()[0])
        except OSError:
            pass
    return sorted({str(a) for a in found} | {"127.0.0.1", "172.17.0.1"})


async def test_only_the_gateway_answers(
    docker_factory: DockerFactory, docker_api: DockerApi, door: Path
) -> None:
    with host_listener() as port:
        # The listener is one that a container on a bridge could reach.
        socket.create_connection(("127.0.0.1", port), timeout=3).close()
        async with serving(door, echo), environment(docker_factory, door) as env:
            assert await ask(env, "127.0.0.1", DOOR_PORT) == "answered b'hello\\n'\n"
            for address in host_addresses():
                assert "failed" in await ask(env, address, port), address
            for name in ("pypi.org", "registry.npmjs.org", "host.docker.internal"):
                assert "failed" in await ask(env, name, 443), name
            assert "failed" in await ask(env, "1.1.1.1", 53)
            done = await env.exec("cat /proc/net/dev | tail -n +3 | cut -d: -f1 | tr -d ' '")
            assert done.stdout.split() == [b"lo"]
            assert (await env.exec("cat /proc/net/route | wc -l")).stdout.strip() == b"1"


async def test_another_container_cannot_be_reached(
    docker_factory: DockerFactory, docker_api: DockerApi, door: Path, run_label: str
) -> None:
    relay = docker_api.containers(all=True, filters={"label": "uniclaw.run=none"})
    assert not relay
    labels = {"uniclaw": "1", "uniclaw.run": run_label}
    made = docker_api.create_container(
        "uniclaw/base:" + _base_tag(docker_factory),
        ["python3", "-m", "http.server", "8000"],
        host_config=docker_api.create_host_config(network_mode="bridge"),
        labels=labels,
    )
    other = text_of(made.get("Id"))
    try:
        docker_api.start(other)
        settings = mapping_of(docker_api.inspect_container(other).get("NetworkSettings"))
        address = str(settings["IPAddress"])
        assert address
        for _ in range(50):
            try:
                socket.create_connection((address, 8000), timeout=1).close()
                break
            except OSError:
                await asyncio.sleep(0.1)
        async with serving(door, echo), environment(docker_factory, door) as env:
            assert "failed" in await ask(env, address, 8000)
    finally:
        docker_api.remove_container(other, force=True, v=True)


def _base_tag(factory: DockerFactory) -> str:
    return factory._images.resolve("base").hash  # pyright: ignore[reportPrivateUsage]


async def test_the_agent_cannot_see_or_open_the_socket_itself(
    docker_factory: DockerFactory, door: Path
) -> None:
    async with serving(door, echo), environment(docker_factory, door) as env:
        done = await env.exec("cat /proc/mounts; find / -name 'gateway*' 2>/dev/null; ps -e")
        assert b"gateway.sock" not in done.stdout
        assert b"/run/uniclaw" not in done.stdout
        assert b"forward" not in done.stdout


async def test_bytes_pass_exactly_both_ways_and_each_end_closes_alone(
    docker_factory: DockerFactory, door: Path
) -> None:
    script = f"""
import hashlib, os, socket, threading
s = socket.create_connection(("127.0.0.1", {DOOR_PORT}))
data = os.urandom(20_000_000)
got = hashlib.sha256()
def read():
    while piece := s.recv(65536):
        got.update(piece)
t = threading.Thread(target=read); t.start()
s.sendall(data); s.shutdown(socket.SHUT_WR); t.join(60)
print(got.hexdigest() == hashlib.sha256(data).hexdigest())
"""
    async with serving(door, echo), environment(docker_factory, door) as env:
        done = await env.exec(["python3", "-c", script], timeout_s=90)
        assert done.stdout == b"True\n", done.stderr


async def test_nothing_is_held_back(docker_factory: DockerFactory, door: Path) -> None:
    async def drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        for _ in range(5):
            writer.write(b"x")
            await writer.drain()
            await asyncio.sleep(0.2)
        writer.close()

    script = f"""
import socket, time
s = socket.create_connection(("127.0.0.1", {DOOR_PORT}))
s.sendall(b"?"); at = []
while s.recv(100):
    at.append(time.monotonic())
gaps = [b - a for a, b in zip(at, at[1:])]
print(len(at), min(gaps) > 0.1)
"""
    async with serving(door, drip), environment(docker_factory, door) as env:
        done = await env.exec(["python3", "-c", script], timeout_s=30)
        assert done.stdout == b"5 True\n", done.stderr


async def test_a_reader_that_went_away_ends_the_other_side(
    docker_factory: DockerFactory, door: Path
) -> None:
    ended = asyncio.Event()

    async def flood(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                writer.write(b"x" * 65536)
                await writer.drain()
        except ConnectionError:
            ended.set()

    script = f"""
import socket
s = socket.create_connection(("127.0.0.1", {DOOR_PORT})); s.recv(10); s.close()
"""
    async with serving(door, flood), environment(docker_factory, door) as env:
        await env.exec(["python3", "-c", script], timeout_s=30)
        await asyncio.wait_for(ended.wait(), 10)


async def test_without_a_gateway_connections_end_at_once(
    docker_factory: DockerFactory, door: Path
) -> None:
    async with environment(docker_factory, door) as env:
        assert "hello" not in await ask(env, "127.0.0.1", DOOR_PORT)


async def test_many_connections_at_once(docker_factory: DockerFactory, door: Path) -> None:
    script = f"""
import socket, threading
good = []
def one(i):
    s = socket.create_connection(("127.0.0.1", {DOOR_PORT}))
    text = str(i).encode() * 1000
    s.sendall(text); s.shutdown(socket.SHUT_WR)
    got = b""
    while piece := s.recv(65536):
        got += piece
    good.append(got == text)
threads = [threading.Thread(target=one, args=(i,)) for i in range(100)]
[t.start() for t in threads]; [t.join(30) for t in threads]
print(len(good), all(good))
"""
    async with serving(door, echo), environment(docker_factory, door) as env:
        done = await env.exec(["python3", "-c", script], timeout_s=60)
        assert done.stdout == b"100 True\n", done.stderr


async def test_a_door_that_is_no_directory_is_refused(docker_factory: DockerFactory) -> None:
    with pytest.raises(UserError, match="door"):
        await docker_factory.start(EnvironmentSpec(image="base", door="/nowhere/at/all"))
