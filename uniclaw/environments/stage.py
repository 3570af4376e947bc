"""What some environments have beside the port: a session of the recipe, and a film of it."""

from pathlib import Path
from typing import Literal, NamedTuple, Protocol, runtime_checkable

FilmQuality = Literal["low", "high"]


class FilmResult(NamedTuple):
    """What a film came to."""

    path: Path | None
    problem: str | None
    """Why there is none."""


class FilmInProgress(Protocol):
    """A film of what happens in an environment. Never raises for a film that failed."""

    async def end(self, into: Path) -> FilmResult:
        """Stop, and write it to `into` with the suffix of its kind; None with the reason."""
        ...


@runtime_checkable
class Stage(Protocol):
    """An environment that may have a session and may be filmed; others lack these methods."""

    async def revive(self) -> str | None:
        """Start the recipe's session again where `kill_all` ended it; why it failed, or None.

        Costs nothing where it runs. The agent can break its own session, so that is no error.
        """
        ...

    async def film(self, quality: FilmQuality, *, max_bytes: int) -> FilmInProgress | None:
        """Begin to film; None where the recipe cannot."""
        ...
