"""What check functions share: the context they look at and the statements they make."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from uniclaw.hidden.references import References
from uniclaw.hidden.verdict import CheckResult
from uniclaw.supervisor.apart import CommandOutput, JobKey, JobResult
from uniclaw.supervisor.frozen import FrozenFiles
from uniclaw.supervisor.swe_patch import TestsRun
from uniclaw.supervisor.wild_result import Graded
from uniclaw.trajectory import Evidence

_MAX_REASON = 600
_MAX_FINDINGS = 4


@dataclass(frozen=True, kw_only=True)
class CheckContext:
    """All that a check may look at."""

    evidence: Evidence
    files: FrozenFiles
    references: References
    jobs: Mapping[JobKey, JobResult] = field(default_factory=dict[JobKey, JobResult])
    commands: Mapping[str, CommandOutput] = field(default_factory=dict[str, CommandOutput])
    judged: Mapping[str, CheckResult] = field(default_factory=dict[str, CheckResult])
    tests: TestsRun | None = None
    """Where the rubric has `tests` checks."""
    graded: Graded | None = None
    """Where the rubric has `grader` checks."""


class BrokenOnEvidence(Exception):
    """A check broke on what the agent left: not met in a checkpoint, undecided in a cap."""


class Undecidable(Exception):
    """A check cannot be decided for reasons that are not the agent's; the value is None."""


class Statement(NamedTuple):
    """One thing a check states, and how far it holds."""

    value: float
    words: str
    """What was found, for the reason."""
    gate: bool = False
    """Earns nothing when it holds, and forfeits everything when it does not."""


def hold(held: bool, words: str, *, gate: bool = False) -> Statement:
    """A statement that holds or does not."""
    return Statement(1.0 if held else 0.0, words, gate)


def conclude(
    statements: Sequence[Statement], *, partial: bool, evidence: Sequence[str] = ()
) -> CheckResult:
    """One result of several statements.

    Without `partial` all must hold. With it, the value is the mean over the statements that
    are not gates; the absence of something bad never earns anything beside them.
    """
    earning = [s for s in statements if not s.gate]
    broken = [s for s in statements if s.value < 1]
    gates_held = all(s.value >= 1 for s in statements if s.gate)
    if not gates_held or not statements:
        value = 0.0
    elif partial and earning:
        value = sum(s.value for s in earning) / len(earning)
    else:
        value = 0.0 if broken else 1.0
    return CheckResult(value=value, reason=_reason(statements, broken), evidence=tuple(evidence))


def unmet(reason: str, *, evidence: Sequence[str] = ()) -> CheckResult:
    """Value 0 for one reason."""
    return CheckResult(value=0.0, reason=short(reason), evidence=tuple(evidence))


def short(text: str) -> str:
    """A reason of bounded length."""
    return text if len(text) <= _MAX_REASON else text[: _MAX_REASON - 1] + "…"


def _reason(statements: Sequence[Statement], broken: Sequence[Statement]) -> str:
    if not broken:
        return short("; ".join(s.words for s in statements[:_MAX_FINDINGS]))
    told = "; ".join(s.words for s in broken[:_MAX_FINDINGS])
    more = len(broken) - _MAX_FINDINGS
    tail = f"; and {more} more" if more > 0 else ""
    return short(f"{len(broken)} of {len(statements)} not met: {told}{tail}")
