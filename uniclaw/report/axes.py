"""Which settings tell the cells of a run apart, and short names for cells."""

from collections.abc import Sequence
from pathlib import PurePosixPath

from uniclaw.statistics.rows import CELL_AXES, Axis, EpisodeRow

_CELL: tuple[Axis, ...] = ("cell",)
MIN_AXES: tuple[Axis, ...] = ("harness", "model")
_TITLES = {
    "harness": "Harness",
    "model": "Model",
    "policy": "Policy",
    "user_simulator": "User simulator",
    "supervisor": "Supervisor",
    "feedback_rounds_limit": "Feedback rounds",
    "cell": "Cell",
}


def varying_axes(rows: Sequence[EpisodeRow]) -> tuple[Axis, ...]:
    """Harness, model and every other axis with more than one value; `cell` where they pool some."""
    chosen: tuple[Axis, ...] = tuple(
        axis for axis in CELL_AXES if axis in MIN_AXES or len({row.axis(axis) for row in rows}) > 1
    )
    lines = {tuple(row.axis(axis) for axis in chosen) for row in rows}
    pooled = len(lines) < len({row.cell for row in rows})
    return _CELL if pooled else chosen


def title_of(axis: str) -> str:
    """Heading of an axis' column."""
    return _TITLES.get(axis, axis)


def short(value: str) -> str:
    """A value for a table: of a file only its name; `unknown` is a dash."""
    if value == "unknown":
        return "–"
    head, slash, rest = value.partition("/")
    if slash and head in ("scripted", "cassette"):
        return f"{head}/{PurePosixPath(rest).name}"
    return value


def label(values: Sequence[str]) -> str:
    """One short name of a cell."""
    return " · ".join(s for s in map(short, values) if s != "–") or "all"
