"""Attempts at an episode: each begins with a row, so that a crash never hides one."""

import sqlite3
from typing import Literal, NamedTuple

from uniclaw.failpoints import reach
from uniclaw.store.database import writing

State = Literal["started", "cut", "failed", "settled"]


class AttemptRow(NamedTuple):
    """One attempt at an episode."""

    base_id: str
    """Id the episode was planned by."""
    attempt: int
    episode_id: str
    """Id of this attempt: its directory, its containers, its checkpoints."""
    state: State
    outcome: str | None
    reason: str | None


def attempt_id(base_id: str, attempt: int) -> str:
    """The first attempt has the planned id; later ones say their number."""
    return base_id if attempt == 1 else f"{base_id}-a{attempt}"


class AttemptLog:
    """The table of attempts."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._db = connection

    def of(self, base_id: str) -> list[AttemptRow]:
        """Attempts at an episode, in order."""
        rows = self._db.execute(
            "SELECT base_id, attempt, episode_id, state, outcome, reason FROM attempts"
            " WHERE base_id = ? ORDER BY attempt",
            (base_id,),
        )
        return [AttemptRow(*row) for row in rows]

    def open(self) -> list[AttemptRow]:
        """Attempts that began and have no end: their runner died, or is at work."""
        rows = self._db.execute(
            "SELECT base_id, attempt, episode_id, state, outcome, reason FROM attempts"
            " WHERE state = 'started' ORDER BY rowid"
        )
        return [AttemptRow(*row) for row in rows]

    def counts(self) -> dict[str, int]:
        """Attempts by state."""
        rows = self._db.execute("SELECT state, COUNT(*) FROM attempts GROUP BY 1")
        return {str(state): int(number) for state, number in rows}

    def begin(self, base_id: str, attempt: int, started_at: str) -> str:
        """Enter an attempt before anything of it happens; returns its id."""
        reach("attempt.before")
        episode_id = attempt_id(base_id, attempt)
        with writing(self._db) as db:
            db.execute(
                "INSERT INTO attempts VALUES (?, ?, ?, 'started', NULL, NULL, ?, NULL)",
                (base_id, attempt, episode_id, started_at),
            )
        reach("attempt.begun")
        return episode_id

    def fail(self, episode_id: str, outcome: str, reason: str | None, wall_s: float | None) -> None:
        """An attempt ended in what is nobody's score, and another follows."""
        with writing(self._db) as db:
            db.execute(
                "UPDATE attempts SET state = 'failed', outcome = ?, reason = ?, wall_s = ?"
                " WHERE episode_id = ?",
                (outcome, reason, wall_s, episode_id),
            )
        reach("attempt.failed")

    def cut(self, episode_id: str) -> None:
        """An attempt was cut off by the end of its runner."""
        with writing(self._db) as db:
            db.execute("UPDATE attempts SET state = 'cut' WHERE episode_id = ?", (episode_id,))

    def settled(self, episode_id: str, outcome: str, wall_s: float | None) -> None:
        """An attempt became the episode's result; the caller holds the transaction."""
        self._db.execute(
            "UPDATE attempts SET state = 'settled', outcome = ?, wall_s = ? WHERE episode_id = ?",
            (outcome, wall_s, episode_id),
        )
