"""What `run` and `show` print: the documented shape over a run's settled records."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from pydantic import JsonValue

from uniclaw.hidden.verdict import LineResult
from uniclaw.records import Outcome, RoleUsage, StopReason, Usage
from uniclaw.store.records import EpisodeRecord, RoundRecord
from uniclaw.suites.uniclawbench import NAME as UNICLAWBENCH
from uniclaw.suites.uniclawbench_status import reference_result


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
        **_reference(record),
    }


def _reference(record: EpisodeRecord) -> dict[str, JsonValue]:
    """The result in the words of the benchmark that the task is from."""
    if record.suite != UNICLAWBENCH:
        return {}
    result = reference_result(
        record.outcome,
        record.reason,
        best_score=record.best_score,
        threshold=record.threshold,
        completed=any(r.stop in {StopReason.FINISHED, StopReason.ASKED} for r in record.rounds),
    )
    return {"reference": result.model_dump(mode="json")}


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


class Totals(NamedTuple):
    """What a run's rows add up to."""

    settled: int
    scored: int
    passed: int
    summary: Mapping[str, JsonValue]
    """As printed; rates are None when nothing is scored."""


def totals(rows: Iterable[Mapping[str, JsonValue]], planned: int) -> Totals:
    """Add up a run's `brief_rows`; no record is read.

    Args:
        rows: of the settled episodes.
        planned: how many episodes there are in all.
    """
    counting = {outcome.value for outcome in Outcome if outcome.scored}
    outcomes = Counter[str]()
    usage, paid = _Sum(), _Sum()
    finals, bests = _Mean(), _Mean()
    earlier, wall_s = 0, 0.0
    for row in rows:
        outcome = str(row["outcome"])
        outcomes[outcome] += 1
        usage.add(row["usage"])
        paid.add(row["paid"])
        earlier += int(_number(row["earlier"]))
        wall_s += _number(row["wall_s"])
        if outcome in counting:
            finals.add(row["final_score"])
            bests.add(row["best_score"])
    settled = outcomes.total()
    scored = sum(number for outcome, number in outcomes.items() if outcome in counting)
    passed = outcomes[Outcome.PASS.value]
    summary: dict[str, JsonValue] = {
        "planned": planned,
        "settled": settled,
        "scored": scored,
        "passed": passed,
        "pass_rate": passed / scored if scored else None,
        "average_final_score": finals.value,
        "average_best_score": bests.value,
        "outcomes": {name: outcomes[name] for name in sorted(outcomes) if outcomes[name]},
        "usage": usage.document,
        "paid": paid.document,
        "attempts": settled + earlier,
        "wall_s": wall_s,
    }
    return Totals(settled, scored, passed, summary)


def _number(value: JsonValue) -> float:
    return value if isinstance(value, int | float) else 0.0


class _Mean:
    """An average over what is a number."""

    def __init__(self) -> None:
        self._sum, self._count = 0.0, 0

    def add(self, value: JsonValue) -> None:
        if isinstance(value, int | float):
            self._sum, self._count = self._sum + value, self._count + 1

    @property
    def value(self) -> float | None:
        return self._sum / self._count if self._count else None


class _Sum:
    """Usage over roles and episodes, added as plain numbers: there are many."""

    def __init__(self) -> None:
        self._calls, self._cost = 0, 0.0
        self._known = True
        self._tokens = Counter[str]()

    def add(self, roles: JsonValue) -> None:
        for spent in roles.values() if isinstance(roles, dict) else ():
            if not isinstance(spent, dict):
                continue
            self._calls += int(_number(spent.get("calls")))
            cost, tokens = spent.get("cost_usd"), spent.get("usage")
            self._known = self._known and cost is not None
            self._cost += _number(cost)
            for kind, number in tokens.items() if isinstance(tokens, dict) else ():
                self._tokens[kind] += int(_number(number))

    @property
    def document(self) -> dict[str, JsonValue]:
        spent = RoleUsage(
            calls=self._calls,
            usage=Usage.model_validate(dict(self._tokens)),
            cost_usd=self._cost if self._known else None,
        )
        return spent.model_dump(mode="json")


def parts(
    run: str, records: Iterable[EpisodeRecord], found: Totals
) -> dict[str, JsonValue | Iterator[JsonValue]]:
    """`{run, summary, episodes}`; the episodes are read as they are taken."""
    return {
        "run": run,
        "summary": dict(found.summary),
        "episodes": (episode_summary(record) for record in records),
    }


def exit_code(found: Totals, planned: int, damaged: Collection[str] = ()) -> int:
    """0 when every planned episode has an outcome that counts and a whole record, else 1."""
    return 0 if planned == found.settled == found.scored and not damaged else 1
