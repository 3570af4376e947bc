"""`uniclaw clean`."""

from typing import Annotated

import typer


def clean(
    run: Annotated[str | None, typer.Option(help="Only what belongs to this run.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Remove containers, networks, volumes and snapshots that dead runners left."""
    from uniclaw.cli import output
    from uniclaw.environments.clean import clean as sweep

    removed = sweep(run=run)
    if as_json:
        output.print_json({"removed": removed.model_dump(mode="json")})
    else:
        output.print_line(removed.sentence())
