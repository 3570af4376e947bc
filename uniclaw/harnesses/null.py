"""The null harness: does nothing and says it is done. What it scores is what absence scores."""

from collections.abc import Mapping

from pydantic import JsonValue

from uniclaw.assets import Assets
from uniclaw.harnesses.events import EventLog
from uniclaw.ports import HarnessContext, TurnLimits
from uniclaw.records import StopReason, Turn


class NullHarness:
    """Answers every message with "Done."."""

    name = "null"

    def __init__(self, context: HarnessContext, assets: Assets) -> None:
        self._round = context.round_offset

    async def open(self) -> None:
        """Nothing to start."""

    async def turn(self, message: str, limits: TurnLimits) -> Turn:
        """One message, no action."""
        log = EventLog(self._round)
        self._round += 1
        log.message("user", message)
        log.message("assistant", "Done.")
        return Turn(
            stop=StopReason.FINISHED,
            events=log.events,
            final_message="Done.",
            executor_s=log.elapsed_s,
        )

    def session(self) -> Mapping[str, JsonValue]:
        """Nothing; see `episode.boundary.Resumable`."""
        return {}

    async def close(self) -> None:
        """Nothing to end."""
