"""Replay and rejudge: equal records from stored answers, new scores from stored evidence."""

import json
import shutil
import sqlite3
from collections.abc import Mapping
from pathlib import Path

import pytest
from player import Quiet, run
from pydantic import JsonValue
from suite_builder import RIGHT, RUBRIC, WRONG, write_script, write_task

from uniclaw.errors import UserError
from uniclaw.records import Outcome
from uniclaw.runner.equality import episode_differences, run_differences
from uniclaw.runner.rejudge import ENDED_EARLIER, NO_END, rejudge
from uniclaw.runner.replay import ReplayDiffers, Replayed, replay
from uniclaw.runner.start import RunResult
from uniclaw.store.run_store import RunStore

POLITE: Mapping[str, JsonValue] = {
    **RUBRIC,
    "checkpoints": [
        {"id": "polite", "weight": 1.0, "description": "Polite.", "check": {"kind": "judge"}}
    ],
}


def judge(path: Path, first: float, later: float) -> str:
    """A judge that gives one value until it sees the right answer."""

    def lines(met: float) -> JsonValue:
        return {"lines": [{"id": "polite", "met": met, "evidence": ["r0.e0"], "reason": "seen"}]}

    return write_script(
        path,
        [
            {"when": {"seen": "It is three"}, "reply": {"json": lines(later)}},
            {"when": {}, "reply": {"json": lines(first)}},
        ],
    )


def played(tmp_path: Path, name: str = "r") -> RunResult:
    """A run with models in every role: loop, judge and user simulator."""

    def call(number: int) -> JsonValue:
        command = f"echo '{{\"n\": {number}}}' > results/out.json; echo written {number}"
        return {"tool_calls": [{"name": "shell", "arguments": {"command": command}}]}

    executor = write_script(
        tmp_path / "loop.yaml",
        [
            {"when": {"last": "written 3"}, "reply": {"text": "It is three."}},
            {"when": {"last": "written 4"}, "reply": {"text": "It is four."}},
            {"when": {"last_user": "again"}, "reply": call(3)},
            {"when": {}, "reply": call(4)},
        ],
    )
    user = write_script(
        tmp_path / "user.yaml", [{"when": {}, "reply": {"json": {"message": "Count again."}}}]
    )
    return run(
        write_task(tmp_path, rubric=POLITE),
        tmp_path / "runs",
        run=name,
        executor=(f"loop:{executor}",),
        supervisor=(judge(tmp_path / "judge.yaml", 0.0, 1.0),),
        user_simulator=(user,),
        model_in_process=True,
    )


def again(root: Path, *, strict: bool = True, name: str | None = None) -> Replayed:
    return replay(
        root, name=name, strict=strict, environ={}, notify=lambda _: None, watch=lambda _: Quiet()
    )


def test_a_replay_asks_nobody_and_gives_equal_records(tmp_path: Path) -> None:
    result = played(tmp_path)
    assert [r.outcome for r in result.records] == [Outcome.PASS]
    found = again(result.root)
    assert found.differences == []
    assert found.exit_code == 0
    (record,) = found.result.records
    assert record.parent == f"r/{result.records[0].episode_id}"
    assert record.episode_id != result.records[0].episode_id
    with RunStore.open(found.result.root) as store:
        calls = store.calls(record.episode_id)
        assert len(calls) == 7
        assert all(call.reused for call in calls)
        assert store.settings["parent"] == {"run": "r", "by": "replay"}  # pyright: ignore[reportArgumentType, reportCallIssue, reportIndexIssue, reportOptionalSubscript] - a mapping


def test_a_replay_of_a_replay_is_equal_too(tmp_path: Path) -> None:
    first = again(played(tmp_path).root)
    second = again(first.result.root, name="third")
    assert second.differences == []


def _lose_one_call(root: Path, role: str) -> None:
    with sqlite3.connect(root / "run.sqlite") as db:
        db.execute(
            "DELETE FROM calls WHERE seq = (SELECT MAX(seq) FROM calls WHERE role = ?)", (role,)
        )
    db.close()


@pytest.mark.parametrize("role", ["judge", "executor", "user_simulator"])
def test_strict_names_the_first_unrecorded_call(tmp_path: Path, role: str) -> None:
    root = played(tmp_path).root
    _lose_one_call(root, role)
    with pytest.raises(ReplayDiffers, match=f"'{role}'"):
        again(root)


def test_a_call_that_differs_is_named_with_the_first_difference(tmp_path: Path) -> None:
    root = played(tmp_path).root
    with sqlite3.connect(root / "run.sqlite") as db:
        db.execute("UPDATE calls SET request = 'x' WHERE role = 'user_simulator'")
    db.close()
    found = again(root, strict=False)
    assert found.exit_code == 1
    assert "differs at character" in found.missed[0]
    assert found.differences


def test_a_replay_with_changed_files_is_refused(tmp_path: Path) -> None:
    root = played(tmp_path).root
    (tmp_path / "suite" / "count" / "sources" / "boats.txt").write_bytes(b"other\n")
    with pytest.raises(UserError, match=r"count\.sources"):
        again(root)


def test_equality_leaves_out_ids_stamps_and_durations_and_nothing_else(tmp_path: Path) -> None:
    (record,) = played(tmp_path).records
    other = record.model_copy(
        update={
            "run": "x",
            "episode_id": "x",
            "attempt": 7,
            "started_at": "x",
            "ended_at": "x",
            "seconds": {},
            "container": "x",
            "neutral_episode_id": "x",
        }
    )
    assert episode_differences(record, other) == []
    for field, value in (("outcome", Outcome.FAIL), ("final_score", 0.5), ("seed", 1)):
        changed = record.model_copy(update={field: value})
        assert episode_differences(record, changed) != []
    first = record.rounds[0].model_copy(update={"final_message": "other"})
    changed = record.model_copy(update={"rounds": (first, *record.rounds[1:])})
    (line,) = episode_differences(record, changed)
    assert line.startswith("rounds[0].final_message")
    assert run_differences([record], []) == [
        f"{record.task_id} ({record.cell}, trial 0): only in one of the two"
    ]


def anew(root: Path, *, supervisor: str | None = None, rubrics: Path | None = None) -> RunResult:
    return rejudge(
        root,
        name=None,
        supervisor=supervisor,
        rubrics=rubrics,
        environ={},
        notify=lambda _: None,
        watch=lambda _: Quiet(),
    )


def test_the_same_judge_gives_the_same_scores(tmp_path: Path) -> None:
    result = played(tmp_path)
    before = result.records[0]
    (record,) = anew(result.root).records
    assert record.parent == f"r/{before.episode_id}"
    assert (record.outcome, record.final_score) == (before.outcome, before.final_score)
    assert [r.message for r in record.rounds] == [r.message for r in before.rounds]
    assert record.usage["executor"] == before.usage["executor"]
    assert record.paid is not None
    assert set(record.paid) == {"judge"}


def test_a_milder_judge_ends_the_episode_earlier(tmp_path: Path) -> None:
    result = played(tmp_path)
    mild = judge(tmp_path / "mild.yaml", 1.0, 1.0)
    (record,) = anew(result.root, supervisor=mild).records
    assert (record.outcome, len(record.rounds)) == (Outcome.PASS, 1)
    assert record.flags == (ENDED_EARLIER,)
    assert record.axes.supervisor == mild


def test_a_stricter_judge_leaves_the_end_open(tmp_path: Path) -> None:
    result = played(tmp_path)
    (record,) = anew(result.root, supervisor=judge(tmp_path / "hard.yaml", 0.0, 0.2)).records
    assert record.outcome is Outcome.ROUNDS_EXHAUSTED
    assert record.final_score == 0.2
    assert record.flags == (NO_END,)


def test_a_new_rubric_scores_old_evidence(tmp_path: Path) -> None:
    result = run(write_task(tmp_path, rounds=(WRONG, RIGHT)), tmp_path / "runs")
    rubrics = tmp_path / "other"
    shutil.copytree(tmp_path / "hidden", rubrics)
    file = rubrics / "count" / "rubric.yaml"
    rubric = json.loads(file.read_text(encoding="utf-8"))
    rubric["threshold"] = 0.2
    file.write_text(json.dumps(rubric), encoding="utf-8")
    (record,) = anew(result.root, rubrics=rubrics).records
    assert (record.outcome, record.final_score, record.threshold) == (Outcome.PASS, 0.25, 0.2)
    with pytest.raises(UserError, match=r"no rubric\.yaml"):
        rejudge(
            result.root,
            name="y",
            supervisor=None,
            rubrics=tmp_path,
            environ={},
            notify=lambda _: None,
            watch=lambda _: Quiet(),
        )
