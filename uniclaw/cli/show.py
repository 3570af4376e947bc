"""`uniclaw show`."""

from pathlib import Path
from typing import Annotated

import typer


def show(
    target: Annotated[str | None, typer.Argument(help="RUN or RUN/EPISODE.")] = None,
    graph: Annotated[
        bool, typer.Option("--graph", help="Print the episode graph as Mermaid.")
    ] = False,
    trajectory: Annotated[
        bool, typer.Option("--trajectory", help="With an episode: its events.")
    ] = False,
    follow: Annotated[
        bool, typer.Option("--follow", help="Print a running run or episode as it goes on.")
    ] = False,
    runs_dir: Annotated[Path, typer.Option(help="Where runs are kept.")] = Path("runs"),
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Show a run, or one episode as a conversation."""
    from uniclaw.cli import output, reading
    from uniclaw.errors import UserError

    if graph:
        from uniclaw.episode.graph import mermaid

        output.print_line(mermaid())
        return
    if target is None:
        raise UserError("name a run, or RUN/EPISODE", field="target")
    run, _, episode = target.partition("/")
    if follow:
        raise typer.Exit(reading.follow_run(runs_dir / run, episode or None))
    if episode:
        reading.show_episode(runs_dir / run, episode, trajectory=trajectory, as_json=as_json)
    else:
        raise typer.Exit(reading.show_run(runs_dir / run, as_json=as_json))
