"""The gateway: a door per episode, in the runner's process.

async with Gateway(prices=table) as gateway:
    door = await gateway.open_episode("e1", upstream_of("openai/gpt-x", settings))
    ... mount door.socket_dir, or give the harness gateway.url and door.token
    bill = await gateway.close_episode("e1")
"""

import asyncio
import secrets
import shutil
import tempfile
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from uniclaw.errors import UniclawError, UserError
from uniclaw.gateway.admission import Admission, DoorLimits
from uniclaw.gateway.app import DoorApp, on_port, on_socket
from uniclaw.gateway.episode import EpisodeDoor, token_digest
from uniclaw.gateway.exchange import ExchangeObserver, Watch
from uniclaw.gateway.http_client import HttpPool
from uniclaw.gateway.listen import Listener
from uniclaw.gateway.meter import Bill, Meter
from uniclaw.gateway.recorded import EarlierFirst, RecordedSource
from uniclaw.gateway.scripted import ScriptedSource
from uniclaw.gateway.upstream import (
    ExchangeSource,
    ProviderSource,
    ProviderUpstream,
    RecordedUpstream,
    ScriptedUpstream,
    Source,
    UpstreamSpec,
)
from uniclaw.models.metering import SpendLimits
from uniclaw.models.retry import Timing
from uniclaw.pricing import PriceTable, default_prices
from uniclaw.records import RoleUsage

SOCKET_NAME = "gateway.sock"
_PORT_CONNECTIONS = 1024


class Door(NamedTuple):
    """How an episode's containers reach the gateway."""

    socket_dir: Path
    """Mount this folder (mode 0700), not the socket."""
    socket_path: Path
    token: str
    """The only key a harness ever gets; names the episode on the shared port."""
    model: str
    """The model's name to configure: requests that carry it pass as their own bytes."""


class Gateway:
    """The only door from a container to a model; an async context manager."""

    def __init__(
        self,
        *,
        prices: PriceTable | None = None,
        sockets: Path | None = None,
        port: int | None = None,
        host: str = "127.0.0.1",
        limits: DoorLimits | None = None,
        timing: Timing | None = None,
        pool: HttpPool | None = None,
    ) -> None:
        """Set up; nothing listens yet.

        Args:
            prices: price table; the package's by default.
            sockets: where folders of sockets are made; a short temporary one by default,
                because the kernel takes only short paths.
            port: also listen on this loopback port (0: any), where tokens name the episode.
            host: address of that port.
            limits: bounds of each episode's door.
            timing: clock, sleep and chance of retries.
            pool: connections to upstreams.
        """
        self._prices = prices or default_prices()
        self._given_root = sockets
        self._root: Path | None = None
        self._address = None if port is None else (host, port)
        self._bound: tuple[str, int] | None = None
        self._limits = limits or DoorLimits()
        self._timing = timing or Timing()
        self._pool = pool or HttpPool()
        self._port: Listener | None = None
        self._episodes: dict[str, EpisodeDoor] = {}
        self._listeners: dict[str, tuple[Listener, Path]] = {}
        self._by_token: dict[bytes, EpisodeDoor] = {}

    async def __aenter__(self) -> Self:
        """Start to listen on the port, where one was asked for."""
        made = self._given_root or Path(tempfile.mkdtemp(prefix="uniclaw-"))
        made.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._root = made
        if self._address is not None:
            find = on_port(lambda token: self._by_token.get(token_digest(token)))
            self._port = Listener(DoorApp(find), max_connections=_PORT_CONNECTIONS)
            self._bound = await self._port.listen_tcp(*self._address)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close every door."""
        for episode_id in list(self._episodes):
            await self.close_episode(episode_id)
        if self._port is not None:
            await self._port.close()
        self._pool.close()
        if self._root is not None and self._given_root is None:
            shutil.rmtree(self._root, ignore_errors=True)

    @property
    def url(self) -> str:
        """Address of the loopback port, without `/v1`."""
        if self._bound is None:
            raise UserError("the gateway has no port; give `port=0`", field="port")
        return f"http://{self._bound[0]}:{self._bound[1]}"

    async def open_episode(
        self,
        episode_id: str,
        upstream: UpstreamSpec,
        limits: SpendLimits | None = None,
        on_exchange: ExchangeObserver | None = None,
        watch: Watch | None = None,
        *,
        socket_dir: Path | None = None,
        door_limits: DoorLimits | None = None,
        earlier: ExchangeSource | None = None,
    ) -> Door:
        """Open an episode's door.

        Args:
            episode_id: unique among open ones.
            upstream: where its calls go.
            limits: what it may spend.
            on_exchange: called once for every request, in the order they ended.
            watch: called with the text of every request; raises `FirewallBreach`.
            socket_dir: folder of the socket, made with mode 0700; one is made by default.
            door_limits: bounds of this door, in place of the gateway's.
            earlier: answers that were paid before; the upstream is asked for the rest alone.

        Raises:
            UserError: the id is open already, a USD limit without a price, a path too long.
        """
        if self._root is None:
            raise UserError("the gateway is not started: use `async with`")
        if episode_id in self._episodes:
            raise UserError("this episode is open already", field="episode_id", value=episode_id)
        bounds = door_limits or self._limits
        meter = Meter(upstream.spec, limits or SpendLimits(), self._prices, self._timing.monotonic)
        source = self._source(upstream)
        episode = EpisodeDoor(
            id=episode_id,
            upstream=upstream,
            source=source if earlier is None else EarlierFirst(earlier, source),
            by_hash=earlier is not None or isinstance(upstream, RecordedUpstream),
            meter=meter,
            limits=bounds,
            timing=self._timing,
            on_exchange=on_exchange,
            watch=watch,
            admission=Admission(bounds),
        )
        folder = socket_dir or self._root / secrets.token_hex(6)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.chmod(0o700)
        listener = Listener(DoorApp(on_socket(episode)), max_connections=bounds.max_connections)
        await listener.listen_unix(folder / SOCKET_NAME)
        self._episodes[episode_id] = episode
        self._listeners[episode_id] = (listener, folder)
        self._by_token[token_digest(episode.token)] = episode
        return Door(folder, folder / SOCKET_NAME, episode.token, upstream.model)

    async def close_episode(self, episode_id: str) -> Bill:
        """Close a door: running calls are cancelled and recorded; nothing works after it.

        Raises:
            UserError: no such door is open.
        """
        episode = self._episode(episode_id)
        del self._episodes[episode_id]
        self._by_token.pop(token_digest(episode.token), None)
        episode.closed = True
        episode.stopped.set()
        listener, folder = self._listeners.pop(episode_id)
        calls = [task for task in episode.calls if task is not asyncio.current_task()]
        for task in calls:
            task.cancel()
        if calls:
            await asyncio.wait(calls, timeout=10.0)
        await listener.close()
        shutil.rmtree(folder, ignore_errors=True)
        return episode.bill()

    def spent(self, episode_id: str) -> RoleUsage:
        """What an open episode has spent, as the upstream reported it."""
        return self._episode(episode_id).meter.spent()

    def waits(self, episode_id: str) -> float:
        """Seconds in which an open episode waited for the provider; never falls.

        The difference between two readings is what to take off executor time between them.
        """
        return self._episode(episode_id).meter.waited_s()

    def bill(self, episode_id: str) -> Bill:
        """Everything of an open episode so far."""
        return self._episode(episode_id).bill()

    def stop_reason(self, episode_id: str) -> UniclawError | None:
        """Why an open episode's calls are refused; None while they are served.

        `BudgetExceeded`, `FirewallBreach`, or the error of `on_exchange`.
        """
        return self._episode(episode_id).stop

    async def wait_stopped(self, episode_id: str) -> UniclawError | None:
        """Return when calls of an episode are refused, with the reason; None when it closed."""
        episode = self._episode(episode_id)
        await episode.stopped.wait()
        return episode.stop

    def _episode(self, episode_id: str) -> EpisodeDoor:
        found = self._episodes.get(episode_id)
        if found is None:
            raise UserError("no such episode is open", field="episode_id", value=episode_id)
        return found

    def _source(self, upstream: UpstreamSpec) -> Source:
        if isinstance(upstream, ProviderUpstream):
            return ProviderSource(upstream, self._pool)
        if isinstance(upstream, ScriptedUpstream):
            return ScriptedSource(upstream)
        return RecordedSource(upstream)
