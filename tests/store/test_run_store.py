"""The run store: atomic files, one row per key, one writer, versions, damage named."""

import json
import os
import sqlite3
from pathlib import Path

import pytest
from pydantic import ValidationError

from uniclaw.errors import StoreError, UserError
from uniclaw.records import Budget, Outcome, RoleUsage, StopReason, Usage
from uniclaw.store.atomic import read_json, to_json, write_bytes, write_json, write_mark
from uniclaw.store.records import Axes, EpisodeRecord, RoundRecord
from uniclaw.store.run_store import CallRow, Key, RunStore, list_runs

AXES = Axes(
    executor="oracle",
    harness="oracle",
    model=None,
    supervisor="checks",
    user_simulator="template",
    policy="coarse",
)


def make_record(episode_id: str = "e1", outcome: Outcome = Outcome.PASS) -> EpisodeRecord:
    return EpisodeRecord(
        run="r",
        episode_id=episode_id,
        task_id="t",
        suite="s",
        family="f",
        capability="c",
        language="en",
        neutral_task_id="task-1",
        neutral_episode_id="episode-1",
        axes=AXES,
        cell=AXES.cell,
        trial=0,
        seed=1,
        budget=Budget(),
        outcome=outcome,
        reason=None,
        threshold=0.9,
        rounds=(
            RoundRecord(
                round=0,
                message="do",
                stop=StopReason.FINISHED,
                final_message="done \ud800".encode("utf-8", "replace").decode(),
                executor_s=1.5,
            ),
        ),
        final_score=1.0,
        final_round=0,
        best_score=1.0,
        best_round=0,
        usage={"executor": RoleUsage()},
        seconds={"wall": 2.0},
        started_at="2026-01-01T00:00:00+00:00",
        ended_at="2026-01-01T00:00:02+00:00",
        environment="process",
    )


def test_settling_gives_one_row_per_key_however_often(tmp_path: Path) -> None:
    with RunStore.create(tmp_path, "r", {}) as store:
        store.plan([(Key("t", AXES.cell, 0), "e1"), (Key("t", AXES.cell, 1), "e2")])
        store.plan([(Key("t", AXES.cell, 0), "e1")])
        store.settle(make_record())
        store.settle(make_record())
        assert store.settled_ids() == ["e1"]
        assert [key.trial for key, _ in store.unfinished()] == [1]
        assert store.counts() == {"pass": 1, "unfinished": 1}
        assert store.episode("e1") == make_record()
        assert store.rows()[0]["passed"] is True


def test_an_existing_run_is_refused(tmp_path: Path) -> None:
    RunStore.create(tmp_path, "r", {}).close()
    with pytest.raises(UserError, match="run exists"):
        RunStore.create(tmp_path, "r", {})


@pytest.mark.parametrize("name", ["../x", "", "a/b", ".hidden", "x" * 101, "a\0b"])
def test_fault_19_run_names_cannot_leave_their_folder(tmp_path: Path, name: str) -> None:
    with pytest.raises(UserError, match="run"):
        RunStore.create(tmp_path / "runs", name, {})
    assert not (tmp_path / "x").exists()


def test_a_second_runner_on_one_run_is_refused(tmp_path: Path) -> None:
    with (
        RunStore.create(tmp_path, "r", {}),
        pytest.raises(StoreError, match="another runner"),
    ):
        RunStore.open(tmp_path / "r", write=True)
    RunStore.open(tmp_path / "r", write=True).close()


def test_a_store_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    RunStore.create(tmp_path, "r", {}).close()
    with sqlite3.connect(tmp_path / "r" / "run.sqlite") as db:
        db.execute("UPDATE meta SET value = '99' WHERE key = 'schema_version'")
    db.close()
    with pytest.raises(StoreError, match="99"):
        RunStore.open(tmp_path / "r")


def test_a_damaged_episode_is_named(tmp_path: Path) -> None:
    with RunStore.create(tmp_path, "r", {}) as store:
        store.plan([(Key("t", AXES.cell, 0), "e1")])
        store.settle(make_record())
        path = store.episode_dir("e1") / "episode.json"
        path.write_text('{"schema_version": 1', encoding="utf-8")
        with pytest.raises(StoreError, match=r"episode\.json"):
            store.episode("e1")


def test_fault_U1_records_never_hold_nan() -> None:
    with pytest.raises(ValidationError):
        make_record().model_copy(update={}).model_validate(
            {**make_record().model_dump(), "final_score": float("nan")}
        )
    with pytest.raises(ValueError, match="JSON"):
        to_json({"x": float("nan")})


def test_fault_22_lone_surrogates_do_not_stop_a_record(tmp_path: Path) -> None:
    write_json(tmp_path / "x.json", {"text": "a\ud800b"})
    assert read_json(tmp_path / "x.json") == {"text": "a?b"}


def test_blobs_are_stored_once_and_verified(tmp_path: Path) -> None:
    with RunStore.create(tmp_path, "r", {}) as store:
        digest = store.put_blob(b"exchange")
        assert store.put_blob(b"exchange") == digest
        assert store.get_blob(digest) == b"exchange"
        file = next((tmp_path / "r" / "blobs").rglob("*.gz"))
        file.write_bytes(b"torn")
        with pytest.raises(StoreError, match=digest):
            store.get_blob(digest)


def test_calls_come_back_in_order(tmp_path: Path) -> None:
    spent = RoleUsage(calls=1, usage=Usage(input=3))
    with RunStore.create(tmp_path, "r", {}) as store:
        for seq in (1, 0):
            store.add_call(CallRow("e1", 1, seq, "judge", "m", True, "00", spent))
        assert [c.seq for c in store.calls("e1")] == [0, 1]
        assert store.calls("e1")[0].spent == spent


def test_atomic_write_syncs_the_file_before_the_rename_and_the_directory_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    order: list[str] = []
    real_fsync, real_replace = os.fsync, os.replace

    def fsync(handle: int) -> None:
        kind = "directory" if os.path.isdir(f"/proc/self/fd/{handle}") else "file"  # noqa: PTH112
        order.append(kind)
        real_fsync(handle)

    def replace(source: str, target: Path) -> None:
        order.append("rename")
        real_replace(source, target)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "replace", replace)
    write_bytes(tmp_path / "x", b"data")
    assert order == ["file", "rename", "directory"]
    order.clear()
    # A new directory's own name is made durable too, in each directory above it.
    write_bytes(tmp_path / "new" / "deep" / "x", b"data")
    assert order == ["directory", "directory", "file", "rename", "directory"]


def test_a_mark_is_made_once(tmp_path: Path) -> None:
    mark = str(tmp_path / "rounds" / "0" / "execute.intent")
    assert [write_mark(mark) for _ in range(3)] == [True, False, False]


def test_a_failed_write_leaves_the_old_bytes_and_no_litter(tmp_path: Path) -> None:
    target = tmp_path / "x"
    write_bytes(target, b"old")
    target_dir = tmp_path / "x" / "impossible"
    with pytest.raises(StoreError, match="impossible"):
        write_bytes(target_dir, b"new")
    assert target.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["x"]


def test_runs_are_listed_newest_first_and_links_are_not_followed(tmp_path: Path) -> None:
    for name in ("a", "b"):
        RunStore.create(tmp_path, name, {}).close()
    os.utime(tmp_path / "a" / "run.sqlite", (1, 1))
    (tmp_path / "link").symlink_to(tmp_path / "a")
    assert [p.name for p in list_runs(tmp_path)] == ["b", "a"]


def test_the_settings_come_back_as_they_were(tmp_path: Path) -> None:
    settings = {"settings": {"trials": 2}, "note": "é中"}
    with RunStore.create(tmp_path, "r", json.loads(json.dumps(settings))) as store:
        assert store.settings == settings
