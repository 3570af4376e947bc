"""The gate: pure loop logic between a draft and its delivery.

Under `enforce` a leaking draft leads to a fresh sample with a fixed reminder, at most twice,
then to a neutral template. Under `observe` it is recorded and delivered. What is delivered is
byte for byte what was screened. The records stay on the hidden side.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Literal, NamedTuple

from uniclaw.firewall.decision import CLEAN, ScreenDecision
from uniclaw.records import Count, Feedback, Record, UserView

MAX_REDRAWS = 2

Source = Literal["model", "template", "neutral"]


class DraftRecord(Record):
    """One draft of a round with its screening; hidden."""

    index: Count
    """0 for the first draft of the round."""
    text: str
    source: Source
    screening: ScreenDecision
    delivered: bool


class Step(NamedTuple):
    """What follows a screened draft."""

    action: Literal["deliver", "redraw", "neutral"]
    record: DraftRecord


class Relayed(NamedTuple):
    """The outcome of a whole round of drafting."""

    feedback: Feedback
    drafts: tuple[DraftRecord, ...]


def step(
    screening: ScreenDecision,
    *,
    text: str,
    index: int,
    mode: Literal["enforce", "observe"],
    source: Source = "model",
) -> Step:
    """Decide on one screened draft.

    Args:
        screening: what the screen said of exactly this text.
        text: the draft.
        index: 0 for the first draft of the round.
        mode: of the policy in force.
        source: who wrote it.
    """
    delivered = mode == "observe" or not screening.leak
    record = DraftRecord(
        index=index, text=text, source=source, screening=screening, delivered=delivered
    )
    if delivered:
        return Step("deliver", record)
    return Step("redraw" if index < MAX_REDRAWS else "neutral", record)


def deliver(record: DraftRecord, drafts: int) -> Feedback:
    """The feedback of a delivered draft; its text is the screened one."""
    if not record.delivered:
        raise ValueError("only a delivered draft becomes feedback")
    return Feedback(text=record.text, source=record.source, drafts=drafts)


def neutral(text: str, drafts: Sequence[DraftRecord]) -> Relayed:
    """The neutral template in place of what could not be made clean."""
    record = DraftRecord(
        index=len(drafts), text=text, source="neutral", screening=CLEAN, delivered=True
    )
    return Relayed(deliver(record, len(drafts)), (*drafts, record))


async def relay(
    view: UserView,
    *,
    draft: Callable[[UserView], Awaitable[str]],
    check: Callable[[str], ScreenDecision],
    neutral_text: Callable[[], str],
    mode: Literal["enforce", "observe"],
    source: Source = "model",
) -> Relayed:
    """Play a whole round of drafting: draft, screen, redraw, deliver.

    A redraw sees the same view with `reminder=True`; neither the blocked text nor the match.

    Args:
        view: what the simulator sees; its `reminder` is the first draft's.
        draft: the simulator.
        check: the screen, bound to what is visible and to the history.
        neutral_text: gives the neutral message.
        mode: of the policy in force.
        source: what the simulator is.
    """
    drafts: list[DraftRecord] = []
    for index in range(MAX_REDRAWS + 1):
        shown = view if index == 0 else view.model_copy(update={"reminder": True})
        text = await draft(shown)
        action, record = step(check(text), text=text, index=index, mode=mode, source=source)
        drafts.append(record)
        if action == "deliver":
            return Relayed(deliver(record, len(drafts)), tuple(drafts))
    return neutral(neutral_text(), drafts)
