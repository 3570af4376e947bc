"""`uniclaw resume`."""

import os
from pathlib import Path
from typing import Annotated

import typer


def resume(
    run: Annotated[str, typer.Argument(help="Name of the run.")],
    runs_dir: Annotated[Path, typer.Option(help="Where runs are kept.")] = Path("runs"),
    assets: Annotated[Path | None, typer.Option(help="Asset tree to look in first.")] = None,
    engine: Annotated[str, typer.Option(help="local, or ray[:ADDRESS] for a cluster.")] = "local",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Complete a run that was cut off or stopped: every task, cell and trial once."""
    from uniclaw.cli import output
    from uniclaw.cli.progress import Progress
    from uniclaw.runner.resume import resume as go_on
    from uniclaw.store.run_store import check_run_name

    result, recovered = go_on(
        runs_dir / check_run_name(run),
        environ=os.environ,
        notify=output.note,
        watch=Progress,
        assets_dir=assets,
        engine=engine,
    )
    if as_json:
        output.print_parts({**result.parts, "recovered": recovered.document})
    else:
        output.print_table(output.episode_table(result.records))
        output.print_line(result.headline)
    raise typer.Exit(result.exit_code)
