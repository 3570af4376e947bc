"""Puts a report together from a run directory."""

from collections.abc import Sequence
from pathlib import Path

from pydantic import JsonValue

from uniclaw.assets import Assets
from uniclaw.report import figures, tables
from uniclaw.report.axes import label, varying_axes
from uniclaw.report.methods import methods
from uniclaw.report.model import Report, Table, share
from uniclaw.runner.leak_report import leak_measures
from uniclaw.statistics.compare import CompareOptions, CompareReport, compare
from uniclaw.statistics.measures import Definition
from uniclaw.statistics.reconstruction import reconstruct
from uniclaw.statistics.rows import Axis, EpisodeRow
from uniclaw.statistics.stats import StatsOptions, StatsReport, stats
from uniclaw.statistics.stored import ROWS_FILE, load_rows
from uniclaw.store.run_store import RunStore

MAX_PAIRED_CELLS = 12
"""Cells up to which every pair is compared."""


def build_report(
    root: Path,
    assets: Assets,
    *,
    definition: Definition = "paper",
    level: float = 0.95,
    resamples: int = 10_000,
) -> Report:
    """The report of a run.

    Args:
        root: directory of the run, played or imported.
        assets: where personas and tags are, for the firewall's measures.
        definition: how pass and score are read.
        level: nominal coverage of intervals.
        resamples: of the bootstrap.

    Raises:
        UserError: no such run, or one without rows.
    """
    rows = load_rows(root)
    by = varying_axes(rows)

    def by_axes(axes: Sequence[Axis]) -> StatsReport:
        options = StatsOptions(
            by=tuple(axes), definition=definition, level=level, resamples=resamples
        )
        return stats(rows, options)

    whole = by_axes(by)
    several = {name: len({v for row in rows for v in row.axis(name)}) > 1 for name in _GROUPS}
    parts = {name: by_axes((*by, name)) for name in _GROUPS if several[name]}
    compared = _compared(rows, by, definition, level, resamples)
    grouped = [
        tables.groups(parts[name], name, f"by-{name}", f"Results by {name}") for name in parts
    ]
    found = [
        tables.results(whole),
        *grouped,
        *([] if compared is None else [tables.comparisons(compared)]),
        tables.rounds(whole),
        tables.spending(whole),
        tables.losses(whole),
        tables.missing(whole),
        *_leaks(root, assets),
    ]
    return Report(
        title=f"Results of the run {root.name}",
        summary=_summary(whole, compared),
        methods=methods(rows, whole, _stored(root)),
        tables=tuple(table for table in found if table.rows),
        figures=tuple(figures.all_figures(whole, parts.get("capability"))),
    )


_GROUPS: tuple[Axis, ...] = ("capability", "language", "modality", "domain")


def _leaks(root: Path, assets: Assets) -> tuple[Table, ...]:
    """The firewall's measures; nothing for imported rows, which hold no messages."""
    if (root / ROWS_FILE).is_file():
        return ()
    measured = leak_measures(root, assets)
    return (tables.leaks(measured.rows, reconstruct(measured.clues)),)


def _stored(root: Path) -> dict[str, JsonValue] | None:
    """What the run stored when it began; None for imported rows."""
    if (root / ROWS_FILE).is_file():
        return None
    with RunStore.open(root) as store:
        settings = store.settings
    return settings if isinstance(settings, dict) else None


def _compared(
    rows: Sequence[EpisodeRow],
    by: tuple[Axis, ...],
    definition: Definition,
    level: float,
    resamples: int,
) -> CompareReport | None:
    if not 1 < len({row.cell for row in rows}) <= MAX_PAIRED_CELLS:
        return None
    options = CompareOptions(by=by, definition=definition, level=level, resamples=resamples)
    return compare(rows, options)


def _summary(report: StatsReport, compared: CompareReport | None) -> tuple[str, ...]:
    """What the numbers allow to be said."""
    scored = [cell for cell in report.cells if cell.average_score is not None]
    if not scored:
        return ("No episode has a score.", report.missing.statement)
    best = max(scored, key=lambda cell: cell.average_score or 0.0)
    name = label([best.axes[axis] for axis in report.by])
    told = [
        f"{len(report.cells)} cell(s). The highest average score, {share(best.average_score)}, is"
        f" that of {name}, which passes {share(best.pass_rate)} of its {best.n} counted episodes."
    ]
    if compared is not None:
        clear = sum(pair.score.conclusion == "different" for pair in compared.pairs)
        same = sum(pair.score.conclusion == "equivalent" for pair in compared.pairs)
        told.append(
            f"Of {len(compared.pairs)} pairs of cells, {clear} differ in score after correction,"
            f" {same} are equivalent within the margin, and the rest is undecided."
        )
    elif len(report.cells) > 1:
        told.append("Pairs of cells were not compared: there are too many of them.")
    return (*told, report.missing.statement)
