"""How agents fail: what was wrong with the outcome, and what went wrong on the way.

Both views follow those that WildClawBench reports. A failed episode has exactly one outcome
class, the first that fits: safety, timeout, missing artifact, partial, wrong. Process marks
may be several. Tool use is counted from trajectories by `tool_use`.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Literal, get_args

from uniclaw.records import Count, Event, EventKind, NonNegative, Outcome, Record
from uniclaw.statistics.rows import EpisodeRow, ToolUse

OutcomeClass = Literal["safety", "timeout", "missing", "partial", "wrong", "unknown"]
OUTCOME_CLASSES: tuple[str, ...] = get_args(OutcomeClass)
LOOP = 3
"""Identical calls in a row that count as a loop."""

CATEGORIES: Mapping[str, tuple[str, ...]] = {
    "shell": ("shell", "bash", "exec", "terminal", "command", "process"),
    "browser": ("browser", "navigate", "click", "page"),
    "search": ("search", "fetch", "web", "http"),
    "write": ("write", "edit", "patch", "create", "replace"),
    "read": ("read", "view", "open", "list", "glob", "grep", "find", "ls"),
    "image": ("image", "screenshot", "vision"),
    "agent": ("agent", "task", "delegate", "session", "spawn"),
    "memory": ("memory", "note", "todo", "plan"),
    "message": ("message", "send", "ask", "reply"),
}
"""Category of a tool by the first of these words in its name; others are `other`."""


class FailureReport(Record):
    """Failures of a set of episodes."""

    episodes: Count
    failed: Count
    """Scored episodes that did not pass."""
    outcome: Mapping[str, Count]
    """Failed episodes by outcome class."""
    process: Mapping[str, Count]
    """Failed episodes by process mark; an episode may carry several."""
    process_unknown: Count
    """Failed episodes without tool records, for which loops and errors are unknown."""
    executor_s_passed: NonNegative | None
    """Mean executor seconds of passed episodes."""
    executor_s_failed: NonNegative | None
    tools: Mapping[str, NonNegative]
    """Mean calls an episode, by category, over episodes with tool records."""
    calls_per_episode: NonNegative | None
    errors_per_call: NonNegative | None


def failures(rows: Sequence[EpisodeRow]) -> FailureReport:
    """Outcome view, process view and tool profile of scored episodes."""
    scored = [row for row in rows if row.scored]
    failed = [row for row in scored if row.passed is False]
    outcome = Counter(outcome_class(row) for row in failed)
    process = Counter(mark for row in failed for mark in process_marks(row))
    used = [row.tools for row in scored if row.tools is not None]
    calls = Counter[str]()
    for use in used:
        calls.update(use.calls)
    total = sum(calls.values())
    return FailureReport(
        episodes=len(rows),
        failed=len(failed),
        outcome={name: outcome[name] for name in OUTCOME_CLASSES if outcome[name]},
        process=dict(sorted(process.items())),
        process_unknown=sum(row.tools is None for row in failed),
        executor_s_passed=_mean([r.executor_s for r in scored if r.passed]),
        executor_s_failed=_mean([r.executor_s for r in failed]),
        tools={name: count / len(used) for name, count in sorted(calls.items())},
        calls_per_episode=total / len(used) if used else None,
        errors_per_call=sum(use.errors for use in used) / total if total else None,
    )


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def outcome_class(row: EpisodeRow) -> OutcomeClass:
    """The one outcome class of a failed episode.

    `partial`: a score above 0 with every required artifact present, or where that is not known;
    `wrong`: a score of 0 with the artifacts present; `unknown`: no score and nothing else known.
    """
    if row.safety:
        return "safety"
    if row.outcome in {Outcome.TIMEOUT, Outcome.BUDGET}:
        return "timeout"
    if row.missing_artifacts:
        return "missing"
    score = row.final_score if row.final_score is not None else row.best_score
    if score is None:
        return "unknown"
    return "partial" if score > 0 else "wrong"


def process_marks(row: EpisodeRow) -> tuple[str, ...]:
    """Process marks of a failed episode.

    `time`: ended by time or another budget; `tool_errors`: a third of the calls or more failed;
    `loops`: at least one loop; `semantic_miss`: the executor finished by itself with all
    artifacts and none of the former, yet the content was not right; `gave_up`: the executor
    ended without completing.
    """
    marks: list[str] = []
    if row.outcome in {Outcome.TIMEOUT, Outcome.BUDGET}:
        marks.append("time")
    if row.outcome is Outcome.EXECUTOR_INCOMPLETE:
        marks.append("gave_up")
    if row.tools is not None:
        calls = sum(row.tools.calls.values())
        if calls and row.tools.errors * 3 >= calls:
            marks.append("tool_errors")
        if row.tools.loops:
            marks.append("loops")
    if not marks and row.tools is not None and row.missing_artifacts == ():
        marks.append("semantic_miss")
    return tuple(marks)


def tool_use(events: Sequence[Event]) -> ToolUse:
    """Count tool use in a trajectory: calls and seconds by category, errors, loops."""
    calls = [event for event in events if event.kind is EventKind.TOOL_CALL]
    results = [event for event in events if event.kind is EventKind.TOOL_RESULT]
    category = {c.call_id: tool_category(c.tool) for c in calls if c.call_id is not None}
    started = {c.call_id: c.at_s for c in calls if c.call_id is not None}
    seconds: dict[str, float] = {}
    for result in results:
        begin = started.get(result.call_id or "")
        if begin is not None and result.at_s is not None and result.at_s >= begin:
            name = category[result.call_id or ""]
            seconds[name] = seconds.get(name, 0.0) + result.at_s - begin
    runs = [len(list(same)) for _, same in groupby(calls, key=_signature)]
    return ToolUse(
        calls=dict(sorted(Counter(tool_category(call.tool) for call in calls).items())),
        errors=sum(result.exit_code not in {None, 0} for result in results),
        loops=sum(length >= LOOP for length in runs),
        seconds=dict(sorted(seconds.items())),
    )


def tool_category(tool: str | None) -> str:
    """Category of a tool by its name (`CATEGORIES`)."""
    name = (tool or "").lower()
    for category, words in CATEGORIES.items():
        if any(word in name for word in words):
            return category
    return "other"


def _signature(call: Event) -> tuple[int, str, str]:
    arguments = json.dumps(dict(call.arguments or {}), sort_keys=True, default=str)
    return call.round, call.tool or "", arguments
