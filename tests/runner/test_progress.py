"""What a run says while it plays: a live table on a terminal, lines in a pipe."""

import io
from collections.abc import Sequence
from pathlib import Path

import pytest
from player import run
from rich.console import Console
from suite_builder import RIGHT, WRONG, write_task

from uniclaw.assets import Assets, default_roots
from uniclaw.cli.progress import SHOWN_CELLS, Progress
from uniclaw.config import RunSettings
from uniclaw.experiment import Planned, plan
from uniclaw.records import Outcome, RoleUsage
from uniclaw.runner.progress import Tally
from uniclaw.store.records import EpisodeRecord
from uniclaw.suites import load_suite


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Planned], list[EpisodeRecord]]:
    root = tmp_path_factory.mktemp("progress")
    write_task(root, task_id="one", rounds=(RIGHT,))
    suite = write_task(root, task_id="two", rounds=(WRONG, WRONG, WRONG))
    settings = RunSettings(suite=str(suite), firewall=("sealed", "open"))
    assets = Assets(default_roots(None, environ={}))
    planned = plan("r", settings, load_suite(str(suite), assets=assets))
    planned.sort(key=lambda p: p.bundle.task_id)
    records = run(suite, root / "runs", firewall=("sealed", "open")).records
    by_id = {r.episode_id: r for r in records}
    return planned, [by_id[p.episode_id] for p in planned]


def took(record: EpisodeRecord, seconds: float, **changes: object) -> EpisodeRecord:
    return record.model_copy(update={"seconds": {"wall": seconds}, **changes})


def shown(progress: Progress, width: int = 140) -> str:
    console = Console(file=io.StringIO(), width=width)
    with console.capture() as capture:
        console.print(progress.table())
    return capture.get()


def console(*, terminal: bool) -> Console:
    return Console(file=io.StringIO(), force_terminal=terminal, width=140, highlight=False)


def text_of(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


Played = tuple[Sequence[Planned], Sequence[EpisodeRecord]]


def test_cells_rates_cost_failures_and_the_end_are_counted(played: Played) -> None:
    planned, records = played
    clock = Clock()
    tally = Tally(planned, clock)
    assert tally.eta_s is None
    for item in planned[:2]:
        tally.started(item)
    clock.now = 10.0
    paid = {"executor": RoleUsage(calls=1, cost_usd=0.5)}
    tally.settled(planned[0], took(records[0], 10.0, usage=paid))
    assert (tally.all.done, tally.all.total, tally.all.pass_rate) == (1, 4, 1.0)
    # Three are open, one of them for ten seconds, two play at a time.
    assert tally.eta_s == 10.0
    lost = took(records[1], 30.0, outcome=Outcome.JUDGE_ERROR, reason="?", usage={})
    tally.settled(planned[1], lost)
    assert (tally.all.usd, tally.all.scored) == (0.5, 1)
    assert tally.cells[records[1].cell].failures == {"judge_error": 1}
    unknown = {"executor": RoleUsage(calls=1, cost_usd=None)}
    tally.settled(planned[2], took(records[2], 1.0, usage=unknown))
    assert not tally.all.cost_known


def test_the_table_shows_cells_and_what_plays_now(played: Played) -> None:
    planned, records = played
    clock = Clock()
    progress = Progress(planned, quiet=True, tally=Tally(planned, clock))
    progress.started(planned[0])
    progress.phase(planned[0], "execute", 0)
    clock.now = 5.0
    text = shown(progress)
    assert "0 of 4 episodes, 5 s so far, unknown left" in text
    assert f"{planned[0].bundle.task_id}: execute (round 0), 5 s" in text
    lost = took(records[0], 5.0, outcome=Outcome.RATE_LIMITED, reason="429", usage={})
    progress.settled(planned[0], lost)
    progress.started(planned[1])
    progress.settled(planned[1], took(records[1], 5.0, usage={}))
    text = shown(progress)
    first = next(line for line in text.splitlines() if "sealed" in line)
    assert "━━━━━━━━         1/2" in first
    assert "1 rate_limited" in first
    assert text.splitlines()[-1].split()[0] == "all"


def test_many_cells_are_cut_and_counted(played: Played) -> None:
    planned, _ = played
    many = [
        p._replace(axes=p.axes.model_copy(update={"persona": f"p{n}"}))
        for n in range(20)
        for p in planned[:1]
    ]
    assert f"... and {20 - SHOWN_CELLS} more cells" in shown(Progress(many, quiet=True))


def test_a_pipe_gets_plain_lines(played: Played) -> None:
    planned, records = played
    out = console(terminal=False)
    progress = Progress(planned, console=out)
    for item, record in zip(planned, records, strict=True):
        progress.started(item)
        progress.phase(item, "execute", 0)
        progress.settled(item, record)
    lines = text_of(out).splitlines()
    assert [line.split(" ")[0] for line in lines] == ["[1/4]", "[2/4]", "[3/4]", "[4/4]"]
    assert "\x1b" not in text_of(out)
    assert "left)" in lines[0]
    assert "50% pass)" in lines[3]
    assert records[0].cell in lines[0]


def test_a_terminal_gets_a_table_that_goes_away(played: Played) -> None:
    planned, records = played
    out = console(terminal=True)
    progress = Progress(planned, console=out)
    for item in planned:
        progress.started(item)
    assert "episodes" in text_of(out)
    for item, record in zip(planned, records, strict=True):
        progress.settled(item, record)
    text = text_of(out)
    assert text.rstrip().endswith(f"[{records[-1].cell}]")
    assert text.count("\x1b[?25l") == text.count("\x1b[?25h")  # the cursor is there again
    progress.close()


def test_a_quiet_run_says_nothing(played: Played) -> None:
    planned, records = played
    out = console(terminal=True)
    progress = Progress(planned, console=out, quiet=True)
    progress.started(planned[0])
    progress.settled(planned[0], records[0])
    assert text_of(out) == ""


def test_markup_in_names_is_only_text(played: Played) -> None:
    planned, _ = played
    axes = planned[0].axes.model_copy(update={"persona": "[red]x[/nope]"})
    progress = Progress([planned[0]._replace(axes=axes)], quiet=True)
    assert "[red]x[/nope]" in shown(progress)


def test_stdout_stays_one_json_document(tmp_path: Path) -> None:
    import json
    import subprocess
    import sys

    suite = write_task(tmp_path)
    command = [sys.executable, "-m", "uniclaw.cli", "run", str(suite), "--environment", "process"]
    command += ["--runs-dir", str(tmp_path / "runs"), "--run", "r", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    assert json.loads(done.stdout)["summary"]["passed"] == 1
    assert "[1/1] count  pass" in done.stderr
