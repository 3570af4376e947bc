"""Attribution: every lost point of an episode has one owner, by this written rule.

An episode can lose one point. What it loses is 1 minus its final score (the best score where
the source has no final one); an episode without a scored outcome loses the whole point.

1. No scored outcome: `judge_error` is the judge's, `simulator_error` the simulator's; all other
   ends (rate limit, lost environment, infrastructure, firewall breach, cancelled) are the
   infrastructure's: the apparatus, not the agent, ended it. Nobody's score, but a loss of data.
2. Scored, but without a score: the judge's whole point.
3. Per checkpoint of the last round, the loss is weight x (1 - value), and its owner is the first
   that fits:
   a. judge: the value is None (undecided), or the panel disputes the line;
   b. simulator, wrong request: the value fell in a round whose message is marked
      `wrong_request`, and did not recover;
   c. simulator, blocked: the last message before the end was replaced by a neutral text after
      blocked drafts, and the line was unmet in the round before it (it could not be asked for);
   d. simulator, stopped early: the episode ended without passing as `rounds_exhausted` although
      feedback rounds were left;
   e. agent.
4. What remains between the checkpoint losses and the episode's loss (caps, and rows without
   checkpoints) is the agent's. Where the checkpoints sum to more than the loss (rounding), all
   owners shrink in proportion.

The owners' points of an episode always sum to its loss.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal

from uniclaw.records import Count, NonNegative, Outcome, Record
from uniclaw.statistics.rows import EpisodeRow, RoundRow

Owner = Literal["agent", "simulator", "judge", "infrastructure"]
OWNERS: tuple[Owner, ...] = ("agent", "simulator", "judge", "infrastructure")


class Loss(Record):
    """Points lost to one owner for one stated cause."""

    owner: Owner
    cause: str
    points: NonNegative


class AttributionReport(Record):
    """Lost points of a set of episodes."""

    episodes: Count
    lost: NonNegative
    """Sum over episodes; at most one point each."""
    by_owner: Mapping[str, NonNegative]
    shares: Mapping[str, float] | None
    """None when nothing was lost."""
    by_cause: Mapping[str, NonNegative]
    """Points by `owner: cause`."""
    undivided: Count
    """Scored episodes without checkpoints, whose whole loss falls to the agent by rule 4."""


def attribute(rows: Sequence[EpisodeRow]) -> AttributionReport:
    """Lost points of rows by owner and cause."""
    owners: Counter[str] = Counter()
    causes: Counter[str] = Counter()
    for row in rows:
        for loss in losses(row):
            owners[loss.owner] += loss.points  # pyright: ignore[reportArgumentType] -- points are floats
            causes[f"{loss.owner}: {loss.cause}"] += loss.points  # pyright: ignore[reportArgumentType] -- as above
    by_owner = {owner: float(owners[owner]) for owner in OWNERS}
    lost = sum(by_owner.values())
    return AttributionReport(
        episodes=len(rows),
        lost=lost,
        by_owner=by_owner,
        shares={o: p / lost for o, p in by_owner.items()} if lost > 0 else None,
        by_cause={cause: float(points) for cause, points in sorted(causes.items())},
        undivided=sum(row.scored and not _lines(row) for row in rows),
    )


def losses(row: EpisodeRow) -> tuple[Loss, ...]:
    """Lost points of one episode by the rule of this module."""
    if not row.scored:
        return (_unscored(row),)
    score = row.final_score if row.final_score is not None else row.best_score
    if score is None:
        return (Loss(owner="judge", cause="no score", points=1),)
    lost = 1 - score
    parts = _checkpoint_losses(row)
    assigned = sum(part.points for part in parts)
    if assigned > lost:
        factor = lost / assigned
        parts = [part.model_copy(update={"points": part.points * factor}) for part in parts]
    elif lost - assigned > 1e-12:
        cause = "caps" if parts or _lines(row) else "undivided"
        parts = [*parts, Loss(owner="agent", cause=cause, points=lost - assigned)]
    return tuple(parts)


def _unscored(row: EpisodeRow) -> Loss:
    owner: Owner = "infrastructure"
    if row.outcome is Outcome.JUDGE_ERROR:
        owner = "judge"
    elif row.outcome is Outcome.SIMULATOR_ERROR:
        owner = "simulator"
    return Loss(owner=owner, cause=row.outcome.value, points=1)


def _lines(row: EpisodeRow) -> Mapping[str, float | None]:
    return row.rounds[-1].checkpoints if row.rounds else {}


def _checkpoint_losses(row: EpisodeRow) -> list[Loss]:
    if not row.rounds:
        return []
    last = row.rounds[-1]
    found: list[Loss] = []
    for name, value in last.checkpoints.items():
        points = last.weights.get(name, 0.0) * (1 - (value or 0.0))
        if points > 0:
            owner, cause = _owner(row, last, name)
            found.append(Loss(owner=owner, cause=cause, points=points))
    return found


def _owner(row: EpisodeRow, last: RoundRow, name: str) -> tuple[Owner, str]:
    if last.checkpoints[name] is None:
        return "judge", "undecided"
    if name in last.disputed:
        return "judge", "disputed"
    if _spoiled(row, name):
        return "simulator", "wrong request"
    if _blocked(row, name):
        return "simulator", "blocked"
    if _stopped_early(row):
        return "simulator", "stopped early"
    return "agent", "checkpoint"


def _spoiled(row: EpisodeRow, name: str) -> bool:
    """The value fell in a round that was asked for wrongly, and never came back."""
    values = [entry.checkpoints.get(name) for entry in row.rounds]
    final = values[-1]
    for before, entry, after in zip(values, row.rounds[1:], values[1:], strict=False):
        if entry.wrong_request and before is not None and after is not None and after < before:
            return final is not None and final < before
    return False


def _blocked(row: EpisodeRow, name: str) -> bool:
    last = row.rounds[-1]
    if len(row.rounds) < 2 or last.feedback != "neutral" or last.blocked == 0:
        return False
    before = row.rounds[-2].checkpoints.get(name)
    return before is not None and before < 1


def _stopped_early(row: EpisodeRow) -> bool:
    limit = row.feedback_rounds_limit
    left = limit is not None and len(row.rounds) - 1 < limit
    return left and not row.passed and row.outcome is Outcome.ROUNDS_EXHAUSTED
