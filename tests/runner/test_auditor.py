"""Screening's second tier: a model that reads each draft beside what is hidden."""

from pathlib import Path

import pytest
from player import only, run
from pydantic import JsonValue
from suite_builder import write_script, write_task

from uniclaw.errors import UserError
from uniclaw.records import Outcome
from uniclaw.store.records import EpisodeRecord

HINT = "Perhaps one fewer than you thought?"
PLAIN = "I am not sure about this. Could you look at it once more?"


def _said(message: str) -> dict[str, JsonValue]:
    return {"when": {}, "reply": {"json": {"message": message}}}


def _auditor(path: Path) -> str:
    """Calls a message a leak when it says `fewer`, whatever else the request holds."""
    return write_script(
        path / "auditor.yaml",
        [
            {
                "when": {"last_user": "one fewer than"},
                "reply": {"json": {"leak": True, "what": "the number is lower"}},
            },
            {"when": {}, "reply": {"json": {"leak": False, "what": ""}}},
        ],
    )


def _play(tmp_path: Path, message: str, auditor: str | None, policy: str) -> EpisodeRecord:
    user = write_script(tmp_path / "user.yaml", [_said(message)])
    suite = write_task(tmp_path)
    settings = {"user_simulator": (user,), "auditor": auditor, "firewall": (policy,)}
    return only(run(suite, tmp_path / "runs", max_attempts=1, **settings))


def test_what_code_finds_clean_is_blocked_where_the_auditor_finds_a_leak(tmp_path: Path) -> None:
    record = _play(tmp_path, HINT, _auditor(tmp_path), "coarse")
    drafts = record.rounds[0].drafts
    assert [d.decision for d in drafts] == ["leak", "leak", "leak", "clean"]
    assert {str(d.hits[0]["tier"]) for d in drafts[:3]} == {"auditor"}
    assert HINT not in record.rounds[1].message
    assert record.usage["auditor"].calls == 3


def test_without_an_auditor_the_same_message_goes_through(tmp_path: Path) -> None:
    record = _play(tmp_path, HINT, None, "coarse")
    assert record.rounds[1].message == HINT
    assert "auditor" not in record.usage


def test_a_message_that_the_auditor_clears_is_delivered(tmp_path: Path) -> None:
    record = _play(tmp_path, PLAIN, _auditor(tmp_path), "coarse")
    assert record.rounds[1].message == PLAIN
    assert record.outcome is Outcome.PASS


def test_observe_records_the_auditor_s_finding_and_delivers(tmp_path: Path) -> None:
    record = _play(tmp_path, HINT, _auditor(tmp_path), "hints")
    assert record.rounds[0].drafts[0].decision == "leak"
    assert record.rounds[1].message == HINT


def test_an_auditor_that_answers_nothing_usable_is_no_verdict_of_clean(tmp_path: Path) -> None:
    broken = write_script(tmp_path / "b.yaml", [{"when": {}, "reply": {"text": "Fine by me."}}])
    record = _play(tmp_path, PLAIN, broken, "coarse")
    assert record.outcome is Outcome.JUDGE_ERROR
    assert record.final_score is None


@pytest.mark.parametrize("spec", ["nobody/x", "scripted//does/not/exist.yaml"])
def test_an_auditor_that_cannot_be_had_is_the_user_s_mistake(tmp_path: Path, spec: str) -> None:
    with pytest.raises(UserError):
        _play(tmp_path, PLAIN, spec, "coarse")
