"""Whole episodes in the process environment: the loop, its outcomes, and what it stores."""

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from player import only, run
from pydantic import JsonValue
from suite_builder import RIGHT, RUBRIC, WRONG, write_script, write_task

from uniclaw.environments.process import ProcessEnvironment
from uniclaw.errors import EnvironmentKilledByAgent, UserError
from uniclaw.firewall.canary import CanarySet
from uniclaw.ports import ExecResult
from uniclaw.records import Outcome
from uniclaw.store.run_store import RunStore


def test_an_episode_passes_after_feedback(tmp_path: Path) -> None:
    record = only(run(write_task(tmp_path), tmp_path / "runs"))
    assert record.outcome is Outcome.PASS
    assert [r.verdict.score for r in record.rounds if r.verdict] == [0.25, 1.0]
    assert (record.final_score, record.final_round) == (1.0, 1)
    assert (record.best_score, record.best_round) == (1.0, 1)
    assert record.rounds[0].feedback is not None
    assert record.rounds[1].message == record.rounds[0].feedback.text


def test_rounds_run_out(tmp_path: Path) -> None:
    suite = write_task(tmp_path, rounds=(WRONG, WRONG, WRONG, RIGHT))
    record = only(run(suite, tmp_path / "runs"))
    assert record.outcome is Outcome.ROUNDS_EXHAUSTED
    assert len(record.rounds) == 3
    assert record.final_score == 0.25


def test_the_limit_on_the_command_line_overrides_the_tasks(tmp_path: Path) -> None:
    suite = write_task(tmp_path, rounds=(WRONG, RIGHT))
    record = only(run(suite, tmp_path / "runs", feedback_rounds=0))
    assert record.outcome is Outcome.FAIL
    assert record.budget.feedback_rounds == 0
    assert len(record.rounds) == 1


def test_best_and_final_score_are_kept_apart(tmp_path: Path) -> None:
    suite = write_task(tmp_path, rounds=(WRONG, "rm results/out.json\n#: Gone.\n", "true\n"))
    record = only(run(suite, tmp_path / "runs"))
    assert (record.best_score, record.best_round) == (0.25, 0)
    assert (record.final_score, record.final_round) == (0.0, 2)
    assert record.outcome is Outcome.EXECUTOR_INCOMPLETE


def test_a_turn_that_runs_out_of_time_is_judged_on_what_it_left(tmp_path: Path) -> None:
    suite = write_task(
        tmp_path,
        task={"budget": {"turn_s": 1.0, "executor_s": 1.0, "feedback_rounds": 2}},
        rounds=(f"{WRONG}#---\nsleep 30\n",),
    )
    record = only(run(suite, tmp_path / "runs"))
    assert record.outcome is Outcome.TIMEOUT
    assert record.final_score == 0.25
    assert record.rounds[0].executor_s < 10


def test_the_null_agent_gets_nothing(tmp_path: Path) -> None:
    record = only(run(write_task(tmp_path), tmp_path / "runs", executor=("null",)))
    assert record.final_score == 0.0
    assert record.outcome is Outcome.EXECUTOR_INCOMPLETE


def test_each_view_is_stored_and_what_was_screened_is_what_was_delivered(tmp_path: Path) -> None:
    result = run(write_task(tmp_path), tmp_path / "runs")
    root = result.root / "episodes" / result.records[0].episode_id / "rounds"
    view = json.loads((root / "0" / "view-0.json").read_text(encoding="utf-8"))
    draft = json.loads((root / "0" / "draft-0.json").read_text(encoding="utf-8"))
    delivered = json.loads((root / "1" / "message.json").read_text(encoding="utf-8"))
    assert draft["text"] == delivered["text"]
    assert view["progress"]["score"] is None
    assert view["progress"]["score_band"] == "low"
    assert view["task_id"].startswith("task-")
    assert "count" not in view["task_id"]


@pytest.mark.parametrize(
    ("policy", "released"),
    [
        ("sealed", set[str]()),
        ("binary", {"decision"}),
        ("coarse", {"decision", "attempt_state", "recoverable", "score_band"}),
        ("paper", {"decision", "attempt_state", "recoverable", "score"}),
    ],
)
def test_the_policy_decides_what_the_user_sees(
    tmp_path: Path, policy: str, released: set[str]
) -> None:
    record = only(run(write_task(tmp_path), tmp_path / "runs", firewall=(policy,)))
    progress = record.rounds[0].progress
    assert progress is not None
    assert {k for k, v in progress.model_dump().items() if v is not None} == released


def test_a_question_is_answered_from_the_brief(tmp_path: Path) -> None:
    suite = write_task(
        tmp_path,
        rounds=("true\n#: Which quay do you mean?\n", RIGHT),
        brief={"facts": [{"id": "q", "text": "The quay is the old one.", "topics": ["quay"]}]},
    )
    record = only(run(suite, tmp_path / "runs"))
    assert record.rounds[0].stop.value == "asked"
    assert record.rounds[0].feedback is not None
    assert "The quay is the old one." in record.rounds[0].feedback.text
    assert record.outcome is Outcome.PASS


@pytest.mark.parametrize(("free", "outcome"), [(True, Outcome.PASS), (False, Outcome.FAIL)])
def test_whether_a_question_uses_a_round_is_a_setting(
    tmp_path: Path, free: bool, outcome: Outcome
) -> None:
    suite = write_task(tmp_path, rounds=("true\n#: Which quay do you mean?\n", RIGHT))
    result = run(suite, tmp_path / "runs", feedback_rounds=0, questions_free=free)
    assert (only(result).outcome is Outcome.PASS) == (outcome is Outcome.PASS)
    assert len(only(result).rounds) == (2 if free else 1)


def test_trials_and_cells_each_get_one_row(tmp_path: Path) -> None:
    result = run(
        write_task(tmp_path), tmp_path / "runs", trials=2, firewall=("sealed", "open"), parallel=4
    )
    assert len(result.records) == 4
    assert len({(r.task_id, r.cell, r.trial) for r in result.records}) == 4
    assert result.exit_code == 0
    with RunStore.open(result.root) as store:
        assert len(store.rows()) == 4


JUDGED: Mapping[str, JsonValue] = {
    **RUBRIC,
    "checkpoints": [
        {"id": "kind", "weight": 1.0, "description": "Polite.", "check": {"kind": "judge"}}
    ],
}


def judge(tmp_path: Path, reply: Mapping[str, JsonValue]) -> str:
    return write_script(
        tmp_path / "judge.yaml", [{"when": {"purpose": "judge"}, "reply": dict(reply)}]
    )


def line(met: JsonValue, line_id: str = "kind") -> dict[str, JsonValue]:
    return {"id": line_id, "met": met, "evidence": ["r0.e0"], "reason": "as seen"}


def test_judge_lines_are_scored_by_the_model_and_code_adds_them_up(tmp_path: Path) -> None:
    model = judge(tmp_path, {"json": {"lines": [line(1.0)]}})
    suite = write_task(tmp_path, rubric=JUDGED)
    record = only(run(suite, tmp_path / "runs", supervisor=(model,)))
    assert record.outcome is Outcome.PASS
    assert record.usage["judge"].calls >= 1


@pytest.mark.parametrize(
    "reply",
    [
        {"text": "I would rather not say."},
        {"text": ""},
        {"text": '{"lines": [{"id": "kind", "met": NaN, "evidence": [], "reason": ""}]}'},
        {"json": {"lines": [line(85)]}},
        {"json": {"lines": []}},
        {"json": {"lines": [line(1.0), line(1.0)]}},
        {"json": {"lines": [line(1.0), line(1.0, "invented")]}},
    ],
)
def test_fault_32_an_unusable_judge_gives_no_score(
    tmp_path: Path, reply: Mapping[str, JsonValue]
) -> None:
    suite = write_task(tmp_path, rubric=JUDGED)
    write_task(tmp_path, task_id="other")
    result = run(suite, tmp_path / "runs", supervisor=(judge(tmp_path, reply),))
    by_task = {r.task_id: r for r in result.records}
    assert by_task["count"].outcome is Outcome.JUDGE_ERROR
    assert by_task["count"].final_score is None
    assert by_task["other"].outcome is Outcome.PASS
    assert result.exit_code == 1


def refused(call: Callable[[], object], match: str) -> None:
    with pytest.raises(UserError, match=match):
        call()


def test_mistakes_are_found_before_anything_is_played(tmp_path: Path) -> None:
    suite, runs = write_task(tmp_path, rubric=JUDGED), tmp_path / "runs"
    refused(lambda: run(suite, runs), "needs a judge")
    refused(lambda: run(suite, runs, executor=("nobody",)), "unknown harness")
    refused(lambda: run(suite, runs, executor=("loop",)), "needs a model")
    refused(lambda: run(suite, runs, executor=("loop:scripted/nowhere.yaml",)), "nowhere")
    refused(lambda: run(suite, runs, firewall=("none-such",)), "none-such")
    refused(lambda: run(suite, runs, persona="none-such"), "none-such")
    refused(lambda: run(suite, runs, tasks=("zzz*",)), "zzz")
    refused(lambda: run(suite, runs, trials=0), "trials")
    refused(lambda: run(suite, runs, feedback_rounds=-1), "feedback_rounds")
    refused(lambda: run(suite, runs, run="../x"), "run")
    assert not runs.exists()


def test_a_model_in_the_process_environment_needs_consent(tmp_path: Path) -> None:
    script = write_script(tmp_path / "m.yaml", [{"when": {}, "reply": {"text": "Done."}}])
    suite = write_task(tmp_path)
    refused(lambda: run(suite, tmp_path / "runs", executor=(f"loop:{script}",)), "model-in-process")


def _write(number: int) -> JsonValue:
    command = f"echo '{{\"n\": {number}}}' > results/out.json"
    return {"name": "shell", "arguments": {"command": command}}


def loop_script(tmp_path: Path) -> str:
    """Works wrongly at first; mends when the user says so."""
    right, wrong = _write(3), _write(4)
    again: dict[str, JsonValue] = {"last_user": "count again"}
    rules: list[Mapping[str, JsonValue]] = [
        {"when": {**again, "last": "exit code"}, "reply": {"text": "Three."}},
        {"when": again, "reply": {"tool_calls": [right]}},
        {"when": {"last": "exit code"}, "reply": {"text": "Four."}},
        {"when": {"last_user": "boats"}, "reply": {"tool_calls": [wrong]}},
        {"when": {}, "reply": {"text": "Fine as it is."}},
    ]
    return write_script(tmp_path / "loop.yaml", rules)


@pytest.mark.parametrize(
    ("said", "outcome"),
    [
        ("Please count again, something is off.", Outcome.PASS),
        ("Thank you, lovely.", Outcome.ROUNDS_EXHAUSTED),
    ],
)
def test_the_loop_acts_on_what_the_feedback_says(
    tmp_path: Path, said: str, outcome: Outcome
) -> None:
    user = write_script(
        tmp_path / "user.yaml",
        [{"when": {"purpose": "user_simulator"}, "reply": {"json": {"message": said}}}],
    )
    record = only(
        run(
            write_task(tmp_path),
            tmp_path / "runs",
            executor=(f"loop:{loop_script(tmp_path)}",),
            user_simulator=(user,),
            model_in_process=True,
        )
    )
    assert record.outcome is outcome
    assert record.usage["user_simulator"].calls >= 1


def test_a_leaking_draft_is_replaced_by_a_neutral_message(tmp_path: Path) -> None:
    user = write_script(
        tmp_path / "user.yaml",
        [
            {
                "when": {"purpose": "user_simulator"},
                "reply": {"json": {"message": "The keeper is Orsolya Vantongeren, use that."}},
            }
        ],
    )
    result = run(write_task(tmp_path), tmp_path / "runs", user_simulator=(user,))
    record = only(result)
    drafts = record.rounds[0].drafts
    assert [d.decision for d in drafts] == ["leak", "leak", "leak", "clean"]
    assert record.rounds[0].feedback is not None
    assert record.rounds[0].feedback.source == "neutral"
    assert "Vantongeren" not in record.rounds[1].message
    later = result.root / "episodes" / record.episode_id / "rounds" / "0" / "view-1.json"
    view = json.loads(later.read_text(encoding="utf-8"))
    assert view["reminder"] is True
    assert "Vantongeren" not in json.dumps(view)


def test_observe_records_a_leak_and_delivers_it(tmp_path: Path) -> None:
    user = write_script(
        tmp_path / "user.yaml",
        [
            {
                "when": {"purpose": "user_simulator"},
                "reply": {"json": {"message": "The keeper is Orsolya Vantongeren, use that."}},
            }
        ],
    )
    record = only(
        run(write_task(tmp_path), tmp_path / "runs", user_simulator=(user,), firewall=("hints",))
    )
    assert [d.decision for d in record.rounds[0].drafts] == ["leak"]
    assert "Vantongeren" in record.rounds[1].message


def test_every_exchange_is_stored(tmp_path: Path) -> None:
    model = judge(tmp_path, {"json": {"lines": [line(1.0)]}})
    result = run(write_task(tmp_path, rubric=JUDGED), tmp_path / "runs", supervisor=(model,))
    with RunStore.open(result.root) as store:
        calls = store.calls(result.records[0].episode_id)
        assert calls
        exchange = json.loads(store.get_blob(calls[0].blob))
    assert exchange["purpose"] == "judge"
    assert exchange["completion"]["usage"]["input"] > 0


ECHO: Mapping[str, JsonValue] = {
    "when": {"purpose": "judge", "last_user": r"\((?P<token>[bcdfghjkmnpqrstvwxz2-9]{22})\)"},
    "reply": {
        "json": {
            "lines": [
                {
                    "id": "kind",
                    "met": 0.0,
                    "evidence": ["r0.e0"],
                    "reason": "it lacks ({{ groups.token }}) manners",
                }
            ]
        }
    },
}


def test_a_released_rationale_carries_no_canary(tmp_path: Path) -> None:
    """The judge quotes its canary; the `rationale` policy releases the words, not the mark."""
    model = write_script(tmp_path / "judge.yaml", [ECHO])
    suite = write_task(tmp_path, rubric=JUDGED)
    result = run(suite, tmp_path / "runs", supervisor=(model,), firewall=("rationale",))
    record = only(result)
    assert record.outcome is Outcome.ROUNDS_EXHAUSTED, record.reason
    verdict = record.rounds[0].verdict
    assert verdict is not None
    token = re.search(r"lacks \((\w{22})\)", verdict.rationale)
    assert token is not None, verdict.rationale
    folder = result.root / "episodes" / record.episode_id / "rounds" / "0"
    view = (folder / "view-0.json").read_text(encoding="utf-8")
    assert "manners" in view
    assert token[1] not in view


def test_a_canary_outside_the_supervisors_side_ends_the_episode_as_a_breach(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the stripping of released text broken on purpose, the watch still stops it."""
    monkeypatch.setattr(CanarySet, "strip", _as_it_is)
    model = write_script(tmp_path / "judge.yaml", [ECHO])
    suite = write_task(tmp_path, rubric=JUDGED)
    result = run(suite, tmp_path / "runs", supervisor=(model,), firewall=("rationale",))
    record = only(result)
    assert record.outcome is Outcome.FIREWALL_BREACH
    assert record.final_score is None
    assert record.reason is not None
    assert "the user simulator's view" in record.reason
    assert "criterion:kind" in record.reason
    assert result.exit_code == 1


def _as_it_is(canaries: CanarySet, text: str) -> str:
    return text


def test_an_agent_that_ends_its_environment_is_scored_on_what_it_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It buys no second try: neither another attempt nor another round."""
    real = ProcessEnvironment.exec
    gone: list[str] = []

    async def exec_until_the_end(
        self: ProcessEnvironment, command: str | list[str], **options: object
    ) -> ExecResult:
        if gone or b"end-it" in bytes(str(options.get("stdin")), "utf-8"):
            gone.append("x")
            raise EnvironmentKilledByAgent("its init ended")
        return await real(self, command, **options)  # pyright: ignore[reportArgumentType]

    async def kill_all(self: ProcessEnvironment) -> None:
        if gone:
            raise EnvironmentKilledByAgent("its init ended")

    monkeypatch.setattr(ProcessEnvironment, "exec", exec_until_the_end)
    monkeypatch.setattr(ProcessEnvironment, "kill_all", kill_all)
    suite = write_task(tmp_path, rounds=(f"{WRONG}#---\necho end-it\n", RIGHT))
    record = only(run(suite, tmp_path / "runs"))
    assert record.outcome is Outcome.EXECUTOR_INCOMPLETE
    assert record.final_score == 0.25
    assert record.attempt == 1
    assert len(record.rounds) == 1


@pytest.mark.parametrize(
    "script", ["echo {0} > results/out.txt\n", "true {0}\n"], ids=["artifact", "argument"]
)
def test_a_canary_in_the_agents_hands_is_a_breach(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str
) -> None:
    """However it came there: its own files and commands are looked at too."""
    token = "bcdfghjkmnpqrstvwxz234"
    known = CanarySet(markers={"criterion:kind": token})

    def drawn(labels: object, rng: object = None) -> CanarySet:
        return known

    monkeypatch.setattr(CanarySet, "create", drawn)
    if script.startswith("echo"):
        half = len(token) // 2
        script = f"echo {token[:half]}$(echo {token[half:]}) > results/out.txt\n"
    suite = write_task(tmp_path, rounds=(script.format(token),))
    record = only(run(suite, tmp_path / "runs"))
    assert record.outcome is Outcome.FIREWALL_BREACH, record.reason
    assert record.final_score is None
