"""Progress of a run on stderr: a live table on a terminal, plain lines elsewhere."""

import atexit
from collections.abc import Sequence
from typing import TYPE_CHECKING

from uniclaw.cli.output import by_round, duration
from uniclaw.runner.progress import CellTally, Current, Tally

if TYPE_CHECKING:
    from rich.console import Console
    from rich.live import Live
    from rich.table import Table
    from rich.text import Text

    from uniclaw.experiment import Planned
    from uniclaw.store.records import EpisodeRecord

SHOWN_CELLS = 12
SHOWN_EPISODES = 8
BAR = 16


class Progress:
    """What the runner tells of, shown as it happens."""

    def __init__(
        self,
        planned: Sequence["Planned"],
        *,
        quiet: bool = False,
        console: "Console | None" = None,
        tally: Tally | None = None,
    ) -> None:
        """Count the planned episodes.

        Args:
            planned: episodes to play.
            quiet: print nothing.
            console: stderr if None.
            tally: of the planned episodes; a new one if None.
        """
        from rich.console import Console

        self.tally = tally or Tally(planned)
        self._quiet = quiet
        self._console = console or Console(stderr=True, highlight=False, soft_wrap=True)
        self._live: Live | None = None

    def started(self, planned: "Planned") -> None:
        """An episode begins."""
        self.tally.started(planned)
        self._show()

    def phase(self, planned: "Planned", phase: str, round_number: int) -> None:
        """An episode enters a phase."""
        self.tally.phase(planned, phase, round_number)

    def settled(self, planned: "Planned", record: "EpisodeRecord") -> None:
        """An episode has its row."""
        self.tally.settled(planned, record)
        if self._quiet:
            return
        if not self.tally.current:
            self.close()
        self._console.print(self._line(record), markup=False, soft_wrap=True)

    def close(self) -> None:
        """Take the live table away; it comes back with the next episode. Idempotent."""
        if self._live is not None:
            self._live.stop()
            self._live = None
            atexit.unregister(self.close)

    def _show(self) -> None:
        if self._live is not None or self._quiet or not self._console.is_terminal:
            return
        from rich.live import Live

        self._live = Live(
            console=self._console,
            get_renderable=self.table,
            refresh_per_second=2,
            transient=True,
        )
        self._live.start(refresh=True)
        # Whatever ends the program must give the terminal its cursor back.
        atexit.register(self.close)

    def _line(self, record: "EpisodeRecord") -> str:
        tally = self.tally
        several = f"  [{record.cell}]" if len(tally.cells) > 1 else ""
        why = "" if record.outcome.scored else f"  {(record.reason or '').splitlines()[-1:]}"
        rate, eta = tally.all.pass_rate, tally.eta_s
        parts = [] if rate is None else [f"{rate:.0%} pass"]
        if eta is not None and tally.all.done < tally.all.total:
            parts.append(f"{duration(eta)} left")
        so_far = f"  ({', '.join(parts)})" if parts else ""
        return (
            f"[{tally.all.done}/{tally.all.total}] {record.task_id}  {record.outcome.value}"
            f"  {by_round(record)}  {record.seconds.get('wall', 0.0):.1f} s"
            f"{so_far}{several}{why}"
        )

    def table(self) -> "Table":
        """The live table: cells with their progress, and the episodes that play now."""
        from rich.table import Table
        from rich.text import Text

        tally = self.tally
        eta = "unknown" if tally.eta_s is None else duration(tally.eta_s)
        table = Table(
            title=f"{tally.all.done} of {tally.all.total} episodes, {duration(tally.elapsed_s)}"
            f" so far, {eta} left",
            title_justify="left",
            header_style="bold",
            box=None,
        )
        table.add_column("cell", no_wrap=True, overflow="ellipsis", ratio=1)
        for column in ("progress", "pass", "USD", "without a score"):
            table.add_column(column, no_wrap=True)
        # What is still open comes first: a table longer than the screen is cut below.
        cells = sorted(tally.cells.items(), key=lambda item: item[1].done >= item[1].total)
        for name, cell in cells[:SHOWN_CELLS]:
            table.add_row(*_cells(name, cell))
        if len(cells) > SHOWN_CELLS:
            table.add_row(f"... and {len(cells) - SHOWN_CELLS} more cells")
        if len(cells) > 1:
            table.add_row(*_cells("all", tally.all), style="bold")
        now = sorted(tally.current.values(), key=lambda item: item.since)
        for item in now[:SHOWN_EPISODES]:
            table.add_row(Text(f"  {_episode(item, tally.now())}", style="dim"))
        if len(now) > SHOWN_EPISODES:
            table.add_row(Text(f"  ... and {len(now) - SHOWN_EPISODES} more play", style="dim"))
        return table


def _cells(name: str, cell: CellTally) -> "tuple[Text, str, str, str, str]":
    from rich.text import Text

    filled = round(BAR * cell.done / cell.total) if cell.total else BAR
    bar = "━" * filled + " " * (BAR - filled)
    rate = "-" if cell.pass_rate is None else f"{cell.pass_rate:.0%}"
    usd = f"{'' if cell.cost_known else 'over '}{cell.usd:.2f}"
    failures = ", ".join(f"{count} {kind}" for kind, count in cell.failures.most_common())
    # Text, not markup: names may hold brackets, and lines above are printed without markup.
    return Text(name), f"{bar} {cell.done}/{cell.total}", rate, usd, failures or "-"


def _episode(item: Current, now: float) -> str:
    where = f" (round {item.round})" if item.round >= 0 else ""
    return f"{item.task_id}: {item.phase}{where}, {duration(now - item.since)}"
