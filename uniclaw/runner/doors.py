"""The run's gateway: one for all episodes whose harness calls its model from inside."""

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from uniclaw.gateway.exchange import WireExchange
from uniclaw.gateway.gateway import Gateway
from uniclaw.gateway.upstream import (
    ExchangeSource,
    RecordedUpstream,
    UpstreamSpec,
    upstream_of,
)
from uniclaw.harnesses.doors import model_door
from uniclaw.models.metering import SpendLimits
from uniclaw.models.settings import ModelSettings
from uniclaw.ports import ModelDoor
from uniclaw.pricing import PriceTable
from uniclaw.records import EpisodeId, RoleUsage


class OpenDoor(NamedTuple):
    """An episode's way to its model."""

    door: ModelDoor
    socket_dir: Path
    """What the network sidecar mounts; the agent's container does not."""
    spent: Callable[[], RoleUsage]
    close: Callable[[], Awaitable[None]]


class Doors:
    """Opens doors; the gateway starts with the first and ends with the run."""

    def __init__(
        self, prices: PriceTable, settings: ModelSettings, environ: Mapping[str, str]
    ) -> None:
        """Bind what the gateway needs; nothing is started yet."""
        self._prices = prices
        self._settings = settings
        self._environ = environ
        self._gateway: Gateway | None = None

    def check(self, spec: str) -> None:
        """See that a model's name leads somewhere.

        Raises:
            UserError: a bad name, a missing key, a script that is none.
        """
        upstream_of(spec, self._settings, environ=self._environ)

    async def open(
        self,
        episode: EpisodeId,
        spec: str,
        limits: SpendLimits,
        on_exchange: Callable[[WireExchange], None],
        watch: Callable[[str, str], None],
        recorded: ExchangeSource | None = None,
        earlier: ExchangeSource | None = None,
    ) -> OpenDoor:
        """Open the door of one episode's attempt.

        Args:
            episode: id of the attempt.
            spec: `PROVIDER/NAME` of the executor's model.
            limits: what the episode may spend.
            on_exchange: hears of every request.
            watch: raises `FirewallBreach` for a request that carries hidden text.
            recorded: stored answers, in place of the provider.
            earlier: stored answers, before the provider.
        """
        if self._gateway is None:
            self._gateway = await Gateway(prices=self._prices).__aenter__()
        gateway = self._gateway
        upstream: UpstreamSpec = (
            upstream_of(spec, self._settings, environ=self._environ)
            if recorded is None
            else RecordedUpstream(recorded, spec)
        )
        opened = await gateway.open_episode(
            episode, upstream, limits, on_exchange, watch, earlier=earlier
        )

        final: list[RoleUsage] = []

        def spent() -> RoleUsage:
            return final[0] if final else gateway.spent(episode)

        async def close() -> None:
            if not final:
                # The bill also holds what calls that closing cut off had used.
                final.append((await gateway.close_episode(episode)).spent)

        return OpenDoor(model_door(gateway, episode, opened), opened.socket_dir, spent, close)

    async def close(self) -> None:
        """End the gateway. Idempotent."""
        gateway, self._gateway = self._gateway, None
        if gateway is not None:
            await gateway.__aexit__(None, None, None)
