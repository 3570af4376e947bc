"""A run is killed at random moments, again and again, and still ends whole."""

import os
import random
import time
from pathlib import Path

import pytest
from killing import answers, assert_whole, completed, judged_suite, played, resumed_and_killed

TASKS = 2


def _killed_until_done(root: Path, kills: int, chance: random.Random) -> int:
    """Start runs and kill them at random; returns how many kills took a living runner."""
    root.mkdir()
    done, number = 0, 0
    while done < kills:
        number += 1
        place = root / f"p{number}"
        place.mkdir()
        suite, given = judged_suite(place, TASKS)
        runs, name = place / "runs", f"{root.parent.name[-40:]}-{number}"
        given = {**given, "run": name, "parallel": 2}
        started = time.monotonic()
        done += played(suite, runs, given, kill_after_s=chance.uniform(0.2, 2.0))
        while (runs / name).exists() and done < kills and chance.random() < 0.7:
            done += resumed_and_killed(runs / name, kill_after_s=chance.uniform(0.2, 2.0))
        if not (runs / name).exists():
            assert not played(suite, runs, given)
        completed(runs / name)
        assert_whole(runs / name, TASKS)
        # The tape forgets nothing: per episode each stored answer was paid once. The two
        # tasks ask the same questions, so a request may stand once for each of them.
        paid = answers(runs / name)
        assert all(paid.count(call) <= TASKS for call in set(paid))
        assert time.monotonic() - started < 120
    return done


def test_ten_random_kills_are_survived(tmp_path: Path) -> None:
    assert _killed_until_done(tmp_path / "k", 10, random.Random(6)) >= 10


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_many_random_kills_are_survived(tmp_path: Path) -> None:
    """500, or as many as `UNICLAW_KILLS` says."""
    kills = int(os.environ.get("UNICLAW_KILLS", "500"))
    assert _killed_until_done(tmp_path / "k", kills, random.Random()) >= kills
