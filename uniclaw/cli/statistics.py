"""`uniclaw stats`, `compare`, `variance`, `power`, `quality`, `lite` and the import of rows.

Each command reads rows, calls one function and prints its record.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import BaseModel

    from uniclaw.statistics.measures import Definition
    from uniclaw.statistics.rows import Axis, EpisodeRow

Run = Annotated[str, typer.Argument(help="Name of a run.")]
RunsDir = Annotated[Path, typer.Option(help="Where runs are kept.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
By = Annotated[str, typer.Option(help="Comma-separated axes (harness, model, capability ...).")]
Where = Annotated[
    list[str] | None, typer.Option(help="AXIS=VALUE[,VALUE]; may be given several times.")
]
Score = Annotated[str, typer.Option("--score", help="paper, best or final.")]
Level = Annotated[float, typer.Option(help="Nominal coverage of intervals.")]
Resamples = Annotated[int, typer.Option(help="Bootstrap resamples.")]
Seed = Annotated[int, typer.Option(help="Seed of everything drawn.")]
Effect = Annotated[float, typer.Option(help="Difference that shall be seen.")]
RUNS = Path("runs")


def stats(
    run: Run,
    by: By = "harness,model",
    where: Where = None,
    score: Score = "paper",
    checkpoints: Annotated[bool, typer.Option(help="Also every checkpoint's rate.")] = False,
    level: Level = 0.95,
    resamples: Resamples = 10_000,
    seed: Seed = 0,
    runs_dir: RunsDir = RUNS,
    as_json: Json = False,
) -> None:
    """Rates, scores, spending, missing data and failures of cells, with intervals."""
    from uniclaw.statistics import stats as library

    options = library.StatsOptions(
        by=_axes(by),
        where=_where(where),
        definition=_definition(score),
        checkpoints=checkpoints,
        level=level,
        resamples=resamples,
        seed=seed,
    )
    report = library.stats(_rows(runs_dir, run), options)
    lines = [
        f"{' / '.join(cell.axes.values()) or 'all'}: n {cell.n}"
        f"  pass {_number(cell.pass_rate, cell.pass_rate_ci)}"
        f"  score {_number(cell.average_score, cell.average_score_ci)}"
        for cell in report.cells
    ]
    _show(report, [*lines, report.missing.statement, *report.warnings], as_json=as_json)


def compare(
    run: Run,
    by: By = "cell",
    within: Annotated[str, typer.Option(help="Values that rows must have.")] = "",
    where: Where = None,
    paired: Annotated[bool, typer.Option(help="Pair by task.")] = True,
    score: Score = "paper",
    margin: Annotated[float, typer.Option(help="Equivalence margin.")] = 0.05,
    level: Level = 0.95,
    resamples: Resamples = 10_000,
    seed: Seed = 0,
    runs_dir: RunsDir = RUNS,
    as_json: Json = False,
) -> None:
    """Compare cells on the same tasks, with Holm's correction and equivalence."""
    from uniclaw.statistics import compare as library

    options = library.CompareOptions(
        by=_axes(by),
        within=_words(within),
        where=_where(where),
        paired=paired,
        definition=_definition(score),
        pass_margin=margin,
        score_margin=margin,
        level=level,
        resamples=resamples,
        seed=seed,
    )
    report = library.compare(_rows(runs_dir, run), options)
    lines = [
        f"{'/'.join(p.left.values())} - {'/'.join(p.right.values())}:"
        f"  pass {_number(p.passing.difference.value, p.passing.difference.ci)}"
        f" {p.passing.conclusion}"
        f"  score {_number(p.score.difference.value, p.score.difference.ci)} {p.score.conclusion}"
        for p in report.pairs
    ]
    _show(report, lines, as_json=as_json)


def variance(
    run: Run,
    models: Annotated[str, typer.Option(help="Models of the grid.")] = "",
    harnesses: Annotated[str, typer.Option(help="Harnesses of the grid.")] = "",
    where: Where = None,
    score: Score = "paper",
    level: Level = 0.95,
    resamples: Resamples = 10_000,
    seed: Seed = 0,
    runs_dir: RunsDir = RUNS,
    as_json: Json = False,
) -> None:
    """Shares of harness, model, task and interaction in the variance of pass and score."""
    from uniclaw.statistics import variance as library

    options = library.VarianceOptions(
        models=_words(models),
        harnesses=_words(harnesses),
        where=_where(where),
        definition=_definition(score),
        level=level,
        resamples=resamples,
        seed=seed,
    )
    report = library.variance(_rows(runs_dir, run), options)
    lines = [report.passing.sentence, report.score.sentence, *report.warnings]
    _show(report, lines, as_json=as_json)


def power(
    run: Run,
    effect: Effect = 0.05,
    by: By = "cell",
    where: Where = None,
    score: Score = "paper",
    target: Annotated[float, typer.Option(help="Wanted power.")] = 0.8,
    seed: Seed = 0,
    runs_dir: RunsDir = RUNS,
    as_json: Json = False,
) -> None:
    """Tasks and trials needed to see a difference, from a pilot run."""
    from uniclaw.statistics import power as library

    options = library.PowerOptions(
        effect=effect,
        by=_axes(by),
        where=_where(where),
        definition=_definition(score),
        target=target,
        seed=seed,
    )
    report = library.power(_rows(runs_dir, run), options)
    lines = [
        f"{m.measure}: {need.trials} trials: "
        + (need.reason or f"{need.families} families, {need.tasks} tasks")
        for m in report.measures
        for need in m.needed
    ]
    _show(report, lines, as_json=as_json)


def quality(
    run: Run,
    by: By = "cell",
    where: Where = None,
    score: Score = "paper",
    gap: Annotated[float, typer.Option(help="Least gap of pilot scores.")] = 0.2,
    runs_dir: RunsDir = RUNS,
    as_json: Json = False,
) -> None:
    """Difficulty, discrimination and saturation of the tasks."""
    from uniclaw.curation import quality as library

    options = library.QualityOptions(
        by=_axes(by), where=_where(where), definition=_definition(score), gap=gap
    )
    report = library.quality(_rows(runs_dir, run), options)
    lines = [
        f"{report.tasks} tasks: {report.passed_by_none} passed by none,"
        f" {report.passed_by_all} by all, {report.kept_by_gap_rule} kept by the gap rule,"
        f" {len(report.suspicious)} suspicious",
        *report.warnings,
    ]
    _show(report, lines, as_json=as_json)


def lite(
    run: Run,
    size: Annotated[int, typer.Option(help="Tasks of the subset.")] = 80,
    strata: Annotated[str, typer.Option(help="Comma-separated axes.")] = "capability",
    holdout: Annotated[str, typer.Option(help="Cells kept for validation.")] = "",
    restarts: Annotated[int, typer.Option(help="Random starts a stratum.")] = 200,
    sweep: Annotated[bool, typer.Option("--sweep", help="Smallest size up to --size.")] = False,
    out: Annotated[Path | None, typer.Option(help="Filter file to write.")] = None,
    score: Score = "paper",
    seed: Seed = 0,
    runs_dir: RunsDir = RUNS,
    as_json: Json = False,
) -> None:
    """Find a small subset that gives the same rates and ranking; writes a suite filter file."""
    from uniclaw.curation import lite as library
    from uniclaw.curation.problem import LiteOptions
    from uniclaw.curation.search import Rules

    options = LiteOptions(
        size=size,
        strata=_axes(strata),
        holdout=_words(holdout),
        rules=Rules(restarts=restarts),
        definition=_definition(score),
        seed=seed,
    )
    rows = _rows(runs_dir, run)
    swept = library.sweep(rows, options) if sweep else None
    found = library.lite(rows, options) if swept is None else swept.lite
    lines = ["no size meets the criteria"]
    if found is not None:
        file = out or runs_dir / run / f"lite-{found.size}.yaml"
        library.write_filter(file, found, rows[0].suite)
        lines = [f"{found.size} tasks, mean error {found.fit.mean_error:.4f}: {file}"]
        lines.extend(found.warnings)
    _show(swept or cast("BaseModel", found), lines, as_json=as_json)


def agreement(
    labels: Annotated[list[Path], typer.Argument(help="CSV files: item, rater, value ...")],
    run: Annotated[
        list[str] | None, typer.Option(help="Runs whose supervisors are raters.")
    ] = None,
    reference: Annotated[str | None, typer.Option(help="Rater taken as the truth.")] = None,
    cut: Annotated[float, typer.Option(help="Value from which a checkpoint is met.")] = 1.0,
    runs_dir: RunsDir = RUNS,
    as_json: Json = False,
) -> None:
    """Agreement of supervisors and people, and calibration of judges."""
    from uniclaw.statistics import agreement as library
    from uniclaw.statistics.ratings import ratings_of, read_label_file

    ratings = [rating for file in labels for rating in read_label_file(file)]
    for name in run or []:
        ratings.extend(ratings_of(_rows(runs_dir, name)))
    options = library.AgreementOptions(reference=reference, cut=cut)
    report = library.agreement(ratings, options)
    group = report.overall
    lines = [
        f"{group.items} items: alpha {_number(group.alpha_nominal.value, group.alpha_nominal.ci)}"
        f"  AC1 {_number(group.ac1.value, group.ac1.ci)}"
    ]
    _show(report, lines, as_json=as_json)


def import_published(file: Path, run: str, runs_dir: Path, *, as_json: bool) -> None:
    """Import UniClawBench's published rows as a run of rows."""
    from uniclaw.statistics.published import describe, read_published
    from uniclaw.statistics.stored import write_rows
    from uniclaw.store.run_store import check_run_name, refuse_existing

    check_run_name(run)
    refuse_existing(runs_dir, run)
    rows = read_published(file, run)
    write_rows(runs_dir / run, rows)
    report = describe(rows)
    lines = [
        f"{report.rows} rows in {runs_dir / run};"
        f" {report.negative_tokens} with negative token counts (kept apart),"
        f" {report.missing_tokens} without tokens"
    ]
    _show(report, lines, as_json=as_json)


def _rows(runs_dir: Path, run: str) -> "tuple[EpisodeRow, ...]":
    from uniclaw.statistics.stored import load_rows

    return load_rows(runs_dir / run)


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())


def _axes(text: str) -> "tuple[Axis, ...]":
    from uniclaw.statistics.rows import check_axis

    words = _words(text)
    for word in words:
        check_axis(word)
    return cast("tuple[Axis, ...]", words)


def _definition(text: str) -> "Definition":
    from uniclaw.errors import UserError
    from uniclaw.statistics.measures import DEFINITIONS

    if text not in DEFINITIONS:
        raise UserError(f"expected one of {', '.join(DEFINITIONS)}", field="score", value=text)
    return cast("Definition", text)


def _where(texts: list[str] | None) -> "Mapping[Axis, tuple[str, ...]]":
    from uniclaw.errors import UserError

    found: dict[Axis, tuple[str, ...]] = {}
    for text in texts or []:
        name, equals, values = text.partition("=")
        if not equals or not _words(values):
            raise UserError("expected AXIS=VALUE[,VALUE]", field="where", value=text)
        found[_axes(name)[0]] = _words(values)
    return found


def _number(value: float | None, ends: tuple[float, float] | None) -> str:
    if value is None:
        return "undefined"
    return f"{value:.3f}" + ("" if ends is None else f" [{ends[0]:.3f}, {ends[1]:.3f}]")


def _show(report: "BaseModel", lines: list[str], *, as_json: bool) -> None:
    from uniclaw.cli import output

    if as_json:
        output.print_json(report.model_dump(mode="json"))
        return
    for line in lines:
        output.print_line(line)
