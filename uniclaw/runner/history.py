"""What earlier attempts leave in an episode's record: they are kept, and their cost is counted."""

from collections.abc import Mapping

from uniclaw.experiment import Planned
from uniclaw.records import RoleUsage
from uniclaw.store.records import EarlierAttempt, EpisodeRecord
from uniclaw.store.rows import add_spent
from uniclaw.store.run_store import RunStore


def with_history(store: RunStore, planned: Planned, record: EpisodeRecord) -> EpisodeRecord:
    """The record with its earlier attempts and with what was paid over all of them.

    An answer that a later attempt took from the store is paid once: by the attempt that asked.
    """
    rows = [a for a in store.attempts.of(planned.episode_id) if a.attempt < record.attempt]
    if not rows:
        return record
    earlier = tuple(
        EarlierAttempt(
            episode_id=row.episode_id,
            attempt=row.attempt,
            state="failed" if row.state == "failed" else "cut",
            outcome=row.outcome,
            reason=row.reason,
            spent=store.spent(row.episode_id, reused=False),
        )
        for row in rows
    )
    paid = store.spent(record.episode_id, reused=False)
    # What leaves no exchanges behind is known from the attempt's own meters alone.
    for role, spent in record.usage.items():
        paid.setdefault(role, RoleUsage(cost_usd=0.0) if _stored(store, record, role) else spent)
    for attempt in earlier:
        for role, spent in attempt.spent.items():
            paid[role] = add_spent(paid.get(role, RoleUsage(cost_usd=0.0)), spent)
    return record.model_copy(update={"earlier": earlier, "paid": paid})


def _stored(store: RunStore, record: EpisodeRecord, role: str) -> bool:
    return role in store.spent(record.episode_id, reused=True)


def paid_by(record: EpisodeRecord) -> Mapping[str, RoleUsage]:
    """What an episode cost by role, all attempts together."""
    return record.usage if record.paid is None else record.paid
