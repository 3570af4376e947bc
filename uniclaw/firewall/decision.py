"""What screening says of one message. Hidden: hits quote what they matched."""

from typing import Literal

from uniclaw.records import Record

HitKind = Literal[
    "canary",
    "number",
    "date",
    "identifier",
    "file_name",
    "name",
    "code",
    "phrase",
    "paraphrase",
    "score",
    "count",
    "oracle",
    "rubric_talk",
    "tags",
    "auditor",
]

Tier = Literal["deterministic", "auditor"]


class Hit(Record):
    """One match between a message and what is hidden."""

    kind: HitKind
    matched: str
    """What of the hidden side, or of the message's wording, was matched."""
    tier: Tier = "deterministic"
    where: str = ""
    """Which hidden text or rule it belongs to."""
    view: str = "plain"
    """In which reading of the message: plain, base64, reversed, acrostic ..."""


class ScreenDecision(Record):
    """The decision on one message with everything it rests on."""

    decision: Literal["clean", "leak"]
    hits: tuple[Hit, ...] = ()

    @property
    def leak(self) -> bool:
        """Whether anything hidden was found."""
        return self.decision == "leak"


CLEAN = ScreenDecision(decision="clean")
