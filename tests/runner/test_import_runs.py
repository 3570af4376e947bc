"""The reference's run directories and traces as a run: rounds, messages, scores, statuses."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from pydantic import JsonValue

from uniclaw.errors import UserError
from uniclaw.records import AttemptState, Decision, Outcome
from uniclaw.runner.import_runs import OUTCOMES, import_runs
from uniclaw.statistics.stored import load_rows
from uniclaw.store.records import EpisodeRecord
from uniclaw.store.run_store import RunStore

TASK = "task_205_40_audit"
Json = Mapping[str, JsonValue]


def entry(number: int, score: float, verdict: str = "continue") -> Json:
    return {
        "evaluation_index": number,
        "verdict": verdict,
        "attempt_state": "incomplete",
        "recoverable": True,
        "score": score,
        "rationale": "Two files are missing.",
        "missing_artifacts": ["a.json"],
        "guidance_tags": ["check_totals"],
        "safe_user_feedback": f"Look again, {number}.",
    }


def said(role: str, text: str) -> Json:
    return {"type": "message", "message": {"role": role, "content": [{"text": text}]}}


def write_attempt(place: Path, *scores: float, **summary: JsonValue) -> Path:
    """One attempt at a task, as the reference leaves it."""
    attempt = place / f"p1-host-{len(scores)}"
    attempt.mkdir(parents=True)
    trace = [entry(n, score) for n, score in enumerate(scores, 1)]
    transcript = [said("user", "[Wed 2026-07-01 22:16 UTC] Audit it."), said("assistant", "Done.")]
    transcript += [said("user", "Look again, 1."), said("assistant", "Done again.")]
    score = {"best_supervisor_score": max(scores, default=0), "success_threshold": 0.8}
    phases = [
        {"kind": "executor", "cycle": n, "start_ms": 1000 * n, "end_ms": 1000 * n + 500}
        for n in range(1, len(scores) + 1)
    ]
    documents: Mapping[str, object] = {
        "score.json": score,
        "meta.json": {"supervision": {"maxUserFollowups": 2, "supervisor": {"model": "m5"}}},
        "timeline.json": {"phases": phases},
    }
    for name, document in documents.items():
        (attempt / name).write_text(json.dumps(document), encoding="utf-8")
    for name, lines in (("supervision_trace", trace), ("transcript", transcript)):
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (attempt / f"{name}.jsonl").write_text(text, encoding="utf-8")
    if summary:
        (place / "summary.json").write_text(json.dumps(summary), encoding="utf-8")
    return attempt


def place(root: Path, task: str = TASK, model: str = "kimi-k2.6") -> Path:
    return root / "runs" / "openclaw" / model / "205_cross_platform_zh" / task


def imported(tmp_path: Path) -> list[EpisodeRecord]:
    import_runs(tmp_path / "runs", "ref", tmp_path / "ours")
    with RunStore.open(tmp_path / "ours" / "ref") as store:
        return list(store.episodes())


def test_a_run_directory_becomes_an_episode_with_its_rounds(tmp_path: Path) -> None:
    write_attempt(place(tmp_path), 0.5, 0.9, 0.7, finalStatus="pass", taskId=TASK)
    (record,) = imported(tmp_path)
    assert (record.outcome, record.best_score, record.best_round) == (Outcome.PASS, 0.9, 1)
    assert (record.final_score, record.threshold) == (0.7, 0.8)
    assert (record.capability, record.language, record.family) == (
        "cross_platform",
        "zh",
        "05_40_audit",
    )
    assert record.axes.executor == "openclaw:kimi-k2.6"
    assert (record.axes.supervisor, record.axes.feedback_rounds) == ("m5", 2)
    first, second, third = record.rounds
    assert (first.message, first.final_message) == ("Audit it.", "Done.")
    assert first.feedback is not None
    assert first.feedback.text == second.message == "Look again, 1."
    assert third.feedback is None
    assert first.executor_s == 0.5
    verdict = first.verdict
    assert verdict is not None
    assert (verdict.decision, verdict.attempt_state) == (Decision.CONTINUE, AttemptState.INCOMPLETE)
    assert verdict.missing_artifacts == ("a.json",)


def test_statistics_read_it_and_what_is_missing_is_said(tmp_path: Path) -> None:
    write_attempt(place(tmp_path), 0.5, finalStatus="budget_exhausted")
    found = import_runs(tmp_path / "runs", "ref", tmp_path / "ours")
    assert found.outcomes == {"rounds_exhausted": 1}
    absent = {"no-checkpoints", "no-artifacts", "no-trajectory", "no-usage"}
    assert set(found.missing) == absent
    (row,) = load_rows(tmp_path / "ours" / "ref")
    assert (row.best_score, row.tokens, row.cost_usd, row.rounds[0].score) == (0.5, None, None, 0.5)


@pytest.mark.parametrize("status", sorted(OUTCOMES))
def test_every_status_is_mapped(tmp_path: Path, status: str) -> None:
    write_attempt(place(tmp_path), 0.5, finalStatus=status)
    (record,) = imported(tmp_path)
    assert record.outcome is OUTCOMES[status]
    assert (record.final_score is None) is not record.outcome.scored


def test_a_killed_run_has_no_status_and_no_score_of_ours(tmp_path: Path) -> None:
    attempt = write_attempt(place(tmp_path), 0.5)
    torn = attempt / "supervision_trace.jsonl"
    torn.write_text(torn.read_text(encoding="utf-8") + '{"score": 0.', encoding="utf-8")
    (record,) = imported(tmp_path)
    assert record.outcome is Outcome.INFRA_ERROR
    assert record.final_score is None
    assert "no-status" in record.flags
    assert record.task_id == TASK


def test_the_best_of_several_attempts_counts_and_their_number_is_kept(tmp_path: Path) -> None:
    write_attempt(place(tmp_path), 0.5)
    write_attempt(place(tmp_path), 0.1, 0.95, finalStatus="pass")
    (record,) = imported(tmp_path)
    assert (record.best_score, len(record.rounds)) == (0.95, 2)
    assert "best-of-attempts:2" in record.flags


def test_what_cannot_be_read_is_named_and_the_rest_is_imported(tmp_path: Path) -> None:
    write_attempt(place(tmp_path), 0.5, finalStatus="fail")
    broken = write_attempt(place(tmp_path, "task_101_01_x"), 0.5, finalStatus="fail")
    (broken / "score.json").write_text("{", encoding="utf-8")
    write_attempt(place(tmp_path, "task_101_02_x"), 0.5, finalStatus="splendid")
    write_attempt(place(tmp_path, "task_101_03_x"), 7.0, finalStatus="fail")
    found = import_runs(tmp_path / "runs", "ref", tmp_path / "ours")
    assert found.episodes == 1
    refused = sorted(found.refused)
    assert len(refused) == 3
    assert "score.json" in refused[0]
    assert "splendid" in refused[1]


def test_links_are_not_followed(tmp_path: Path) -> None:
    write_attempt(place(tmp_path), 0.5, finalStatus="fail")
    outside = write_attempt(tmp_path / "outside", 0.9)
    (place(tmp_path) / "p2-link").symlink_to(outside)
    (record,) = imported(tmp_path)
    assert record.best_score == 0.5


def test_nothing_found_is_the_users_mistake(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for name in ("empty", "nowhere"):
        with pytest.raises(UserError, match=name):
            import_runs(tmp_path / name, "ref", tmp_path / "ours")
    assert not (tmp_path / "ours").exists()


@pytest.mark.reference
def test_the_published_traces_are_imported_whole(reference_data: Path, tmp_path: Path) -> None:
    source = reference_data / "uniclawbench" / "published" / "traces"
    found = import_runs(source, "ref", tmp_path)
    assert found.outcomes == {"pass": 3, "rounds_exhausted": 4, "timeout": 2, "fail": 1}
    assert found.refused == ()
    with RunStore.open(tmp_path / "ref") as store:
        records = list(store.episodes())
    for file in sorted(source.glob("*.json")):
        document = json.loads(file.read_text(encoding="utf-8"))
        summary = document["taskSummary"]
        (record,) = [r for r in records if r.task_id == summary["taskId"]]
        assert record.best_score == summary["finalScore"]
        trace = document["attemptDetails"][-1]["supervisionTrace"]
        assert [r.verdict.score for r in record.rounds if r.verdict] == [t["score"] for t in trace]
        assert (
            record.usage["executor"].usage.input == document["usageSummary"]["executorInputTokens"]
        )
        assert all(r.message and r.executor_s for r in record.rounds)
