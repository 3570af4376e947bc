"""What a finished episode leaves: one record, written once, by `settle`."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field, JsonValue

from uniclaw.config import Effort
from uniclaw.hidden.verdict import Verdict
from uniclaw.records import (
    SCHEMA_VERSION,
    Budget,
    Count,
    Feedback,
    NonNegative,
    Outcome,
    Progress,
    Record,
    RoleUsage,
    StopReason,
    Unit,
)


class DraftRecord(Record):
    """One draft of a feedback message and what screening said. Hidden side."""

    text: str
    decision: Literal["clean", "leak"]
    delivered: bool
    hits: tuple[Mapping[str, JsonValue], ...] = ()


class RoundRecord(Record):
    """One round, in the order it happened."""

    round: Count
    message: str
    """What the executor was told, byte for byte."""
    stop: StopReason
    stop_detail: str | None = None
    final_message: str
    executor_s: NonNegative
    waited_s: NonNegative = 0
    files: Count = 0
    """Regular files frozen."""
    verdict: Verdict | None = None
    progress: Progress | None = None
    drafts: tuple[DraftRecord, ...] = ()
    feedback: Feedback | None = None
    """What the user simulator answered to this round; None when it was not asked."""
    seconds: Mapping[str, NonNegative] = {}
    """Wall seconds by phase: execute, freeze, supervise, relay, simulate, screen."""


class Axes(Record):
    """The settings that make a cell."""

    executor: str
    harness: str
    model: str | None
    supervisor: str
    user_simulator: str
    policy: str
    feedback_rounds: int | None = None
    """None: the task's own."""
    persona: str | None = None
    """None: the run's, or the brief's."""
    budget_factor: float = 1.0
    """On the executor's budgets."""
    temperature: float | None = None
    """Of the executor's model; None: the provider's default."""
    top_p: float | None = None
    """Of the executor's model; None: the provider's default."""
    effort: Effort | None = None
    """How much the executor's model should reason; None: the provider's default."""
    skills: tuple[str, ...] = ()
    """Added to the task's own."""

    @property
    def cell(self) -> str:
        """A readable key, unique for these axes."""
        rounds = "task" if self.feedback_rounds is None else str(self.feedback_rounds)
        parts = [
            self.executor,
            f"judge {self.supervisor}",
            f"user {self.user_simulator}",
            self.policy,
            f"rounds {rounds}",
        ]
        if self.persona is not None:
            parts.append(f"persona {self.persona}")
        if self.budget_factor != 1.0:
            parts.append(f"budget x{self.budget_factor:g}")
        if self.temperature is not None:
            parts.append(f"temperature {self.temperature:g}")
        if self.top_p is not None:
            parts.append(f"top_p {self.top_p:g}")
        if self.effort is not None:
            parts.append(f"effort {self.effort}")
        if self.skills:
            parts.append(f"skills +{'+'.join(self.skills)}")
        return " | ".join(parts)


class EarlierAttempt(Record):
    """An attempt that did not become the episode's result."""

    episode_id: str
    attempt: Annotated[int, Field(ge=1)]
    state: Literal["cut", "failed"]
    """`cut`: the runner died or was stopped; `failed`: an outcome that is nobody's score."""
    outcome: str | None = None
    reason: str | None = None
    spent: Mapping[str, RoleUsage] = {}
    """By role: what was paid for it."""


class EpisodeRecord(Record):
    """The whole result of one episode."""

    schema_version: Annotated[int, Field(ge=1)] = SCHEMA_VERSION
    run: str
    episode_id: str
    attempt: Annotated[int, Field(ge=1)] = 1
    task_id: str
    suite: str
    family: str
    capability: str
    language: str
    modality: tuple[str, ...] = ()
    domain: tuple[str, ...] = ()
    neutral_task_id: str
    neutral_episode_id: str
    axes: Axes
    cell: str
    trial: Count
    seed: int
    budget: Budget
    outcome: Outcome
    reason: str | None
    """Why, for every outcome that is not `pass`."""
    threshold: Unit | None
    rounds: tuple[RoundRecord, ...]
    final_score: Unit | None
    final_round: Count | None
    best_score: Unit | None
    best_round: Count | None
    usage: Mapping[str, RoleUsage]
    """By role: executor, judge, user_simulator."""
    seconds: Mapping[str, NonNegative]
    """Wall seconds by phase over the whole episode; `wall` is all of it."""
    started_at: str
    ended_at: str
    environment: str
    container: str | None = None
    images: Mapping[str, str] = {}
    """Recipe name -> image tag and digest."""
    assets: Mapping[str, str] = {}
    """Asset path -> sha256."""
    rubric_source: str | None = None
    rubric_sha256: str | None = None
    flags: tuple[str, ...] = ()
    earlier: tuple[EarlierAttempt, ...] = ()
    """Attempts before this one, all kept."""
    paid: Mapping[str, RoleUsage] | None = None
    """By role over all attempts, each stored answer counted once; None when it is `usage`."""
    parent: str | None = None
    """`RUN/EPISODE` that this was replayed, judged anew or forked from."""
    parent_round: Count | None = None
    """Last round that a fork took over from its parent."""

    @property
    def passed(self) -> bool | None:
        """Whether it passed; None when it has no score."""
        return self.outcome is Outcome.PASS if self.outcome.scored else None
