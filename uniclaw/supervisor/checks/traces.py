"""Statements about the trajectory: which tools were called how, and what was said."""

import json
from collections.abc import Sequence

from uniclaw.hidden.rubric import TraceCheck
from uniclaw.hidden.verdict import CheckResult
from uniclaw.records import Event, EventKind
from uniclaw.supervisor.checks.context import CheckContext
from uniclaw.supervisor.checks.regexes import Search, search_all

_MAX_EVIDENCE = 10


def check_trace(check: TraceCheck, context: CheckContext) -> CheckResult:
    """Carry out a `trace` check: how many calls (or messages) match lies in its range."""
    events = [
        event
        for event in context.evidence.events
        if check.rounds is None or event.round in check.rounds
    ]
    matching = _messages(check, events) if check.message is not None else find_calls(check, events)
    count = len(matching)
    least = count >= check.min_count
    most = check.max_count is None or count <= check.max_count
    kind = "messages" if check.message is not None else "tool calls"
    limits = f"at least {check.min_count}"
    if check.max_count is not None:
        limits += f", at most {check.max_count}"
    return CheckResult(
        value=1.0 if least and most else 0.0,
        reason=f"{count} matching {kind}; expected {limits}",
        evidence=tuple(event.id for event in matching[:_MAX_EVIDENCE]),
    )


def _messages(check: TraceCheck, events: Sequence[Event]) -> list[Event]:
    said = [e for e in events if e.kind is EventKind.MESSAGE and e.role == "assistant"]
    return _matching(said, check.message, [e.text for e in said])


def find_calls(check: TraceCheck, events: Sequence[Event]) -> list[Event]:
    """Calls that match in name, arguments and result; a call without a result has empty text."""
    results = _results(events)
    calls = [e for e in events if e.kind is EventKind.TOOL_CALL]
    calls = _matching(calls, check.tool, [e.tool or "" for e in calls])
    calls = _matching(calls, check.arguments, [_arguments(e) for e in calls])
    return _matching(calls, check.result, [results.get(e.id, "") for e in calls])


def _results(events: Sequence[Event]) -> dict[str, str]:
    """Event id of each call -> text of its result.

    A result belongs to the latest call of its id before it: some programs count their calls anew
    in every turn.
    """
    latest: dict[str, str] = {}
    results: dict[str, str] = {}
    for event in events:
        if event.call_id is None:
            continue
        if event.kind is EventKind.TOOL_CALL:
            latest[event.call_id] = event.id
        elif event.kind is EventKind.TOOL_RESULT and event.call_id in latest:
            results[latest[event.call_id]] = event.text
    return results


def _arguments(event: Event) -> str:
    """Arguments as JSON text, in which quotes and line ends are escaped."""
    if event.arguments is None:
        return event.text
    return json.dumps(dict(event.arguments), ensure_ascii=False)


def _matching(events: Sequence[Event], pattern: str | None, texts: Sequence[str]) -> list[Event]:
    if pattern is None:
        return list(events)
    found = search_all([Search(pattern, text) for text in texts])
    return [event for event, matched in zip(events, found, strict=True) if matched is True]
