"""Takes over what the reference benchmark left on disk as a run of ours, as far as it goes.

Each task that a setting played becomes one settled episode: its rounds with their scores,
messages and supervisor's decisions, its tokens and times. It has no values per checkpoint, no
artifacts of ours and no trajectory, and what is not there is said in the episode's flags and in
the report; nothing is made up. The reference shows the best of several attempts; how many there
were is kept as a flag.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

from pydantic import JsonValue, ValidationError

from uniclaw.errors import UserError
from uniclaw.hidden.verdict import Verdict
from uniclaw.records import (
    AttemptState,
    Budget,
    Count,
    Decision,
    Feedback,
    Outcome,
    Record,
    RoleUsage,
    StopReason,
    Usage,
)
from uniclaw.runner.import_sources import Json, Source, find_sources, object_of, text_of
from uniclaw.runner.record import scores
from uniclaw.store.records import Axes, EpisodeRecord, RoundRecord
from uniclaw.store.run_store import Key, RunStore, refuse_existing
from uniclaw.suites import neutral_id
from uniclaw.suites.uniclawbench import facets, family_of

SUITE = "uniclawbench"
THRESHOLD = 0.9
"""Of all tasks of the reference; taken where a score file does not state its own."""
FOLLOWUPS = 2
"""Feedback rounds of all tasks of the reference; taken where nothing states another number."""
OUTCOMES: Mapping[str, Outcome] = {
    "pass": Outcome.PASS,
    "budget_exhausted": Outcome.ROUNDS_EXHAUSTED,
    "fail": Outcome.FAIL,
    "global_timeout": Outcome.TIMEOUT,
    "executor_incomplete": Outcome.EXECUTOR_INCOMPLETE,
    "rate_limit": Outcome.RATE_LIMITED,
    "infra_error": Outcome.INFRA_ERROR,
    "pre_exec_failed": Outcome.INFRA_ERROR,
    "running": Outcome.CANCELLED,
    "missing": Outcome.INFRA_ERROR,
}
CAPABILITIES = ("skill_usage", "exploration", "long_context", "multimodal", "cross_platform")
_TASK = re.compile(r"task_([12])0([1-5])_")
_STAMP = re.compile(r"^\[[^\]]*UTC\] ")
_ROLES = {"executor": "executor", "judge": "supervisor", "user_simulator": "userSimulator"}


class Imported(Record):
    """What an import took over, and what it did not find."""

    run: str
    episodes: Count
    outcomes: Mapping[str, Count]
    missing: Mapping[str, Count]
    """What the source does not hold -> episodes."""
    refused: tuple[str, ...] = ()
    """Files that cannot be read, tasks that are there twice, statuses that are unknown."""


def import_runs(source: Path, run: str, runs_dir: Path) -> Imported:
    """Import a tree of the reference's runs, or a directory of its published traces.

    Args:
        source: directory to search.
        run: name of the new run.
        runs_dir: where runs are kept.

    Raises:
        UserError: nothing was found there, or the run exists.
    """
    refuse_existing(runs_dir, run)
    refused: list[str] = []
    records: dict[Key, EpisodeRecord] = {}
    for found in find_sources(source):
        if isinstance(found, UserError):
            refused.append(str(found))
            continue
        try:
            record = _record(found, run)
        except (UserError, ValidationError) as error:
            refused.append(f"{found.path}: {str(error).splitlines()[0]}")
            continue
        key = Key(record.task_id, record.cell, 0)
        if key in records:
            refused.append(f"{found.path}: {record.task_id} of {record.cell} is there twice")
            continue
        records[key] = record
    if not records:
        said = f" ({refused[0]})" if refused else ""
        raise UserError(f"no runs of the reference found there{said}", file=source)
    _store(run, runs_dir, source, records)
    return Imported(
        run=run,
        episodes=len(records),
        outcomes=Counter(r.outcome.value for r in records.values()),
        missing=Counter(f for r in records.values() for f in r.flags if f.startswith("no-")),
        refused=tuple(refused),
    )


def _store(run: str, runs_dir: Path, source: Path, records: Mapping[Key, EpisodeRecord]) -> None:
    now = datetime.now(UTC).isoformat()
    settings: JsonValue = {"imported": {"from": str(source), "format": "uniclawbench-run"}}
    with RunStore.create(runs_dir, run, settings) as store:
        store.plan([(key, record.episode_id) for key, record in records.items()])
        for record in records.values():
            store.attempts.begin(record.episode_id, 1, now)
            store.settle(record)


def _record(source: Source, run: str) -> EpisodeRecord:
    outcome = OUTCOMES.get(source.status or "missing")
    if outcome is None:
        raise UserError("unknown status", field="finalStatus", value=source.status)
    stated = source.score.get("success_threshold")
    threshold = float(stated) if isinstance(stated, int | float) else THRESHOLD
    rounds = tuple(_rounds(source, outcome, threshold))
    final = scores(rounds, outcome)
    capability, language = facets(source.category or _category(source.task_id))
    axes, usage = _axes(source), dict(_usage(source))
    key = f"{source.backend}|{source.model}|{source.task_id}"
    now = datetime.now(UTC).isoformat()
    return EpisodeRecord(
        run=run,
        episode_id=f"e{hashlib.sha256(key.encode('utf-8', 'replace')).hexdigest()[:10]}",
        task_id=source.task_id,
        suite=SUITE,
        family=family_of(source.task_id),
        capability=capability,
        language=language,
        neutral_task_id=neutral_id(key),
        neutral_episode_id=neutral_id(key, "episode"),
        axes=axes,
        cell=axes.cell,
        trial=0,
        seed=0,
        budget=Budget(feedback_rounds=axes.feedback_rounds or FOLLOWUPS),
        outcome=outcome,
        reason=None if outcome is Outcome.PASS else f"status {source.status or 'not stated'}",
        threshold=threshold,
        rounds=rounds,
        final_score=final.final,
        final_round=final.final_round,
        best_score=final.best,
        best_round=final.best_round,
        usage=usage,
        seconds={"execute": sum(r.executor_s for r in rounds)},
        started_at=_began(source) or now,
        ended_at=now,
        environment="docker",
        rubric_source="uniclawbench",
        flags=_flags(source, rounds, usage, stated=stated is not None),
    )


def _category(task_id: str) -> str:
    """The category that a task's number stands for."""
    match = _TASK.match(task_id)
    if match is None:
        return "general"
    zh = "_zh" if match[1] == "2" else ""
    return f"{match[1]}0{match[2]}_{CAPABILITIES[int(match[2]) - 1]}{zh}"


def _axes(source: Source) -> Axes:
    def role(*names: str) -> str:
        models = (text_of(object_of(source.roles.get(name)).get("model")) for name in names)
        return next((model for model in models if model), "unknown")

    limit = source.roles.get("maxUserFollowups")
    return Axes(
        executor=f"{source.backend}:{source.model}",
        harness=source.backend,
        model=source.model,
        supervisor=role("supervisor"),
        user_simulator=role("userSimulator", "user_simulator"),
        # What its handoff holds: decision, attempt state, recoverable and the exact score.
        policy="paper",
        feedback_rounds=limit if isinstance(limit, int) and limit >= 0 else None,
    )


def _rounds(source: Source, outcome: Outcome, threshold: float) -> Iterator[RoundRecord]:
    turns = _turns(source.messages)
    total = len(source.supervision)
    message = turns[0][0] if turns else ""
    for number, entry in enumerate(source.supervision):
        last = number == total - 1
        feedback = None if last else text_of(entry.get("safe_user_feedback"))
        stop = StopReason.TIMEOUT if last and outcome is Outcome.TIMEOUT else StopReason.FINISHED
        yield RoundRecord(
            round=number,
            message=message,
            stop=stop,
            stop_detail="not stated by the source; taken from the status",
            final_message=turns[number][1] if number < len(turns) else "",
            executor_s=_executor_s(source.phases, number + 1),
            verdict=_verdict(entry, number, threshold),
            feedback=None if feedback is None else Feedback(text=feedback, source="model"),
        )
        message = feedback or ""


def _verdict(entry: Json, number: int, threshold: float) -> Verdict:
    score = entry.get("score")
    value = float(score) if isinstance(score, int | float) else None
    decision = text_of(entry.get("verdict"))
    # Older runs hold verdicts that are statuses; they did not pass.
    known = decision in {d.value for d in Decision}
    state = text_of(entry.get("attempt_state"))
    states = {s.value for s in AttemptState}
    missing, tags = entry.get("missing_artifacts"), entry.get("guidance_tags")
    return Verdict(
        round=number,
        decision=Decision(decision) if known else Decision.FAIL,
        attempt_state=AttemptState(state) if state in states else AttemptState.INCOMPLETE,
        recoverable=entry.get("recoverable") is True,
        score=value,
        uncapped=None,
        threshold=threshold,
        lines=(),
        missing_artifacts=tuple(map(str, missing)) if isinstance(missing, list) else (),
        guidance_tags=tuple(map(str, tags)) if isinstance(tags, list) else (),
        rationale=text_of(entry.get("rationale")) or "",
        reason=None if value is not None else "the source states no score",
        flags=() if known else (f"verdict-was:{decision}",),
    )


def _turns(messages: tuple[Json, ...]) -> list[tuple[str, str]]:
    """What the user said and the last words of the assistant, by turn."""
    found: list[tuple[str, str]] = []
    for item in messages:
        message = object_of(item.get("message"))
        role, text = message.get("role"), _text(message.get("content"))
        if role == "user":
            found.append((_STAMP.sub("", text), ""))
        elif role == "assistant" and found and text:
            found[-1] = (found[-1][0], text)
    return found


def _text(content: JsonValue) -> str:
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    texts = [text_of(b.get("text")) for b in blocks if isinstance(b, dict) and "text" in b]
    return "\n".join(t for t in texts if t)


def _executor_s(phases: tuple[Json, ...], cycle: int) -> float:
    total = 0.0
    for phase in phases:
        begun, ended = phase.get("start_ms"), phase.get("end_ms")
        if phase.get("kind") != "executor" or phase.get("cycle") != cycle:
            continue
        if isinstance(begun, int | float) and isinstance(ended, int | float):
            total += max(0.0, (ended - begun) / 1000)
    return total


def _usage(source: Source) -> Iterator[tuple[str, RoleUsage]]:
    """Tokens by role; the reference counts no money. A negative count is no count."""
    for role, prefix in _ROLES.items():
        read, written, calls = (
            source.usage.get(f"{prefix}{name}")
            for name in ("InputTokens", "OutputTokens", "CallCount")
        )
        if isinstance(read, int) and isinstance(written, int) and min(read, written) >= 0:
            count = calls if isinstance(calls, int) and calls >= 0 else 0
            yield role, RoleUsage(calls=count, usage=Usage(input=read, output=written))


def _began(source: Source) -> str | None:
    stamps = [p["start_ms"] for p in source.phases if isinstance(p.get("start_ms"), int | float)]
    first = min((s for s in stamps if isinstance(s, int | float)), default=None)
    return None if first is None else datetime.fromtimestamp(first / 1000, UTC).isoformat()


def _flags(
    source: Source, rounds: tuple[RoundRecord, ...], usage: Mapping[str, RoleUsage], *, stated: bool
) -> tuple[str, ...]:
    absent = {
        "no-checkpoints": True,
        "no-artifacts": True,
        "no-trajectory": True,
        "no-status": source.status is None,
        "no-rounds": not rounds,
        "no-transcript": not source.messages,
        "no-executor-times": bool(rounds) and not any(r.executor_s for r in rounds),
        "no-usage": "executor" not in usage,
        "no-threshold": not stated,
    }
    flags = ["imported", *(name for name, holds in absent.items() if holds)]
    if source.attempts > 1:
        flags.append(f"best-of-attempts:{source.attempts}")
    return tuple(flags)
