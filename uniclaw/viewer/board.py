"""Cells of a run with intervals, drill-down and paired comparison, from SQL columns."""

from collections.abc import Sequence
from concurrent.futures import Future
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from uniclaw.records import Outcome
from uniclaw.viewer.access import Folder, NoSuchPage
from uniclaw.viewer.later import later
from uniclaw.viewer.row_types import SCORED
from uniclaw.viewer.rows import open_rows, stamp

if TYPE_CHECKING:
    from uniclaw.statistics.compare import PairResult
    from uniclaw.statistics.estimates import Estimate
    from uniclaw.statistics.measures import Definition
    from uniclaw.statistics.rows import EpisodeRow

RESAMPLES = 2_000
"""For pages; the command line uses more."""
BY = ("capability", "language", "family", "suite")
"""Axes of the drill-down."""


class Line(NamedTuple):
    """One line of the leaderboard."""

    number: int
    cell: str
    group: str
    """Value of the drill-down axis; empty without one."""
    episodes: int
    scored: int
    passing: "Estimate"
    score: "Estimate"
    cost_usd: float | None
    executor_s: float | None
    rounds: float | None


class Flip(NamedTuple):
    """A task that one cell passes more often than another."""

    task_id: str
    left: float
    right: float


class Pair(NamedTuple):
    """Two cells compared."""

    result: "PairResult"
    flips: tuple[Flip, ...]
    same: int


@lru_cache(maxsize=4)
def _rows(root: str, changed: tuple[int, ...]) -> tuple["EpisodeRow", ...]:
    """All settled episodes as rows of statistics; kept until the run changes."""
    try:
        from uniclaw.statistics.rows import EpisodeRow, RoundRow
    except ImportError as error:
        raise NoSuchPage("error.statistics", status=501) from error
    folder = Folder(Path(root))
    with open_rows(folder) as rows:
        facts = {fact.task_id: fact for fact in rows.tasks()}
        measured = list(rows.measures())
    played = tuple(RoundRow(round=n) for n in range(64))
    found: list[EpisodeRow] = []
    for task, cell, trial, outcome, final, best, executor_s, cost, rounds in measured:
        fact = facts.get(task)
        scored = outcome in SCORED
        found.append(
            EpisodeRow(
                run=folder.root.name,
                task_id=task,
                family=fact.family if fact else task,
                suite=fact.suite if fact else "",
                capability=fact.capability if fact else "general",
                language=fact.language if fact else "en",
                cell=cell,
                harness="",
                trial=trial,
                outcome=Outcome(outcome),
                scored=scored,
                passed=outcome == "pass" if scored else None,
                threshold=fact.threshold if fact else None,
                final_score=final,
                best_score=best,
                executor_s=executor_s,
                cost_usd=cost,
                rounds=played[: rounds or 0],
            )
        )
    return tuple(found)


def board(folder: Folder, by: str, definition: "Definition") -> Future[list[Line]]:
    """The leaderboard; `by` is empty or an axis of the drill-down."""
    root, changed = str(folder.root), stamp(folder)
    return later(
        ("board", root, changed, by, definition), lambda: _board(root, changed, by, definition)
    )


def _board(root: str, changed: tuple[int, ...], by: str, definition: "Definition") -> list[Line]:
    rows = _rows(root, changed)
    if not rows:
        return []
    from uniclaw.statistics.rows import group

    numbers = {cell: n for n, cell in enumerate(sorted({row.cell for row in rows}), 1)}
    axes = ("cell", by) if by else ("cell",)
    return [
        _line(numbers[key[0]], key, members, definition)
        for key, members in group(rows, axes).items()
    ]


def _line(
    number: int,
    key: tuple[str, ...],
    rows: Sequence["EpisodeRow"],
    definition: "Definition",
) -> Line:
    from uniclaw.statistics.estimates import Options
    from uniclaw.statistics.intervals import design_of, ratio_estimates, totals
    from uniclaw.statistics.measures import read

    plan = design_of(rows)
    readings = [(row.family, read(row, definition)) for row in rows]
    columns = [
        [(family, r.passed) for family, r in readings if r.passed is not None],
        [(family, r.score) for family, r in readings if r.score is not None],
    ]
    passing, score = ratio_estimates(plan, totals(plan, columns), Options(resamples=RESAMPLES))
    return Line(
        number=number,
        cell=key[0],
        group=key[1] if len(key) > 1 else "",
        episodes=len(rows),
        scored=sum(row.scored for row in rows),
        passing=passing,
        score=score,
        cost_usd=_mean([row.cost_usd for row in rows]),
        executor_s=_mean([row.executor_s for row in rows]),
        rounds=_mean([float(len(row.rounds)) for row in rows]),
    )


def _mean(values: Sequence[float | None]) -> float | None:
    """None when one is unknown: a mean over the rest would look cheaper than it was."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known and len(known) == len(values) else None


def pair_of(folder: Folder, left: str, right: str, definition: "Definition") -> Future[Pair]:
    """Two cells on the same tasks, with the tasks that flipped.

    Its result raises `NoSuchPage` where a cell has no settled episode, or both are one.
    """
    root, changed = str(folder.root), stamp(folder)
    return later(
        ("pair", root, changed, left, right, definition),
        lambda: _pair(root, changed, left, right, definition),
    )


def _pair(
    root: str, changed: tuple[int, ...], left: str, right: str, definition: "Definition"
) -> Pair:
    from uniclaw.errors import UserError
    from uniclaw.statistics.compare import CompareOptions, compare
    from uniclaw.statistics.measures import value

    kept = [row for row in _rows(root, changed) if row.cell in (left, right)]
    if left == right or not {left, right} <= {row.cell for row in kept}:
        raise NoSuchPage("error.cells")
    # Groups are compared in sorted order; renaming keeps the order that was asked for.
    names = {left: "a", right: "b"}
    renamed = [row.model_copy(update={"cell": names[row.cell]}) for row in kept]
    try:
        report = compare(renamed, CompareOptions(resamples=RESAMPLES, definition=definition))
    except UserError as error:
        raise NoSuchPage("error.cells", str(error)) from error
    values: dict[str, tuple[list[float], list[float]]] = {}
    for row in renamed:
        number = value(row, "pass", definition)
        if number is not None:
            sides = values.setdefault(row.task_id, ([], []))
            sides[row.cell == "b"].append(number)
    means = [
        Flip(task, sum(a) / len(a), sum(b) / len(b)) for task, (a, b) in values.items() if a and b
    ]
    flips = [flip for flip in means if flip.left != flip.right]
    flips.sort(key=lambda flip: (flip.left - flip.right, flip.task_id))
    return Pair(report.pairs[0], tuple(flips), len(means) - len(flips))


def short_names(cells: Sequence[str]) -> dict[str, str]:
    """Cells by the parts that tell them apart."""
    split = {cell: cell.split(" | ") for cell in cells}
    if len(split) < 2:
        return {cell: parts[0] for cell, parts in split.items()}
    common = set[str].intersection(*(set(parts) for parts in split.values()))
    found = {cell: [p for p in parts if p not in common] for cell, parts in split.items()}
    return {cell: " | ".join(parts) or split[cell][0] for cell, parts in found.items()}
