"""What the commands print: JSON, tables and the progress of a run."""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from pydantic import JsonValue

if TYPE_CHECKING:
    from rich.table import Table

    from uniclaw.runner.estimate import Expectation, Plan
    from uniclaw.runner.validate import Report
    from uniclaw.store.records import EpisodeRecord

MOST_ROWS = 500
"""Episodes that a table shows."""


def print_json(document: JsonValue) -> None:
    """One JSON document on stdout."""
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, indent=2)
    sys.stdout.write(text.encode("utf-8", "replace").decode() + "\n")


def print_parts(document: Mapping[str, JsonValue | Iterator[JsonValue]]) -> None:
    """One JSON document on stdout; the items of an iterator are written as they come."""
    before = "{"
    for name, value in document.items():
        _write(f"{before}\n  {json.dumps(name)}: ")
        before = ","
        if isinstance(value, Iterator):
            opening, end = "[", "[]"
            for item in value:
                _write(f"{opening}\n    {_indented(item, 4)}")
                opening, end = ",", "\n  ]"
            _write(end)
        else:
            _write(_indented(value, 2))
    _write("{}\n" if before == "{" else "\n}\n")


def _indented(value: JsonValue, spaces: int) -> str:
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2)
    return text.replace("\n", "\n" + " " * spaces)


def _write(text: str) -> None:
    sys.stdout.write(text.encode("utf-8", "replace").decode())


def print_line(text: str) -> None:
    """One line on stdout."""
    sys.stdout.write(f"{text}\n")


def note(text: str) -> None:
    """One line on stderr, out of the way of results."""
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def score(value: float | None) -> str:
    """A score with three digits; a dash where there is none."""
    return "-" if value is None else f"{value:.3f}"


def episode_table(records: Sequence["EpisodeRecord"]) -> "Table":
    """The result table of a run; a single cell is named in the title, several in a column.

    Of a large run only the first episodes.
    """
    from rich.table import Table

    left = len(records) - MOST_ROWS
    records = list(islice(records, MOST_ROWS))
    names = sorted({record.cell for record in records})
    table = Table(title=names[0] if len(names) == 1 else None, header_style="bold")
    if left > 0:
        table.caption = f"and {left} more; --json prints all"
    for column in ("episode", "task"):
        table.add_column(column, no_wrap=True)
    if len(names) > 1:
        table.add_column("cell", overflow="fold")
    for column in ("outcome", "score by round", "final", "best"):
        table.add_column(column)
    for record in records:
        style = "green" if record.passed else "yellow" if record.outcome.scored else "red"
        cell = (record.cell,) if len(names) > 1 else ()
        table.add_row(
            record.episode_id,
            record.task_id,
            *cell,
            f"[{style}]{record.outcome.value}[/{style}]",
            by_round(record),
            score(record.final_score),
            score(record.best_score),
        )
    return table


def by_round(record: "EpisodeRecord") -> str:
    """Scores of all rounds in order."""
    return " → ".join(score(r.verdict.score if r.verdict else None) for r in record.rounds)


def print_table(table: "Table") -> None:
    """A rich table on stdout."""
    from rich.console import Console

    Console().print(table)


def validation_table(report: "Report") -> "Table":
    """The table of `uniclaw validate`."""
    from rich.table import Table

    table = Table(title=None, header_style="bold")
    for column in ("task", "runnable", "lines", "weights", "null", "solution", "problems"):
        table.add_column(column, overflow="fold")
    for task in report.tasks:
        remarks = task.problems or (() if task.runnable else task.reasons)
        table.add_row(
            task.task_id,
            "yes" if task.runnable else "no",
            "-" if task.checkpoints is None else f"{task.checkpoints}+{task.caps}",
            "-" if task.weights_sum is None else f"{task.weights_sum:g}",
            score(task.null_score),
            score(task.solution_score),
            "\n".join(remarks),
        )
    return table


def plan_table(plan: "Plan") -> "Table":
    """The table of `uniclaw plan`."""
    from rich.table import Table

    most = "at most " if plan.expected.basis == "bound" else ""
    wall = "unknown" if plan.wall_s is None else f"{most}{duration(plan.wall_s)}"
    table = Table(
        title=f"{plan.episodes} episodes: {plan.tasks} tasks, {len(plan.cells)} cells,"
        f" {plan.trials} trials; {wall} with {plan.parallel} at a time",
        header_style="bold",
    )
    for column in ("cell", "episodes", "USD", "time", "from"):
        table.add_column(column, overflow="fold")
    for cell in plan.cells:
        table.add_row(cell.cell, str(cell.episodes), *_expected(cell.expected))
    if len(plan.cells) > 1:
        table.add_row("all", str(plan.episodes), *_expected(plan.expected), style="bold")
    return table


def _expected(found: "Expectation") -> tuple[str, str, str]:
    most = "at most " if found.basis == "bound" else ""
    usd = "unknown" if found.usd is None else f"{most}{found.usd:.2f}"
    seconds = "unknown" if found.seconds is None else f"{most}{duration(found.seconds)}"
    return usd, seconds, "upper bound" if found.basis == "bound" else found.basis


def duration(seconds: float) -> str:
    """Seconds for people: `45 s`, `12 min`, `3.4 h`."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
