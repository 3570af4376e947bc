"""What feedback buys, against two controls on the same tasks.

The gain within an episode from round to round mixes feedback with a second chance and with
more time. Two controls take these apart: the same cell with no feedback rounds, and the same
cell with as many rounds whose messages are a neutral template. Cells match on every other axis.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from uniclaw.records import Record
from uniclaw.statistics.estimates import Estimate, Options, undefined
from uniclaw.statistics.measures import Definition, Measure
from uniclaw.statistics.pairs import difference_estimate, pair
from uniclaw.statistics.rows import EpisodeRow

NEUTRAL = ("neutral", "template", "template:neutral")
"""Names of user simulators whose every message is the neutral template."""

Control = Literal["no_feedback", "neutral_template"]
_FIXED = ("suite", "harness", "model", "policy", "supervisor")


class Lift(Record):
    """A cell with feedback against its control, paired by task."""

    cell: str
    control: Control
    control_cell: str | None
    pass_lift: Estimate
    score_lift: Estimate


class ControlsReport(Record):
    """Lifts of all cells that have feedback rounds; `reason` when there are none."""

    lifts: tuple[Lift, ...] = ()
    reason: str | None = None


class _Cell(NamedTuple):
    name: str
    fixed: tuple[str, ...]
    simulator: str
    limit: int | None
    rows: tuple[EpisodeRow, ...]

    @property
    def neutral(self) -> bool:
        return self.simulator in NEUTRAL


def feedback_controls(
    rows: Sequence[EpisodeRow], definition: Definition, options: Options
) -> ControlsReport:
    """Lift of feedback over both controls for every cell with feedback.

    A control that was not run gives an undefined lift with the reason, never an estimate from
    the rounds of the same episodes.
    """
    cells = _cells(rows)
    treated = [c for c in cells if c.limit is not None and c.limit > 0 and not c.neutral]
    if not treated:
        return ControlsReport(reason="no cell is known to have feedback rounds")
    lifts: list[Lift] = []
    for cell in treated:
        same = [other for other in cells if other.fixed == cell.fixed]
        without = [c for c in same if c.limit == 0]
        neutral = [c for c in same if c.neutral and c.limit == cell.limit]
        lifts.append(_lift(cell, "no_feedback", without, definition, options))
        lifts.append(_lift(cell, "neutral_template", neutral, definition, options))
    return ControlsReport(lifts=tuple(lifts))


def _cells(rows: Sequence[EpisodeRow]) -> list[_Cell]:
    members: dict[str, list[EpisodeRow]] = {}
    for row in rows:
        members.setdefault(row.cell, []).append(row)
    return [
        _Cell(
            name=name,
            fixed=tuple(str(getattr(found[0], axis)) for axis in _FIXED),
            simulator=found[0].user_simulator,
            limit=max(
                (r.feedback_rounds_limit for r in found if r.feedback_rounds_limit is not None),
                default=None,
            ),
            rows=tuple(found),
        )
        for name, found in sorted(members.items())
    ]


def _lift(
    cell: _Cell,
    control: Control,
    candidates: Sequence[_Cell],
    definition: Definition,
    options: Options,
) -> Lift:
    if not candidates:
        gone = undefined(f"no {control} control of this cell was run", level=options.level)
        return Lift(
            cell=cell.name, control=control, control_cell=None, pass_lift=gone, score_lift=gone
        )
    other = next((c for c in candidates if c.simulator == cell.simulator), candidates[0])
    return Lift(
        cell=cell.name,
        control=control,
        control_cell=other.name,
        pass_lift=_paired(cell, other, "pass", definition, options),
        score_lift=_paired(cell, other, "score", definition, options),
    )


def _paired(
    left: _Cell, right: _Cell, measure: Measure, definition: Definition, options: Options
) -> Estimate:
    return difference_estimate(pair(left.rows, right.rows, measure, definition), options)
