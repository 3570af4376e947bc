"""Run code of the agent's in a clean environment and keep what it produced.

There the artifacts lie at their own paths beside public fixtures; no references, no network. What
the agent may have planted gets no hold:

- nothing but the artifact roots comes from the agent; home and temporary directory are empty,
  so start-up files and user site-packages are not there;
- the working directory is the workspace, which holds no file of the agent's unless it is an
  artifact root itself; then `PYTHONSAFEPATH` keeps it out of Python's path;
- pytest runs without plugins it finds by itself, without `conftest.py` and without a
  configuration file (`PYTEST_ADDOPTS`, `PYTEST_DISABLE_PLUGIN_AUTOLOAD`).

An exit code is still a statement of the code that ran: where that is the agent's, compare what it
wrote (`keep`, `then`) instead of believing it.
"""

import posixpath
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from uniclaw.hidden.rubric import CommandCheck
from uniclaw.ports import Environment, EnvironmentSpec, Limits
from uniclaw.records import Entry, Task
from uniclaw.supervisor.frozen import Layer
from uniclaw.trajectory import Evidence

_SCRATCH = "/uniclaw-check"
_MAX_KEEP_BYTES = 20_000_000
_MAX_OUTPUT_BYTES = 5_000_000
_START = """
mkdir -p "$1/home" "$1/tmp" || exit 125
HOME=$(cd "$1/home" && pwd)
TMPDIR=$(cd "$1/tmp" && pwd)
export HOME TMPDIR
exec sh -c "$2"
"""


class CleanRun(NamedTuple):
    """What a command left."""

    exit_code: int | None
    timed_out: bool
    truncated: bool
    produced: Mapping[str, bytes]
    """`stdout`, `stderr`, `exit_code` and the kept files, by name."""


def clean_spec(
    task: Task, image: str, *, limits: Limits, labels: Mapping[str, str]
) -> EnvironmentSpec:
    """A clean environment like the one the agent had."""
    return EnvironmentSpec(
        image=image,
        user=task.user,
        workspace=task.workspace,
        writable=(*task.artifact_roots, _SCRATCH),
        limits=limits,
        labels=labels,
    )


async def run_clean(
    environment: Environment,
    check: CommandCheck,
    *,
    evidence: Evidence,
    fixtures: Mapping[str, Path],
) -> CleanRun:
    """Copy artifacts and fixtures in, run the command, and read what it left.

    Raises:
        EnvironmentLost: the environment died; the caller decides by whose doing.
    """
    put: dict[str, bytes | Path] = {
        root: tree
        for root in evidence.task.artifact_roots
        if (tree := evidence.files_root / root.lstrip("/")).is_dir()
    }
    put.update(fixtures)
    if put:
        await environment.put(put)
    workspace = evidence.task.workspace
    result = await environment.exec(
        ["sh", "-c", _START, "check", posixpath.relpath(_SCRATCH, workspace), check.run],
        cwd=workspace,
        env=_variables(evidence.task),
        timeout_s=check.timeout_s,
        max_bytes=_MAX_OUTPUT_BYTES,
    )
    await environment.kill_all()
    produced = {
        "stdout": result.stdout,
        "stderr": result.stderr,
        "exit_code": str(result.exit_code).encode(),
    }
    for path in check.keep:
        kept = await _kept(environment, str(evidence.absolute(path)))
        if kept is not None:
            produced[_kept_name(path)] = kept
    return CleanRun(result.exit_code, result.timed_out, result.truncated, produced)


def write_output(base: str, produced: Mapping[str, bytes], root: Path) -> Layer:
    """Write what a command produced under `root`, as frozen files below the path `base`."""
    entries: list[Entry] = []
    for name, data in produced.items():
        path = root / f"{base}/{name}".lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        entries.append(Entry(path=f"{base}/{name}", kind="file", size=len(data)))
    return Layer(root, tuple(entries))


def _variables(task: Task) -> dict[str, str]:
    variables = {
        "PYTHONNOUSERSITE": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": "",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "PYTEST_ADDOPTS": "-p no:cacheprovider --noconftest -c /dev/null",
    }
    workspace = PurePosixPath(task.workspace)
    if any(workspace.is_relative_to(root) for root in task.artifact_roots):
        variables["PYTHONSAFEPATH"] = "1"
    return variables


async def _kept(environment: Environment, path: str) -> bytes | None:
    try:
        return await environment.get(path, max_bytes=_MAX_KEEP_BYTES)
    except (FileNotFoundError, ValueError):  # not written, or too large to look at
        return None


def _kept_name(path: str) -> str:
    """Relative paths keep their directories; absolute ones go by their last name."""
    return PurePosixPath(path).name if path.startswith("/") else posixpath.normpath(path)
