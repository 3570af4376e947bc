"""`uniclaw replay`."""

import os
from pathlib import Path
from typing import Annotated

import typer


def replay(
    run: Annotated[str, typer.Argument(help="Name of the run.")],
    name: Annotated[str | None, typer.Option("--run", help="Name of the new run.")] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Fail on any call that was not recorded.")
    ] = False,
    runs_dir: Annotated[Path, typer.Option(help="Where runs are kept.")] = Path("runs"),
    assets: Annotated[Path | None, typer.Option(help="Asset tree to look in first.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Play a run again from its stored answers, without any provider, and compare the records."""
    from uniclaw.cli import output
    from uniclaw.cli.progress import Progress
    from uniclaw.runner.replay import replay as again
    from uniclaw.store.run_store import check_run_name

    found = again(
        runs_dir / check_run_name(run),
        name=name,
        strict=strict,
        environ=os.environ,
        notify=output.note,
        watch=Progress,
        assets_dir=assets,
    )
    if as_json:
        output.print_json(found.document)
    else:
        for line in found.differences:
            output.note(line)
        equal = "equal records" if not found.differences else "the records differ"
        output.print_line(f"{found.result.headline}; {equal} to {found.parent}")
    raise typer.Exit(found.exit_code)
