"""`uniclaw new`."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Kind(StrEnum):
    """What can be made."""

    TASK = "task"
    RUBRIC = "rubric"
    PERSONA = "persona"
    POLICY = "policy"
    HARNESS = "harness"


def new(
    kind: Annotated[Kind, typer.Argument(help="What to make.")],
    name: Annotated[str, typer.Argument(help="Its name.")],
    suite: Annotated[
        Path | None, typer.Option(help="Directory of the suite, for a task or a rubric.")
    ] = None,
    assets: Annotated[
        Path, typer.Option(help="Asset tree that gets a persona, a policy or a harness.")
    ] = Path(),
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Write a commented skeleton that works as it is."""
    from uniclaw.assets import Assets, default_roots
    from uniclaw.cli import output
    from uniclaw.runner.scaffold import scaffold

    found = Assets(default_roots(None))
    files = scaffold(kind.value, name, found, root=assets, suite=suite)
    if as_json:
        output.print_json({"kind": kind.value, "name": name, "files": [str(f) for f in files]})
        return
    for file in files:
        output.print_line(str(file))
