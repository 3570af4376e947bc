"""Shares of the budgets of a run and its cells, leased to episodes that play on nodes.

An episode gets a share before it is sent out: what episodes of its cell cost so far, or, while
none is settled, an even part of what is left. What it spends is told as it spends it; a lease
that was exceeded counts with what was spent. Nothing begins that does not fit beside the leases
that are out, so that a run exceeds its budget by no more than single episodes exceed their
shares, on however many machines. An episode under way is never cut off by it.
"""

import asyncio
from collections import defaultdict
from dataclasses import dataclass

from uniclaw.records import RoleUsage
from uniclaw.runner.history import paid_by
from uniclaw.runner.ledger import Ledger
from uniclaw.store.records import EpisodeRecord


@dataclass
class Lease:
    """The share of one episode."""

    cell: str
    usd: float
    tokens: float
    spent_usd: float = 0.0
    spent_tokens: float = 0.0

    def spend(self, spent: RoleUsage) -> None:
        """An exchange that was just stored."""
        self.spent_usd += spent.cost_usd or 0.0
        self.spent_tokens += spent.usage.total

    @property
    def held(self) -> tuple[float, float]:
        """What counts against the budget: USD and tokens."""
        return max(self.usd, self.spent_usd), max(self.tokens, self.spent_tokens)


class Leases:
    """All leases that are out; the writer's side."""

    def __init__(self, ledger: Ledger, parallel: int) -> None:
        """Lease from the accounts of a run.

        Args:
            ledger: what was spent, and the limits.
            parallel: episodes at a time, among which what is left is shared at first.
        """
        self._ledger = ledger
        self._parallel = parallel
        self._out: list[Lease] = []
        self._seen: defaultdict[str, list[tuple[float, float]]] = defaultdict(list)
        self._changed = asyncio.Condition()

    async def take(self, cell: str) -> Lease | None:
        """A share for an episode of a cell, once it fits; None when the budget is used up."""
        async with self._changed:
            while self._ledger.refuses(cell) is None:
                lease = self._share(cell)
                if self._fits(lease):
                    self._out.append(lease)
                    return lease
                await self._changed.wait()
        return None

    async def settle(self, lease: Lease, record: EpisodeRecord | None) -> None:
        """Give a share back; its place is taken by what the episode cost."""
        async with self._changed:
            self._out.remove(lease)
            if record is not None:
                paid = paid_by(record).values()
                usd = sum(s.cost_usd or 0.0 for s in paid)
                self._seen[lease.cell].append((usd, float(sum(s.usage.total for s in paid))))
                self._ledger.note(record)
            self._changed.notify_all()

    def _share(self, cell: str) -> Lease:
        seen = self._seen[cell]
        if seen:
            usd, tokens = (sum(column) / len(seen) for column in zip(*seen, strict=True))
            return Lease(cell, usd, tokens)
        scopes = self._ledger.left(cell)
        parts = [[s.usd for s in scopes], [s.tokens for s in scopes]]
        least = [min((x for x in part if x is not None), default=0.0) for part in parts]
        return Lease(cell, least[0] / self._parallel, least[1] / self._parallel)

    def _fits(self, lease: Lease) -> bool:
        """Whether a share stands beside those that are out; alone, it always does."""
        for left in self._ledger.left(lease.cell):
            out = [x for x in self._out if left.cell is None or x.cell == left.cell]
            usd = sum(x.held[0] for x in out)
            tokens = sum(x.held[1] for x in out)
            if out and (
                _over(left.usd, usd + lease.usd) or _over(left.tokens, tokens + lease.tokens)
            ):
                return False
        return True


def _over(left: float | None, wanted: float) -> bool:
    return left is not None and wanted > left * (1 + 1e-9)
