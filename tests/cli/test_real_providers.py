"""Real providers from the command line, against a server on the real wire protocols."""

import asyncio
import json
import os
import sys
from pathlib import Path

from pydantic import JsonValue
from suite_builder import write_script, write_task

from uniclaw.models.script import load_script
from uniclaw.testing.wire import ScriptedServer

SECRET = "sk-never-stored-anywhere"


async def uniclaw(*arguments: str, cwd: Path, environ: dict[str, str]) -> tuple[int, str, str]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "uniclaw.cli", *arguments),
        cwd=cwd,
        env={**os.environ, **environ},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, errors = await process.communicate()
    return process.returncode or 0, out.decode(), errors.decode()


async def test_executor_judge_and_user_speak_to_real_providers(tmp_path: Path) -> None:
    lines: JsonValue = [{"id": "kind", "met": 1.0, "evidence": ["r0.e0"], "reason": "polite"}]
    shell: JsonValue = {"name": "shell", "arguments": {"command": "echo hi > results/x"}}
    script = write_script(
        tmp_path / "all.yaml",
        [
            {"when": {"system": "(?i)checkpoint|criteri"}, "reply": {"json": {"lines": lines}}},
            {"when": {"last": "exit code"}, "reply": {"text": "Written, with kind regards."}},
            {"when": {}, "reply": {"tool_calls": [shell]}},
        ],
    )
    rubric: JsonValue = {
        "threshold": 0.9,
        "checkpoints": [
            {"id": "kind", "weight": 1.0, "description": "Polite.", "check": {"kind": "judge"}}
        ],
    }
    assert isinstance(rubric, dict)
    suite = write_task(tmp_path, rubric=rubric)
    async with ScriptedServer(load_script(Path(script.removeprefix("scripted/")))) as server:
        environ = {
            "OPENAI_BASE_URL": server.openai_url,
            "OPENAI_API_KEY": SECRET,
            "ANTHROPIC_BASE_URL": server.anthropic_url,
            "ANTHROPIC_API_KEY": SECRET,
        }
        arguments = ["run", str(suite), "--environment", "process", "--model-in-process"]
        arguments += ["--executor", "loop:openai/gpt-4.1", "--run", "a", "--json"]
        arguments += ["--supervisor", "anthropic/claude-sonnet-4-5"]
        arguments += ["--user-simulator", "openai/gpt-4.1-mini"]
        code, out, errors = await uniclaw(*arguments, cwd=tmp_path, environ=environ)
    assert code == 0, errors
    episode = json.loads(out)["episodes"][0]
    assert episode["outcome"] == "pass"
    assert episode["usage"]["executor"]["calls"] == 2
    assert episode["usage"]["executor"]["cost_usd"] > 0
    assert episode["usage"]["judge"]["calls"] == 1
    for path in (tmp_path / "runs").rglob("*"):
        if path.is_file():
            assert SECRET.encode() not in path.read_bytes(), path
