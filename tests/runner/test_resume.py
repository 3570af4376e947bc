"""Resume: what is refused, what is recovered, and that nothing is played twice."""

import json
import sqlite3
from pathlib import Path

import pytest
from player import Quiet, run
from pydantic import JsonValue
from suite_builder import RIGHT, write_script, write_task

from uniclaw.errors import StoreError, UserError
from uniclaw.records import Outcome
from uniclaw.runner.local import LocalRunner
from uniclaw.runner.resume import Recovered, resume
from uniclaw.runner.start import RunResult
from uniclaw.store.atomic import TEMPORARY
from uniclaw.store.run_store import RunStore


def go_on(root: Path) -> tuple[RunResult, Recovered]:
    return resume(root, environ={}, notify=lambda _: None, watch=lambda _: Quiet())


def test_resuming_a_complete_run_changes_nothing(tmp_path: Path) -> None:
    before = run(write_task(tmp_path), tmp_path / "runs")
    for _ in range(2):
        result, found = go_on(before.root)
        assert list(result.records) == list(before.records)
        assert (found.settled, found.written, found.cut, found.litter) == (1, (), (), 0)


@pytest.mark.parametrize(
    ("file", "named"),
    [
        ("suite/count/sources/boats.txt", "inputs.tasks.count.sources"),
        ("suite/count/task.yaml", "inputs.tasks.count.task and brief"),
        ("hidden/count/references/t.json", "inputs.tasks.count.rubric"),
        ("hidden/count/solution/round-0.sh", "inputs.tasks.count.solution"),
    ],
)
def test_fault_45_a_changed_file_is_refused_with_the_difference_shown(
    tmp_path: Path, file: str, named: str
) -> None:
    root = run(write_task(tmp_path), tmp_path / "runs").root
    path = tmp_path / file
    text = path.read_text(encoding="utf-8")
    changed = text.replace("How many", "Say how many") if file.endswith("yaml") else text + "\n "
    path.write_text(changed.replace('"n": 3', '"n": 4'), encoding="utf-8")
    with pytest.raises(UserError, match=named):
        go_on(root)


def test_fault_45_changed_versions_and_settings_are_refused(tmp_path: Path) -> None:
    root = run(write_task(tmp_path), tmp_path / "runs").root
    with sqlite3.connect(root / "run.sqlite") as db:
        (text,) = db.execute("SELECT value FROM meta WHERE key = 'settings'").fetchone()
        stored = json.loads(text)
        stored["versions"]["langgraph"] = "0.0.1"
        db.execute("UPDATE meta SET value = ? WHERE key = 'settings'", (json.dumps(stored),))
    db.close()
    with pytest.raises(UserError, match=r"versions\.langgraph: 0\.0\.1 -> "):
        go_on(root)


def test_two_runners_on_one_run_the_second_is_refused(tmp_path: Path) -> None:
    root = run(write_task(tmp_path), tmp_path / "runs").root
    with (
        RunStore.open(root, write=True),
        pytest.raises(StoreError, match="another runner"),
    ):
        go_on(root)


def test_a_store_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    root = run(write_task(tmp_path), tmp_path / "runs").root
    with sqlite3.connect(root / "run.sqlite") as db:
        db.execute("UPDATE meta SET value = '99' WHERE key = 'schema_version'")
    db.close()
    with pytest.raises(StoreError, match="99"):
        go_on(root)


def test_a_run_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no run there"):
        go_on(tmp_path / "runs" / "nothing")


def test_fault_45_a_torn_record_is_named_and_the_rest_is_usable(tmp_path: Path) -> None:
    write_task(tmp_path)
    result = run(write_task(tmp_path, task_id="other"), tmp_path / "runs")
    torn = result.root / "episodes" / result.records[0].episode_id / "episode.json"
    torn.write_bytes(torn.read_bytes()[:200])
    said: list[str] = []
    again, _ = resume(result.root, environ={}, notify=said.append, watch=lambda _: Quiet())
    assert [r.episode_id for r in again.records] == [result.records[1].episode_id]
    assert any(str(torn) in line for line in said)


def test_half_written_files_are_swept_and_counted(tmp_path: Path) -> None:
    result = run(write_task(tmp_path), tmp_path / "runs")
    episode = result.root / "episodes" / result.records[0].episode_id
    with sqlite3.connect(result.root / "run.sqlite") as db:
        # As if the runner had died just before the row.
        db.execute("UPDATE episodes SET state = 'planned'")
        db.execute("UPDATE attempts SET state = 'started'")
    db.close()
    (episode / "rounds" / "0" / f"{TEMPORARY}turn.json.x1").write_bytes(b"{")
    (episode / f"{TEMPORARY}episode.json.x2").write_bytes(b"")
    kept = episode / "evidence" / "0" / f"{TEMPORARY}of-the-agent"
    kept.write_bytes(b"an agent may name its files as it likes")
    _, found = go_on(result.root)
    assert found.litter == 2
    assert kept.exists()


def test_what_the_user_stopped_is_played_after_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_task(tmp_path, rounds=(f"sleep 1\n#---\n{RIGHT}",))
    suite = write_task(tmp_path, task_id="other", rounds=(f"sleep 1\n#---\n{RIGHT}",))
    begun = LocalRunner._attempts  # pyright: ignore[reportPrivateUsage] - stops in mid-turn

    async def twice_interrupted(self: LocalRunner, *args: object) -> object:
        import asyncio

        loop = asyncio.get_running_loop()
        for delay in (0.3, 0.4):
            loop.call_later(delay, self.stop)
        return await begun(self, *args)  # pyright: ignore[reportArgumentType]

    with monkeypatch.context() as patched:
        patched.setattr(LocalRunner, "_attempts", twice_interrupted)
        stopped = run(suite, tmp_path / "runs", parallel=1)
    assert [r.outcome for r in stopped.records] == [Outcome.CANCELLED]
    result, found = go_on(stopped.root)
    assert len(found.cancelled) == 1
    assert sorted(r.attempt for r in result.records) == [1, 2]
    assert [r.outcome for r in result.records] == [Outcome.PASS, Outcome.PASS]
    assert {r.outcome for r in result.records} == {Outcome.PASS}


def test_scripts_of_models_are_part_of_what_may_not_change(tmp_path: Path) -> None:
    said: JsonValue = {"message": "Count again."}
    script = tmp_path / "user.yaml"
    user = write_script(script, [{"when": {}, "reply": {"json": said}}])
    root = run(write_task(tmp_path), tmp_path / "runs", user_simulator=(user,)).root
    script.write_text(script.read_text(encoding="utf-8").replace("again", "anew"), encoding="utf-8")
    with pytest.raises(UserError, match=r"inputs\.scripts"):
        go_on(root)
