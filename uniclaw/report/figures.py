"""The figures of a report: data, and how to draw it, as Vega-Lite specifications."""

from collections.abc import Sequence

from pydantic import JsonValue

from uniclaw.report.axes import label, short
from uniclaw.report.model import Figure
from uniclaw.statistics.estimates import Estimate
from uniclaw.statistics.stats import CellStats, StatsReport

Row = dict[str, JsonValue]
Spec = dict[str, JsonValue]
_SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
_COLOURS: list[JsonValue] = [
    "#3b6fb6",
    "#c8553d",
    "#4f8a5b",
    "#8a6bb1",
    "#b58a1f",
    "#4aa3a2",
    "#7a7a7a",
    "#a2466e",
]
_WIDTH = 460


def all_figures(report: StatsReport, by_capability: StatsReport | None) -> list[Figure]:
    """Every figure that the rows can carry."""
    found = [scores(report), passing(report), rounds(report), spending(report)]
    if by_capability is not None:
        found.append(capabilities(by_capability))
    return [figure for figure in found if figure is not None]


def scores(report: StatsReport) -> Figure | None:
    """Average score of every cell."""
    return _intervals(
        report,
        "average-score",
        "Average score by cell",
        [(cell, cell.score_detail) for cell in report.cells],
    )


def passing(report: StatsReport) -> Figure | None:
    """Pass rate of every cell."""
    return _intervals(
        report,
        "pass-rate",
        "Pass rate by cell",
        [(cell, cell.pass_detail) for cell in report.cells],
    )


def _intervals(
    report: StatsReport, name: str, title: str, values: Sequence[tuple[CellStats, Estimate]]
) -> Figure | None:
    rows: list[Row] = [
        {
            "cell": _label(cell, report),
            "value": estimate.value,
            "low": estimate.low,
            "high": estimate.high,
            "n": estimate.n,
        }
        for cell, estimate in values
        if estimate.value is not None
    ]
    if not rows:
        return None
    names: Spec = {
        "field": "cell",
        "type": "nominal",
        "title": None,
        "sort": "-x",
        "axis": {"labelLimit": 320},
    }
    rule: Spec = {
        "mark": {"type": "rule", "strokeWidth": 2, "color": _COLOURS[0]},
        "encoding": {"x": _unit("low", title), "x2": {"field": "high"}},
    }
    point: Spec = {
        "mark": {"type": "point", "filled": True, "size": 60, "color": _COLOURS[0]},
        "encoding": {"x": _unit("value", title)},
    }
    chart: Spec = {"encoding": {"y": names}, "layer": [rule, point]}
    caption = f"{title}, with {report.level:.0%} intervals clustered by task family."
    return _figure(name, title, caption, rows, chart)


def rounds(report: StatsReport) -> Figure | None:
    """Share passed by each round."""
    rows: list[Row] = [
        {
            "cell": _label(cell, report),
            "round": step.round,
            "passed": step.passed_by.value,
            "low": step.passed_by.low,
            "high": step.passed_by.high,
            "at risk": step.at_risk,
        }
        for cell in report.cells
        for step in cell.rounds.steps
        if step.passed_by.value is not None
    ]
    if not rows:
        return None
    chart: Spec = {
        "mark": {"type": "line", "point": True},
        "encoding": {
            "x": {"field": "round", "type": "ordinal", "title": "Round", "axis": {"labelAngle": 0}},
            "y": _unit("passed", "Passed by this round"),
            "color": _colour(),
        },
    }
    caption = (
        "Probability of having passed by the end of each round (Kaplan and Meier), had no budget"
        " cut an episode."
    )
    return _figure("rounds", "Passed by round", caption, rows, chart)


def spending(report: StatsReport) -> Figure | None:
    """Pass rate against what it took: money where known, else tokens, else seconds."""
    for name, title in (
        ("cost_usd", "USD per episode"),
        ("tokens.total", "Tokens per episode"),
        ("executor_s", "Executor seconds per episode"),
    ):
        rows: list[Row] = [
            {
                "cell": _label(cell, report),
                "spent": cell.spend.amounts[name].mean,
                "passed": cell.pass_rate,
                "front": bool(cell.pareto.get(name)),
            }
            for cell in report.cells
            if cell.spend.amounts[name].mean and cell.pass_rate is not None
        ]
        if len(rows) > 1:
            chart: Spec = {
                "mark": {"type": "point", "filled": True, "size": 80},
                "encoding": {
                    "x": {"field": "spent", "type": "quantitative", "title": title},
                    "y": _unit("passed", "Pass rate"),
                    "color": _colour(),
                    "shape": {"field": "front", "type": "nominal", "title": "On the front"},
                },
            }
            caption = f"Pass rate against {title.lower()}; the front is what no other cell beats."
            return _figure("cost-performance", "Cost and performance", caption, rows, chart)
    return None


def capabilities(report: StatsReport) -> Figure | None:
    """Average score of each cell in each capability."""
    rows: list[Row] = [
        {
            "cell": label([v for k, v in cell.axes.items() if k != "capability"]),
            "capability": short(cell.axes["capability"]),
            "score": cell.average_score,
        }
        for cell in report.cells
        if cell.average_score is not None
    ]
    if not rows:
        return None
    score: Spec = {"field": "score", "type": "quantitative"}
    dark: Spec = {"test": "datum.score > 0.6", "value": "white"}
    boxes: Spec = {
        "mark": "rect",
        "encoding": {
            "color": {**score, "title": "Score", "scale": {"scheme": "blues", "domain": [0, 1]}}
        },
    }
    texts: Spec = {
        "mark": {"type": "text", "fontSize": 11},
        "encoding": {
            "text": {**score, "format": ".2f"},
            "color": {"condition": dark, "value": "black"},
        },
    }
    chart: Spec = {
        "encoding": {
            "x": {
                "field": "capability",
                "type": "nominal",
                "title": None,
                "axis": {"labelAngle": -30},
            },
            "y": {
                "field": "cell",
                "type": "nominal",
                "title": None,
                "axis": {"labelLimit": 320},
            },
        },
        "layer": [boxes, texts],
    }
    caption = "Average score by capability."
    return _figure("capabilities", "Capabilities", caption, rows, chart)


def _figure(name: str, title: str, caption: str, rows: Sequence[Row], chart: Spec) -> Figure:
    spec: Spec = {
        "$schema": _SCHEMA,
        "width": _WIDTH,
        "config": {"view": {"strokeOpacity": 0}},
        "data": {"values": list(rows)},
        **chart,
    }
    return Figure(name=name, title=title, caption=caption, rows=tuple(rows), spec=spec)


def _unit(field: str, title: str) -> Spec:
    """A quantity between 0 and 1."""
    return {
        "field": field,
        "type": "quantitative",
        "title": title,
        "scale": {"domain": [0, 1]},
    }


def _colour() -> Spec:
    return {
        "field": "cell",
        "type": "nominal",
        "title": None,
        "scale": {"range": _COLOURS},
        "legend": {"labelLimit": 320, "orient": "bottom", "columns": 1},
    }


def _label(cell: CellStats, report: StatsReport) -> str:
    return label([cell.axes[axis] for axis in report.by])
