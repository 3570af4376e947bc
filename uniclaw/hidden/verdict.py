"""The verdict: what the supervisor found in one round. Hidden; `Progress` is what leaves."""

from collections.abc import Mapping
from typing import Literal

from pydantic import JsonValue

from uniclaw.records import AttemptState, Count, Decision, NonNegative, Record, Unit


class CheckResult(Record):
    """What one check said. `value` None means it could not be decided, with the reason."""

    value: Unit | None
    reason: str
    evidence: tuple[str, ...] = ()
    """Event ids, artifact paths or `probe:<id>`."""
    terminal: bool = False
    approximate: str | None = None
    disagreement: tuple[Unit, ...] = ()
    """Values of the panel's members where they differ."""


class LineResult(Record):
    """One checkpoint, cap or prose requirement with its result."""

    id: str
    kind: Literal["checkpoint", "cap", "requirement"]
    weight: NonNegative
    """0 for caps and requirements."""
    cap: Unit | None = None
    """The bound, for caps."""
    description: str
    decided_by: Literal["code", "judge", "both"]
    result: CheckResult
    tag: str | None = None
    artifact: str | None = None

    @property
    def fired(self) -> bool:
        """Whether a cap's condition holds."""
        return self.kind == "cap" and self.result.value is not None and self.result.value >= 0.5


class Verdict(Record):
    """Score and decision of one round, computed by code from its lines."""

    round: Count
    decision: Decision
    attempt_state: AttemptState
    recoverable: bool
    score: Unit | None
    """None when a needed value is None; `reason` then says which."""
    uncapped: Unit | None
    threshold: Unit
    lines: tuple[LineResult, ...]
    caps_fired: tuple[str, ...] = ()
    unmet_requirements: tuple[str, ...] = ()
    missing_artifacts: tuple[str, ...] = ()
    guidance_tags: tuple[str, ...] = ()
    rationale: str
    reason: str | None = None
    flags: tuple[str, ...] = ()
    """Remarks on how the score came about (approximate lines, family shared with judge ...)."""
    criteria: Mapping[str, JsonValue] = {}
    """All that an imported grader returned, as it did."""
