"""The state of an episode between two rounds: kept when it is asked for, and continued in a fork.

What is kept is the environment with its services (snapshots), the harness's own session, and the
marks planted in hidden text. A fork copies the recorded rounds and never plays them again.
"""

import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from pydantic import JsonValue

from uniclaw.environments.services import Services
from uniclaw.episode.files import EpisodeFiles
from uniclaw.errors import EngineError, EnvironmentKilledByAgent, InfraError
from uniclaw.records import Manifest, NonNegative, Outcome, Record, RoleUsage, Turn
from uniclaw.store.rows import add_spent

if TYPE_CHECKING:
    from uniclaw.episode.seat import Seat

REF = "boundary"
_OF_THE_ANSWER = ("view-", "draft-", "screen-", "feedback")
"""Files of a round that came after its verdict: a fork writes its own."""


@runtime_checkable
class Resumable(Protocol):
    """A harness whose session can go on in a fork of its environment.

    What lies in files of the environment is forked with it; what the harness holds itself
    comes back as `HarnessContext.session`.
    """

    def session(self) -> Mapping[str, JsonValue]:
        """What it must be given to go on after the last turn."""
        ...


class Boundary(Record):
    """What was kept at the end of a round. Hidden: it names the planted marks."""

    environment: str | None = None
    """Snapshot of the environment; None when there is none."""
    services: Mapping[str, str] = {}
    """Service -> snapshot."""
    session: Mapping[str, JsonValue] = {}
    markers: Mapping[str, str] = {}
    seconds: NonNegative = 0
    problem: str | None = None
    """Why nothing can go on from here."""


@dataclass(frozen=True, kw_only=True)
class Origin:
    """Where a fork begins."""

    files: EpisodeFiles
    """Of the episode that is continued."""
    name: str
    """`RUN/EPISODE` of it."""
    round: int
    boundary: Boundary
    ended: tuple[Outcome, str | None] | None = None
    """It ended there by itself; then there is nothing to continue, and its end is the fork's."""

    def spent(self) -> RoleUsage:
        """What the executor spent in the rounds that are taken over."""
        total = RoleUsage(cost_usd=0.0)
        for number in range(self.round + 1):
            turn = self.files.load_if(self.files.ref(number, "turn"), Turn)
            if turn is not None:
                total = add_spent(total, turn.spent)
        return total


async def keep(seat: "Seat", number: int) -> None:
    """Save the state after a round. What cannot be saved is noted, and the episode goes on."""
    ref, environment = seat.files.ref(number, REF), seat.environment
    if seat.files.has(ref) or environment is None:
        return
    with seat.phase("snapshot", number):
        seat.files.save(ref, seat.spec.secrets.redact_record(await _boundary(seat, number)))


async def _boundary(seat: "Seat", number: int) -> Boundary:
    began, harness, environment = time.monotonic(), seat.need_harness(), seat.need_environment()
    if not isinstance(harness, Resumable):
        return Boundary(problem=f"a session of {harness.name} cannot go on in a fork")
    if seat.proxy is not None:
        return Boundary(problem="what a task reached over the network cannot be forked")
    tag = f"{seat.spec.episode_id}-{number}"
    try:
        services = await seat.need_services().snapshot(tag)
        saved = await environment.snapshot(tag)
    except (EngineError, EnvironmentKilledByAgent) as error:
        return Boundary(problem=str(error))
    return Boundary(
        environment=saved,
        services=services,
        session=harness.session(),
        markers=seat.referee.markers,
        seconds=max(0.0, time.monotonic() - began),
    )


async def continue_from(seat: "Seat", origin: Origin) -> None:
    """Copy the recorded rounds, then start environment, services and harness from what was kept.

    Raises:
        InfraError: nothing was kept, or it is gone.
    """
    copy_rounds(origin.files.root, seat.files.root, origin.round)
    if origin.ended is not None:
        return
    kept = origin.boundary
    if kept.environment is None:
        raise InfraError(f"{origin.name} cannot be continued: {kept.problem}")
    environment = await seat.factory.fork(kept.environment, seat.spec.environment)
    seat.environment, seat.container = environment, environment.name
    seat.services = Services(seat.factory, seat.spec.bundle.sidecars, seat.spec.environment.labels)
    await seat.services.start(environment, kept.services)
    seat.harness = await seat.open_harness(environment)
    seat.baseline = seat.files.load("baseline.json", Manifest)


def copy_rounds(parent: Path, into: Path, last: int) -> None:
    """Copy rounds 0 to `last`, without what answered the last one.

    Args:
        parent: directory of the recorded episode.
        into: directory of the fork; what is there already stays.
        last: round after which the fork goes its own way.
    """
    if (parent / "baseline.json").is_file():
        into.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(parent / "baseline.json", into / "baseline.json")
    for number in range(last + 1):
        place = into / "rounds" / str(number)
        place.mkdir(parents=True, exist_ok=True)
        for file in sorted((parent / "rounds" / str(number)).iterdir()):
            answer = number == last and file.name.startswith(_OF_THE_ANSWER)
            if not answer and file.suffix != ".intent" and _plain(file):
                shutil.copyfile(file, place / file.name)
        evidence = parent / "evidence" / str(number)
        if evidence.is_dir():
            shutil.copytree(
                evidence, into / "evidence" / str(number), symlinks=True, dirs_exist_ok=True
            )


def _plain(file: Path) -> bool:
    return file.is_file() and not file.is_symlink()
