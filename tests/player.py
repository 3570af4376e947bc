"""Plays a suite the way the command line does, quietly."""

from pathlib import Path

from uniclaw.runner.start import RunResult, play
from uniclaw.store.records import EpisodeRecord


class Quiet:
    """A watcher that says nothing."""

    def started(self, planned: object) -> None: ...

    def phase(self, planned: object, phase: str, round_number: int) -> None: ...

    def settled(self, planned: object, record: object) -> None: ...


def run(suite: Path | str, runs: Path, **given: object) -> RunResult:
    """Play; settings by name, the process environment by default."""
    settings: dict[str, object] = {
        "suite": str(suite),
        "environment": "process",
        "runs_dir": runs,
        "run": "r",
        **given,
    }
    return play(settings, environ={}, config=None, notify=lambda _: None, watch=lambda _: Quiet())


def only(result: RunResult) -> EpisodeRecord:
    """The one episode of a run."""
    assert len(result.records) == 1
    return result.records[0]
