"""A door of a real gateway, with a scripted model behind it."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from uniclaw.gateway.exchange import WireExchange
from uniclaw.gateway.gateway import Gateway
from uniclaw.gateway.upstream import ScriptedUpstream
from uniclaw.harnesses.doors import model_door
from uniclaw.models.metering import SpendLimits
from uniclaw.models.script import Script
from uniclaw.testing.harnesses import OpenDoor

EPISODE = "e1"


@asynccontextmanager
async def gateway_door(script: Script, limits: SpendLimits) -> AsyncGenerator[OpenDoor, None]:
    """One episode of a gateway of its own."""
    exchanges: list[WireExchange] = []

    def requests() -> list[str]:
        return [e.request.data.decode("utf-8", "replace") for e in exchanges]

    async with Gateway() as gateway:
        door = await gateway.open_episode(
            EPISODE, ScriptedUpstream(script), limits, exchanges.append
        )
        yield OpenDoor(str(door.socket_dir), model_door(gateway, EPISODE, door), requests)
