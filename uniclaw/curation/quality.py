"""`uniclaw quality`: what the tasks of a suite are worth as items of a test.

Difficulty is the mean over cells; discrimination the correlation of an item's score with the
mean score on all other tasks (the corrected item-total correlation), over cells. WildClawBench's
rule keeps a task whose largest gap between two pilot scores is at least 0.2.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Annotated, NamedTuple

import numpy as np
from pydantic import Field

from uniclaw.errors import UserError
from uniclaw.records import Count, Record, Unit
from uniclaw.statistics import foreign
from uniclaw.statistics.estimates import Interval
from uniclaw.statistics.foreign import Floats
from uniclaw.statistics.measures import Definition, Measure, read
from uniclaw.statistics.rows import Axis, EpisodeRow, Rows, as_rows, group, select


class QualityOptions(Record):
    """Options of `quality`."""

    by: tuple[Axis, ...] = ("cell",)
    """Axes whose combinations are the pilots (the test takers)."""
    where: Mapping[Axis, tuple[str, ...]] = Field(default_factory=dict[Axis, tuple[str, ...]])
    definition: Definition = "paper"
    gap: Unit = 0.2
    """Least pairwise gap of pilot scores that keeps a task."""
    ceiling: Unit = 0.95
    """Pass rate of the best pilot from which a suite counts as saturated."""
    level: Annotated[float, Field(gt=0, lt=1)] = 0.95


class Item(Record):
    """One task."""

    task_id: str
    family: str
    capability: str
    language: str
    cells: Count
    """Pilots with a value."""
    pass_rate: Unit | None
    """Mean over pilots of their pass rate on it."""
    mean_score: Unit | None
    gap: Unit | None
    """Largest pairwise gap of pilot scores."""
    keeps: bool | None
    """Whether the gap rule keeps it; None when fewer than two pilots have a score."""
    discrimination: float | None
    discrimination_ci: Interval | None
    """By Fisher's z; None below four pilots."""
    passed_by: Count
    """Pilots that always pass it."""
    suspicious: bool
    """Negative discrimination: better pilots do worse on it."""
    reason: str | None = None
    """Why discrimination is undefined."""


class Saturation(Record):
    """How much room a set of tasks leaves."""

    name: str
    tasks: Count
    passed_by_all: Count
    passed_by_none: Count
    best_cell: str | None
    best_pass_rate: Unit | None
    headroom: Unit | None
    """1 minus the best pass rate."""
    within_rule: Count
    """Tasks that the gap rule keeps."""
    suspicious: Count
    saturated: bool


class QualityReport(Record):
    """Answer of `quality`."""

    cells: tuple[str, ...]
    definition: Definition
    tasks: Count
    passed_by_all: Count
    passed_by_none: Count
    kept_by_gap_rule: Count
    suspicious: tuple[str, ...]
    """Tasks with negative discrimination, the worst first."""
    mean_discrimination: float | None
    saturation: tuple[Saturation, ...]
    """The whole suite, then each capability."""
    items: tuple[Item, ...]
    warnings: tuple[str, ...] = ()


class Matrix(NamedTuple):
    """Mean by pilot (rows) and task (columns); NaN where a pilot has no value."""

    cells: tuple[str, ...]
    tasks: tuple[str, ...]
    values: Floats


def matrix_of(
    rows: Sequence[EpisodeRow], by: Sequence[str], measure: Measure, definition: Definition
) -> Matrix:
    """Mean over trials of each pilot on each task."""
    groups = group(rows, by)
    tasks = tuple(sorted({row.task_id for row in rows}))
    index = {task: number for number, task in enumerate(tasks)}
    sums = np.zeros((len(groups), len(tasks)))
    counts = np.zeros((len(groups), len(tasks)))
    for number, members in enumerate(groups.values()):
        for row in members:
            reading = read(row, definition)
            value = reading.passed if measure == "pass" else reading.score
            if value is not None:
                sums[number, index[row.task_id]] += value
                counts[number, index[row.task_id]] += 1
    values = np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
    return Matrix(tuple("/".join(key) for key in groups), tasks, values)


def quality(rows: Rows, options: QualityOptions | None = None) -> QualityReport:
    """Item statistics, the gap rule, suspicious items and saturation.

    Raises:
        UserError: one pilot alone, no or duplicate rows, an unknown axis or value, NaN.
    """
    chosen = options or QualityOptions()
    kept = select(as_rows(rows), {str(k): v for k, v in chosen.where.items()})
    passed = matrix_of(kept, chosen.by, "pass", chosen.definition)
    scores = matrix_of(kept, chosen.by, "score", chosen.definition)
    if len(passed.cells) < 2:
        raise UserError("task quality needs two pilots or more", field="by", value=passed.cells)
    first = {row.task_id: row for row in reversed(kept)}
    items = [_item(passed, scores, n, first[t], chosen) for n, t in enumerate(passed.tasks)]
    suspects = sorted((i for i in items if i.suspicious), key=lambda i: i.discrimination or 0.0)
    known = [item.discrimination for item in items if item.discrimination is not None]
    capabilities = sorted({item.capability for item in items})
    whole = _saturation("all", items, passed, chosen)
    return QualityReport(
        cells=passed.cells,
        definition=chosen.definition,
        tasks=len(items),
        passed_by_all=whole.passed_by_all,
        passed_by_none=whole.passed_by_none,
        kept_by_gap_rule=whole.within_rule,
        suspicious=tuple(item.task_id for item in suspects),
        mean_discrimination=sum(known) / len(known) if known else None,
        saturation=(
            whole,
            *(
                _saturation(name, [i for i in items if i.capability == name], passed, chosen)
                for name in capabilities
            ),
        ),
        items=tuple(items),
        warnings=_warnings(passed),
    )


def _warnings(passed: Matrix) -> tuple[str, ...]:
    notes: list[str] = []
    gaps = int(np.isnan(passed.values).sum())
    if gaps:
        notes.append(f"{gaps} of {passed.values.size} pilot-task pairs have no value")
    if len(passed.cells) < 8:
        notes.append(f"only {len(passed.cells)} pilots: discrimination is very uncertain")
    return tuple(notes)


def _item(
    passed: Matrix, scores: Matrix, number: int, row: EpisodeRow, options: QualityOptions
) -> Item:
    wins = passed.values[:, number]
    wins = wins[~np.isnan(wins)]
    marks = scores.values[:, number]
    known = marks[~np.isnan(marks)]
    gap = float(known.max() - known.min()) if len(known) > 1 else None
    value, reason = _discrimination(scores.values, number)
    return Item(
        task_id=row.task_id,
        family=row.family,
        capability=row.capability,
        language=row.language,
        cells=len(wins),
        pass_rate=float(wins.mean()) if len(wins) else None,
        mean_score=float(known.mean()) if len(known) else None,
        gap=gap,
        keeps=None if gap is None else gap >= options.gap - 1e-9,
        discrimination=value,
        discrimination_ci=_fisher(value, len(known), options.level),
        passed_by=int((wins >= 1).sum()),
        suspicious=value is not None and value < -1e-9,
        reason=reason,
    )


def _discrimination(scores: Floats, number: int) -> tuple[float | None, str | None]:
    """Correlation of a task's column with the mean of all others, over pilots."""
    column = scores[:, number]
    others = np.delete(scores, number, axis=1)
    counted = (~np.isnan(others)).sum(axis=1)
    rest = np.where(np.isnan(others), 0.0, others).sum(axis=1) / np.maximum(counted, 1)
    usable = ~np.isnan(column) & (counted > 0)
    x, y = column[usable], rest[usable]
    if len(x) < 3:
        return None, f"{len(x)} pilots have a score here and elsewhere; three are needed"
    if float(np.ptp(x)) < 1e-12:
        return None, "every pilot has the same score"
    if float(np.ptp(y)) < 1e-12:
        return None, "every pilot has the same mean score on the other tasks"
    return foreign.pearson(x, y), None


def _fisher(value: float | None, n: int, level: float) -> Interval | None:
    if value is None or n < 4:
        return None
    if abs(value) >= 1 - 1e-12:
        return value, value
    z, half = math.atanh(value), foreign.normal_quantile((1 + level) / 2) / math.sqrt(n - 3)
    return math.tanh(z - half), math.tanh(z + half)


def _saturation(
    name: str, items: Sequence[Item], passed: Matrix, options: QualityOptions
) -> Saturation:
    index = {task: number for number, task in enumerate(passed.tasks)}
    part = passed.values[:, [index[item.task_id] for item in items]]
    rates = [
        (float(line[~np.isnan(line)].mean()), cell)
        for line, cell in zip(list[Floats](part), passed.cells, strict=True)
        if not np.isnan(line).all()
    ]
    best = max(rates) if rates else None
    return Saturation(
        name=name,
        tasks=len(items),
        passed_by_all=sum(0 < item.cells == item.passed_by for item in items),
        passed_by_none=sum(item.pass_rate == 0 for item in items),
        best_cell=None if best is None else best[1],
        best_pass_rate=None if best is None else best[0],
        headroom=None if best is None else 1 - best[0],
        within_rule=sum(bool(item.keeps) for item in items),
        suspicious=sum(item.suspicious for item in items),
        saturated=best is not None and best[0] >= options.ceiling,
    )
