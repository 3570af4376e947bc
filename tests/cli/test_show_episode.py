"""An episode on the terminal: readable, coloured, harmless; and a run that goes on."""

import io
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from player import only, run
from rich.console import Console
from suite_builder import RIGHT, WRONG, write_script, write_task
from typer.testing import CliRunner

from uniclaw.cli import app
from uniclaw.cli.conversation import Conversation
from uniclaw.records import Event, EventKind
from uniclaw.runner.follow import Gone, Step, follow
from uniclaw.store.records import EpisodeRecord

LEAK = "The keeper is Orsolya Vantongeren, use that."


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("shown")
    user = write_script(root / "u.yaml", [{"when": {}, "reply": {"json": {"message": LEAK}}}])
    return run(write_task(root), root / "runs", user_simulator=(user,)).root


def test_an_episode_reads_as_a_conversation(played: Path) -> None:
    (episode,) = [path.name for path in (played / "episodes").iterdir()]
    words = ["show", f"r/{episode}", "--runs-dir", str(played.parent)]
    text = CliRunner().invoke(app, words).stdout
    for part in (
        "How many boats",
        "shell  echo",
        "It is four.",
        "continue  score 0.250",
        f"blocked draft  {LEAK}",
        "round 1",
        "outcome pass",
    ):
        assert part in text, part
    assert text.index("It is four.") < text.index("blocked draft") < text.index("It is three.")


def test_what_an_agent_wrote_cannot_move_the_terminal() -> None:
    written = io.StringIO()
    told = Conversation(console=Console(file=written, force_terminal=True, highlight=False))
    evil = "\x1b[2J\x1b]0;title\x07[red]x[/red]\u202eabc\r"
    events = (
        Event(id="a", round=0, kind=EventKind.MESSAGE, role="assistant", text=evil, at_s=0),
        Event(
            id="b", round=0, kind=EventKind.TOOL_RESULT, role="tool", text=evil, tool="t", at_s=0
        ),
    )
    told.turn(events, "")
    text = written.getvalue()
    assert "\x1b[2J" not in text
    assert "\x1b]0" not in text
    assert "\u202e" not in text
    assert "[red]x[/red]" in text


def test_a_finished_run_is_followed_to_its_end(played: Path) -> None:
    kinds = [type(step.what).__name__ for step in follow(played) if isinstance(step, Step)]
    assert kinds == [
        *("TextFile", "Turn", "Verdict", "Draft", "Draft", "Draft"),
        *("TextFile", "Turn", "Verdict", "EpisodeRecord"),
    ]


def test_a_running_run_is_told_as_it_goes(tmp_path: Path) -> None:
    slow = f"sleep 1\n{WRONG}"
    suite = write_task(tmp_path, rounds=(slow, RIGHT))
    words = [sys.executable, "-m", "uniclaw.cli", "run", str(suite), "--environment", "process"]
    process = subprocess.Popen(
        [*words, "--run", "live", "--runs-dir", str(tmp_path / "runs")],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    pause = threading.Event()
    try:
        while not (tmp_path / "runs" / "live" / "episodes").is_dir():
            pause.wait(0.05)
            assert process.poll() is None
        found = list(follow(tmp_path / "runs" / "live"))
    finally:
        process.wait(timeout=60)
    assert not any(isinstance(step, Gone) for step in found)
    last = found[-1]
    assert isinstance(last, Step)
    assert isinstance(last.what, EpisodeRecord)
    assert last.what.passed


def test_a_run_whose_runner_died_says_so(tmp_path: Path) -> None:
    result = run(write_task(tmp_path), tmp_path / "runs")
    record = only(result)
    (result.root / "episodes" / record.episode_id / "episode.json").unlink()
    *_, last = follow(result.root, record.episode_id)
    assert last == Gone((record.episode_id,))
    words = ["show", f"r/{record.episode_id}", "--follow", "--runs-dir", str(tmp_path / "runs")]
    shown = CliRunner().invoke(app, words)
    assert shown.exit_code == 1
    assert "no runner" in shown.stdout
