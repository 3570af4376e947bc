"""Runs at a glance: what each holds, what it cost, and what changes while it is played."""

from collections.abc import Mapping
from concurrent.futures import Future
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pydantic import JsonValue

from uniclaw.viewer.access import Folder, NoSuchPage, run_folder, run_names
from uniclaw.viewer.later import later, within
from uniclaw.viewer.render import Ask, count, money, percent
from uniclaw.viewer.row_types import Cost, Group, Totals
from uniclaw.viewer.rows import open_rows, stamp

if TYPE_CHECKING:
    from uniclaw.statistics.measures import Definition
    from uniclaw.viewer.board import Line, Pair

RUNS = 50
"""Runs on one page."""
DEFINITIONS = ("paper", "best", "final")


class RunLine(NamedTuple):
    """A run in the list."""

    name: str
    totals: Totals | None
    suite: str
    started_at: str
    cost: Cost | None = None
    problem: NoSuchPage | None = None


@lru_cache(maxsize=256)
def _totals(root: str, changed: tuple[int, ...]) -> tuple[Totals, Mapping[str, JsonValue]]:
    """A run in numbers, kept until its database changes."""
    with open_rows(Folder(Path(root))) as rows:
        return rows.totals(), rows.settings()


def totals_of(folder: Folder) -> tuple[Totals, Mapping[str, JsonValue]]:
    """A run in numbers, and what it was started with.

    Raises:
        NoSuchPage: it cannot be read.
    """
    return _totals(str(folder.root), stamp(folder))


def run_line(runs: Path, name: str, wait_s: float | None = 0.0) -> RunLine:
    """One line of the list; what cannot be read says why."""
    try:
        folder = run_folder(runs, name)
        if folder.size("run.sqlite") is None and folder.size("rows.jsonl") is not None:
            return RunLine(
                name, None, "", "", problem=NoSuchPage("error.imported", name, status=409)
            )
        totals, settings = totals_of(folder)
    except NoSuchPage as error:
        return RunLine(name, None, "", "", problem=error)
    inner = settings.get("settings")
    suite = inner.get("suite") if isinstance(inner, dict) else None
    started = str(settings.get("started_at") or "")[:16]
    return RunLine(name, totals, str(suite or ""), started, known_cost(folder, wait_s))


def kept(ask: Ask, *names: str) -> dict[str, str]:
    """Parameters that links of the page keep."""
    return {name: ask.text(name) for name in names if ask.text(name)}


def definition_of(ask: Ask) -> "Definition":
    """How the page reads scores."""
    asked = ask.text("score")
    return asked if asked == "best" or asked == "final" else "paper"


def groups_of(folder: Folder) -> tuple[Group, ...]:
    """Every (task, cell), kept until the run changes."""
    return _groups(str(folder.root), stamp(folder))


@lru_cache(maxsize=16)
def _groups(root: str, changed: tuple[int, ...]) -> tuple[Group, ...]:
    with open_rows(Folder(Path(root))) as rows:
        return tuple(rows.groups())


def live_run(ask: Ask) -> dict[str, JsonValue]:
    """What changes on a run's page while it is played, or while its intervals are computed."""
    folder = ask.run()
    totals, _ = totals_of(folder)
    live = _live(totals, known_cost(folder))
    waiting = _waited_for(ask, folder)
    if waiting:
        live["version"] = "ready" if all(one.done() for one in waiting) else "computing"
        live["open"] = True
    return live


def _waited_for(ask: Ask, folder: Folder) -> "list[Future[list[Line]] | Future[Pair]]":
    """What the page that polls was not given yet."""
    from uniclaw.viewer import board

    definition = definition_of(ask)
    if ask.text("by") in board.BY:
        return [board.board(folder, by, definition) for by in ("", ask.text("by"))]
    if ask.text("effects"):
        from uniclaw.viewer.pages_ablation import effects_of

        return list(effects_of(folder).values())
    if ask.text("a"):
        return [board.pair_of(folder, ask.text("a"), ask.text("b"), definition)]
    return []


def known_cost(folder: Folder, wait_s: float | None = 0.0) -> Cost | None:
    """What the run has cost as far as it is known: the newest sum that is ready, else None."""
    root = str(folder.root)

    def make() -> Cost:
        with open_rows(folder) as rows:
            found = rows.cost()
        _costs[root] = found
        return found

    try:
        fresh = within(later(("cost", root, stamp(folder)), make), wait_s)
    except NoSuchPage:
        return None
    return fresh or _costs.get(root)


_costs: dict[str, Cost] = {}
"""By run: its newest sum, shown while a newer one is computed."""


def live_runs(ask: Ask) -> dict[str, JsonValue]:
    """What changes on the list of runs while some are played."""
    names = run_names(ask.site.runs)
    lines = [run_line(ask.site.runs, name) for name in names[:RUNS]]
    return {
        "version": "-".join(names[:RUNS]),
        "runs": {
            line.name: _live(line.totals, line.cost) for line in lines if line.totals is not None
        },
    }


def _live(totals: Totals, cost: Cost | None) -> dict[str, JsonValue]:
    rate = totals.passed / totals.scored if totals.scored else None
    return {
        "version": f"{totals.settled}-{totals.started}-{totals.planned}",
        "open": totals.settled < totals.planned,
        "progress": [totals.settled, totals.planned],
        "settled": count(totals.settled),
        "planned": count(totals.planned),
        "passed": count(totals.passed),
        "scored": count(totals.scored),
        "rate": percent(rate),
        "cost": money(cost.usd) if cost else "…",
        "started": count(totals.started),
    }
