"""The README's recipes are run as they stand, one after the other, in an empty directory."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

from typer.main import get_command

from uniclaw.cli import app

_RECIPE = re.compile(r"^```sh recipe\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def recipes(repository: Path) -> list[str]:
    return _RECIPE.findall((repository / "README.md").read_text(encoding="utf-8"))


def run(script: str, cwd: Path) -> str:
    scripts = Path(sys.executable).parent
    result = subprocess.run(
        ["bash", "-eu", "-o", "pipefail", "-c", script],
        cwd=cwd,
        env={**os.environ, "PATH": f"{scripts}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert result.returncode == 0, f"{script}\n{result.stdout}\n{result.stderr}"
    return result.stdout


def test_recipes_run_as_written(repository: Path, tmp_path: Path) -> None:
    found = recipes(repository)
    assert len(found) == 4
    for script in found:
        run(script, tmp_path)
    report = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    task = report["tasks"][0]
    assert task["null_score"] == 0
    assert task["solution_score"] == 1
    assert [m["exact"] for m in task["mutants"]] == [True, True]
    assert task["problems"] == ["no mutant for changed-input"]
    first = json.loads(run("uniclaw show first --json", tmp_path))
    assert [r["score"] for r in first["episodes"][0]["history"]] == [0.2, 1.0]
    policies = json.loads(run("uniclaw show policies --json", tmp_path))
    assert policies["summary"]["passed"] == 2


def test_the_readme_names_only_options_that_exist(repository: Path) -> None:
    text = (repository / "README.md").read_text(encoding="utf-8")
    known = {"--help", *_options(get_command(app))}
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", text))
    assert {"--executor", "--firewall", "--hidden", "--engine"} <= named
    assert not named - known


def _options(command: object) -> set[str]:
    """Every option of a command and of those below it."""
    found = {name for p in getattr(command, "params", ()) for name in (*p.opts, *p.secondary_opts)}
    below: dict[str, object] = getattr(command, "commands", {})
    return found.union(*map(_options, below.values()))
