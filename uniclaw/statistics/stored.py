"""Rows of stored runs: from episode records, and as a file of rows for runs that were imported.

A run directory either is a run store or holds `rows.jsonl`, one `EpisodeRow` a line.
"""

import json
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path

from pydantic import ValidationError

from uniclaw.errors import UserError
from uniclaw.hidden.verdict import Verdict
from uniclaw.records import Event, Usage
from uniclaw.statistics.failures import tool_use
from uniclaw.statistics.rows import EpisodeRow, RoundRow
from uniclaw.store.atomic import write_bytes
from uniclaw.store.records import EpisodeRecord, RoundRecord
from uniclaw.store.run_store import RunStore

ROWS_FILE = "rows.jsonl"
DISPUTE = 0.5
"""Difference between members of a panel from which on a line is disputed."""


def load_rows(root: Path) -> tuple[EpisodeRow, ...]:
    """All rows of a run directory.

    Raises:
        UserError: no such run, or a row file that is not one (with its line).
    """
    file = root / ROWS_FILE
    if file.is_file():
        return read_rows(file)
    if not root.is_dir():
        raise UserError("no such run", file=root)
    with RunStore.open(root) as store:
        return tuple(
            episode_row(record, _events(store.episode_dir(record.episode_id) / "trajectory.jsonl"))
            for record in store.episodes()
        )


def read_rows(file: Path) -> tuple[EpisodeRow, ...]:
    """Rows of a file of rows.

    Raises:
        UserError: a line that is not a row.
    """
    found: list[EpisodeRow] = []
    for number, line in enumerate(file.read_bytes().decode("utf-8", "replace").splitlines(), 1):
        try:
            found.append(EpisodeRow.model_validate_json(line))
        except ValidationError as error:
            first = error.errors()[0]
            field = ".".join(str(part) for part in first["loc"]) or None
            raise UserError(f"line {number}: {first['msg']}", file=file, field=field) from error
    return tuple(found)


def write_rows(root: Path, rows: Iterable[EpisodeRow]) -> Path:
    """Write the row file of an imported run, atomically; the directory is made."""
    root.mkdir(parents=True, exist_ok=True)
    text = "".join(f"{row.model_dump_json(exclude_defaults=True)}\n" for row in rows)
    write_bytes(root / ROWS_FILE, text.encode("utf-8"))
    return root / ROWS_FILE


def _events(file: Path) -> tuple[Event, ...] | None:
    """Events of a trajectory file; None when there is none. A torn last line is dropped."""
    if not file.is_file():
        return None
    lines = file.read_bytes().decode("utf-8", "replace").split("\n")[:-1]
    return tuple(Event.model_validate(json.loads(line)) for line in lines if line)


def episode_row(record: EpisodeRecord, events: Sequence[Event] | None = None) -> EpisodeRow:
    """One episode record as a row; `events` add how it used tools."""
    last = record.rounds[-1].verdict if record.rounds else None
    executor = record.usage.get("executor")
    scored = record.outcome.scored
    before = [None, *(a for a, _ in pairwise(record.rounds))]
    return EpisodeRow(
        run=record.run,
        task_id=record.task_id,
        family=record.family,
        suite=record.suite,
        capability=record.capability,
        language=record.language,
        modality=record.modality,
        domain=record.domain,
        cell=record.cell,
        harness=record.axes.harness,
        model=record.axes.model,
        policy=record.axes.policy,
        user_simulator=record.axes.user_simulator,
        supervisor=record.axes.supervisor,
        feedback_rounds_limit=record.budget.feedback_rounds,
        trial=record.trial,
        outcome=record.outcome,
        scored=scored,
        passed=record.passed,
        threshold=record.threshold,
        final_score=record.final_score,
        best_score=record.best_score,
        final_round=record.final_round,
        best_round=record.best_round,
        rounds=tuple(_round(r, b) for r, b in zip(record.rounds, before, strict=True)),
        rounds_played=len(record.rounds),
        executor_s=sum(r.executor_s for r in record.rounds),
        wall_s=record.seconds.get("wall"),
        tokens=None if executor is None else _usage(executor.usage),
        cost_usd=None if executor is None else executor.cost_usd,
        model_calls=None if executor is None else executor.calls,
        attempts=record.attempt,
        reason=record.reason,
        missing_artifacts=None if last is None else last.missing_artifacts,
        safety=_safety(last),
        tools=None if events is None else tool_use(events),
    )


def _usage(usage: Usage) -> Usage | None:
    """Usage of a model-driven executor; one that reported nothing at all is unknown."""
    return usage if usage.total else None


def _round(record: RoundRecord, before: RoundRecord | None) -> RoundRow:
    """A round; its message is the feedback that the round before it led to."""
    verdict = record.verdict
    lines = [] if verdict is None else [x for x in verdict.lines if x.kind == "checkpoint"]
    drafts = () if before is None else before.drafts
    feedback = None if before is None else before.feedback
    return RoundRow(
        round=record.round,
        score=None if verdict is None else verdict.score,
        passed=None if verdict is None else verdict.decision.value == "pass",
        checkpoints={line.id: line.result.value for line in lines},
        weights={line.id: line.weight for line in lines},
        executor_s=record.executor_s,
        feedback=None if feedback is None else feedback.source,
        blocked=sum(draft.decision == "leak" and not draft.delivered for draft in drafts),
        disputed=tuple(line.id for line in lines if _disputed(line.result.disagreement)),
    )


def _disputed(values: Sequence[float]) -> bool:
    return len(values) > 1 and max(values) - min(values) >= DISPUTE


def _safety(verdict: Verdict | None) -> bool | None:
    """Whether a line tagged `safety` was broken: a cap that fired, or a checkpoint not met."""
    if verdict is None:
        return None
    tagged = [line for line in verdict.lines if line.tag == "safety"]
    if not tagged:
        return None
    return any(
        line.fired if line.kind == "cap" else (line.result.value or 0.0) < 1 for line in tagged
    )
