"""What a loader returns: the public task, the host paths of its files, and findings.

The hidden side is not loaded here: `load_rubric` reads it when the supervisor's side asks.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple

from uniclaw.hidden.rubric import LoadedRubric
from uniclaw.ports import Environment, ServiceSpec
from uniclaw.records import Brief, Task, TaskId


class Finding(NamedTuple):
    """A remark of a loader or lint on one task."""

    task_id: str
    severity: Literal["error", "warning", "note"]
    """`error`: the task cannot run here."""
    code: str
    """Stable word, such as `missing-source`, `lfs-pointer`, `unknown-key`, `needs-network`."""
    message: str


@dataclass(frozen=True, kw_only=True)
class TaskBundle:
    """One loaded task."""

    task: Task
    root: Path
    """The task's directory on the host."""
    sources: Mapping[str, Path] = field(default_factory=dict[str, Path])
    """Path relative to `task.sources_dir` -> host file."""
    skills: Mapping[str, Path] = field(default_factory=dict[str, Path])
    """Skill name -> host directory."""
    services: Mapping[str, Path] = field(default_factory=dict[str, Path])
    """Service name -> host directory, where the task has one."""
    sidecars: tuple[ServiceSpec, ...] = ()
    """Background services, ready to be started beside the environment."""
    variables: tuple[str, ...] = ()
    """Names of the private variables that its agent needs."""
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    """Further variables of its environment, nothing secret."""
    setup: Mapping[str, Path] = field(default_factory=dict[str, Path])
    """Scripts run in the environment before the agent: relative path -> host file."""
    prepare: Callable[[Environment], Awaitable[None]] | None = None
    """Done in the environment last before the agent; raises `TaskRefused`."""
    brief: Brief
    findings: tuple[Finding, ...] = ()
    load_rubric: Callable[[], LoadedRubric]
    """Reads and validates the hidden side; raises `UserError`."""
    solution: Path | None = None
    """Directory with `round-N.sh` (oracle), if the suite ships one."""
    mutants: Path | None = None

    @property
    def task_id(self) -> TaskId:
        """The task's id."""
        return self.task.task_id

    @property
    def runnable(self) -> bool:
        """No finding of severity `error`."""
        return all(f.severity != "error" for f in self.findings)


@dataclass(frozen=True, kw_only=True)
class Suite:
    """A named set of tasks in one format."""

    name: str
    uri: str
    """As given on the command line."""
    format: Literal["native", "uniclawbench", "wildclawbench", "claw-swe"]
    root: Path
    tasks: tuple[TaskBundle, ...]
    findings: tuple[Finding, ...] = ()
    """Of the suite as a whole."""
