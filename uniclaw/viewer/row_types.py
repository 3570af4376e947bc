"""What the pages get from a run's rows, and how a list's filter becomes SQL."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pydantic import JsonValue

from uniclaw.records import Outcome

SCORED = tuple(outcome.value for outcome in Outcome if outcome.scored)
SORTS: Mapping[str, str] = {
    "order": "e.rowid",
    "task": "e.task_id, e.cell, e.trial",
    "cell": "e.cell, e.task_id, e.trial",
    "outcome": "e.outcome, e.rowid",
    "rounds": "e.rounds, e.rowid",
    "final": "e.final_score, e.rowid",
    "best": "e.best_score, e.rowid",
    "executor": "e.executor_s, e.rowid",
    "wall": "e.wall_s, e.rowid",
}
"""Orders of a list: name -> columns."""


class Row(NamedTuple):
    """One planned or settled episode."""

    episode_id: str
    task_id: str
    cell: str
    trial: int
    attempt: int
    state: str
    outcome: str | None
    reason: str | None
    rounds: int | None
    final_score: float | None
    best_score: float | None
    executor_s: float | None
    wall_s: float | None
    base_id: str

    @property
    def done(self) -> bool:
        """Whether it is settled."""
        return self.state == "done"


class Wanted(NamedTuple):
    """Which episodes a list shows."""

    outcome: str = ""
    cell: str = ""
    task: str = ""
    text: str = ""
    sort: str = "order"
    descending: bool = False


class Totals(NamedTuple):
    """A run in numbers."""

    planned: int
    settled: int
    scored: int
    passed: int
    final: float | None
    best: float | None
    outcomes: Mapping[str, int]
    started: int
    """Attempts at work now (or cut off by the end of their runner)."""


class Cost(NamedTuple):
    """What a run has cost."""

    usd: float | None
    """Of what has a price."""
    unpriced: int
    """Settled episodes with a part whose price is unknown."""


class TaskFacts(NamedTuple):
    """What a task's rows say of it."""

    task_id: str
    family: str
    capability: str
    language: str
    suite: str
    threshold: float | None


class Group(NamedTuple):
    """Episodes of one task in one cell."""

    task_id: str
    cell: str
    episodes: int
    settled: int
    scored: int
    passed: int
    best: float | None
    one: str
    """Id of one of them."""


class Measured(NamedTuple):
    """What statistics need of a settled episode."""

    task_id: str
    cell: str
    trial: int
    outcome: str
    final_score: float | None
    best_score: float | None
    executor_s: float | None
    cost_usd: float | None
    rounds: int | None


class Call(NamedTuple):
    """One model exchange."""

    seq: int
    role: str
    model: str
    ok: bool
    blob: str
    spent: Mapping[str, JsonValue]
    reused: bool


def marks(values: Sequence[str]) -> str:
    """Placeholders for values."""
    return ", ".join("?" * len(values))


def where_of(wanted: Wanted) -> tuple[str, tuple[str, ...]]:
    """A WHERE clause (or nothing) over `episodes e`, with its values."""
    parts: list[str] = []
    values: list[str] = []
    if wanted.outcome == "unfinished":
        parts.append("e.state != 'done'")
    elif wanted.outcome == "unscored":
        parts.append(f"e.state = 'done' AND e.outcome NOT IN ({marks(SCORED)})")
        values.extend(SCORED)
    elif wanted.outcome:
        parts.append("e.state = 'done' AND e.outcome = ?")
        values.append(wanted.outcome)
    for column, value in (("cell", wanted.cell), ("task_id", wanted.task)):
        if value:
            parts.append(f"e.{column} = ?")
            values.append(value)
    if wanted.text:
        like = f"%{_escape(wanted.text)}%"
        parts.append(
            "(e.task_id LIKE ? ESCAPE '\\' OR e.cell LIKE ? ESCAPE '\\' OR e.episode_id LIKE ?"
            " ESCAPE '\\' OR e.reason LIKE ? ESCAPE '\\')"
        )
        values.extend([like] * 4)
    return (f" WHERE {' AND '.join(parts)}" if parts else ""), tuple(values)


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
