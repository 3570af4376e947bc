"""The way from an imported grader to the supervisor's model: a door of the run's gateway.

Opened when a grader first needs it, closed with the episode. What it costs is the judge's.
"""

from collections.abc import Callable

from uniclaw.errors import JudgeError
from uniclaw.gateway.exchange import WireExchange
from uniclaw.models.metering import SpendLimits
from uniclaw.records import EpisodeId, RoleUsage
from uniclaw.runner.doors import Doors, OpenDoor
from uniclaw.supervisor.wild_grader import JudgeDoor

ROLE = "judge"


class GraderJudge:
    """One episode's judge for graders that ask a model by themselves."""

    def __init__(
        self,
        doors: Doors,
        episode: EpisodeId,
        spec: str,
        on_exchange: Callable[[WireExchange], None],
        spent: dict[str, Callable[[], RoleUsage]],
    ) -> None:
        """Bind the parts; nothing is opened yet.

        Args:
            doors: of the run.
            episode: id of the attempt.
            spec: `PROVIDER/NAME` of the judge model.
            on_exchange: hears of every request.
            spent: by role; what the judge spends is added when its door opens.
        """
        self._doors = doors
        self._episode = episode
        self._spec = spec
        self._on_exchange = on_exchange
        self._spent = spent
        self._opened: OpenDoor | None = None

    async def open(self) -> JudgeDoor:
        """The door; the same for every call of the episode."""
        if self._opened is None:
            self._opened = await self._doors.open(
                EpisodeId(f"{self._episode}-{ROLE}"),
                self._spec,
                SpendLimits(),
                self._heard,
                _unwatched,
            )
            self._spent[ROLE] = self._opened.spent
        return JudgeDoor(self._opened.door, self._opened.socket_dir)

    def _heard(self, exchange: WireExchange) -> None:
        self._on_exchange(exchange.model_copy(update={"purpose": ROLE}))

    async def close(self) -> None:
        """Close the door. Idempotent."""
        opened, self._opened = self._opened, None
        if opened is not None:
            await opened.close()


def _unwatched(where: str, text: str) -> None:
    """Hidden text may reach the supervisor's own model."""


async def none_in_replay() -> JudgeDoor:
    """In place of `GraderJudge.open` where no provider is asked.

    Raises:
        JudgeError: always.
    """
    raise JudgeError("the task's grader asks its model by itself; a replay has no answers for it")
