"""State of the episode graph, and what each node may see of it.

State holds ids, counters and references into the episode's directory; bytes lie in the
store. Each node gets its own input type, and LangGraph hides every other channel from it.
"""

from typing import Literal, TypedDict

from uniclaw.records import Count, Record

NodeName = Literal[
    "provision", "execute", "freeze", "supervise", "relay", "simulate", "screen", "settle"
]


class EpisodeState(TypedDict, total=False):
    """All channels. `verdict_ref` is hidden: it stands in no input of a role's node."""

    episode: str
    round: int
    visit: int
    """Which draft of this round's feedback: 0, then up to 2 fresh samples."""
    message_ref: str
    turn_ref: str
    evidence_ref: str
    verdict_ref: str
    view_ref: str
    draft_ref: str
    outcome: str
    reason: str | None
    retry: bool | None
    """Whether another attempt may help; None leaves it to the outcome."""


class ProvisionInput(Record):
    """Start of the episode."""

    episode: str


class ExecuteInput(Record):
    """The executor's node: which message to deliver."""

    episode: str
    round: Count
    message_ref: str


class FreezeInput(Record):
    """What to freeze is what the turn left."""

    episode: str
    round: Count
    turn_ref: str


class SuperviseInput(Record):
    """The supervisor sees frozen evidence alone."""

    episode: str
    round: Count
    evidence_ref: str


class RelayInput(Record):
    """The firewall: turns the verdict into the user simulator's view."""

    episode: str
    round: Count
    verdict_ref: str


class SimulateInput(Record):
    """The user simulator: a view, and nothing else."""

    episode: str
    round: Count
    visit: Count
    view_ref: str


class ScreenInput(Record):
    """The firewall again: a draft against what is hidden."""

    episode: str
    round: Count
    visit: Count
    draft_ref: str
    view_ref: str


class SettleInput(Record):
    """How it ended."""

    episode: str
    outcome: str
    reason: str | None = None
