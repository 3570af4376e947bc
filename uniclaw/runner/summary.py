"""What `run` and `show` print: the documented shape over a run's settled records."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from pydantic import JsonValue

from uniclaw.hidden.verdict import LineResult
from uniclaw.records import Outcome, RoleUsage, Usage
from uniclaw.runner.history import paid_by
from uniclaw.store.records import EpisodeRecord, RoundRecord


def episode_summary(record: EpisodeRecord) -> dict[str, JsonValue]:
    """One episode as `{task, cell, trial, outcome, reason, rounds, ...}`."""
    last = next((r for r in reversed(record.rounds) if r.verdict), None)
    lines = last.verdict.lines if last and last.verdict else ()
    return {
        "episode": record.episode_id,
        "task": record.task_id,
        "cell": record.cell,
        "trial": record.trial,
        "attempt": record.attempt,
        "outcome": record.outcome.value,
        "scored": record.outcome.scored,
        "reason": record.reason,
        "rounds": len(record.rounds),
        "final_score": record.final_score,
        "final_round": record.final_round,
        "best_score": record.best_score,
        "best_round": record.best_round,
        "threshold": record.threshold,
        "checkpoints": [_line(line) for line in lines if line.kind == "checkpoint"],
        "caps": [_cap(line) for line in lines if line.kind == "cap"],
        "requirements": [_line(line) for line in lines if line.kind == "requirement"],
        "history": [_round(item) for item in record.rounds],
        "usage": {role: _usage(spent) for role, spent in record.usage.items()},
        "seconds": dict(record.seconds),
        "flags": list(record.flags),
    }


def _line(line: LineResult) -> dict[str, JsonValue]:
    return {
        "id": line.id,
        "weight": line.weight,
        "value": line.result.value,
        "reason": line.result.reason,
        "evidence": list(line.result.evidence),
        "decided_by": line.decided_by,
        "approximate": line.result.approximate,
    }


def _cap(line: LineResult) -> dict[str, JsonValue]:
    return {**_line(line), "max": line.cap, "fired": line.fired}


def _round(item: RoundRecord) -> dict[str, JsonValue]:
    verdict = item.verdict
    return {
        "round": item.round,
        "message": item.message,
        "stop": item.stop.value,
        "final_message": item.final_message,
        "decision": verdict.decision.value if verdict else None,
        "score": verdict.score if verdict else None,
        "executor_s": item.executor_s,
        "feedback": item.feedback.text if item.feedback else None,
        "feedback_source": item.feedback.source if item.feedback else None,
        "blocked": sum(1 for d in item.drafts if not d.delivered),
    }


def _usage(spent: RoleUsage) -> dict[str, JsonValue]:
    return spent.model_dump(mode="json")


def run_summary(records: Sequence[EpisodeRecord], planned: int) -> dict[str, JsonValue]:
    """Totals over a run; rates are None when nothing is scored."""
    scored = [r for r in records if r.outcome.scored]
    passed = [r for r in scored if r.outcome is Outcome.PASS]
    finals = [r.final_score for r in scored if r.final_score is not None]
    bests = [r.best_score for r in scored if r.best_score is not None]
    outcomes = Counter(r.outcome.value for r in records)
    return {
        "planned": planned,
        "settled": len(records),
        "scored": len(scored),
        "passed": len(passed),
        "pass_rate": len(passed) / len(scored) if scored else None,
        "average_final_score": sum(finals) / len(finals) if finals else None,
        "average_best_score": sum(bests) / len(bests) if bests else None,
        "outcomes": dict(sorted(outcomes.items())),
        "usage": _usage(_total(s for r in records for s in r.usage.values())),
        "paid": _usage(_total(s for r in records for s in paid_by(r).values())),
        "attempts": sum(len(r.earlier) + 1 for r in records),
        "wall_s": sum(r.seconds.get("wall", 0.0) for r in records),
    }


def _total(spent: Iterable[RoleUsage]) -> RoleUsage:
    calls, usage, cost = 0, Usage(), 0.0
    known = True
    for item in spent:
        calls += item.calls
        usage += item.usage
        known = known and item.cost_usd is not None
        cost += item.cost_usd or 0.0
    return RoleUsage(calls=calls, usage=usage, cost_usd=cost if known else None)


def document(run: str, records: Sequence[EpisodeRecord], planned: int) -> dict[str, JsonValue]:
    """`{run, summary, episodes}`."""
    return {
        "run": run,
        "summary": run_summary(records, planned),
        "episodes": [episode_summary(r) for r in records],
    }


def exit_code(records: Sequence[EpisodeRecord], planned: int) -> int:
    """0 when every planned episode has an outcome that counts, else 1."""
    return 0 if len(records) == planned and all(r.outcome.scored for r in records) else 1


def row_summary(rows: Sequence[Mapping[str, JsonValue]], planned: int) -> dict[str, JsonValue]:
    """The totals of `run_summary` from stored rows alone, for runs too large to read whole."""
    scored = [row for row in rows if row.get("scored") is True]
    passed = sum(1 for row in scored if row.get("passed") is True)
    finals = [f for row in scored if isinstance(f := row.get("final_score"), int | float)]
    bests = [b for row in scored if isinstance(b := row.get("best_score"), int | float)]
    outcomes = Counter(str(row.get("outcome")) for row in rows)
    return {
        "planned": planned,
        "settled": len(rows),
        "scored": len(scored),
        "passed": passed,
        "pass_rate": passed / len(scored) if scored else None,
        "average_final_score": sum(finals) / len(finals) if finals else None,
        "average_best_score": sum(bests) / len(bests) if bests else None,
        "outcomes": dict(sorted(outcomes.items())),
    }
