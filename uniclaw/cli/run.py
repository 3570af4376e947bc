"""`uniclaw run`."""

import os
from pathlib import Path
from typing import Annotated

import typer

Text = str | None
Number = int | None
File = Path | None
Globs = Annotated[Text, typer.Option(help="Comma-separated globs on task ids.")]
Executor = Annotated[Text, typer.Option(help="HARNESS[:MODEL]; commas make a matrix axis.")]
Supervisor = Annotated[Text, typer.Option(help="`checks`, or judge models; + joins a panel.")]
Simulator = Annotated[Text, typer.Option(help="`template`, or a model.")]
Policies = Annotated[Text, typer.Option(help="Policies, comma-separated.")]
Rounds = Annotated[Number, typer.Option(help="Overrides each task's own limit.")]
Questions = Annotated[
    bool | None, typer.Option("--questions-free", help="Questions use no feedback round.")
]
Trials = Annotated[Number, typer.Option(help="Repetitions of each cell and task.")]
Parallel = Annotated[Number, typer.Option(help="Episodes at a time.")]
Environment = Annotated[Text, typer.Option(help="docker or process.")]
Persona = Annotated[Text, typer.Option(help="Persona of the simulated user.")]
Solutions = Annotated[File, typer.Option(help="DIR/<task_id>/round-N.sh for the oracle.")]
Seed = Annotated[Number, typer.Option(help="Seed of everything drawn.")]
Votes = Annotated[Number, typer.Option(help="Answers asked of each judge.")]
Money = Annotated[float | None, typer.Option(help="Money of each episode's executor.")]
Snapshot = Annotated[bool | None, typer.Option("--snapshot", help="Use snapshot instructions.")]
Consent = Annotated[
    bool | None,
    typer.Option(
        "--model-in-process", help="Let a model act in the process environment, on this machine."
    ),
]
Prices = Annotated[File, typer.Option(help="Further price table (JSON).")]
RunName = Annotated[Text, typer.Option("--run", help="Name of the run.")]
RunsDir = Annotated[File, typer.Option(help="Where runs are kept.")]
AssetTree = Annotated[File, typer.Option(help="Asset tree to look in first.")]
Config = Annotated[File, typer.Option(help="Settings file (YAML).")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Say which asset came from where.")]


def run(
    suite: Annotated[str, typer.Argument(help="Suite: [FORMAT:]PATH.")],
    tasks: Globs = None,
    executor: Executor = None,
    supervisor: Supervisor = None,
    user_simulator: Simulator = None,
    firewall: Policies = None,
    feedback_rounds: Rounds = None,
    questions_free: Questions = None,
    trials: Trials = None,
    parallel: Parallel = None,
    environment: Environment = None,
    persona: Persona = None,
    solutions: Solutions = None,
    seed: Seed = None,
    votes: Votes = None,
    max_cost_usd: Money = None,
    snapshot: Snapshot = None,
    model_in_process: Consent = None,
    prices: Prices = None,
    run_name: RunName = None,
    runs_dir: RunsDir = None,
    assets: AssetTree = None,
    config: Config = None,
    as_json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Play a suite: every task, cell and trial once."""
    from uniclaw.cli import output
    from uniclaw.runner.start import play

    given: dict[str, object] = {
        "suite": suite,
        "votes": votes,
        "feedback_rounds": feedback_rounds,
        "questions_free": questions_free,
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
