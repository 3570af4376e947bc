"""`uniclaw rejudge`."""

import os
from pathlib import Path
from typing import Annotated

import typer


def rejudge(
    run: Annotated[str, typer.Argument(help="Name of the run.")],
    supervisor: Annotated[
        str | None, typer.Option(help="`checks`, or judge models; + joins a panel.")
    ] = None,
    rubric: Annotated[
        Path | None, typer.Option(help="DIR/<task_id>/rubric.yaml instead of the suite's own.")
    ] = None,
    name: Annotated[str | None, typer.Option("--run", help="Name of the new run.")] = None,
    runs_dir: Annotated[Path, typer.Option(help="Where runs are kept.")] = Path("runs"),
    assets: Annotated[Path | None, typer.Option(help="Asset tree to look in first.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Score a run's stored evidence anew; no executor and no user is asked."""
    from uniclaw.cli import output
    from uniclaw.cli.progress import Progress
    from uniclaw.runner.rejudge import rejudge as anew
    from uniclaw.store.run_store import check_run_name

    result = anew(
        runs_dir / check_run_name(run),
        name=name,
        supervisor=supervisor,
        rubrics=rubric,
        environ=os.environ,
        notify=output.note,
        watch=Progress,
        assets_dir=assets,
    )
    if as_json:
        output.print_parts({**result.parts, "parent": run})
    else:
        output.print_table(output.episode_table(result.records))
        output.print_line(result.headline)
    raise typer.Exit(result.exit_code)
