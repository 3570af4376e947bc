"""Jobs that are done apart from the host, in a grader environment, and their answers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from pydantic import JsonValue

from uniclaw.supervisor.frozen import Layer


class JobKey(NamedTuple):
    """Names a job: the check it is for and, for file jobs, the file."""

    part: str
    path: str = ""


@dataclass(frozen=True, kw_only=True)
class Job:
    """One thing to do in the grader environment."""

    key: JobKey
    kind: Literal["python", "table", "ocr"]
    payload: Mapping[str, JsonValue]
    """As `pycheck_runner` documents it for the kind."""
    base: str
    """Where relative paths of the check start, absolute."""
    timeout_s: float = 60.0


@dataclass(frozen=True, kw_only=True)
class JobResult:
    """What came of a job."""

    status: Literal["done", "failed", "unavailable"]
    """`failed`: it broke on this evidence, so the evidence is to blame. `unavailable`: a tool,
    module or the environment itself is missing, so nothing can be said."""
    value: JsonValue = None
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class CommandOutput:
    """What the first phase of a command check left."""

    exit_code: int | None
    layer: Layer | None
    """Its stdout, stderr, exit code and kept files; None when it could not be run."""
    base: str
    """Where they lie: `/command/<check id>`."""
    timed_out: bool = False
    truncated: bool = False
    """Its output went past the limit; the middle is missing."""
    problem: str | None = None
    """Why it could not be run; nobody's fault but the machine's."""
