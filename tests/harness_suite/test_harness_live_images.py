"""A real harness program works in a browser and on a desktop, and mends its work when told.

The scripted model asks for the commands of the task's own staged solution, one after the other;
which one comes next is decided by what the request holds. On demand: `make slow`.
"""

import json
from pathlib import Path

import pytest
from conftest import REPOSITORY
from player import only, run
from pydantic import JsonValue

from uniclaw.assets import Assets, default_roots
from uniclaw.environments.engine import connect
from uniclaw.environments.images import Images
from uniclaw.environments.layers import build_layer
from uniclaw.harnesses.solution import read_solution
from uniclaw.records import Outcome

pytestmark = [pytest.mark.docker, pytest.mark.slow, pytest.mark.timeout(1800)]

ROUNDS = 4
LOG = "/tmp/steps"


def script_of(solution: Path, target: Path) -> str:
    """A model that plays a staged solution by the name of its shell tool, whatever that is."""
    rules: list[JsonValue] = []
    before: str | None = None
    for number in range(ROUNDS):
        staged = read_solution(solution, number)
        if staged is None:
            break
        for at, step in enumerate(staged.steps):
            marker = f"STEP-{number}-{at}-ENDED"
            when: dict[str, JsonValue] = {"not_seen": marker, "last_role": "user"}
            if at:
                when |= {"last_role": "tool", "last": str(before)}
            elif before is not None:
                when |= {"seen": before}
            rules.append(_asks(when, f"{step}\necho {marker} | tee -a {LOG}"))
            # A shell tool may answer before a long command has ended.
            still: dict[str, JsonValue] = {"seen": marker, "last_role": "tool"}
            rules.insert(-1, _asks(still, f"until grep {marker} {LOG}; do sleep 1; done"))
            before = marker
        told: dict[str, JsonValue] = {"last": str(before), "last_role": "tool"}
        answer: dict[str, JsonValue] = {"text": staged.message or "Done."}
        rules.append({"when": told, "reply": answer})
    # The newest step stands first: what was seen last decides.
    rules.reverse()
    rules.append({"when": {}, "reply": {"text": "I have nothing further to add."}})
    target.write_text(json.dumps({"rules": rules}), encoding="utf-8")
    return f"scripted/{target}"


def _asks(when: dict[str, JsonValue], command: str) -> JsonValue:
    reply: dict[str, JsonValue] = {"template": False, "run": command}
    return {"when": when, "reply": reply}


@pytest.mark.parametrize("task", ["catalogue_browser_explore_en", "calendar_desktop_skill_en"])
def test_a_real_harness_plays_a_browser_and_a_desktop_task(
    task: str, tmp_path: Path, unique: str
) -> None:
    api = connect()
    try:
        images = Images(Assets(default_roots(None, environ={}, cwd=REPOSITORY)), api)
        recipe = "browser" if "browser" in task else "desktop"
        build_layer(images, recipe, "codex", lambda _: None)
    finally:
        api.close()
    model = script_of(REPOSITORY / "rubrics" / "office" / task / "solution", tmp_path / "m.json")
    result = run(
        REPOSITORY / "examples" / "office",
        tmp_path / "runs",
        run=unique,
        tasks=task,
        environment="docker",
        executor=(f"codex:{model}",),
        user_simulator=("template",),
    )
    record = only(result)
    assert record.outcome is Outcome.PASS, record.reason
    assert len(record.rounds) > 1
    assert record.usage["executor"].calls > len(record.rounds)
