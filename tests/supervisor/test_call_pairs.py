"""Calls and their results belong together by order, for some programs count anew in every turn."""

from uniclaw.harnesses.events import EventLog
from uniclaw.hidden.rubric import TraceCheck
from uniclaw.records import Event
from uniclaw.supervisor.checks.traces import find_calls


def turn(number: int, *pairs: tuple[str, str]) -> tuple[Event, ...]:
    log = EventLog(number)
    for index, (command, result) in enumerate(pairs):
        log.call("shell", f"item_{index}", {"command": command})
        log.result("shell", f"item_{index}", result, exit_code=0)
    return log.events


def test_a_later_turns_call_of_the_same_id_takes_no_result_away() -> None:
    events = (*turn(0, ("cat SKILL.md", "the rules")), *turn(1, ("ls", "nothing")))
    found = find_calls(TraceCheck(arguments="SKILL", result="the rules"), events)
    assert [e.id for e in found] == ["r0.e0"]
    assert find_calls(TraceCheck(arguments="SKILL", result="nothing"), events) == []


def test_a_call_without_a_result_has_none() -> None:
    log = EventLog(0)
    log.call("shell", "a", {"command": "cat SKILL.md"})
    assert find_calls(TraceCheck(arguments="SKILL", result="rules"), log.events) == []
    assert len(find_calls(TraceCheck(arguments="SKILL"), log.events)) == 1
