"""The report of a nested run: rows and messages read from its store, and the files it leaves."""

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from pydantic import JsonValue

from uniclaw.runner.ablate import messages
from uniclaw.statistics.ablation import (
    AblationOptions,
    AblationReport,
    Told,
    ablation,
    arm_of,
)
from uniclaw.statistics.ablation_figure import Point, points, svg
from uniclaw.statistics.ablation_words import paragraph
from uniclaw.statistics.stored import load_rows
from uniclaw.store.atomic import write_bytes, write_json

FILES = ("ablation.json", "ablation.csv", "ablation.svg")


def report_of(root: Path, options: AblationOptions) -> AblationReport:
    """The ablation of a stored run.

    Raises:
        UserError: no such run, or it is no ablation.
    """
    told = [
        Told(arm, m.family, m.capability, m.leak)
        for m in messages(root)
        if (arm := arm_of(m.policy, m.user_simulator)) is not None
    ]
    return ablation(load_rows(root), options, told=told)


def document(report: AblationReport, root: Path) -> dict[str, JsonValue]:
    """The report with its figure and its words."""
    shown = points(report)
    return {
        **report.model_dump(mode="json"),
        "figure": {
            "data": [point.model_dump(mode="json") for point in shown],
            "svg": str(root / FILES[2]),
        },
        "table": str(root / FILES[1]),
        "words": paragraph(report),
    }


def write(report: AblationReport, root: Path) -> dict[str, JsonValue]:
    """Write report, table and figure beside the run; returns the document."""
    shown, found = points(report), document(report, root)
    write_json(root / FILES[0], found)
    write_bytes(root / FILES[1], _csv(report).encode("utf-8"))
    write_bytes(root / FILES[2], _svg(shown, report).encode("utf-8"))
    return found


def _svg(shown: Sequence[Point], report: AblationReport) -> str:
    return svg(shown, against=report.against, level=report.level)


def _csv(report: AblationReport) -> str:
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(("arm", "against", "measure", "scope", "pairs", "difference", "low", "high"))
    for arm in report.arms:
        for effect in arm.effects:
            found = effect.difference
            table.writerow(
                (
                    arm.name,
                    report.against,
                    effect.measure,
                    effect.scope,
                    effect.pairs,
                    found.value,
                    found.low,
                    found.high,
                )
            )
    return text.getvalue()
