"""`uniclaw run`."""

import os
from pathlib import Path
from typing import Annotated

import typer


def run(
    suite: Annotated[str, typer.Argument(help="Suite: [FORMAT:]PATH.")],
    tasks: Annotated[str | None, typer.Option(help="Comma-separated globs on task ids.")] = None,
    executor: Annotated[
        str | None, typer.Option(help="HARNESS[:MODEL]; commas make a matrix axis.")
    ] = None,
    supervisor: Annotated[
        str | None, typer.Option(help="`checks`, or judge models; + joins a panel.")
    ] = None,
    user_simulator: Annotated[str | None, typer.Option(help="`template`, or a model.")] = None,
    firewall: Annotated[str | None, typer.Option(help="Policies, comma-separated.")] = None,
    feedback_rounds: Annotated[
        int | None, typer.Option(help="Overrides each task's own limit.")
    ] = None,
    trials: Annotated[int | None, typer.Option(help="Repetitions of each cell and task.")] = None,
    parallel: Annotated[int | None, typer.Option(help="Episodes at a time.")] = None,
    environment: Annotated[str | None, typer.Option(help="docker or process.")] = None,
    persona: Annotated[str | None, typer.Option(help="Persona of the simulated user.")] = None,
    solutions: Annotated[
        Path | None, typer.Option(help="DIR/<task_id>/round-N.sh for the oracle.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of everything drawn.")] = None,
    votes: Annotated[int | None, typer.Option(help="Answers asked of each judge.")] = None,
    max_cost_usd: Annotated[
        float | None, typer.Option(help="Money of each episode's executor.")
    ] = None,
    snapshot: Annotated[
        bool | None, typer.Option("--snapshot", help="Use snapshot instructions.")
    ] = None,
    model_in_process: Annotated[
        bool | None,
        typer.Option(
            "--model-in-process",
            help="Let a model act in the process environment, on this machine.",
        ),
    ] = None,
    prices: Annotated[Path | None, typer.Option(help="Further price table (JSON).")] = None,
    run_name: Annotated[str | None, typer.Option("--run", help="Name of the run.")] = None,
    runs_dir: Annotated[Path | None, typer.Option(help="Where runs are kept.")] = None,
    assets: Annotated[Path | None, typer.Option(help="Asset tree to look in first.")] = None,
    config: Annotated[Path | None, typer.Option(help="Settings file (YAML).")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Say which asset came from where.")
    ] = False,
) -> None:
    """Play a suite: every task, cell and trial once."""
    from uniclaw.cli import output
    from uniclaw.runner.start import play

    given: dict[str, object] = {
        "suite": suite,
        "votes": votes,
        "feedback_rounds": feedback_rounds,
        "trials": trials,
        "parallel": parallel,
        "environment": environment,
        "persona": persona,
        "solutions": solutions,
        "seed": seed,
        "max_cost_usd": max_cost_usd,
        "snapshot": snapshot,
        "model_in_process": model_in_process,
        "prices": prices,
        "run": run_name,
        "runs_dir": runs_dir,
        "assets": assets,
        "tasks": tasks,
        "executor": executor,
        "supervisor": supervisor,
        "user_simulator": user_simulator,
        "firewall": firewall,
    }
    result = play(
        given,
        environ=os.environ,
        config=config,
        notify=output.note,
        watch=lambda total: output.Progress(total, quiet=False),
    )
    if verbose:
        for name, path in sorted(result.assets.items()):
            output.note(f"asset {name}: {path}")
    if as_json:
        output.print_json(result.document)
    else:
        output.print_table(output.episode_table(result.records))
        output.print_line(result.headline)
    raise typer.Exit(result.exit_code)
