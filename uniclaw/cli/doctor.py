"""`uniclaw doctor`."""

from pathlib import Path
from typing import Annotated

import typer


def doctor(
    runs_dir: Annotated[Path, typer.Option(help="Where runs are kept.")] = Path("runs"),
    assets: Annotated[Path | None, typer.Option(help="Asset tree to look in first.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Say what this machine has and lacks."""
    import os

    from uniclaw.cli import output
    from uniclaw.runner.doctor import examine

    findings = examine(runs_dir=runs_dir, assets=assets, environ=os.environ)
    if as_json:
        output.print_json({"findings": [f.model_dump(mode="json") for f in findings]})
    else:
        for finding in findings:
            output.print_line(f"{finding.state:8} {finding.subject:16} {finding.detail}")
    raise typer.Exit(1 if any(f.state == "missing" for f in findings) else 0)
