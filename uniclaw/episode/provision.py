"""Brings into an environment what the executor may have: sources, skills, one-shot services."""

from collections.abc import Mapping
from pathlib import PurePosixPath

from uniclaw.errors import InfraError
from uniclaw.ports import Environment, EnvironmentSpec, Limits
from uniclaw.records import Task
from uniclaw.suites.bundle import TaskBundle

SERVICE_S = 300.0
SERVICES_DIR = "/opt/task-services"


def environment_spec(task: Task, *, limits: Limits, labels: Mapping[str, str]) -> EnvironmentSpec:
    """The environment a task asks for."""
    writable = (task.sources_dir, task.skills_dir, *task.artifact_roots)
    return EnvironmentSpec(
        image=task.environment,
        user=task.user,
        workspace=task.workspace,
        writable=writable,
        limits=limits,
        labels=labels,
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
