"""What a run and each of its cells have spent, and whether another episode may begin.

A budget that runs out in mid-round stops nothing that is under way: an episode cut by a budget
that is not its own would be nobody's score. So a run spends at most its budget and what the
episodes that were playing then still need.
"""

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from pydantic import JsonValue

from uniclaw.config import Budgets, Spend
from uniclaw.records import RoleUsage
from uniclaw.runner.history import paid_by
from uniclaw.store.records import EpisodeRecord


@dataclass
class _Account:
    usd: float = 0.0
    tokens: int = 0
    hours: float = 0.0

    def add(self, spent: Iterable[RoleUsage], hours: float) -> None:
        for item in spent:
            self.usd += item.cost_usd or 0.0
            self.tokens += item.usage.total
        self.hours += hours

    def over(self, limit: Spend) -> str | None:
        """The limit that is used up, in words."""
        pairs = (
            ("usd", limit.usd, self.usd),
            ("tokens", limit.tokens, float(self.tokens)),
            ("hours", limit.hours, self.hours),
        )
        for kind, allowed, used in pairs:
            if allowed is not None and used >= allowed:
                return f"{kind}: {used:g} of {allowed:g} used"
        return None


class Left(NamedTuple):
    """What a budget still allows."""

    cell: str | None
    """None: the whole run."""
    usd: float | None
    tokens: float | None


@dataclass
class Ledger:
    """Accounts of a run and of its cells."""

    budgets: Budgets
    clock: Callable[[], float] = time.monotonic
    stopped: dict[str, str] = field(default_factory=dict[str, str])
    """Cell, or `run` -> which budget was used up."""

    def __post_init__(self) -> None:
        """Start the clock of the run."""
        self._begin = self.clock()
        self._run = _Account()
        self._cells: defaultdict[str, _Account] = defaultdict(_Account)

    def load(self, rows: Iterable[Mapping[str, JsonValue]]) -> None:
        """Take over what a run had spent when it was stopped: its settled `brief_rows`."""
        for row in rows:
            usage, wall = row.get("paid"), row.get("wall_s")
            spent = usage.values() if isinstance(usage, dict) else ()
            hours = float(wall) / 3600 if isinstance(wall, int | float) else 0.0
            self._add(str(row.get("cell")), [RoleUsage.model_validate(s) for s in spent], hours)
            # Wall time of an earlier runner is not known; its episodes' is the best bound.
            self._run.hours += hours

    def note(self, record: EpisodeRecord) -> None:
        """Enter a settled episode."""
        hours = record.seconds.get("wall", 0.0) / 3600
        self._add(record.cell, list(paid_by(record).values()), hours)

    def left(self, cell: str) -> tuple["Left", "Left"]:
        """What the run and a cell may still spend; None where there is no limit."""
        pairs = (
            (None, self._run, self.budgets.run),
            (cell, self._cells[cell], self.budgets.cell),
        )
        run, own = (
            Left(
                name,
                None if limit.usd is None else max(0.0, limit.usd - account.usd),
                None if limit.tokens is None else float(max(0, limit.tokens - account.tokens)),
            )
            for name, account, limit in pairs
        )
        return run, own

    def _add(self, cell: str, spent: list[RoleUsage], hours: float) -> None:
        self._run.add(spent, 0.0)
        self._cells[cell].add(spent, hours)

    def refuses(self, cell: str) -> str | None:
        """Why no further episode of a cell may begin; None when it may."""
        now = _Account(self._run.usd, self._run.tokens, self._run.hours)
        now.hours += (self.clock() - self._begin) / 3600
        for name, account, limit in (
            ("run", now, self.budgets.run),
            (cell, self._cells[cell], self.budgets.cell),
        ):
            reason = account.over(limit)
            if reason is not None:
                self.stopped.setdefault(name, reason)
                return reason
        return None
