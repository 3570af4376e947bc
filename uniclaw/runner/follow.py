"""Watches a run that goes on: what each episode left, step by step, as it appears on disk."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from uniclaw.episode.files import EpisodeFiles, TextFile
from uniclaw.episode.referee import Draft
from uniclaw.hidden.verdict import Verdict
from uniclaw.records import Turn
from uniclaw.store.database import LOCK
from uniclaw.store.records import EpisodeRecord
from uniclaw.store.run_store import RunStore

POLL_S = 0.25
_MAX_ROUNDS = 64


class Step(NamedTuple):
    """Something that happened in an episode."""

    episode: str
    round: int
    what: TextFile | Turn | Verdict | Draft | EpisodeRecord
    """Message to the executor, its turn, the verdict, a screened draft, or the settled episode."""


class Gone(NamedTuple):
    """No runner works on the run any more, and this is not settled."""

    episodes: tuple[str, ...]


def follow(
    root: Path, episode: str | None = None, *, sleep: Callable[[float], None] = time.sleep
) -> Iterator[Step | Gone]:
    """Steps of one episode, or of all, as they come; ends when all are settled.

    Args:
        root: directory of the run.
        episode: id of an attempt; None follows the run.
        sleep: waits between looks.

    Raises:
        UserError: no such run or episode.
        StoreError: a file is broken.
    """
    with RunStore.open(root) as store:
        if episode is not None:
            store.episode_dir(episode)
        trackers: dict[str, _Tracker] = {}
        while True:
            alive = _has_writer(root)  # before looking: what it wrote last is then seen
            names = [episode] if episode is not None else _begun(root)
            for name in names:
                tracker = trackers.setdefault(name, _Tracker(name, root / "episodes" / name))
                yield from tracker.news()
            open_ones = [name for name in names if not trackers[name].settled]
            waiting = episode is None and store.counts().get("planned", 0) > 0
            if not open_ones and not waiting:
                return
            if not alive:
                yield Gone(tuple(open_ones))
                return
            sleep(POLL_S)


class _Tracker:
    """How far an episode was told."""

    def __init__(self, name: str, root: Path) -> None:
        self._name = name
        self._root = root
        self._files = EpisodeFiles(root)
        self._seen: set[str] = set()
        self.settled = False

    def news(self) -> Iterator[Step]:
        for number in range(_MAX_ROUNDS):
            if not (self._root / "rounds" / str(number)).is_dir():
                break
            yield from self._round(number)
        record = self._root / "episode.json"
        if not self.settled and record.is_file():
            self.settled = True
            found = EpisodeRecord.model_validate_json(record.read_bytes())
            yield Step(self._name, len(found.rounds), found)

    def _round(self, number: int) -> Iterator[Step]:
        for name, kind in (("message", TextFile), ("turn", Turn), ("verdict", Verdict)):
            ref = self._files.ref(number, name)
            if ref not in self._seen and self._files.has(ref):
                self._seen.add(ref)
                yield Step(self._name, number, self._files.load(ref, kind))
        for visit in range(_MAX_ROUNDS):
            ref = self._files.ref(number, f"screen-{visit}")
            if not self._files.has(ref):
                return
            if ref not in self._seen:
                self._seen.add(ref)
                yield Step(self._name, number, self._files.load(ref, Draft))


def _begun(root: Path) -> list[str]:
    directory = root / "episodes"
    return sorted(p.name for p in directory.iterdir() if p.is_dir()) if directory.is_dir() else []


def _has_writer(root: Path) -> bool:
    """Whether a runner holds the run's lock; looked up without taking it from one that starts."""
    try:
        inode = (root / LOCK).stat().st_ino
        locks = Path("/proc/locks").read_text(encoding="ascii")
    except FileNotFoundError:
        return False
    return any(
        fields[1] == "FLOCK" and fields[5].rpartition(":")[2] == str(inode)
        for fields in map(str.split, locks.splitlines())
        if len(fields) > 5
    )
