"""EDICT's court on the real OpenClaw, with a small court of our own: delegation between agents.

EDICT's repository is not part of this one; `UNICLAW_EDICT` may name a checkout to play instead.
"""

import os
import secrets
import shutil
from collections.abc import Generator
from pathlib import Path

import pytest
from conftest import REPOSITORY
from harness_suite.gateway_door import gateway_door
from pydantic import JsonValue

from uniclaw.assets import Assets, default_roots
from uniclaw.environments.docker import DockerFactory
from uniclaw.environments.images import Images
from uniclaw.environments.labels import RUN
from uniclaw.environments.layers import build_layer
from uniclaw.harnesses.edict import CALLS
from uniclaw.ports import TurnLimits
from uniclaw.records import EventKind, StopReason
from uniclaw.testing.harnesses import ALPHA, BETA, Rig, script_of, staged, told

pytestmark = [pytest.mark.docker, pytest.mark.slow, pytest.mark.timeout(1200)]


@pytest.fixture
def rig(tmp_path: Path) -> Generator[Rig, None, None]:
    layer = tmp_path / "environments" / "harness" / "edict"
    shutil.copytree(REPOSITORY / "environments" / "harness" / "edict", layer)
    given = os.environ.get("UNICLAW_EDICT")
    if given:
        ignore = shutil.ignore_patterns(".git", "docs")
        shutil.copytree(given, layer / "tree", ignore=ignore)
    else:
        for role in CALLS:
            soul = layer / "tree" / "agents" / role / "SOUL.md"
            soul.parent.mkdir(parents=True)
            soul.write_text(f"You are SOUL-OF-{role}.\n", encoding="utf-8")
    roots = default_roots(None, environ={}, cwd=REPOSITORY)
    images = Images(Assets((tmp_path, *roots)))
    run = f"test-{secrets.token_hex(6)}"
    yield Rig(
        name="edict",
        factory=DockerFactory(images, run=run),
        image=build_layer(images, "base", "edict", lambda line: None),
        open_door=gateway_door,
        assets=images.assets,
    )
    assert not images.api.containers(all=True, filters={"label": f"{RUN}={run}"})


async def test_the_crown_prince_delegates_and_reports(rig: Rig) -> None:
    spawn: dict[str, JsonValue] = {
        "name": "sessions_spawn",
        "arguments": {"agentId": "zhongshu", "task": "GAMMA-3: write the file."},
    }
    script = script_of(
        {"when": {"first_user": "GAMMA-3", "seen": ["wrote-42"]}, "reply": {"text": "It is done."}},
        {
            "when": {"first_user": "GAMMA-3"},
            "reply": {"run": "echo hello > /workspace/out.txt; echo wrote-$((40+2))"},
        },
        {"when": {"seen": ["BETA-", "added-43"]}, "reply": {"text": "All added."}},
        {
            "when": {"seen": ["BETA-"]},
            "reply": {"run": "echo more >> /workspace/out.txt; echo added-$((40+3))"},
        },
        {"when": {"seen": ["ALPHA-", "It is done"]}, "reply": {"text": "The court has done it."}},
        {
            "when": {"seen": ["ALPHA-"], "turn_tool_results_at_least": 1},
            "reply": {"text": "It is on its way."},
        },
        {"when": {"seen": ["ALPHA-"]}, "reply": {"tool_calls": [spawn]}},
    )
    async with staged(rig, script) as (environment, harness, _):
        first = await harness.turn(ALPHA, TurnLimits(seconds=400))
        calls = [e.tool for e in first.events if e.kind is EventKind.TOOL_CALL]
        assert "sessions_spawn" in calls, told(first)
        second = await harness.turn(BETA, TurnLimits(seconds=400))
        assert second.stop is StopReason.FINISHED, told(second)
        assert second.final_message == "All added.", told(second)
        assert await environment.get("/workspace/out.txt") == b"hello\nmore\n"
        notes = [e.text for t in (first, second) for e in t.events if e.kind is EventKind.NOTE]
        assert any("agent zhongshu" in note for note in notes), notes
