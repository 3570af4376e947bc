"""Pages about runs: the list of runs, one run with its leaderboard, its episodes."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pydantic import JsonValue

from uniclaw.records import Outcome
from uniclaw.viewer import figures
from uniclaw.viewer.access import NoSuchPage, run_names
from uniclaw.viewer.later import within
from uniclaw.viewer.overview import (
    DEFINITIONS,
    RUNS,
    definition_of,
    kept,
    known_cost,
    run_line,
    totals_of,
)
from uniclaw.viewer.render import Ask, Page, pager, render
from uniclaw.viewer.row_types import SORTS, Wanted
from uniclaw.viewer.rows import open_rows

if TYPE_CHECKING:
    from uniclaw.viewer.board import Line

EPISODES = 100
"""Episodes on one page."""


def runs(ask: Ask) -> Page:
    """The list of runs."""
    text = ask.text("q").lower()
    names = [name for name in run_names(ask.site.runs) if text in name.lower()]
    at = pager(ask.number("page", 1), len(names), RUNS)
    lines = [run_line(ask.site.runs, name, ask.moment_s) for name in names[at.first : at.last]]
    return render(
        "runs.html",
        ask,
        here=("runs", kept(ask, "q", "page")),
        lines=lines,
        at=at,
        q=ask.text("q"),
    )


def run(ask: Ask) -> Page:
    """One run: totals, leaderboard with intervals, drill-down, plot."""
    from uniclaw.viewer import board

    folder = ask.run()
    totals, settings = totals_of(folder)
    by = ask.text("by") if ask.text("by") in board.BY else board.BY[0]
    definition = definition_of(ask)
    lines: list[Line] | None = []
    grouped: list[Line] | None = []
    problem = None
    try:
        lines = within(board.board(folder, "", definition), ask.patience_s)
        grouped = within(board.board(folder, by, definition), ask.patience_s) if lines else []
    except NoSuchPage as error:
        if error.key != "error.statistics":
            raise
        problem = error
    with open_rows(folder) as rows:
        running = rows.running(12)
        unscored = rows.episodes(Wanted(outcome="unscored"), offset=0, limit=8)
    pending = lines is None or grouped is None
    lines, grouped = lines or [], grouped or []
    names = board.short_names([line.cell for line in lines])
    points = [(x.number, names[x.cell], x.cost_usd, x.passing.value, x.passing.ci) for x in lines]
    return render(
        "run.html",
        ask,
        here=("run", {"run": folder.root.name, **kept(ask, "by", "score")}),
        run=folder.root.name,
        totals=totals,
        cost=known_cost(folder, ask.moment_s),
        facts=_facts(settings),
        lines=lines,
        groups=_grouped(grouped),
        by=by,
        axes=board.BY,
        definition=definition,
        definitions=DEFINITIONS,
        names=names,
        plot=figures.plot(points),
        problem=problem,
        pending=pending,
        running=running,
        unscored=unscored,
    )


def _grouped(lines: "list[Line]") -> "dict[str, list[Line]]":
    found: dict[str, list[Line]] = {}
    for line in lines:
        found.setdefault(line.group, []).append(line)
    return found


def _facts(settings: Mapping[str, JsonValue]) -> list[tuple[str, str]]:
    """What the run was started with, as far as a reader wants it at a glance."""
    inner = settings.get("settings")
    versions = settings.get("versions")
    facts = [("started_at", str(settings.get("started_at") or "")[:19].replace("T", " "))]
    if isinstance(inner, dict):
        facts += [
            (name, ", ".join(map(str, value)) if isinstance(value, list) else str(value))
            for name in ("suite", "environment", "trials", "seed", "parallel", "max_attempts")
            if (value := inner.get(name)) is not None
        ]
    if isinstance(versions, dict):
        facts.append(("version", str(versions.get("uniclaw", ""))))
    return [(name, value) for name, value in facts if value]


def episodes(ask: Ask) -> Page:
    """Episodes of a run: filtered, sorted and paged by SQL."""
    from uniclaw.viewer.board import short_names

    folder = ask.run()
    wanted = Wanted(
        outcome=ask.text("outcome"),
        cell=ask.text("cell"),
        task=ask.text("task"),
        text=ask.text("q"),
        sort=ask.text("sort") if ask.text("sort") in SORTS else "order",
        descending=ask.text("dir") == "desc",
    )
    totals, _ = totals_of(folder)
    with open_rows(folder) as rows:
        at = pager(ask.number("page", 1), rows.count(wanted), EPISODES)
        found = rows.episodes(wanted, offset=at.first, limit=EPISODES)
        cells = rows.cells()
    given = kept(ask, "outcome", "cell", "task", "q", "sort", "dir")
    return render(
        "episodes.html",
        ask,
        here=("episodes", {"run": folder.root.name, **given}),
        run=folder.root.name,
        found=found,
        at=at,
        wanted=wanted,
        kept=given,
        totals=totals,
        cells=cells[:200],
        names=short_names(cells),
        outcomes=[outcome.value for outcome in Outcome],
    )
