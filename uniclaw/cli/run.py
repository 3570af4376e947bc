"""`uniclaw run`."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from uniclaw.runner.start import RunResult

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
Snapshots = Annotated[
    bool | None,
    typer.Option("--snapshots", help="Keep each round's end, so that `fork` can continue from it."),
]
Consent = Annotated[
    bool | None,
    typer.Option(
        "--model-in-process", help="Let a model act in the process environment, on this machine."
    ),
]
Prices = Annotated[File, typer.Option(help="Further price table (JSON).")]
Privacy = Annotated[File, typer.Option(help="NAME=value lines: private variables of tasks.")]
RunName = Annotated[Text, typer.Option("--run", help="Name of the run.")]
RunsDir = Annotated[File, typer.Option(help="Where runs are kept.")]
AssetTree = Annotated[File, typer.Option(help="Asset tree to look in first.")]
Auditor = Annotated[
    str | None, typer.Option(help="Model that screens feedback a second time: PROVIDER/NAME.")
]
Network = Annotated[
    bool | None,
    typer.Option(
        "--network", help="Let tasks that ask for it reach the network, by a recording proxy."
    ),
]
SwePrompt = Annotated[Text, typer.Option(help="claw-swe: prompt shape, phases or short.")]
History = Annotated[Text, typer.Option(help="claw-swe: clean, or keep the repository's future.")]
PatchSource = Annotated[Text, typer.Option(help="claw-swe: repository, or the model's message.")]
EngineName = Annotated[Text, typer.Option(help="local, or ray[:ADDRESS] for a cluster.")]
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
    snapshots: Snapshots = None,
    model_in_process: Consent = None,
    network: Network = None,
    auditor: Auditor = None,
    swe_prompt: SwePrompt = None,
    history: History = None,
    patch_source: PatchSource = None,
    prices: Prices = None,
    privacy: Privacy = None,
    run_name: RunName = None,
    runs_dir: RunsDir = None,
    assets: AssetTree = None,
    config: Config = None,
    engine: EngineName = None,
    as_json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Play a suite: every task, cell and trial once."""
    from uniclaw.cli import output
    from uniclaw.cli.progress import Progress
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
        "snapshots": snapshots,
        "model_in_process": model_in_process,
        "network": network,
        "auditor": auditor,
        "swe_prompt": swe_prompt,
        "history": history,
        "patch_source": patch_source,
        "prices": prices,
        "privacy": privacy,
        "run": run_name,
        "engine": engine,
        "runs_dir": runs_dir,
        "assets": assets,
        "tasks": tasks,
        "executor": executor,
        "supervisor": supervisor,
        "user_simulator": user_simulator,
        "firewall": firewall,
    }
    result = play(given, environ=os.environ, config=config, notify=output.note, watch=Progress)
    _tell(result, as_json=as_json, verbose=verbose)
    raise typer.Exit(result.exit_code)


def _tell(result: "RunResult", *, as_json: bool, verbose: bool) -> None:
    from uniclaw.cli import output

    if verbose:
        for name, path in sorted(result.assets.items()):
            output.note(f"asset {name}: {path}")
    if as_json:
        output.print_parts(result.parts)
    else:
        output.print_table(output.episode_table(result.records))
        output.print_line(result.headline)
