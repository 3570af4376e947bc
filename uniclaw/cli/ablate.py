"""`uniclaw ablate`."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from uniclaw.cli.run import (
    AssetTree,
    Config,
    Consent,
    Environment,
    Executor,
    Globs,
    Json,
    Money,
    Parallel,
    Persona,
    Rounds,
    RunName,
    RunsDir,
    Seed,
    Simulator,
    Solutions,
    Supervisor,
    Trials,
)

if TYPE_CHECKING:
    from uniclaw.statistics.ablation import AblationOptions, AblationReport


def ablate(
    suite: Annotated[str, typer.Argument(help="Suite: [FORMAT:]PATH; with --report a run.")],
    tasks: Globs = None,
    executor: Executor = None,
    supervisor: Supervisor = None,
    user_simulator: Simulator = None,
    firewall: Annotated[
        str | None, typer.Option(help="Policies, comma-separated; all shipped ones by default.")
    ] = None,
    against: Annotated[str, typer.Option(help="Policy that all are compared with.")] = "coarse",
    feedback_rounds: Rounds = None,
    trials: Trials = None,
    parallel: Parallel = None,
    environment: Environment = None,
    persona: Persona = None,
    solutions: Solutions = None,
    seed: Seed = None,
    max_cost_usd: Money = None,
    model_in_process: Consent = None,
    run_name: RunName = None,
    runs_dir: RunsDir = None,
    assets: AssetTree = None,
    config: Config = None,
    report: Annotated[
        bool, typer.Option("--report", help="Play nothing: report on a run that was played.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Play round 0 once per task and trial, continue it under every policy, and compare."""
    from uniclaw.cli import output
    from uniclaw.cli.progress import Progress
    from uniclaw.runner.ablate import nested_settings
    from uniclaw.runner.start import play
    from uniclaw.statistics.ablation import AblationOptions
    from uniclaw.statistics.ablation_run import report_of, write
    from uniclaw.store.run_store import check_run_name

    options = AblationOptions(against=against)
    if report:
        _report((runs_dir or Path("runs")) / check_run_name(suite), options, as_json=as_json)
        return
    given: dict[str, object] = {
        "suite": suite,
        "tasks": tasks,
        "executor": executor,
        "supervisor": supervisor,
        "user_simulator": user_simulator,
        "firewall": firewall,
        "feedback_rounds": feedback_rounds,
        "trials": trials,
        "parallel": parallel,
        "environment": environment,
        "persona": persona,
        "solutions": solutions,
        "seed": seed,
        "max_cost_usd": max_cost_usd,
        "model_in_process": model_in_process,
        "run": run_name,
        "runs_dir": runs_dir,
        "assets": assets,
    }
    result = play(
        nested_settings(given, against),
        environ=os.environ,
        config=config,
        notify=output.note,
        watch=Progress,
    )
    if result.interrupted:
        output.print_line(f"{result.headline}; `uniclaw resume {result.name}` completes it")
        raise typer.Exit(1)
    found = report_of(result.root, options)
    told = write(found, result.root)
    if as_json:
        output.print_json({**result.document, "ablation": told})
    else:
        _show(found, str(told["words"]))
        output.print_line(result.headline)
    raise typer.Exit(result.exit_code)


def _report(root: Path, options: "AblationOptions", *, as_json: bool) -> None:
    """Report on a stored run."""
    from uniclaw.cli import output
    from uniclaw.statistics.ablation_run import report_of, write

    found = report_of(root, options)
    told = write(found, root)
    if as_json:
        output.print_json(told)
    else:
        _show(found, str(told["words"]))


def _show(report: "AblationReport", words: str) -> None:
    from rich.table import Table

    from uniclaw.cli import output

    columns = ("arm", "episodes", "pass rate", "change", "interval", "of the failing", "leaking")
    table = Table(title=f"against {report.against}", header_style="bold")
    for name in columns:
        table.add_column(name)
    for arm in report.arms:
        by = {(e.measure, e.scope): e.difference for e in arm.effects}
        overall, failing = by.get(("pass", "overall")), by.get(("pass", "failing"))
        ends = None if overall is None else overall.ci
        table.add_row(
            arm.name,
            str(arm.scored),
            output.score(arm.passed.value),
            output.score(None if overall is None else overall.value),
            "-" if ends is None else f"{ends[0]:+.3f} to {ends[1]:+.3f}",
            output.score(None if failing is None else failing.value),
            "-" if arm.leak is None else f"{arm.leak.leaking}/{arm.leak.messages}",
        )
    output.print_table(table)
    output.print_line(words)
