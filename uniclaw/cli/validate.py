"""`uniclaw validate`."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class EnvironmentChoice(StrEnum):
    """Where simple agents act."""

    DOCKER = "docker"
    PROCESS = "process"


def validate(
    suite: Annotated[str, typer.Argument(help="Suite: [FORMAT:]PATH.")],
    tasks: Annotated[str | None, typer.Option(help="Comma-separated globs on task ids.")] = None,
    environment: Annotated[
        EnvironmentChoice, typer.Option(help="docker or process.")
    ] = EnvironmentChoice.DOCKER,
    play: Annotated[
        bool,
        typer.Option(help="Play null, shortcut, solution and mutant agents (native suites)."),
    ] = True,
    repeat: Annotated[int, typer.Option(min=1, help="Grade each attempt this often.")] = 1,
    solutions: Annotated[
        Path | None, typer.Option(help="DIR/<task_id>/round-N.sh for imported tasks.")
    ] = None,
    parallel: Annotated[int, typer.Option(min=1, help="Tasks at a time.")] = 2,
    privacy: Annotated[
        Path | None,
        typer.Option(envvar="UNICLAW_PRIVACY", help="NAME=value lines: private variables."),
    ] = None,
    snapshot: Annotated[
        bool, typer.Option("--snapshot", help="Use snapshot instructions.")
    ] = False,
    assets: Annotated[Path | None, typer.Option(help="Asset tree to look in first.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Check a suite before any paid call: files, rubrics, and what simple agents score."""
    from uniclaw.cli import output
    from uniclaw.config import split_list
    from uniclaw.runner.validate import Plan, validate_suite
    from uniclaw.suites.report import told

    report = validate_suite(
        suite,
        Plan(
            tasks=split_list(tasks or ""),
            environment=environment.value,
            play=play,
            repeat=repeat,
            solutions=solutions,
            parallel=parallel,
            assets=assets,
            privacy=privacy,
            snapshot=snapshot,
        ),
        notify=output.note,
    )
    if as_json:
        output.print_json(report.document())
    else:
        output.print_table(output.validation_table(report))
        for line in told(report.lints):
            output.print_line(line)
        output.print_line(report.headline())
    raise typer.Exit(0 if report.ok else 1)
