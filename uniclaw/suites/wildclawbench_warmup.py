"""The warm-up of a WildClawBench task: its commands, before the agent and outside its time."""

import time
from collections.abc import Awaitable, Callable, Sequence

from uniclaw.errors import InfraError, TaskRefused
from uniclaw.ports import Environment
from uniclaw.suites.uniclawbench_status import SETUP_FAILED

WARMUP_S = 600.0
"""Of all commands of a task together."""
_TAIL = 2_000


def preparation(
    commands: Sequence[str], *, workspace: str, refused: str | None
) -> Callable[[Environment], Awaitable[None]] | None:
    """What is done in an environment last before the agent.

    Args:
        commands: shell commands, each run as `bash -c` of its own in the workspace.
        workspace: their working directory.
        refused: why the task's episodes end here; None lets them go on.
    """
    if refused is None and not commands:
        return None

    async def prepare(environment: Environment) -> None:
        if refused is not None:
            raise TaskRefused(refused)
        deadline = time.monotonic() + WARMUP_S
        for command in commands:
            await _run(environment, command, workspace, deadline - time.monotonic())

    return prepare


async def _run(environment: Environment, command: str, workspace: str, left_s: float) -> None:
    """Run one command; one that ends in `&` is left running on its own.

    Raises:
        InfraError: it failed, or time is up.
    """
    if left_s <= 0:
        raise InfraError(f"{SETUP_FAILED}: no time left for {command[:200]!r}")
    text = command.rstrip()
    if text.endswith("&") and not text.endswith("&&"):
        argv = ["setsid", "-f", "bash", "-c", f"exec >/dev/null 2>&1 </dev/null; {text[:-1]}"]
    else:
        argv = ["bash", "-c", text]
    result = await environment.exec(argv, cwd=workspace, timeout_s=left_s, max_bytes=100_000)
    if result.timed_out:
        raise InfraError(f"{SETUP_FAILED} did not end within {WARMUP_S:g} s: {command[:200]!r}")
    if result.exit_code != 0:
        said = (result.stdout + result.stderr).decode("utf-8", "replace")[-_TAIL:]
        raise InfraError(f"{SETUP_FAILED} {command[:200]!r} ended with {result.exit_code}: {said}")
