"""Geometry of the pages' figures; the templates draw it as SVG without inline styles."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from uniclaw.store.records import EpisodeRecord

PHASES: Mapping[str, str] = {
    "provision": "setup",
    "execute": "executor",
    "freeze": "freeze",
    "supervise": "supervisor",
    "relay": "firewall",
    "simulate": "simulator",
    "screen": "firewall",
    "teardown": "setup",
}
"""Phase of the store -> colour group of the timeline."""


class Segment(NamedTuple):
    """A piece of a bar."""

    phase: str
    group: str
    x: float
    width: float
    seconds: float


class Bar(NamedTuple):
    """One row of the timeline."""

    label: str
    """Number of the round, or a phase outside rounds."""
    segments: tuple[Segment, ...]
    seconds: float


def timeline(record: EpisodeRecord, width: float = 640.0) -> list[Bar]:
    """Bars by round, after one another on one scale."""
    rows: list[tuple[str, list[tuple[str, float]]]] = []
    begun = record.seconds.get("provision", 0.0)
    if begun:
        rows.append(("provision", [("provision", begun)]))
    for item in record.rounds:
        phases = [(name, item.seconds[name]) for name in PHASES if item.seconds.get(name)]
        if not phases and item.executor_s:
            phases = [("execute", item.executor_s)]
        rows.append((str(item.round), phases))
    if record.seconds.get("teardown"):
        rows.append(("teardown", [("teardown", record.seconds["teardown"])]))
    whole = sum(value for _, phases in rows for _, value in phases) or 1.0
    bars: list[Bar] = []
    at = 0.0
    for label, phases in rows:
        segments: list[Segment] = []
        for name, value in phases:
            share = value / whole * width
            segments.append(
                Segment(name, PHASES[name], round(at, 2), round(max(share, 1), 2), value)
            )
            at += share
        bars.append(Bar(label, tuple(segments), sum(v for _, v in phases)))
    return bars


class Point(NamedTuple):
    """A cell in the plot of cost against pass rate."""

    number: int
    x: float
    y: float
    low: float | None
    high: float | None
    title: str


class Tick(NamedTuple):
    """A mark on an axis."""

    at: float
    text: str


class Plot(NamedTuple):
    """Points with their axes, in a view box of 640 by 300."""

    points: tuple[Point, ...]
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]


LEFT, RIGHT, TOP, BOTTOM = 48.0, 620.0, 14.0, 258.0


def plot(
    cells: Sequence[tuple[int, str, float | None, float | None, tuple[float, float] | None]],
) -> Plot | None:
    """A plot of (number, title, cost, pass rate, interval); None without two usable values."""
    usable = [(n, t, c, p, ci) for n, t, c, p, ci in cells if c is not None and p is not None]
    if not usable:
        return None
    most = max(c for _, _, c, _, _ in usable) or 1.0
    step = _step(most)
    top = step * max(1, -(-most // step))
    points = tuple(
        Point(
            n,
            round(LEFT + c / top * (RIGHT - LEFT), 1),
            _y(p),
            None if ci is None else _y(ci[0]),
            None if ci is None else _y(ci[1]),
            t,
        )
        for n, t, c, p, ci in usable
    )
    marks = [step * i for i in range(round(top / step) + 1)]
    x_ticks = tuple(
        Tick(round(LEFT + m / top * (RIGHT - LEFT), 1), f"${m:.4f}".rstrip("0").rstrip("."))
        for m in marks
    )
    y_ticks = tuple(Tick(_y(v / 4), f"{25 * v}%") for v in range(5))
    return Plot(points, x_ticks, y_ticks)


def _y(value: float) -> float:
    return round(BOTTOM - value * (BOTTOM - TOP), 1)


def _step(most: float) -> float:
    """A round step that gives four to ten ticks."""
    size = 10.0 ** (len(str(int(most))) - 1) if most >= 1 else 1.0
    while size > most:
        size /= 10
    for factor in (2.0, 1.0, 0.5, 0.2):
        if most / (size * factor) >= 3:
            return size * factor
    return size * 0.2


def heat(value: float | None) -> str:
    """Class of a heat map's field: 0 to 10, or none."""
    return "none" if value is None else str(round(10 * min(1.0, max(0.0, value))))
