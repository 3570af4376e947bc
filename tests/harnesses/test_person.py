"""A person as the executor: lines become commands, feedback comes back."""

import json
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from suite_builder import write_task

from uniclaw.assets import Assets
from uniclaw.environments.process import ProcessFactory
from uniclaw.errors import HarnessError
from uniclaw.harnesses.person import PersonHarness
from uniclaw.ports import EnvironmentSpec, HarnessContext, TurnLimits
from uniclaw.records import EventKind, StopReason, Task, TaskId

TASK = Task(task_id=TaskId("t"), suite="s", instruction="Do it.", family="t", environment="base")


def _typist(lines: list[str]) -> Callable[[str], Awaitable[str | None]]:
    left = iter(lines)

    async def ask(_: str) -> str | None:
        return next(left, None)

    return ask


async def test_lines_are_commands_and_a_change_of_directory_lasts() -> None:
    shown: list[str] = []
    environment = await ProcessFactory(run="r").start(EnvironmentSpec(image="base"))
    try:
        lines = [
            "mkdir -p a; cd a",
            "echo hi > f; false",
            ":what",
            "",
            ":done There is \\",
            "a file?",
        ]
        harness = PersonHarness(
            HarnessContext(environment, TASK, None, 0),
            Assets(()),
            ask=_typist(lines),
            show=shown.append,
        )
        turn = await harness.turn("Please.", TurnLimits())
        assert await environment.get("/workspace/a/f") == b"hi\n"
        last = await harness.turn("And?", TurnLimits())
        with pytest.raises(HarnessError):
            await harness.turn("Hello?", TurnLimits())
    finally:
        await environment.close()
    assert turn.stop is StopReason.ASKED
    assert turn.final_message == "There is \na file?"
    results = [event for event in turn.events if event.kind is EventKind.TOOL_RESULT]
    assert [event.exit_code for event in results] == [0, 1]
    assert "uniclaw-cwd" not in "".join(shown)
    assert last.final_message == "Done."


def test_a_task_is_played_from_the_command_line(tmp_path: Path) -> None:
    suite = write_task(tmp_path)
    typed = (
        "echo '{\"n\": 4}' > results/out.json\n:done It is four.\n"
        "echo '{\"n\": 3}' > results/out.json\n:done It is three.\n"
    )
    words = [sys.executable, "-m", "uniclaw.cli", "try", str(suite / "count"), "--json"]
    done = subprocess.run(
        [*words, "--environment", "process", "--runs-dir", str(tmp_path / "runs")],
        input=typed,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (episode,) = json.loads(done.stdout)["episodes"]
    assert episode["outcome"] == "pass"
    assert [item["score"] for item in episode["history"]] == [0.25, 1.0]
    assert "round 1: the user says" in done.stderr
