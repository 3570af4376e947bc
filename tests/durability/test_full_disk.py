"""The disk fills up in the middle of a run; with room again, resume makes it whole."""

import os
import subprocess
from collections.abc import Generator
from pathlib import Path

import pytest
from killing import assert_whole, completed
from player import Quiet
from suite_builder import write_task

from uniclaw.errors import StoreError
from uniclaw.runner.start import play
from uniclaw.store.run_store import RunStore

TASKS = 3


@pytest.fixture
def small_disk(tmp_path: Path) -> Generator[Path, None, None]:
    """A file system of 32 MB."""
    place = tmp_path / "small"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=32m", "tmpfs", str(place)]
    if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("this machine does not let us mount a small file system")
    yield place
    subprocess.run(["umount", str(place)], check=True)


class Filling(Quiet):
    """Leaves no room while the second episode plays."""

    def __init__(self, ballast: Path) -> None:
        self._ballast, self._begun = ballast, 0

    def started(self, planned: object) -> None:
        self._begun += 1

    def phase(self, planned: object, phase: str, round_number: int) -> None:
        if self._begun == 2 and phase == "execute" and not self._ballast.exists():
            free = os.statvfs(self._ballast.parent)
            self._ballast.write_bytes(b"\0" * free.f_bavail * free.f_frsize)


def test_fault_21_a_disk_that_fills_up_stops_the_run_and_harms_nothing(
    small_disk: Path, tmp_path: Path, unique: str
) -> None:
    suite = tmp_path / "suite"
    for number in range(TASKS):
        suite = write_task(tmp_path, task_id=f"t{number}")
    ballast = small_disk / "ballast"
    given: dict[str, object] = {
        "suite": str(suite),
        "environment": "process",
        "runs_dir": small_disk,
        "run": unique,
        "parallel": 1,
    }
    with pytest.raises(StoreError, match="cannot write"):
        play(
            given,
            environ={},
            config=None,
            notify=lambda _: None,
            watch=lambda _: Filling(ballast),
        )
    ballast.unlink()
    root = small_disk / unique
    with RunStore.open(root) as store:
        assert len(store.rows()) == 1
        assert len(store.unfinished()) == TASKS - 1
    result, found = completed(root)
    assert found.settled == 1
    assert result.exit_code == 0
    assert_whole(root, TASKS)
