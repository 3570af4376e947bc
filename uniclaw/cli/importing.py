"""`uniclaw import`."""

from pathlib import Path
from typing import Annotated

import typer

PUBLISHED = "uniclawbench-results"


def import_results(
    source: Annotated[str, typer.Argument(help="FORMAT:FILE; uniclawbench-results:FILE.")],
    run: Annotated[str, typer.Option("--run", help="Name of the run of rows.")],
    runs_dir: Annotated[Path, typer.Option(help="Where runs are kept.")] = Path("runs"),
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Import foreign results as a run of rows, which `stats` and `compare` read."""
    from uniclaw.errors import UserError

    form, _, file = source.partition(":")
    if form != PUBLISHED or not file:
        raise UserError(f"expected {PUBLISHED}:FILE", field="source", value=source)
    from uniclaw.cli.statistics import import_published

    import_published(Path(file), run, runs_dir, as_json=as_json)
