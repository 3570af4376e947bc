"""Server times and page weights of the viewer over a run of 20,000 episodes.

    python -m tests.benchmarks.viewer [--rows N]

One episode of two rounds is played in the process environment; its record, with other names and
scores, is settled N times by the store itself, in 8 cells on 250 tasks. Every time is the median
over several requests to the application in this process; `cold` is the first one. The floor is
a bare Starlette page that reads one row and fills a Jinja template, in the same run. One episode
has a trajectory of 50 MB. Ends with one line of JSON.
"""

import argparse
import itertools
import json
import random
import re
import shutil
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import jinja2
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import Route
from starlette.testclient import TestClient

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from player import run
from suite_builder import write_task

from uniclaw.records import Event, EventKind, Outcome
from uniclaw.store.records import EpisodeRecord
from uniclaw.store.run_store import Key, RunStore
from uniclaw.viewer.app import build_app
from uniclaw.viewer.guard import Door
from uniclaw.viewer.render import Site

CELLS, TASKS = 8, 250
REPEATS = 7
LONG_BYTES = 50_000_000


def template_of(directory: Path) -> tuple[EpisodeRecord, Path]:
    """A real episode and its directory."""
    result = run(write_task(directory), directory / "runs", run="one")
    record = result.records[0]
    return record, result.root / "episodes" / record.episode_id


def fill(store: RunStore, template: EpisodeRecord, folder: Path, rows: int) -> None:
    """Settle `rows` episodes made from the template; each has the template's files."""
    rng = random.Random(0)
    places = [(t, c) for t in range(TASKS) for c in range(CELLS)]
    keys = [
        Key(
            f"task_{places[n % len(places)][0]:03d}",
            cell_name(template, places[n % len(places)][1]),
            n // len(places),
        )
        for n in range(rows)
    ]
    store.plan([(key, f"e{n:010d}") for n, key in enumerate(keys)])
    for number, key in enumerate(keys):
        episode_id = f"e{number:010d}"
        place = store.episode_dir(episode_id)
        (place / "rounds").mkdir(parents=True)
        for name in ("rounds", "evidence"):
            shutil.copytree(folder / name, place / name, dirs_exist_ok=True, copy_function=_link)
        _link(str(folder / "trajectory.jsonl"), str(place / "trajectory.jsonl"))
        passed = rng.random() < 0.3 + 0.05 * int(key.cell.rpartition(" ")[2])
        score = 1.0 if passed else round(rng.random() * 0.8, 3)
        store.settle(
            template.model_copy(
                update={
                    "episode_id": episode_id,
                    "task_id": key.task_id,
                    "family": key.task_id,
                    "capability": ("coding", "search", "office")[hash(key.task_id) % 3],
                    "cell": key.cell,
                    "trial": key.trial,
                    "outcome": Outcome.PASS if passed else Outcome.ROUNDS_EXHAUSTED,
                    "final_score": score,
                    "best_score": score,
                }
            )
        )


def _link(source: str, target: str) -> str:
    # Files of the template are the same for all: a hard link costs no space.
    Path(target).hardlink_to(source)
    return target


def cell_name(template: EpisodeRecord, number: int) -> str:
    """Cells like real ones."""
    return f"{template.cell} | variant {number}"


def lengthen(folder: Path) -> None:
    """Give an episode a trajectory of 50 MB: many events, and one of 6 MB."""
    file = folder / "trajectory.jsonl"
    file.unlink()
    with file.open("w", encoding="utf-8") as out:
        written = 0
        for number in itertools.count():
            if written >= LONG_BYTES:
                break
            size = 6_000_000 if number == 40 else 20_000
            event = Event(
                id=f"r{number % 2}.e{number}",
                round=number % 2,
                kind=EventKind.TOOL_RESULT if number % 3 else EventKind.TOOL_CALL,
                role="tool",
                text="0123456789 <b> " * (size // 15),
            )
            written += out.write(event.model_dump_json() + "\n")


class Measured:
    """Times in milliseconds and weights in kB by page."""

    def __init__(self) -> None:
        self.times: dict[str, dict[str, float]] = {}

    def page(self, name: str, get: Callable[[], bytes]) -> bytes:
        """Ask once cold, then several times."""
        before = time.perf_counter()
        data = get()
        cold = time.perf_counter() - before
        # What takes long is computed beside the page, which asks again.
        while b'data-live-reload="computing"' in data:
            time.sleep(0.05)
            data = get()
        ready = time.perf_counter() - before
        taken: list[float] = []
        for _ in range(REPEATS):
            start = time.perf_counter()
            data = get()
            taken.append(time.perf_counter() - start)
        self.times[name] = {
            "cold_ms": round(cold * 1000, 1),
            "ms": round(statistics.median(taken) * 1000, 1),
            "ready_s": round(ready, 2),
            "kb": round(len(data) / 1000, 1),
        }
        return data


def floor_app(file: Path) -> Starlette:
    """A bare page of one row."""
    template = jinja2.Environment(autoescape=True).from_string(
        "<!doctype html><title>{{ row[0] }}</title><p>{{ row[0] }} {{ row[1] }} {{ row[2] }}</p>"
    )

    def page(request: Request) -> HTMLResponse:
        with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as db:
            row = db.execute(
                "SELECT task_id, cell, outcome FROM episodes WHERE episode_id = ?",
                (request.path_params["id"],),
            ).fetchone()
        return HTMLResponse(template.render(row=row))

    return Starlette(routes=[Route("/{id}", page)])


def measure(runs: Path, rows: int) -> dict[str, dict[str, float]]:
    """All pages."""
    found = Measured()
    app = build_app(Site(runs=runs), Door(host="127.0.0.1", token=None))
    with (
        TestClient(floor_app(runs / "big" / "run.sqlite")) as bare,
        TestClient(app, base_url="http://127.0.0.1") as client,
    ):
        middle = f"e{rows // 2:010d}"

        def get(address: str) -> Callable[[], bytes]:
            def ask() -> bytes:
                answer = client.get(address)
                assert answer.status_code == 200, (address, answer.status_code)
                return answer.content

            return ask

        found.page("floor", lambda: bare.get(f"/{middle}").content)
        found.page("runs (first page)", get("/"))
        found.page("episode", get(f"/r/big/e/{middle}"))
        for lens in ("executor", "simulator", "supervisor", "referee"):
            found.page(f"episode, {lens}", get(f"/r/big/e/{middle}?lens={lens}"))
        found.page("episode of 50 MB", get("/r/big/e/e0000000001"))
        found.page("its events", get("/r/big/e/e0000000001/events/0?page=9"))
        found.page("episodes", get("/r/big/episodes"))
        found.page("episodes, last page", get("/r/big/episodes?page=200"))
        found.page("episodes, filtered", get("/r/big/episodes?q=task_04&sort=best&dir=desc"))
        found.page("matrix", get("/r/big/matrix"))
        found.page("tasks", get("/r/big/tasks"))
        found.page("task", get("/r/big/tasks/task_042"))
        found.page("overview, leaderboard", get("/r/big"))
        cells = sorted(
            set(
                re.findall(
                    r'<option value="([^"]+ variant \d)"', client.get("/r/big/episodes").text
                )
            )
        )
        found.page("compare", get(f"/r/big/compare?a={cells[0]}&b={cells[-1]}"))
        found.page("ablation", get("/r/big/ablation"))
        found.page("live fragment", get("/r/big/live.json"))
    return found.times


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000)
    options = parser.parse_args()
    # Settling waits for the disk at every step; in memory it does not, and pages are read from
    # the page cache in either case.
    memory = "/dev/shm" if Path("/dev/shm").is_dir() else None
    with tempfile.TemporaryDirectory(dir=memory) as text:
        directory = Path(text)
        template, folder = template_of(directory)
        before = time.monotonic()
        with RunStore.create(directory / "many", "big", {"settings": {}}) as store:
            fill(store, template, folder, options.rows)
        filling = time.monotonic() - before
        lengthen(directory / "many" / "big" / "episodes" / "e0000000001")
        pages = measure(directory / "many", options.rows)
    print(f"{options.rows} episodes settled in {filling:.0f} s")
    print(f"{'page':>24} {'cold ms':>9} {'ms':>7} {'x floor':>8} {'kB':>7} {'whole s':>8}")
    floor = pages["floor"]["ms"]
    for name, line in pages.items():
        ratio = line["ms"] / floor
        print(
            f"{name:>24} {line['cold_ms']:9.1f} {line['ms']:7.1f} {ratio:8.1f} {line['kb']:7.1f}"
            f" {line['ready_s']:8.2f}"
        )
    print(json.dumps({"rows": options.rows, "floor_ms": floor, "pages": pages}))


if __name__ == "__main__":
    main()
