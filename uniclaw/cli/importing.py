"""`uniclaw import`."""

from pathlib import Path
from typing import Annotated

import typer

PUBLISHED, RUNS = "uniclawbench-results", "uniclawbench-run"


def import_results(
    source: Annotated[
        str, typer.Argument(help="uniclawbench-results:FILE, or uniclawbench-run:DIR.")
    ],
    run: Annotated[str, typer.Option("--run", help="Name of the new run.")],
    runs_dir: Annotated[Path, typer.Option(help="Where runs are kept.")] = Path("runs"),
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Import foreign results: published rows, or run directories with rounds and messages."""
    from uniclaw.errors import UserError

    form, _, place = source.partition(":")
    if form not in {PUBLISHED, RUNS} or not place:
        raise UserError(f"expected {PUBLISHED}:FILE or {RUNS}:DIR", field="source", value=source)
    if form == PUBLISHED:
        from uniclaw.cli.statistics import import_published

        import_published(Path(place), run, runs_dir, as_json=as_json)
    else:
        _runs(Path(place), run, runs_dir, as_json=as_json)


def _runs(place: Path, run: str, runs_dir: Path, *, as_json: bool) -> None:
    from uniclaw.cli import output
    from uniclaw.runner.import_runs import import_runs

    found = import_runs(place, run, runs_dir)
    for refused in found.refused:
        output.note(f"left out: {refused}")
    if as_json:
        output.print_json(found.model_dump(mode="json"))
    else:
        outcomes = ", ".join(f"{n} {name}" for name, n in sorted(found.outcomes.items()))
        missing = ", ".join(f"{name[3:]} of {n}" for name, n in sorted(found.missing.items()))
        output.print_line(f"{found.episodes} episodes in {runs_dir / run}: {outcomes}")
        output.print_line(f"the source does not hold: {missing}")
    if found.refused:
        raise typer.Exit(1)
