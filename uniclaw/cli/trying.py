"""`uniclaw try`."""

import os
from pathlib import Path
from typing import Annotated

import typer


def try_task(
    task: Annotated[
        str, typer.Argument(help="Directory of a task, or a suite ([FORMAT:]PATH) with --task.")
    ],
    task_id: Annotated[str | None, typer.Option("--task", help="Id of the task.")] = None,
    environment: Annotated[str, typer.Option(help="docker or process.")] = "docker",
    supervisor: Annotated[str, typer.Option(help="checks, or a judge model.")] = "checks",
    user_simulator: Annotated[str, typer.Option(help="template, or a model.")] = "template",
    firewall: Annotated[str, typer.Option(help="Policy.")] = "coarse",
    run_name: Annotated[str | None, typer.Option("--run", help="Name of the run.")] = None,
    runs_dir: Annotated[Path, typer.Option(help="Where runs are kept.")] = Path("runs"),
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Play one task yourself: the same environment, checks, firewall and feedback."""
    from uniclaw.cli import output
    from uniclaw.cli.progress import Progress
    from uniclaw.cli.reading import show_episode
    from uniclaw.runner.start import play

    place = Path(task)
    suite = task
    if task_id is None and (place / "task.yaml").is_file():
        suite, task_id = str(place.parent), place.name
    given: dict[str, object] = {
        "suite": suite,
        "tasks": task_id,
        "executor": "person",
        "supervisor": supervisor,
        "user_simulator": user_simulator,
        "firewall": firewall,
        "environment": environment,
        "parallel": 1,
        "run": run_name,
        "runs_dir": runs_dir,
    }
    result = play(
        given,
        environ=os.environ,
        config=None,
        notify=output.note,
        watch=lambda planned: Progress(planned, quiet=True),
    )
    if as_json:
        output.print_json(result.document)
    else:
        for record in result.records:
            show_episode(result.root, record.episode_id, trajectory=False, as_json=False)
    raise typer.Exit(result.exit_code)
