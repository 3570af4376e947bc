"""`uniclaw plan`."""

import os
from pathlib import Path
from typing import Annotated

import typer


def plan(
    file: Annotated[str, typer.Argument(help="Experiment file, or suite: [FORMAT:]PATH.")],
    tasks: Annotated[str | None, typer.Option(help="Comma-separated globs on task ids.")] = None,
    executor: Annotated[str | None, typer.Option(help="HARNESS[:MODEL], ...")] = None,
    trials: Annotated[int | None, typer.Option(help="Repetitions.")] = None,
    parallel: Annotated[int | None, typer.Option(help="Episodes at a time.")] = None,
    runs_dir: Annotated[Path | None, typer.Option(help="Where runs are kept.")] = None,
    assets: Annotated[Path | None, typer.Option(help="Asset tree to look in first.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Say what an experiment would play, cost and take; nothing is built, played or paid."""
    from uniclaw.cli import output
    from uniclaw.runner.start import outline

    given: dict[str, object] = {
        "suite": file,
        "tasks": tasks,
        "executor": executor,
        "trials": trials,
        "parallel": parallel,
        "runs_dir": runs_dir,
        "assets": assets,
    }
    found = outline(given, environ=os.environ)
    if as_json:
        output.print_json(found.model_dump(mode="json"))
        return
    output.print_table(output.plan_table(found))
    for remark in found.remarks:
        output.note(remark)
