"""How far a run is: by cell, with pass rate, cost, expected end, failures and what plays now.

Only counts; `cli.progress` shows them.
"""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from uniclaw.experiment import Planned
from uniclaw.runner.history import paid_by
from uniclaw.store.records import EpisodeRecord


@dataclass
class CellTally:
    """One cell, or all together."""

    total: int = 0
    done: int = 0
    scored: int = 0
    passed: int = 0
    usd: float = 0.0
    cost_known: bool = True
    """No settled episode had a call without a price."""
    wall_s: float = 0.0
    """Of the settled episodes together."""
    failures: Counter[str] = field(default_factory=Counter[str])
    """Outcome that is nobody's score -> episodes."""

    @property
    def pass_rate(self) -> float | None:
        """Of the scored episodes so far; None before the first."""
        return self.passed / self.scored if self.scored else None

    def add(self, record: EpisodeRecord) -> None:
        """A settled episode."""
        self.done += 1
        self.wall_s += record.seconds.get("wall", 0.0)
        if record.outcome.scored:
            self.scored += 1
            self.passed += record.passed is True
        else:
            self.failures[record.outcome.value] += 1
        for spent in paid_by(record).values():
            self.usd += spent.cost_usd or 0.0
            self.cost_known = self.cost_known and spent.cost_usd is not None


class Current(NamedTuple):
    """An episode that plays now."""

    task_id: str
    cell: str
    phase: str
    round: int
    """-1 before the first."""
    since: float


class Tally:
    """The counts of a run, from what its runner tells."""

    def __init__(
        self, planned: Sequence[Planned], clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Count the episodes that are to be played."""
        self._clock = clock
        self._began: float | None = None
        self._peak = 1
        self.all = CellTally(total=len(planned))
        self.cells: dict[str, CellTally] = {}
        self.current: dict[str, Current] = {}
        for item in planned:
            self.cells.setdefault(item.axes.cell, CellTally()).total += 1

    def now(self) -> float:
        """By the clock that durations are measured with."""
        return self._clock()

    @property
    def elapsed_s(self) -> float:
        """Since the first episode began."""
        return 0.0 if self._began is None else self._clock() - self._began

    def started(self, planned: Planned) -> None:
        """An episode begins."""
        self._began = self._clock() if self._began is None else self._began
        item = Current(planned.bundle.task_id, planned.axes.cell, "start", -1, self._clock())
        self.current[planned.episode_id] = item
        self._peak = max(self._peak, len(self.current))

    def phase(self, planned: Planned, phase: str, round_number: int) -> None:
        """An episode enters a phase."""
        known = self.current.get(planned.episode_id)
        if known is not None:
            self.current[planned.episode_id] = known._replace(phase=phase, round=round_number)

    def settled(self, planned: Planned, record: EpisodeRecord) -> None:
        """An episode has its row."""
        self.current.pop(planned.episode_id, None)
        self.all.add(record)
        self.cells.setdefault(record.cell, CellTally()).add(record)

    @property
    def eta_s(self) -> float | None:
        """Seconds to the end: mean duration by cell, as many at a time as there were at most.

        None while nothing is settled.
        """
        if not self.all.done:
            return None
        mean = self.all.wall_s / self.all.done
        left = sum(
            max(0, cell.total - cell.done) * (cell.wall_s / cell.done if cell.done else mean)
            for cell in self.cells.values()
        )
        now = self._clock()
        played = sum(min(now - item.since, mean) for item in self.current.values())
        return max(0.0, left - played) / self._peak
