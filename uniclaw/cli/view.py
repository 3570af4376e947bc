"""`uniclaw view`."""

from pathlib import Path
from typing import Annotated

import typer


def view(
    runs_dir: Annotated[Path, typer.Argument(help="Where runs are kept.")] = Path("runs"),
    port: Annotated[int, typer.Option(help="Port; 0 takes a free one.")] = 7860,
    host: Annotated[
        str, typer.Option(help="Address to listen on; another than this machine's needs a token.")
    ] = "127.0.0.1",
    token: Annotated[
        str | None, typer.Option(help="Asked of every visitor; made up where it is needed.")
    ] = None,
    print_url: Annotated[
        bool, typer.Option("--print-url", help="Print the address alone, on standard output.")
    ] = False,
    static: Annotated[
        Path | None, typer.Option(help="Write the pages as files there, and end.")
    ] = None,
    hidden: Annotated[
        bool,
        typer.Option(
            "--hidden",
            help="With the hidden side: rubric lines, and in files the"
            " supervisor's and firewall's lens.",
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Look at runs in a browser."""
    from uniclaw.cli import output
    from uniclaw.errors import UserError

    if not runs_dir.is_dir():
        raise UserError("not a directory", field="runs_dir", value=str(runs_dir))
    if static is not None:
        from uniclaw.viewer.export import export_site

        written = export_site(runs_dir, static, hidden=hidden)
        if as_json:
            output.print_json({"directory": str(static), "files": written})
        else:
            output.print_line(f"{written} files in {static}")
        return
    from uniclaw.viewer.serve import serve

    def ready(address: str) -> None:
        if as_json:
            output.print_json({"url": address})
        else:
            output.print_line(address if print_url else f"UniClaw shows {runs_dir} at {address}")

    serve(runs_dir, host=host, port=port, token=token, hidden=hidden, ready=ready)
