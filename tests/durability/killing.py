"""Plays runs in real processes that can be killed, and looks at what a resume makes of them."""

import json
import signal
from collections.abc import Mapping
from multiprocessing import get_context
from multiprocessing.context import ForkServerProcess
from pathlib import Path

from player import Quiet, run
from pydantic import JsonValue
from suite_builder import RIGHT, RUBRIC, WRONG, write_script, write_task

from uniclaw.environments.process import base_directory
from uniclaw.failpoints import LOG_VARIABLE, VARIABLE, arm
from uniclaw.runner.resume import Recovered, resume
from uniclaw.runner.start import RunResult
from uniclaw.store.run_store import RunStore

# A fork server keeps the imports, so that a killed runner costs no start-up.
_CONTEXT = get_context("forkserver")
_CONTEXT.set_forkserver_preload(
    [
        "uniclaw.runner.resume",
        "uniclaw.models.scripted",
        "langgraph.checkpoint.sqlite.aio",
        "pytest",
    ]
)

JUDGED: Mapping[str, JsonValue] = {
    **RUBRIC,
    "checkpoints": [
        {"id": "polite", "weight": 1.0, "description": "Polite.", "check": {"kind": "judge"}}
    ],
    "references": [],
}


def judged_suite(root: Path, tasks: int = 1) -> tuple[Path, Mapping[str, object]]:
    """Tasks with a judge and a user model, so that every node and every kind of call occurs."""
    suite = root / "suite"
    for number in range(tasks):
        suite = write_task(
            root, task_id=f"t{number}", rubric=JUDGED, rounds=(WRONG, RIGHT), references={}
        )

    def line(met: float) -> JsonValue:
        return {"id": "polite", "met": met, "evidence": ["r0.e0"], "reason": "as seen"}

    judge = write_script(
        root / "judge.yaml",
        [
            {"when": {"seen": "It is three"}, "reply": {"json": {"lines": [line(1.0)]}}},
            {"when": {}, "reply": {"json": {"lines": [line(0.0)]}}},
        ],
    )
    user = write_script(
        root / "user.yaml", [{"when": {}, "reply": {"json": {"message": "Count again, please."}}}]
    )
    return suite, {"supervisor": (judge,), "user_simulator": (user,)}


def _play(suite: str, runs: Path, given: Mapping[str, object], environ: Mapping[str, str]) -> None:
    arm(environ)
    run(suite, runs, **given)


def _resume(root: Path, environ: Mapping[str, str], assets: Path | None) -> None:
    arm(environ)
    completed(root, assets)


def played(
    suite: Path,
    runs: Path,
    given: Mapping[str, object],
    *,
    failpoint: str = "",
    log: Path | None = None,
    kill_after_s: float | None = None,
) -> bool:
    """Play in a process of its own; True when it was killed."""
    environ = {VARIABLE: failpoint, LOG_VARIABLE: str(log) if log else ""}
    process = _CONTEXT.Process(target=_play, args=(str(suite), runs, dict(given), environ))
    return _watched(process, kill_after_s)


def resumed_and_killed(
    root: Path, *, kill_after_s: float | None = None, at: str = "", assets: Path | None = None
) -> bool:
    """Resume in a process of its own; True when it was killed."""
    environ = {VARIABLE: at, LOG_VARIABLE: ""}
    process = _CONTEXT.Process(target=_resume, args=(root, environ, assets))
    return _watched(process, kill_after_s)


def _watched(process: ForkServerProcess, kill_after_s: float | None) -> bool:
    process.start()
    process.join(kill_after_s if kill_after_s is not None else 120)
    if process.is_alive():
        process.kill()
        process.join()
    code = process.exitcode
    assert code in (0, -signal.SIGKILL), f"the runner ended with {code}"
    return code == -signal.SIGKILL


def completed(root: Path, assets: Path | None = None) -> tuple[RunResult, Recovered]:
    """Resume in this process."""
    return resume(
        root, environ={}, notify=lambda _: None, watch=lambda _: Quiet(), assets_dir=assets
    )


def answers(root: Path) -> list[tuple[str, str]]:
    """(role, request) of every call that was paid, over all attempts."""
    with RunStore.open(root) as store:
        return [
            (call.role, call.request)
            for _, base, _ in _attempts(store)
            for call in store.calls(base)
            if call.ok and not call.reused
        ]


def _attempts(store: RunStore) -> list[tuple[str, str, int]]:
    bases = [row["episode_id"] for row in store.rows()]
    found: list[tuple[str, str, int]] = []
    for episode in bases:
        base = str(episode).partition("-a")[0]
        found += [(a.base_id, a.episode_id, a.attempt) for a in store.attempts.of(base)]
    return found


def leftovers(run_name: str) -> list[str]:
    """Directories of the process adapter that belong to a run."""
    found: list[str] = []
    for home in base_directory().iterdir():
        mark = home / "run"
        if mark.is_file() and mark.read_text(encoding="utf-8") == run_name:
            found.append(home.name)
    return found


def half_written(root: Path) -> list[str]:
    """Files that were left half-written."""
    return [p.name for p in root.rglob(".uniclaw-*")]


def assert_whole(root: Path, tasks: int, cells: int = 1) -> None:
    """One row per key, every file readable, nothing left behind, attempts kept and counted."""
    with RunStore.open(root) as store:
        rows = store.rows()
        keys = {(r["task_id"], r["cell"], r["trial"]) for r in rows}
        assert len(rows) == len(keys) == tasks * cells
        assert store.unfinished() == []
        assert store.attempts.open() == []
        for record in store.episodes():
            assert record.outcome.value == "pass", record.reason
            assert [r.verdict.score for r in record.rounds if r.verdict][-1] == 1.0
            known = store.attempts.of(record.episode_id.partition("-a")[0])
            assert len(known) == record.attempt == len(record.earlier) + 1
            assert [a.state for a in known] == ["cut"] * (record.attempt - 1) + ["settled"]
            for number in range(len(record.rounds)):
                turn = store.episode_dir(record.episode_id) / "rounds" / str(number) / "turn.json"
                assert json.loads(turn.read_text(encoding="utf-8"))
    assert leftovers(root.name) == []
    assert half_written(root) == []
