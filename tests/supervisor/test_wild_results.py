"""What an imported grader returns, and what that amounts to."""

import json
import math

import pytest
from pydantic import JsonValue

from uniclaw.hidden.program import GraderProgram
from uniclaw.records import Event, EventKind, ProbeResult, StopReason, Turn
from uniclaw.supervisor.wild_result import fallback_flags, line_values, why_unusable
from uniclaw.supervisor.wild_runner import plain
from uniclaw.supervisor.wild_services import audits_of
from uniclaw.supervisor.wild_transcript import transcript_lines


def program(**weights: float) -> GraderProgram:
    return GraderProgram(source="", workspace="/tmp_workspace", weights=weights)


@pytest.mark.parametrize("value", ["0.9", None, [1], 1.5, -0.2])
def test_no_usable_overall_score_has_a_reason(value: JsonValue) -> None:
    assert why_unusable({"overall_score": value}, {}) is not None


def test_fault_U1_a_nan_score_of_a_grader_is_named() -> None:
    unusual: dict[str, str] = {}
    values: dict[str, JsonValue] = {"overall_score": None}
    assert plain(math.nan, "overall_score", unusual, 0) is None
    assert "nan" in (why_unusable(values, unusual) or "")


def test_lines_always_sum_to_the_overall_score() -> None:
    weights = program(a=0.4, b=0.6)
    assert line_values(weights, {"a": 1, "b": 0.5, "overall_score": 0.7}) == (
        {"a": 1.0, "b": 0.5},
        (),
    )
    gated, flags = line_values(weights, {"a": 1, "b": 0.5, "overall_score": 0.35})
    assert flags == ("grader-gate",)
    assert 0.4 * gated["a"] + 0.6 * gated["b"] == pytest.approx(0.35)
    other, flags = line_values(weights, {"a": 0, "b": "x", "overall_score": 0.9})
    assert (other, flags) == ({"a": 0.9, "b": 0.9}, ("grader-weights-differ",))


def test_a_fallback_is_a_flag_on_the_score() -> None:
    values: dict[str, JsonValue] = {"tone_judge_method": "regex_fallback", "overall_score": 1}
    assert fallback_flags(values) == ("grader-fallback:tone_judge_method=regex_fallback",)


def test_the_transcript_has_the_shape_of_openclaws_session_file() -> None:
    call = Event(
        id="r0.e1",
        round=0,
        kind=EventKind.TOOL_CALL,
        role="assistant",
        tool="shell",
        call_id="c",
        arguments={"command": "ls"},
    )
    turn = Turn(stop=StopReason.FINISHED, events=(call,), final_message="ok", executor_s=1)
    row = json.loads(transcript_lines([turn]).splitlines()[0])
    assert row["type"] == "message"
    assert row["message"]["content"][0]["arguments"] == {"command": "ls"}
    assert row["message"]["usage"]["totalTokens"] == 0


def test_recorded_audits_stand_at_the_ports_that_graders_ask() -> None:
    sent = {"actor": "agent", "action": "mail.send", "ok": True, "path": "/send", "to": ["a@b"]}
    refused = {**sent, "ok": False}
    stdout = json.dumps({"audit": [sent, refused], "state": {}})
    found = audits_of([ProbeResult(id="service:mail", exit_code=0, stdout=stdout)])
    document = json.loads(json.dumps(found))["9100"]["/gmail/audit"]
    assert [call["endpoint"] for call in document["calls"]] == ["/gmail/send", "/gmail/send"]
    assert document["sent_messages"] == [sent]
