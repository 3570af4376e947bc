"""A real runner is killed at every named place, and resume makes the run whole."""

from collections import Counter
from pathlib import Path

import pytest
from killing import answers, assert_whole, completed, judged_suite, played, resumed_and_killed
from suite_builder import write_script

from uniclaw.failpoints import NAMES, phase_of
from uniclaw.records import Outcome

KILLS: Counter[str] = Counter()


@pytest.fixture(scope="module", autouse=True)
def table() -> object:
    yield
    width = max((len(p) for p in KILLS), default=0)
    print("\nkills per phase")
    for phase, number in sorted(KILLS.items()):
        print(f"  {phase:<{width}} {number:>4}")


@pytest.mark.parametrize("name", NAMES)
def test_a_runner_killed_there_is_resumed_to_a_whole_run(
    tmp_path: Path, unique: str, name: str
) -> None:
    suite, given = judged_suite(tmp_path)
    runs = tmp_path / "runs"
    if name == "attempt.failed":
        pytest.skip("needs an attempt that fails: the next test")
    assert played(suite, runs, {**given, "run": unique}, failpoint=name)
    KILLS[phase_of(name)] += 1
    if not (runs / unique).exists():
        # Nothing had its name yet: the run is started as if for the first time.
        assert not played(suite, runs, {**given, "run": unique})
        assert [p.name for p in runs.iterdir()] == [unique]
    else:
        result, _ = completed(runs / unique)
        assert result.exit_code == 0
    assert_whole(runs / unique, tasks=1)
    paid = answers(runs / unique)
    assert len(paid) == len(set(paid)), "an answer that was stored was paid again"


def test_a_run_survives_being_killed_at_each_resume_too(tmp_path: Path, unique: str) -> None:
    suite, given = judged_suite(tmp_path)
    root = tmp_path / "runs" / unique
    assert played(suite, root.parent, {**given, "run": unique}, failpoint="node.execute.turn")
    for place in ("node.freeze.copied", "node.relay.leave", "settle.file", "settle.rows"):
        assert resumed_and_killed(root, at=place)
        KILLS[phase_of(place)] += 1
    result, _ = completed(root)
    assert result.exit_code == 0
    assert_whole(root, tasks=1)
    paid = answers(root)
    assert len(paid) == len(set(paid))


def test_a_runner_killed_between_two_attempts_keeps_the_first(tmp_path: Path, unique: str) -> None:
    suite, given = judged_suite(tmp_path)
    judge = write_script(tmp_path / "bad.yaml", [{"when": {}, "reply": {"text": "Who knows."}}])
    root = tmp_path / "runs" / unique
    given = {**given, "run": unique, "supervisor": (judge,)}
    assert played(suite, root.parent, given, failpoint="attempt.failed")
    KILLS[phase_of("attempt.failed")] += 1
    result, _ = completed(root)
    (record,) = result.records
    assert (record.outcome, record.attempt) == (Outcome.JUDGE_ERROR, 2)
    assert [a.state for a in record.earlier] == ["failed"]


@pytest.mark.parametrize("node", ["supervise", "simulate", "screen"])
def test_fault_47_a_node_killed_before_its_checkpoint_never_acts_twice(
    tmp_path: Path, unique: str, node: str
) -> None:
    """Its result is on disk already: judge and user are not asked again, one message is sent."""
    suite, given = judged_suite(tmp_path)
    root = tmp_path / "runs" / unique
    assert played(suite, root.parent, {**given, "run": unique}, failpoint=f"node.{node}.leave")
    result, _ = completed(root)
    paid = answers(root)
    assert len(paid) == len(set(paid))
    (record,) = result.records
    assert [r.round for r in record.rounds] == list(range(len(record.rounds)))
    assert all(r.feedback is not None for r in record.rounds[:-1])
