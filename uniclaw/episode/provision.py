"""Brings into an environment what the executor may have: sources, skills, one-shot services."""

from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from uniclaw.environments.network import PROXY_URL
from uniclaw.errors import InfraError
from uniclaw.ports import Environment, EnvironmentSpec, Limits
from uniclaw.records import Task
from uniclaw.suites.bundle import TaskBundle
from uniclaw.suites.uniclawbench_status import SETUP_FAILED

SERVICE_S = 300.0
SERVICES_DIR = "/opt/task-services"
SETUP_DIR = "/opt/task-setup"
_PROGRAMS: Mapping[str, str] = {".py": "python3", ".sh": "bash"}


def environment_spec(
    task: Task,
    *,
    limits: Limits,
    labels: Mapping[str, str],
    image: str | None = None,
    door: Path | None = None,
    env: Mapping[str, str] | None = None,
    proxy: bool = False,
) -> EnvironmentSpec:
    """The environment a task asks for.

    Args:
        task: the task.
        limits: resources.
        labels: for everything the adapter makes.
        image: the task's image with a harness layer, where the executor needs one.
        door: directory of the gateway's socket, for harnesses that call their model.
        env: variables of every command in it.
        proxy: whether it also holds the socket of a recording proxy.
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
        network="proxy" if proxy else "none",
        env={**(proxy_variables() if proxy else {}), **(env or {})},
        session=True,
    )


PROXY_CERTIFICATE = "/opt/uniclaw/proxy-ca.pem"
_LOCAL = "localhost,127.0.0.1,::1"


def proxy_variables() -> dict[str, str]:
    """What tells common programs the way to the recording proxy, and to trust it.

    The gateway and the task's services are on loopback and need no proxy.
    """
    trusting = (
        "SSL_CERT_FILE",
        "CURL_CA_BUNDLE",
        "REQUESTS_CA_BUNDLE",
        "NODE_EXTRA_CA_CERTS",
        "GIT_SSL_CAINFO",
        "PIP_CERT",
    )
    found = dict.fromkeys(trusting, PROXY_CERTIFICATE)
    for name in ("http_proxy", "https_proxy"):
        found |= {name: PROXY_URL, name.upper(): PROXY_URL}
    return {**found, "no_proxy": _LOCAL, "NO_PROXY": _LOCAL}


async def bring_in(environment: Environment, bundle: TaskBundle) -> None:
    """Copy sources and skills, run the task's set-up scripts, then its one-shot services.

    Raises:
        InfraError: a script or a service failed.
        TaskRefused: the task cannot be played as it should be.
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
    for script, path in bundle.setup.items():
        await _set_up(environment, script, path)
    for service in task.services:
        if service.oneshot:
            await _one_shot(environment, bundle, service.name, service.start)
    if bundle.prepare is not None:
        await bundle.prepare(environment)


async def _set_up(environment: Environment, script: str, path: Path) -> None:
    """Run one script beside the files it was shipped with, and take all of them away."""
    first, *more = PurePosixPath(script).parts
    top = path.parents[len(more) - 1] if more else path
    await environment.put({f"{SETUP_DIR}/{first}": top})
    program = _PROGRAMS.get(path.suffix, "sh")
    try:
        result = await environment.exec(
            [program, script], cwd=SETUP_DIR, timeout_s=SERVICE_S, max_bytes=100_000
        )
    finally:
        await environment.exec(["rm", "-rf", f"{SETUP_DIR}/{first}"])
    if result.timed_out or result.exit_code != 0:
        said = (result.stdout + result.stderr).decode("utf-8", "replace")[-2000:]
        raise InfraError(f"{SETUP_FAILED} {script!r} ended with {result.exit_code}: {said}")


async def _one_shot(environment: Environment, bundle: TaskBundle, name: str, start: str) -> None:
    home = f"{SERVICES_DIR}/{name}"
    await environment.put({home: bundle.services[name]})
    result = await environment.exec(start, cwd=home, timeout_s=SERVICE_S, max_bytes=100_000)
    if result.timed_out or result.exit_code != 0:
        said = (result.stdout + result.stderr).decode("utf-8", "replace")[-2000:]
        raise InfraError(f"service {name!r} ended with {result.exit_code}: {said}")
