"""How an episode's record becomes rows: the flat one for statistics, its rounds and lines."""

import sqlite3

from pydantic import JsonValue

from uniclaw.records import RoleUsage
from uniclaw.store.records import EpisodeRecord


def add_spent(first: RoleUsage, second: RoleUsage) -> RoleUsage:
    """The sum of two; its cost is unknown when one of them is."""
    known = first.cost_usd is not None and second.cost_usd is not None
    return RoleUsage(
        calls=first.calls + second.calls,
        usage=first.usage + second.usage,
        cost_usd=(first.cost_usd or 0.0) + (second.cost_usd or 0.0) if known else None,
    )


def insert_rounds(db: sqlite3.Connection, record: EpisodeRecord) -> None:
    """Replace the rows of an episode's rounds and lines."""
    for table in ("rounds", "checkpoints"):
        db.execute(f"DELETE FROM {table} WHERE episode_id = ?", (record.episode_id,))
    for item in record.rounds:
        verdict = item.verdict
        db.execute(
            "INSERT INTO rounds VALUES (?, ?, ?, ?, ?, ?)",
            (
                record.episode_id,
                item.round,
                verdict.decision.value if verdict else None,
                verdict.score if verdict else None,
                item.stop.value,
                item.executor_s,
            ),
        )
        db.executemany(
            "INSERT INTO checkpoints VALUES (?, ?, ?, ?, ?, ?, ?)",
            [
                (
                    record.episode_id,
                    item.round,
                    line.id,
                    line.kind,
                    line.weight,
                    line.result.value,
                    line.result.reason,
                )
                for line in (verdict.lines if verdict else ())
            ],
        )


def flat_row(record: EpisodeRecord) -> JsonValue:
    """The row that statistics reads; holds no text of the hidden side beyond ids."""
    data = record.model_dump(
        mode="json", exclude={"rounds", "assets", "images", "flags", "container"}
    )
    data["passed"] = record.passed
    data["scored"] = record.outcome.scored
    data["rounds"] = [
        {
            "round": r.round,
            "score": r.verdict.score if r.verdict else None,
            "passed": None if r.verdict is None else r.verdict.decision.value == "pass",
            "checkpoints": {
                line.id: line.result.value
                for line in (r.verdict.lines if r.verdict else ())
                if line.kind == "checkpoint"
            },
            "weights": {
                line.id: line.weight
                for line in (r.verdict.lines if r.verdict else ())
                if line.kind == "checkpoint"
            },
            "executor_s": r.executor_s,
            "feedback_source": r.feedback.source if r.feedback else None,
            "blocked": sum(1 for d in r.drafts if d.decision == "leak" and not d.delivered),
        }
        for r in record.rounds
    ]
    return data
