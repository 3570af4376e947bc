"""Episodes per minute in Docker at several parallelisms, against the engine itself.

An episode of ours is watched once through the engine's events. The floor then makes the same
number of creates, starts, commands, copies and removes with the bare SDK: one process, as many
threads as episodes play at a time. Its commands are `sh -c true`, and `python3 -I -c pass` for
each check in Python.
"""

import io
import json
import secrets
import tarfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Generator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

# docker's own annotations are partly unknown; this benchmark measures the bare SDK on purpose.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false
import docker
from player import Quiet
from pydantic import JsonValue
from suite_builder import RIGHT, RUBRIC, WRONG, write_task

from uniclaw.assets import Assets, default_roots
from uniclaw.environments.images import Images
from uniclaw.runner.start import RunResult, play

LEVELS = (1, 2, 4, 8)
LABEL = "uniclaw.benchmark"
IDLE = "trap 'exit 0' TERM; while :; do sleep 2147483647 & wait $!; done"
CHECKS = """
def right(evidence, references):
    found = evidence.json("out.json")
    return 1.0 if isinstance(found, dict) and found.get("n") == 3 else 0.0
"""


class Work(NamedTuple):
    """What one episode asks of the engine."""

    containers: int
    commands: int
    graders: int
    """Of the commands, those that start Python."""
    copies_in: int
    copies_out: int


class Clock(Quiet):
    """Time from the first episode's start to the last one's row; preparation is left out."""

    def __init__(self) -> None:
        self.began = self.ended = 0.0

    def started(self, planned: object) -> None:
        self.began = self.began or time.monotonic()

    def settled(self, planned: object, record: object) -> None:
        self.ended = time.monotonic()


def suite_of(directory: Path) -> Path:
    """Two rounds, judged by Python in a grader's container."""
    lines: JsonValue = [
        {
            "id": "right",
            "weight": 1.0,
            "description": "The answer agrees with the ledger of the harbour office.",
            "check": {"kind": "python", "function": "right"},
        }
    ]
    suite = write_task(directory, rubric={**RUBRIC, "checkpoints": lines}, rounds=[WRONG, RIGHT])
    (directory / "hidden" / "count" / "checks.py").write_text(CHECKS, encoding="utf-8")
    return suite


def ours(suite: Path, directory: Path, *, episodes: int, parallel: int) -> tuple[str, float]:
    """Play; the run's name and its episodes per minute."""
    name, clock = f"scale-{secrets.token_hex(4)}", Clock()
    given: dict[str, object] = {
        "suite": str(suite),
        "runs_dir": directory,
        "run": name,
        "trials": episodes,
        "parallel": parallel,
    }
    result: RunResult = play(
        given, environ={}, config=None, notify=lambda _: None, watch=lambda _: clock
    )
    if result.exit_code or result.totals.passed != episodes:
        raise SystemExit(f"not played as planned: {result.headline}")
    return name, episodes / (clock.ended - clock.began) * 60


@contextmanager
def watched() -> Generator[Callable[[str], Counter[str]]]:
    """Listen to the engine; the value counts what happened to the containers of a run."""
    api = docker.APIClient(timeout=600)
    found: list[Mapping[str, object]] = []
    events = api.events(decode=True, filters={"type": "container"})

    def listen() -> None:
        found.extend(events)

    thread = threading.Thread(target=listen, daemon=True)
    thread.start()

    def counts(run: str) -> Counter[str]:
        time.sleep(1.0)
        actions = [str(e["Action"]) for e in found if f'"{run}"' in json.dumps(e.get("Actor"))]
        counted = Counter(action.partition(":")[0] for action in actions)
        counted["graders"] = sum(a.startswith("exec_start") and "python3" in a for a in actions)
        return counted

    try:
        yield counts
    finally:
        events.close()
        api.close()


def measured_work(suite: Path, directory: Path) -> Work:
    """What one episode makes the engine do."""
    with watched() as counts:
        name, _ = ours(suite, directory, episodes=1, parallel=1)
        found = counts(name)
    return Work(
        containers=found["create"],
        commands=found["exec_start"],
        graders=found["graders"],
        copies_in=found["extract-to-dir"],
        copies_out=found["archive-path"],
    )


def floor(image: str, work: Work, *, episodes: int, parallel: int) -> float:
    """Episodes per minute of the bare SDK."""
    clients = threading.local()

    def one(_: int) -> None:
        if not hasattr(clients, "api"):
            clients.api = docker.APIClient(timeout=600)
        _bare_episode(clients.api, image, work)

    begun = time.monotonic()
    with ThreadPoolExecutor(parallel) as pool:
        list(pool.map(one, range(episodes)))
    return episodes / (time.monotonic() - begun) * 60


def _bare_episode(api: docker.APIClient, image: str, work: Work) -> None:
    config = api.create_host_config(network_mode="none", mem_limit=2_000_000_000, init=True)
    made: list[str] = []
    try:
        for _ in range(work.containers):
            created = api.create_container(
                image, ["sh", "-c", IDLE], host_config=config, labels={LABEL: "floor"}
            )
            made.append(str(created["Id"]))
            api.start(made[-1])
        for _ in range(work.copies_in):
            api.put_archive(made[0], "/tmp", _archive())
        for number in range(work.commands):
            grades = number < work.graders
            command = ["python3", "-I", "-c", "pass"] if grades else ["sh", "-c", "true"]
            handle = api.exec_create(made[0], command)
            api.exec_start(handle["Id"])
            api.exec_inspect(handle["Id"])
        for _ in range(work.copies_out):
            stream, _ = api.get_archive(made[0], "/tmp/a")
            b"".join(stream)
    finally:
        for container in made:
            api.remove_container(container, force=True, v=True)


def _archive() -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        info = tarfile.TarInfo("a")
        info.size = 1000
        tar.addfile(info, io.BytesIO(b"x" * 1000))
    return buffer.getvalue()


def throughput(directory: Path, episodes: int, repeat: int = 2) -> dict[str, JsonValue]:
    """The table by parallelism; floor and ours take turns, so that other load meets both."""
    image = Images(Assets(default_roots(None))).build("base").tag
    suite = suite_of(directory)
    work = measured_work(suite, directory / "warm")
    floor(image, work, episodes=1, parallel=1)
    best: dict[str, dict[int, float]] = {"floor": {}, "ours": {}}
    for level in LEVELS:
        for _ in range(repeat):
            count = max(episodes, level)
            bare = floor(image, work, episodes=count, parallel=level)
            _, own = ours(suite, directory / "runs", episodes=count, parallel=level)
            best["floor"][level] = max(best["floor"].get(level, 0.0), bare)
            best["ours"][level] = max(best["ours"].get(level, 0.0), own)
    top = max(LEVELS, key=lambda level: best["floor"][level])
    return {
        "docker_work": work._asdict(),
        "docker_per_minute": {
            str(level): {name: round(best[name][level], 1) for name in best} for level in LEVELS
        },
        "docker_ratio": {
            str(level): round(best["ours"][level] / best["floor"][level], 2) for level in LEVELS
        },
        "docker_best_of_floor": top,
        "docker_ratio_at_best": round(best["ours"][top] / best["floor"][top], 2),
        "docker_best_against_best": round(
            max(best["ours"].values()) / max(best["floor"].values()), 2
        ),
    }
