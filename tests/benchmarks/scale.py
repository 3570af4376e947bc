"""How a run scales: orchestration, many episodes, large stores, and Docker at several at a time.

    python -m tests.benchmarks.scale [--episodes N] [--played N] [--rows N] [--docker N]

- Orchestration: the process environment, instant executors, three feedback rounds, durable
  checkpoints; CPU of this process, children not counted, against a bare LangGraph graph with
  the same number of supersteps, 2 kB of state and the same checkpointer. They take turns.
- Many episodes: `--played` of them in one run; CPU of the last hundred against the first, and
  the peak of memory. `--played 20000` takes an hour.
- Stores: a run of `--rows` settled episodes is opened, summarised and resumed.
- Docker: `--docker` episodes at 1, 2, 4 and 8 at a time against the engine itself; 0 skips it.

Takes about three minutes on two free cores. Ends with one line of JSON.
"""

import argparse
import asyncio
import json
import os
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import TypedDict

os.environ["LANGSMITH_TRACING"] = "false"

# langgraph's own annotations leave its generics partly unknown; this is where they end.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportArgumentType=false, reportCallIssue=false
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, StateGraph

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from player import Quiet, run
from pydantic import JsonValue
from suite_builder import WRONG, write_task

from tests.benchmarks.scale_docker import throughput
from uniclaw.assets import Assets, default_roots
from uniclaw.experiment import plan
from uniclaw.runner.resume import resume, stored_document, stored_settings
from uniclaw.runner.start import RunResult, play
from uniclaw.runner.summary import totals
from uniclaw.store.run_store import RunStore
from uniclaw.suites import load_suite

ROUNDS = 4
SUPERSTEPS = 26
"""Of an episode of four rounds: provision, four of each step, settle."""
STATE_BYTES = 2_000
WINDOW = 100
MOST_TRIALS = 1000
INSTANT: Mapping[str, object] = {"executor": ("null",), "parallel": 1}


class _State(TypedDict):
    step: int
    text: str


async def _step(state: _State) -> _State:
    return {"step": state["step"] + 1, "text": "x" * STATE_BYTES}


def _next(state: _State) -> str:
    return END if state["step"] >= SUPERSTEPS else "a"


def floor(directory: Path, episodes: int) -> float:
    """CPU seconds of an episode's supersteps in a bare graph."""
    graph = StateGraph(_State)
    graph.add_node("a", _step)
    graph.add_edge(START, "a")
    graph.add_conditional_edges("a", _next, [END, "a"])

    async def play() -> float:
        async with AsyncSqliteSaver.from_conn_string(str(directory / "floor.sqlite")) as saver:
            app = graph.compile(checkpointer=saver)
            before = time.process_time()
            for number in range(episodes):
                config = {"configurable": {"thread_id": str(number)}, "recursion_limit": 100}
                await app.ainvoke({"step": 0, "text": ""}, config, durability="sync")
            return time.process_time() - before

    return asyncio.run(play()) / episodes


def orchestration(directory: Path, episodes: int) -> float:
    """CPU seconds of one episode of four rounds, everything of ours but the run's own start."""
    marks = played(directory, "n", episodes)[1]
    return (marks.cpu[-1] - marks.cpu[0]) / episodes


def suite_of(directory: Path, episodes: int = 1) -> tuple[Path, int]:
    """A suite that no round solves, and the trials that make so many episodes of it."""
    tasks = -(-episodes // MOST_TRIALS)
    suite = directory / "suite"
    for number in range(tasks):
        budget: JsonValue = {"feedback_rounds": ROUNDS - 1}
        suite = write_task(directory, task_id=f"t{number}", task={"budget": budget}, rounds=[WRONG])
    return suite, episodes // tasks


def in_turns(directory: Path, episodes: int, repeat: int) -> dict[str, JsonValue]:
    """Orchestration and its floor, several times."""
    bare: list[float] = []
    ours: list[float] = []
    for number in range(repeat + 1):
        for name in ("a", "b"):
            (directory / f"{name}{number}").mkdir()
        count = episodes if number else 3
        bare.append(floor(directory / f"a{number}", count))
        ours.append(orchestration(directory / f"b{number}", count))
    # The first turn was to warm up.
    ratios = [a / b for a, b in zip(ours[1:], bare[1:], strict=True)]
    return {
        "floor_ms": round(statistics.median(bare[1:]) * 1000, 1),
        "orchestration_ms": round(statistics.median(ours[1:]) * 1000, 1),
        "ratio": round(statistics.median(ratios), 2),
        "ratio_min": round(min(ratios), 2),
        "ratio_max": round(max(ratios), 2),
    }


# --- many episodes -----------------------------------------------------------------------


class Marks(Quiet):
    """CPU and memory of this process at the start of the first episode, and as each is settled."""

    def __init__(self) -> None:
        self.cpu: list[float] = []
        self.rss: list[float] = []

    def started(self, planned: object) -> None:
        if not self.cpu:
            self.settled(planned, planned)

    def settled(self, planned: object, record: object) -> None:
        self.cpu.append(time.process_time())
        if len(self.cpu) % 100 == 1:
            self.rss.append(memory_mb("VmRSS"))


def played(directory: Path, name: str, episodes: int) -> tuple[RunResult, Marks]:
    """Play so many instant episodes in one run."""
    marks = Marks()
    suite, trials = suite_of(directory, episodes)
    given: dict[str, object] = {
        "suite": str(suite),
        "environment": "process",
        "runs_dir": directory / "runs",
        "run": name,
        "trials": trials,
        **INSTANT,
    }
    result = play(given, environ={}, config=None, notify=lambda _: None, watch=lambda _: marks)
    return result, marks


def memory_mb(what: str) -> float:
    """Of this process, as the kernel has it: `VmRSS`, or `VmHWM` for the peak."""
    text = Path("/proc/self/status").read_text(encoding="utf-8")
    line = next(x for x in text.splitlines() if x.startswith(what))
    return round(int(line.split()[1]) / 1000, 1)


def many(directory: Path, episodes: int) -> dict[str, JsonValue]:
    """Play that many in one run; meant for a process of its own."""
    began = time.monotonic()
    result, marks = played(directory, "many", episodes)
    wall = time.monotonic() - began
    window = min(WINDOW, episodes // 2)
    start = min(10, episodes // 10)
    first = (marks.cpu[start + window] - marks.cpu[start]) / window
    last = (marks.cpu[-1] - marks.cpu[-1 - window]) / window
    files = (directory / "runs" / "many").glob("checkpoints.sqlite*")
    return {
        "played": result.totals.settled,
        "wall_per_episode_ms": round(wall / episodes * 1000, 1),
        "first_ms": round(first * 1000, 1),
        "last_ms": round(last * 1000, 1),
        "last_to_first": round(last / first, 2),
        "peak_mb": memory_mb("VmHWM"),
        "rss_mb_by_hundred": [*marks.rss] if episodes <= 2000 else [*marks.rss[::10]],
        "checkpoints_kb_per_episode": round(
            sum(f.stat().st_size for f in files) / 1000 / episodes, 1
        ),
    }


# --- large stores ------------------------------------------------------------------------


def large(directory: Path, rows: int) -> Path:
    """A run of `rows` settled episodes: one trial is played, the others are its copies."""
    suite_dir, trials = suite_of(directory, rows)
    one = run(suite_dir, directory / "runs", run="large", **INSTANT)
    root = one.root
    with RunStore.open(root) as store:
        stored = stored_document(store)
    settings = stored_settings(stored, root).model_copy(update={"trials": trials})
    document = {**stored, "settings": settings.model_dump(mode="json")}
    assets = Assets(default_roots(None))
    planned = plan("large", settings, load_suite(settings.suite, assets=assets), assets)
    with closing(sqlite3.connect(root / "run.sqlite")) as db, db:
        db.execute("UPDATE meta SET value = ? WHERE key = 'settings'", (json.dumps(document),))
        for record in one.records:
            copies = {
                p.episode_id: p.trial
                for p in planned
                if p.trial and p.bundle.task_id == record.task_id
            }
            for table in ("episodes", "attempts", "rounds", "checkpoints"):
                _copies(db, table, record.episode_id, copies)
            _files(root / "episodes", record.episode_id, copies)
    return root


def _copies(db: sqlite3.Connection, table: str, episode: str, copies: Mapping[str, int]) -> None:
    cursor = db.execute(f"SELECT * FROM {table} WHERE episode_id = ?", (episode,))
    names = [str(column[0]) for column in cursor.description]
    marks = ", ".join("?" for _ in names)

    def copied(name: str, value: object, other: str) -> object:
        if name == "trial":
            return copies[other]
        return value.replace(episode, other) if isinstance(value, str) else value

    for row in cursor.fetchall():
        db.executemany(
            f"INSERT INTO {table} VALUES ({marks})",
            [[copied(n, v, other) for n, v in zip(names, row, strict=True)] for other in copies],
        )


def _files(home: Path, episode: str, copies: Mapping[str, int]) -> None:
    text = (home / episode / "episode.json").read_text(encoding="utf-8")
    for other, trial in copies.items():
        (home / other / "rounds" / "0").mkdir(parents=True)
        copy = text.replace(episode, other).replace('"trial": 0', f'"trial": {trial}')
        (home / other / "episode.json").write_text(copy, encoding="utf-8")


def timed(what: Callable[[], object]) -> float:
    """Wall seconds of a call."""
    before = time.monotonic()
    what()
    return time.monotonic() - before


def _opened(root: Path) -> None:
    with RunStore.open(root) as store:
        totals(store.brief_rows(), sum(store.counts().values()))


def _resumed(root: Path) -> None:
    result, _ = resume(root, environ={}, notify=lambda _: None, watch=lambda _: Quiet())
    if result.totals.settled != result.planned:
        raise SystemExit(f"not whole: {result.headline}")


def stores(directory: Path, rows: int) -> dict[str, JsonValue]:
    """Seconds to open and summarise, and to resume, a run of `rows` episodes."""
    root = large(directory, rows)
    opening = [timed(lambda: _opened(root)) for _ in range(3)]
    resuming = [timed(lambda: _resumed(root)) for _ in range(3)]
    return {
        "rows": rows,
        "open_and_summarise_s": round(statistics.median(opening), 2),
        "resume_s": round(statistics.median(resuming), 2),
        "stores_peak_mb": memory_mb("VmHWM"),
    }


def _apart(part: str, number: int) -> dict[str, JsonValue]:
    """A part in a process of its own, so that its peak of memory is its own."""
    command = [sys.executable, "-m", "tests.benchmarks.scale", "--only", part, str(number)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--episodes", type=int, default=40)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--played", type=int, default=400)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--docker", type=int, default=8)
    parser.add_argument("--only", nargs=2, metavar=("PART", "N"), help="many, stores or docker")
    options = parser.parse_args()
    result: dict[str, JsonValue] = {}
    with tempfile.TemporaryDirectory() as text:
        directory = Path(text)
        if options.only:
            part, number = options.only[0], int(options.only[1])
            print(json.dumps(PARTS[part](directory, number)))
            return
        result |= in_turns(directory, options.episodes, options.repeat)
    for part, number in (
        ("many", options.played),
        ("stores", options.rows),
        ("docker", options.docker),
    ):
        result |= _apart(part, number) if number else {}
    for key, value in result.items():
        print(f"{key:>26} {value}")
    print(json.dumps(result))


PARTS: Mapping[str, Callable[[Path, int], dict[str, JsonValue]]] = {
    "many": many,
    "stores": stores,
    "docker": throughput,
}


if __name__ == "__main__":
    main()
