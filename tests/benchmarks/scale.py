"""Orchestration alone against a bare LangGraph graph, and stores of 20,000 episodes.

    python -m tests.benchmarks.scale [--episodes N] [--rows N]

Orchestration: the process environment, instant executors, three feedback rounds, durable
checkpoints; CPU of this process, children not counted. The floor is a bare LangGraph graph with
the same number of supersteps, 2 kB of state and the same checkpointer, in the same run. The
stores are written by `settle`, then opened, summarised and put in order by new readers. Ends
with one line of JSON.
"""

import argparse
import asyncio
import json
import os
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypedDict

os.environ["LANGSMITH_TRACING"] = "false"

# langgraph's own annotations leave its generics partly unknown; this is where they end.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportArgumentType=false, reportCallIssue=false
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, StateGraph

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from player import run
from suite_builder import WRONG, write_task

from uniclaw.config import Budgets
from uniclaw.runner.ledger import Ledger
from uniclaw.runner.resume import recover
from uniclaw.runner.summary import row_summary
from uniclaw.store.records import EpisodeRecord
from uniclaw.store.run_store import Key, RunStore

ROUNDS = 4
SUPERSTEPS = 26
"""Of an episode of four rounds: provision, four of each step, settle."""
STATE_BYTES = 2_000


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
    """CPU seconds of one episode of four rounds, everything of ours included."""
    suite = write_task(directory, task={"budget": {"feedback_rounds": ROUNDS - 1}}, rounds=[WRONG])
    given: dict[str, object] = {"executor": ("null",), "parallel": 1}
    run(suite, directory / "runs", run="warm", **given)
    before = time.process_time()
    run(suite, directory / "runs", run="n", trials=episodes, **given)
    return (time.process_time() - before) / episodes


def _template(directory: Path) -> EpisodeRecord:
    suite = write_task(directory, rounds=[WRONG])
    return run(suite, directory / "runs", run="one").records[0]


def fill(store: RunStore, template: EpisodeRecord, rows: int) -> None:
    """Settle `rows` episodes like the template."""
    keys = [Key(template.task_id, template.cell, trial) for trial in range(rows)]
    store.plan([(key, f"e{trial:010d}") for trial, key in enumerate(keys)])
    for trial in range(rows):
        store.settle(template.model_copy(update={"episode_id": f"e{trial:010d}", "trial": trial}))


def timed(what: Callable[[], object]) -> float:
    """Wall seconds of a call."""
    before = time.monotonic()
    what()
    return time.monotonic() - before


def _opened(root: Path) -> None:
    with RunStore.open(root) as store:
        row_summary(store.brief_rows(), sum(store.counts().values()))


def _in_order(root: Path) -> None:
    with RunStore.open(root, write=True) as store:
        recover(store, docker=False)
        Ledger(Budgets()).load(store.brief_rows())


def stores(directory: Path, rows: int) -> dict[str, float]:
    """Seconds to settle, open, summarise and put in order a run of `rows` episodes."""
    template = _template(directory)
    with RunStore.create(directory / "many", "big", {"inputs": {}}) as store:
        filling = timed(lambda: fill(store, template, rows))
    root = directory / "many" / "big"
    return {
        "settle_ms": filling / rows * 1000,
        "open_and_summarise_s": statistics.median(timed(lambda: _opened(root)) for _ in range(3)),
        "resume_s": timed(lambda: _in_order(root)),
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--episodes", type=int, default=100)
    parser.add_argument("--rows", type=int, default=20_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as text:
        directory = Path(text)
        for name in ("a", "b", "c"):
            (directory / name).mkdir()
        bare = floor(directory / "a", options.episodes)
        ours = orchestration(directory / "b", options.episodes)
        found = stores(directory / "c", options.rows)
    result = {
        "floor_ms": round(bare * 1000, 1),
        "orchestration_ms": round(ours * 1000, 1),
        "ratio": round(ours / bare, 2),
        "rows": options.rows,
        **{key: round(value, 3) for key, value in found.items()},
        "peak_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000),
    }
    for key, value in result.items():
        print(f"{key:>22} {value}")
    print(json.dumps(result))


if __name__ == "__main__":
    main()
