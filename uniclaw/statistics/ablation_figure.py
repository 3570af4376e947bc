"""The figure of an ablation: effects with their intervals, as data and as SVG."""

from collections.abc import Callable, Sequence
from html import escape

from uniclaw.records import Record
from uniclaw.statistics.ablation import AblationReport, Effect, EffectMeasure, Scope

WIDTH, LEFT, RIGHT, ROW, TOP = 640, 120, 150, 26, 44


class Point(Record):
    """One line of the figure."""

    arm: str
    value: float | None
    low: float | None
    high: float | None


def points(
    report: AblationReport, measure: EffectMeasure = "pass", scope: Scope = "overall"
) -> tuple[Point, ...]:
    """Effects of all arms on one measure; the arm they are compared with stands at 0."""
    found: list[Point] = []
    for arm in report.arms:
        if arm.name == report.against:
            found.append(Point(arm=arm.name, value=0.0, low=None, high=None))
        for effect in arm.effects:
            if (effect.measure, effect.scope) == (measure, scope):
                found.append(_point(arm.name, effect))
    return tuple(found)


def _point(arm: str, effect: Effect) -> Point:
    found = effect.difference
    return Point(arm=arm, value=found.value, low=found.low, high=found.high)


def svg(shown: Sequence[Point], *, against: str, level: float) -> str:
    """A forest plot that needs nothing beside itself."""
    ends = [abs(x) for p in shown for x in (p.value, p.low, p.high) if x is not None]
    reach = max([*ends, 0.1]) * 1.05
    height = TOP + ROW * len(shown) + 34
    span = WIDTH - LEFT - RIGHT

    def x(value: float) -> float:
        return round(LEFT + (value + reach) / (2 * reach) * span, 1)

    title = f"Change in pass rate against {against}, {level:.0%} paired intervals"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img"'
        f' font-family="sans-serif" font-size="12"><title>{escape(title)}</title>',
        f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>',
        f'<text x="12" y="22" font-size="14">{escape(title)}</text>',
        f'<line x1="{x(0)}" y1="{TOP - 8}" x2="{x(0)}" y2="{height - 26}" stroke="#888"'
        ' stroke-dasharray="3 3"/>',
    ]
    for number, point in enumerate(shown):
        parts += _line(point, TOP + ROW * number + 12, x)
    for tick in (-reach / 1.05, 0.0, reach / 1.05):
        parts.append(
            f'<text x="{x(tick)}" y="{height - 8}" text-anchor="middle" fill="#555">'
            f"{tick:+.2f}</text>"
        )
    return "\n".join([*parts, "</svg>\n"])


def _line(point: Point, y: int, x: Callable[[float], float]) -> list[str]:
    parts = [f'<text x="{LEFT - 10}" y="{y + 4}" text-anchor="end">{escape(point.arm)}</text>']
    said = "no value" if point.value is None else f"{point.value:+.3f}"
    if point.low is not None and point.high is not None:
        parts.append(
            f'<line x1="{x(point.low)}" y1="{y}" x2="{x(point.high)}" y2="{y}" stroke="#27588a"'
            ' stroke-width="3"/>'
        )
        said += f" [{point.low:+.2f}, {point.high:+.2f}]"
    if point.value is not None:
        parts.append(f'<circle cx="{x(point.value)}" cy="{y}" r="5" fill="#27588a"/>')
    parts.append(f'<text x="{WIDTH - RIGHT + 12}" y="{y + 4}" fill="#333">{said}</text>')
    return parts
