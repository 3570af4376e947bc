"""Faults of rivals that touch no single room: clocks, the wheel, disk, egress."""

import errno
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from player import only, run
from suite_builder import RIGHT, write_task

from uniclaw.errors import StoreError
from uniclaw.harnesses.events import EventLog
from uniclaw.records import StopReason
from uniclaw.runner.doctor import examine
from uniclaw.store.atomic import write_bytes

PACKAGE = Path(__file__).resolve().parent.parent / "uniclaw"


def test_fault_U8_no_interval_is_measured_with_the_wall_clock() -> None:
    for path in PACKAGE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"\btime\.time\(|from time import time\b", text), path


def test_fault_26_a_clock_that_steps_back_gives_no_negative_duration() -> None:
    ticks: Iterator[float] = iter([1000.0, 1001.0, -2600.0, -2599.0])
    log = EventLog(0, clock=lambda: next(ticks))
    first = log.message("user", "a")
    second = log.message("assistant", "b")
    assert first.at_s == 1.0
    assert second.at_s == 0.0


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built wheel, unpacked."""
    place = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"]
    command += ["--no-build-isolation", "--wheel-dir", str(place), str(PACKAGE.parent)]
    subprocess.run(command, check=True, capture_output=True)
    (file,) = place.glob("*.whl")
    with zipfile.ZipFile(file) as archive:
        archive.extractall(place / "site")
    return place / "site"


def test_fault_U9_the_wheel_works_from_an_empty_directory(wheel: Path, tmp_path: Path) -> None:
    top = {p.name for p in wheel.iterdir() if not p.name.endswith(".dist-info")}
    assert top == {"uniclaw"}
    command = [sys.executable, "-P", "-m", "uniclaw.cli", "run", "examples/office"]
    command += ["--tasks", "expense_skill_zh", "--environment", "process", "--run", "w", "-v"]
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(wheel), "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert f"{wheel}/uniclaw/_assets/firewall/policies/coarse.yaml" in done.stderr


def test_fault_21_a_full_disk_is_a_typed_error_and_leaves_the_old_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "x"
    write_bytes(target, b"old")

    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StoreError, match="No space left"):
        write_bytes(target, b"new")
    monkeypatch.undo()
    assert target.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["x"]


class _Usage(NamedTuple):
    total: int
    used: int
    free: int


def test_fault_21_doctor_warns_of_little_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def little(path: object) -> _Usage:
        return _Usage(10, 9, 1)

    monkeypatch.setattr(shutil, "disk_usage", little)
    found = examine(runs_dir=tmp_path / "none" / "yet", assets=None, environ={})
    assert {f.subject: f.state for f in found}["disk"] == "warning"


@pytest.mark.docker
def test_fault_2_the_suite_cannot_be_fetched_and_the_attempt_is_recorded(
    tmp_path: Path, unique: str
) -> None:
    fetch = "git clone https://example.org/suite.git results/suite; curl -m 5 http://1.1.1.1; true"
    suite = write_task(tmp_path, rounds=(f"{fetch}\n#---\n{RIGHT}",))
    result = run(suite, tmp_path / "runs", environment="docker", run=unique)
    record = only(result)
    assert record.rounds[0].stop is StopReason.FINISHED
    folder = result.root / "episodes" / record.episode_id
    events = (folder / "trajectory.jsonl").read_text(encoding="utf-8")
    assert "git clone https://example.org" in events
    assert "Could not resolve host" in events
    assert not (folder / "evidence" / "0" / "workspace" / "results" / "suite").exists()


@pytest.mark.docker
def test_fault_17_what_is_put_in_belongs_to_the_agent(tmp_path: Path, unique: str) -> None:
    append = "echo d >> sources/boats.txt && stat -c '%U %a' sources/boats.txt > results/owner\n"
    suite = write_task(tmp_path, rounds=(f"{append}#---\n{RIGHT}",))
    result = run(suite, tmp_path / "runs", environment="docker", run=unique)
    folder = result.root / "episodes" / only(result).episode_id / "evidence" / "0"
    said = (folder / "workspace" / "results" / "owner").read_text(encoding="utf-8")
    assert said.split()[0] == "agent"


@pytest.mark.docker
def test_fault_U7_a_turn_out_of_time_leaves_no_process_behind(tmp_path: Path, unique: str) -> None:
    first = "(setsid sh -c 'trap \"\" TERM; sleep 987') & sleep 986\n"
    second = "ps -eo args | grep -c '[s]leep 98' > results/left; true\n"
    suite = write_task(
        tmp_path,
        task={"budget": {"turn_s": 2, "executor_s": 60, "feedback_rounds": 1}},
        rounds=(f"{RIGHT}#---\n{first}".replace("3}", "4}"), second),
    )
    result = run(suite, tmp_path / "runs", environment="docker", run=unique)
    record = only(result)
    assert record.rounds[0].stop is StopReason.TIMEOUT
    folder = result.root / "episodes" / record.episode_id / "evidence" / "1"
    left = folder / "workspace" / "results" / "left"
    assert left.read_text(encoding="utf-8").strip() == "0"
