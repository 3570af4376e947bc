"""Pages that set tasks and cells against each other: matrix, comparison, tasks."""

from typing import TYPE_CHECKING, NamedTuple

from uniclaw.viewer import figures
from uniclaw.viewer.access import NoSuchPage
from uniclaw.viewer.later import within
from uniclaw.viewer.overview import DEFINITIONS, definition_of, groups_of, kept
from uniclaw.viewer.render import Ask, Page, pager, render
from uniclaw.viewer.row_types import Group
from uniclaw.viewer.rows import open_rows

if TYPE_CHECKING:
    from uniclaw.viewer.board import Pair

MATRIX = 1_200
"""Fields of the heat map on one page."""


def matrix(ask: Ask) -> Page:
    """Task by cell, as a heat map."""
    from uniclaw.viewer.board import short_names

    folder = ask.run()
    groups = groups_of(folder)
    cells = sorted({group.cell for group in groups})
    shown = cells[:40]
    tasks = sorted({group.task_id for group in groups})
    at = pager(ask.number("page", 1), len(tasks), max(10, MATRIX // max(1, len(shown))))
    by = {(group.task_id, group.cell): group for group in groups}
    return render(
        "matrix.html",
        ask,
        here=("matrix", {"run": folder.root.name, **kept(ask, "page")}),
        run=folder.root.name,
        tasks=tasks[at.first : at.last],
        cells=shown,
        left_out=len(cells) - len(shown),
        names=short_names(cells),
        by=by,
        heat=_heat,
        at=at,
    )


def _heat(group: Group) -> str:
    return figures.heat(group.passed / group.scored if group.scored else None)


def compare(ask: Ask) -> Page:
    """Two cells on the same tasks."""
    from uniclaw.viewer import board

    folder = ask.run()
    with open_rows(folder) as rows:
        cells = rows.cells()
    a = ask.text("a") or (cells[0] if cells else "")
    b = ask.text("b") or (cells[1] if len(cells) > 1 else "")
    pair: Pair | None = None
    problem = None
    if len(cells) > 1:
        try:
            pair = within(board.pair_of(folder, a, b, definition_of(ask)), ask.patience_s)
        except NoSuchPage as error:
            problem = error
    return render(
        "compare.html",
        ask,
        here=("compare", {"run": folder.root.name, **kept(ask, "a", "b", "score")}),
        run=folder.root.name,
        cells=cells[:200],
        names=board.short_names(cells),
        a=a,
        b=b,
        pair=pair,
        pending=pair is None and problem is None and len(cells) > 1,
        problem=problem,
        definition=definition_of(ask),
        definitions=DEFINITIONS,
    )


class TaskLine(NamedTuple):
    """A task in the list."""

    task_id: str
    family: str
    capability: str
    language: str
    settled: int
    scored: int
    passed: int


def tasks(ask: Ask) -> Page:
    """Tasks of a run."""
    folder = ask.run()
    with open_rows(folder) as rows:
        facts = {fact.task_id: fact for fact in rows.tasks()}
    groups = groups_of(folder)
    lines: list[TaskLine] = []
    for task_id in sorted({group.task_id for group in groups}):
        of_task = [group for group in groups if group.task_id == task_id]
        fact = facts.get(task_id)
        lines.append(
            TaskLine(
                task_id,
                fact.family if fact else "",
                fact.capability if fact else "",
                fact.language if fact else "",
                sum(group.settled for group in of_task),
                sum(group.scored for group in of_task),
                sum(group.passed for group in of_task),
            )
        )
    return render(
        "tasks.html",
        ask,
        here=("tasks", {"run": folder.root.name}),
        run=folder.root.name,
        lines=lines[:1_000],
        left_out=max(0, len(lines) - 1_000),
    )
