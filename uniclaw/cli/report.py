"""`uniclaw report`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

if TYPE_CHECKING:
    from uniclaw.report.write import Format


def report(
    run: Annotated[str, typer.Argument(help="Name of the run.")],
    out: Annotated[Path, typer.Option(help="Directory for the files.")],
    formats: Annotated[
        str, typer.Option("--format", help="Comma-separated: html, md, latex, figures.")
    ] = "html,md,latex,figures",
    score: Annotated[str, typer.Option("--score", help="paper, best or final.")] = "paper",
    level: Annotated[float, typer.Option(help="Nominal coverage of intervals.")] = 0.95,
    resamples: Annotated[int, typer.Option(help="Bootstrap resamples.")] = 10_000,
    runs_dir: Annotated[Path, typer.Option(help="Where runs are kept.")] = Path("runs"),
    assets: Annotated[Path | None, typer.Option(help="Asset tree to look in first.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Write a run as a document: tables with intervals, figures, how it was made."""
    from uniclaw.assets import Assets, default_roots
    from uniclaw.cli import output
    from uniclaw.config import split_list
    from uniclaw.errors import UserError
    from uniclaw.store.run_store import check_run_name

    try:
        from uniclaw.report.build import build_report
        from uniclaw.report.write import FORMATS, write_report
    except ModuleNotFoundError as error:
        raise UserError(f"needs {error.name}: pip install 'uniclaw[report]'") from error
    wanted = split_list(formats)
    unknown = sorted(set(wanted) - set(FORMATS))
    if unknown or not wanted:
        raise UserError(f"expected of {', '.join(FORMATS)}", field="format", value=formats)
    if score not in ("paper", "best", "final"):
        raise UserError("expected paper, best or final", field="score", value=score)
    made = build_report(
        runs_dir / check_run_name(run),
        Assets(default_roots(assets)),
        definition=score,
        level=level,
        resamples=resamples,
    )
    files = write_report(made, out, cast("tuple[Format, ...]", wanted))
    if as_json:
        output.print_json(
            {**made.model_dump(mode="json", exclude={"figures"}), "files": [str(f) for f in files]}
        )
        return
    for text in made.summary:
        output.print_line(text)
    output.print_line(f"{len(files)} files in {out}")
