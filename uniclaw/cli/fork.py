"""`uniclaw fork`."""

import os
from pathlib import Path
from typing import Annotated

import typer


def fork(
    episode: Annotated[str, typer.Argument(help="RUN/EPISODE.")],
    round_number: Annotated[int, typer.Option("--round", help="Last round that is kept.")],
    firewall: Annotated[str, typer.Option(help="Policies, comma-separated.")],
    user_simulator: Annotated[
        str | None, typer.Option(help="`template`, or a model; else the episode's own.")
    ] = None,
    trials: Annotated[int, typer.Option(min=1, max=1000, help="Repetitions.")] = 1,
    name: Annotated[str | None, typer.Option("--run", help="Name of the new run.")] = None,
    runs_dir: Annotated[Path, typer.Option(help="Where runs are kept.")] = Path("runs"),
    assets: Annotated[Path | None, typer.Option(help="Asset tree to look in first.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Continue an episode from the state at the end of a round, under another policy."""
    from uniclaw.cli import output
    from uniclaw.cli.progress import Progress
    from uniclaw.config import split_list
    from uniclaw.errors import UserError
    from uniclaw.runner.fork import fork as go_on
    from uniclaw.store.run_store import check_run_name

    run, _, episode_id = episode.partition("/")
    if not episode_id:
        raise UserError("expected RUN/EPISODE", field="episode", value=episode)
    forked = go_on(
        runs_dir / check_run_name(run),
        episode_id,
        round_number=round_number,
        firewall=split_list(firewall),
        user_simulator=split_list(user_simulator or ""),
        trials=trials,
        name=name,
        environ=os.environ,
        notify=output.note,
        watch=Progress,
        assets_dir=assets,
    )
    if as_json:
        output.print_json(forked.document)
    else:
        output.print_table(output.episode_table(forked.result.records))
        output.print_line(f"{forked.result.headline}, forked from {episode} at {round_number}")
    raise typer.Exit(forked.result.exit_code)
