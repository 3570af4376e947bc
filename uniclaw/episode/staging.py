"""Around a turn: its session, its film, and the rendering of what it left.

All stand outside the executor's time, and none can fail an episode. What came of the film is
`rounds/N/recording.json`, the film itself lies beside it.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from uniclaw.environments.stage import FilmInProgress, Stage
from uniclaw.episode.seat import Seat
from uniclaw.records import Count, Record
from uniclaw.trajectory import Evidence

MAX_FILM_BYTES = {"low": 20_000_000, "high": 80_000_000}
"""Of one turn."""
REF = "recording"


class Recording(Record):
    """What was filmed of a turn."""

    file: str | None = None
    """Relative to the episode's directory."""
    bytes: Count = 0
    problem: str | None = None
    """Why there is no film."""
    session_problem: str | None = None
    """Why the session did not come up again after an earlier turn."""


@asynccontextmanager
async def staged(seat: Seat, number: int) -> AsyncGenerator[None]:
    """The time of one turn."""
    environment, wanted = seat.need_environment(), seat.spec.task.recording
    if not isinstance(environment, Stage):
        if wanted != "none":
            seat.files.save(
                seat.files.ref(number, REF),
                Recording(problem="this kind of environment cannot be filmed"),
            )
        yield
        return
    with seat.phase("session", number):
        session_problem = await environment.revive()
        film = None
        if wanted != "none":
            film = await environment.film(wanted, max_bytes=MAX_FILM_BYTES[wanted])
    try:
        yield
    finally:
        with seat.phase("recording", number):
            if wanted != "none" or session_problem is not None:
                recording = Recording(session_problem=session_problem)
                if wanted != "none":
                    recording = await _end(seat, number, film, recording)
                seat.files.save(seat.files.ref(number, REF), recording)


async def _end(
    seat: Seat, number: int, film: FilmInProgress | None, recording: Recording
) -> Recording:
    if film is None:
        return recording.model_copy(update={"problem": "the image has no recorder"})
    into = Path(seat.files.ref(number, REF))
    result = await film.end(seat.files.root / into)
    if result.path is None:
        return recording.model_copy(update={"problem": result.problem})
    return recording.model_copy(
        update={
            "file": str(into.with_name(result.path.name)),
            "bytes": result.path.stat().st_size,
        }
    )


async def render_round(seat: Seat, number: int, evidence: Evidence) -> None:
    """Make a round's documents visible to the roles that will look; can fail no episode."""
    if seat.renderer is not None:
        with seat.phase("render", number):
            await seat.renderer.render(evidence)
