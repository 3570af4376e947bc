"""`uniclaw cost`."""

from pathlib import Path
from typing import Annotated

import typer


def cost(
    run: Annotated[str, typer.Argument(help="Name of the run.")],
    prices: Annotated[
        Path | None,
        typer.Option(help="Price table (JSON) that goes before the package's own."),
    ] = None,
    runs_dir: Annotated[Path, typer.Option(help="Where runs are kept.")] = Path("runs"),
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Price a run's stored usage, with another table where one is given."""
    from uniclaw.cli import output
    from uniclaw.pricing import PriceTable, default_prices
    from uniclaw.runner import cost as library
    from uniclaw.store.run_store import RunStore, check_run_name

    table = default_prices()
    if prices is not None:
        table = PriceTable.load(prices).over(table)
    with RunStore.open(runs_dir / check_run_name(run)) as store:
        report = library.cost(store, table)
    if as_json:
        output.print_json(report.model_dump(mode="json"))
        return
    for line in report.lines:
        output.print_line(
            f"{line.cell}\n  {line.role}  {line.model}  calls {line.calls}"
            f"  tokens {line.usage.total}  {_usd(line.cost_usd)}"
        )
    output.print_line(
        f"total {_usd(report.cost_usd)} by table {report.prices}"
        f" (counted during the run: {_usd(report.recorded_usd)})"
    )
    if report.unpriced:
        output.print_line(f"no price for: {', '.join(report.unpriced)}")
    if report.without_calls:
        output.print_line(f"{report.without_calls} episodes have no stored exchange")


def _usd(value: float | None) -> str:
    return "cost unknown" if value is None else f"${value:.6f}"
