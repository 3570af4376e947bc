"""Pairing two sets of episodes by task, and the mean of their paired differences."""

from collections.abc import Sequence
from typing import NamedTuple

from uniclaw.statistics.estimates import Estimate, Options, undefined
from uniclaw.statistics.intervals import Design, design, ratio_estimates, totals
from uniclaw.statistics.measures import Definition, Measure, value
from uniclaw.statistics.rows import EpisodeRow

Unit = tuple[str, ...]
"""What both sides must share: the task, then the axes that are held fixed."""


class Pairs(NamedTuple):
    """Values by unit on both sides, with the design of the units that both have."""

    plan: Design
    units: tuple[Unit, ...]
    families: tuple[str, ...]
    left: tuple[float, ...]
    right: tuple[float, ...]
    dropped: int
    """Units that only one side has a value for."""
    single: bool
    """Every unit has exactly one counted episode on either side."""
    uneven: bool
    """Counted episodes per unit differ between units or sides."""

    @property
    def differences(self) -> list[tuple[str, float]]:
        """(family, left minus right) by unit."""
        return [
            (family, a - b)
            for family, a, b in zip(self.families, self.left, self.right, strict=True)
        ]


def pair(
    left: Sequence[EpisodeRow],
    right: Sequence[EpisodeRow],
    measure: Measure,
    definition: Definition,
    fixed: Sequence[str] = (),
) -> Pairs:
    """Pair two sets by task and by the axes held fixed; trials of a unit are averaged first."""
    sides = [_by_unit(side, measure, definition, fixed) for side in (left, right)]
    family = {row.task_id: row.family for row in (*left, *right)}
    capability = {row.task_id: row.capability for row in (*left, *right)}
    planned = {_unit(row, fixed) for row in (*left, *right)}
    shared = tuple(sorted(sides[0].keys() & sides[1].keys()))
    counts = {len(side[unit]) for side in sides for unit in shared}
    return Pairs(
        plan=design({family[unit[0]]: capability[unit[0]] for unit in shared}),
        units=shared,
        families=tuple(family[unit[0]] for unit in shared),
        left=tuple(sum(sides[0][u]) / len(sides[0][u]) for u in shared),
        right=tuple(sum(sides[1][u]) / len(sides[1][u]) for u in shared),
        dropped=len(planned) - len(shared),
        single=counts == {1},
        uneven=len(counts) > 1,
    )


def _unit(row: EpisodeRow, fixed: Sequence[str]) -> Unit:
    return (row.task_id, *(str(getattr(row, axis)) for axis in fixed))


def _by_unit(
    rows: Sequence[EpisodeRow], measure: Measure, definition: Definition, fixed: Sequence[str]
) -> dict[Unit, list[float]]:
    found: dict[Unit, list[float]] = {}
    for row in rows:
        number = value(row, measure, definition)
        if number is not None:
            found.setdefault(_unit(row, fixed), []).append(number)
    return found


def difference_estimate(pairs: Pairs, options: Options) -> Estimate:
    """Mean of paired differences: families are resampled, both sides together."""
    if not pairs.units:
        reason = "the two sides share no task with a value (unpaired)"
        return undefined(reason, level=options.level)
    data = totals(pairs.plan, [pairs.differences])
    found = ratio_estimates(pairs.plan, data, options, bounded=False)[0]
    notes: list[str] = []
    if pairs.dropped:
        notes.append(f"{pairs.dropped} tasks have a value on one side only and are left out")
    if pairs.uneven:
        notes.append("unequal trials: each task's trials are averaged first")
    moved = {family for family, change in pairs.differences if change != 0}
    if 0 < len(moved) < 10:
        notes.append(f"only {len(moved)} families differ: the interval may not hold its level")
    return found.model_copy(update={"warnings": (*found.warnings, *notes)})
