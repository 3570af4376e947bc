"""The public vocabulary as frozen records.

Nothing here may hold anything of the hidden side: no checkpoint, reference,
weight, cap or rationale. What the firewall releases of a verdict is `Progress`;
its fields are the whole of what can be released.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Literal, NewType

from pydantic import BaseModel, ConfigDict, Field, JsonValue

TaskId = NewType("TaskId", str)
EpisodeId = NewType("EpisodeId", str)
NeutralId = NewType("NeutralId", str)
"""Stands for a task or episode id in everything a role sees; carries no meaning."""

Language = Literal["en", "zh"]
SCHEMA_VERSION = 1

NonNegative = Annotated[float, Field(ge=0)]
Count = Annotated[int, Field(ge=0)]
Unit = Annotated[float, Field(ge=0, le=1)]


class Record(BaseModel):
    """Base of all records: frozen, no unknown fields, no NaN or infinity."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Budget(Record):
    """Limits of one episode. None means no limit of that kind."""

    turn_s: NonNegative | None = None
    """Seconds of one executor turn."""
    executor_s: NonNegative | None = None
    """Cumulative executor seconds over all turns."""
    tokens: Count | None = None
    """All tokens of the executor's model calls."""
    cost_usd: NonNegative | None = None
    """Money of the executor's model calls."""
    model_calls: Count | None = None
    feedback_rounds: Count = 3
    """Feedback rounds after round 0; at most 3 by default."""


class Usage(Record):
    """Tokens of model calls in the normal form; the five kinds do not overlap.

    Reasoning tokens are those the provider reports apart; they are not in `output`.
    """

    input: Count = 0
    """Fresh input tokens (neither read from nor written to a cache)."""
    cache_read: Count = 0
    cache_write: Count = 0
    output: Count = 0
    reasoning: Count = 0

    @property
    def total(self) -> int:
        """Sum of all five kinds."""
        return self.input + self.cache_read + self.cache_write + self.output + self.reasoning

    def __add__(self, other: "Usage") -> "Usage":
        """Add kind by kind."""
        return Usage(
            input=self.input + other.input,
            cache_read=self.cache_read + other.cache_read,
            cache_write=self.cache_write + other.cache_write,
            output=self.output + other.output,
            reasoning=self.reasoning + other.reasoning,
        )


class RoleUsage(Record):
    """What one role spent in an episode."""

    calls: Count = 0
    usage: Usage = Usage()
    cost_usd: NonNegative | None = None
    """None when a price is unknown for at least one call."""


class Service(Record):
    """A program of the task: a one-shot installer or a background service."""

    name: str
    path: str = ""
    """Directory name under the task's services; empty is the name."""
    start: str = ""
    """Shell command, run in that directory; empty: a background service says it itself."""
    oneshot: bool = False


class Probe(Record):
    """A public command run in the live environment at freeze; its output is evidence."""

    id: str
    run: str


class Task(Record):
    """The public side of a task: what the executor may see. Holds no path of the host."""

    task_id: TaskId
    suite: str
    instruction: str
    snapshot_instruction: str | None = None
    """Instruction for snapshot mode; when that mode is on it replaces `instruction` everywhere."""
    language: Language = "en"
    family: str
    """Twins (the same task in two languages) share it; intervals are clustered by it."""
    capability: str = "general"
    modality: tuple[str, ...] = ()
    domain: tuple[str, ...] = ()
    environment: str = "base"
    """Name of the image recipe."""
    user: Literal["agent", "root"] = "agent"
    workspace: str = "/workspace"
    """Working directory of the executor, absolute, inside the environment."""
    sources_dir: str = "/workspace/sources"
    skills_dir: str = "/workspace/skills"
    artifact_roots: tuple[str, ...] = ("/workspace/results",)
    """Absolute; copied out whole at freeze. Relative check paths start at the first."""
    sources: tuple[str, ...] = ()
    skills: tuple[str, ...] = ()
    services: tuple[Service, ...] = ()
    probes: tuple[Probe, ...] = ()
    network: Literal["none", "open"] | tuple[str, ...] = "none"
    recording: Literal["none", "low", "high"] = "none"
    budget: Budget = Budget()


class Fact(Record):
    """One thing the user knows; told when the executor's question touches `topics`."""

    id: str
    text: str
    topics: tuple[str, ...] = ()
    """Words or phrases of a question that this fact answers."""


class Brief(Record):
    """What the user knows and the executor does not, disclosed on request; never screened."""

    persona: str | None = None
    """Name of a persona under `roles/personas`; None uses the run's."""
    facts: tuple[Fact, ...] = ()


class EventKind(StrEnum):
    """Kinds of trajectory events."""

    MESSAGE = "message"
    REASONING = "reasoning"
    TOOL_CALL = "tool_call"
    TOOL_RESULT = "tool_result"
    NOTE = "note"
    """Said by UniClaw about the turn (stopped, truncated ...)."""


class Event(Record):
    """One normalised event of a turn.

    Ids are unique in an episode and are what judges cite: `r<round>.e<index>`.
    """

    id: str
    round: Count
    kind: EventKind
    role: Literal["user", "assistant", "tool", "system"]
    text: str = ""
    tool: str | None = None
    call_id: str | None = None
    arguments: Mapping[str, JsonValue] | None = None
    exit_code: int | None = None
    truncated: bool = False
    total_bytes: Count | None = None
    """Size before truncation, where `truncated`."""
    images: tuple[str, ...] = ()
    """Store references of images, relative to the episode directory."""
    at_s: NonNegative | None = None
    """Seconds since the turn began (monotonic)."""


class StopReason(StrEnum):
    """Why an executor turn ended."""

    FINISHED = "finished"
    ASKED = "asked"
    """The turn ends in a question to the user."""
    TIMEOUT = "timeout"
    BUDGET = "budget"
    """Tokens, calls or money; `Turn.budget` says which."""
    MODEL_ERROR = "model_error"
    CRASHED = "crashed"
    """The harness program ended abnormally."""
    RESOURCES = "resources"
    """Out of memory, disk or pids, or its own init killed: the agent's doing."""
    CANCELLED = "cancelled"


class Turn(Record):
    """One executor run, from a message to its stop."""

    stop: StopReason
    events: tuple[Event, ...]
    final_message: str
    executor_s: NonNegative
    """Harness time alone, rate-limit waits excluded."""
    waited_s: NonNegative = 0
    """Rate-limit waits inside the turn."""
    spent: RoleUsage = RoleUsage()
    budget: str | None = None
    exit_code: int | None = None
    detail: str | None = None
    """Why, for every stop that is not `finished` or `asked`."""
    failure: str | None = None
    """Outcome of the episode when the turn failed in a way that is nobody's score."""


class Entry(Record):
    """One path of a frozen artifact tree; only regular files have bytes in the store."""

    path: str
    """Absolute path inside the environment."""
    kind: Literal["file", "dir", "link", "other"]
    size: Count = 0
    """Apparent size in bytes."""
    sha256: str | None = None
    mode: int = 0
    target: str | None = None
    """Where a link points; recorded, never followed."""
    change: Literal["added", "changed", "deleted", "same"] = "added"
    """Against the baseline taken after the harness started."""
    skipped: str | None = None
    """Why a regular file's bytes were not copied (cap, unreadable)."""


class Manifest(Record):
    """Everything under the artifact roots at freeze."""

    entries: tuple[Entry, ...] = ()
    truncated: bool = False
    """True when a cap on count or size cut the listing."""

    def files(self) -> tuple[Entry, ...]:
        """Regular files that are present and were copied."""
        files = (e for e in self.entries if e.kind == "file" and e.skipped is None)
        return tuple(e for e in files if e.change != "deleted")


NETWORK_PROBE = "network"  # id of the probe result that holds the recording proxy's log


class ProbeResult(Record):
    """Output of one state probe."""

    id: str
    exit_code: int | None
    stdout: str
    truncated: bool = False


class Decision(StrEnum):
    """The supervisor's decision after a round."""

    PASS = "pass"
    CONTINUE = "continue"
    FAIL = "fail"


class AttemptState(StrEnum):
    """Where the attempt stands, as the verdict sees it."""

    IN_PROGRESS = "in_progress"
    INCOMPLETE = "incomplete"
    COMPLETE_BUT_FAILED = "complete_but_failed"
    COMPLETE_AND_PASSED = "complete_and_passed"
    TERMINAL_FAILURE = "terminal_failure"


class ScoreBand(StrEnum):
    """Score at band resolution: below half the threshold, below it, at or above."""

    LOW = "low"
    MIDDLE = "middle"
    HIGH = "high"


class ReleasedLine(Record):
    """One checkpoint as the `open` policy releases it."""

    description: str
    value: Unit | None
    weight: NonNegative


class Progress(Record):
    """What the firewall releases of a verdict. Every field is None unless the policy says so."""

    decision: Decision | None = None
    attempt_state: AttemptState | None = None
    recoverable: bool | None = None
    score_band: ScoreBand | None = None
    score: Unit | None = None
    guidance_tags: tuple[str, ...] | None = None
    missing_artifacts: tuple[str, ...] | None = None
    rationale: str | None = None
    lines: tuple[ReleasedLine, ...] | None = None


class VisiblePicture(Record):
    """A picture, or a page of a document as it looks."""

    media_type: Literal["image/png", "image/jpeg"]
    data_base64: str
    note: str


class VisibleFile(Record):
    """A result file as the user simulator sees it."""

    path: str
    text: str | None
    """Decoded text, possibly cut; None for binary files."""
    size: Count
    truncated: bool = False
    pictures: tuple[VisiblePicture, ...] = ()


class VisibleRound(Record):
    """What the user simulator sees of one round, by the policy's `visible` setting."""

    round: Count
    user_message: str
    final_message: str
    events: tuple[Event, ...] = ()
    files: tuple[VisibleFile, ...] = ()


class UserView(Record):
    """All the user simulator ever sees. No field can hold anything hidden."""

    task_id: NeutralId
    episode_id: NeutralId
    instruction: str
    language: Language
    persona: str
    """Text of the persona."""
    brief: Brief
    rounds: tuple[VisibleRound, ...]
    progress: Progress
    asked: bool
    """The last turn ended in a question: answer it from the brief."""
    feedback_rounds_left: Count
    reminder: bool = False
    """A fixed reminder after a blocked draft; says nothing of what was matched."""


class Feedback(Record):
    """The message that was delivered to the executor."""

    text: str
    source: Literal["model", "template", "neutral"]
    """`neutral` replaced what could not be made clean."""
    drafts: Count = 1
    """How many drafts were screened."""


class Outcome(StrEnum):
    """How an episode ended. The first group is scored; the second is nobody's score."""

    PASS = "pass"
    FAIL = "fail"
    ROUNDS_EXHAUSTED = "rounds_exhausted"
    TIMEOUT = "timeout"
    BUDGET = "budget"
    EXECUTOR_INCOMPLETE = "executor_incomplete"

    RATE_LIMITED = "rate_limited"
    JUDGE_ERROR = "judge_error"
    SIMULATOR_ERROR = "simulator_error"
    ENVIRONMENT_LOST = "environment_lost"
    INFRA_ERROR = "infra_error"
    FIREWALL_BREACH = "firewall_breach"
    CANCELLED = "cancelled"

    @property
    def scored(self) -> bool:
        """Whether the episode counts in scores."""
        return self.value in _SCORED


_SCORED = frozenset(
    ("pass", "fail", "rounds_exhausted", "timeout", "budget", "executor_incomplete")
)
