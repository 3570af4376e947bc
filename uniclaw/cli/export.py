"""`uniclaw export`."""

from pathlib import Path
from typing import Annotated

import typer
from pydantic import JsonValue

File = Path | None


def export(
    run: Annotated[str, typer.Argument(help="Name of the run.")],
    parquet: Annotated[File, typer.Option(help="Flat rows as Parquet (needs pyarrow).")] = None,
    csv: Annotated[File, typer.Option(help="Flat rows as CSV.")] = None,
    jsonl: Annotated[File, typer.Option(help="Rows as JSON lines.")] = None,
    inspect: Annotated[File, typer.Option(help="An Inspect AI .eval log.")] = None,
    atif: Annotated[File, typer.Option(help="Directory of ATIF trajectories.")] = None,
    swe_predictions: Annotated[
        File, typer.Option(help="SWE-bench predictions (a directory: one file per cell and trial).")
    ] = None,
    swe_cell: Annotated[
        str | None, typer.Option(help="Cell or executor of --swe-predictions.")
    ] = None,
    swe_trial: Annotated[int | None, typer.Option(help="Trial of --swe-predictions.")] = None,
    runs_dir: Annotated[Path, typer.Option(help="Where runs are kept.")] = Path("runs"),
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Write a run in the forms that other programs read."""
    from uniclaw.cli import output
    from uniclaw.errors import UserError
    from uniclaw.runner import export as library
    from uniclaw.runner.inspect_log import write_inspect
    from uniclaw.runner.swe_predictions import Selection, write_predictions
    from uniclaw.store.run_store import RunStore, check_run_name

    wanted = (
        ("parquet", parquet, library.write_rows_parquet),
        ("csv", csv, library.write_rows_csv),
        ("jsonl", jsonl, library.write_rows_jsonl),
        ("inspect", inspect, write_inspect),
        ("atif", atif, library.write_atif),
    )
    if swe_predictions is None and all(path is None for _, path, _ in wanted):
        forms = "--parquet, --csv, --jsonl, --inspect, --atif or --swe-predictions"
        raise UserError(f"name a form: {forms}", field="form")
    written: dict[str, JsonValue] = {}
    with RunStore.open(runs_dir / check_run_name(run)) as store:
        for name, path, write in wanted:
            if path is not None:
                written[name] = {"path": str(path), "episodes": write(store, path)}
        if swe_predictions is not None:
            chosen = Selection(swe_cell, swe_trial)
            written["swe_predictions"] = write_predictions(store, swe_predictions, chosen)
    if as_json:
        output.print_json({"run": run, "written": written})
    else:
        for name, what in written.items():
            output.print_line(f"{name}: {what}")
