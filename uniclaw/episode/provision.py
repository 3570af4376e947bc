"""Brings into an environment what the executor may have: sources, skills, one-shot services."""

from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from uniclaw.errors import InfraError
from uniclaw.ports import Environment, EnvironmentSpec, Limits
from uniclaw.records import Task
from uniclaw.suites.bundle import TaskBundle

SERVICE_S = 300.0
SERVICES_DIR = "/opt/task-services"


def environment_spec(
    task: Task,
    *,
    limits: Limits,
    labels: Mapping[str, str],
    image: str | None = None,
    door: Path | None = None,
) -> EnvironmentSpec:
    """The environment a task asks for.

    Args:
        task: the task.
        limits: resources.
        labels: for everything the adapter makes.
        image: the task's image with a harness layer, where the executor needs one.
        door: directory of the gateway's socket, for harnesses that call their model.
    """
    writable = (task.sources_dir, task.skills_dir, *task.artifact_roots)
    return EnvironmentSpec(
        image=image or task.environment,
        user=task.user,
        workspace=task.workspace,
        writable=writable,
        limits=limits,
        labels=labels,
        door=None if door is None else str(door),
    )


async def bring_in(environment: Environment, bundle: TaskBundle) -> None:
    """Copy sources and skills, and run the one-shot services.

    Raises:
        InfraError: a service failed.
    """
    task = bundle.task
    files = {
        str(PurePosixPath(task.sources_dir) / name): path for name, path in bundle.sources.items()
    }
    files |= {
        str(PurePosixPath(task.skills_dir) / name): path for name, path in bundle.skills.items()
    }
    if files:
        await environment.put(files)
    for service in task.services:
        if service.oneshot:
            await _one_shot(environment, bundle, service.name, service.start)


async def _one_shot(environment: Environment, bundle: TaskBundle, name: str, start: str) -> None:
    home = f"{SERVICES_DIR}/{name}"
    await environment.put({home: bundle.services[name]})
    result = await environment.exec(start, cwd=home, timeout_s=SERVICE_S, max_bytes=100_000)
    if result.timed_out or result.exit_code != 0:
        said = (result.stdout + result.stderr).decode("utf-8", "replace")[-2000:]
        raise InfraError(f"service {name!r} ended with {result.exit_code}: {said}")
