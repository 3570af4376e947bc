"""Stored runs that the viewer's tests look at: real episodes with everything awkward in them."""

import json
import re
import shutil
import time
from collections.abc import Mapping
from pathlib import Path

from player import run
from pydantic import JsonValue
from starlette.testclient import TestClient
from suite_builder import write_script, write_task

from uniclaw.viewer.app import build_app
from uniclaw.viewer.guard import Door
from uniclaw.viewer.render import Site

KEEPER = "Orsolya Vantongeren"
DESCRIPTION = "agrees with the ledger of the harbour office"
MANNERS = "it lacks manners of the old school"
HIDDEN = (KEEPER, DESCRIPTION, MANNERS, "ledger-line", "polite-line")
"""Texts of the hidden side; none may stand in a response of the executor's or simulator's lens."""
INJECTION = (
    "<script>document.body.dataset.pwned='1'</script>"
    "<img src=x onerror=\"document.body.dataset.pwned='2'\">"
)
PNG = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5E"
    "rkJggg=="
)
AWKWARD = (
    "<script>alert(1)<b>.html",
    "结果 表.csv",
    "pic.png",
    "evil.svg",
    "blob.bin",
    "..50% off#1?.txt",
)
"""Names of files that the agent leaves."""

FIRST = f"""
mkdir -p results
cd results
echo '{{"n": 4}}' > out.json
printf '%s' "{INJECTION.replace('"', chr(92) + '"')}" > '{AWKWARD[0]}'
printf '列,值\\n甲,1\\n' > '{AWKWARD[1]}'
echo {PNG} | base64 -d > '{AWKWARD[2]}'
echo '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>' > '{AWKWARD[3]}'
printf 'a\\0b\\377' > '{AWKWARD[4]}'
echo odd > '{AWKWARD[5]}'
#---
cat results/*.html; echo "{INJECTION.replace('"', chr(92) + '"')}"
#---
ls nowhere
#: It is four. {INJECTION} ‮gnp.
"""
SECOND = "echo '{\"n\": 3}' > results/out.json\n#: 现在是三。\n"

RUBRIC: Mapping[str, JsonValue] = {
    "threshold": 0.7,
    "checkpoints": [
        {
            "id": "there-line",
            "weight": 0.2,
            "description": "The answer is written down.",
            "artifact": "out.json",
            "check": {"kind": "file", "path": "out.json"},
        },
        {
            "id": "ledger-line",
            "weight": 0.5,
            "description": f"The answer {DESCRIPTION}.",
            "check": {
                "kind": "json",
                "path": "out.json",
                "asserts": [
                    {"pointer": "/n", "value": {"ref": "references/t.json", "pointer": "/n"}}
                ],
            },
        },
        {
            "id": "polite-line",
            "weight": 0.3,
            "description": "The message keeps the tone of the house.",
            "check": {"kind": "judge"},
        },
    ],
    "caps": [
        {
            "id": "inputs-cap",
            "max": 0.4,
            "description": "The input was rewritten.",
            "when": {"kind": "trace", "tool": "shell", "arguments": "> *sources/"},
        }
    ],
    "references": ["references/t.json"],
}
JUDGE: Mapping[str, JsonValue] = {
    "when": {"purpose": "judge", "last_user": r"\((?P<token>[bcdfghjkmnpqrstvwxz2-9]{22})\)"},
    "reply": {
        "json": {
            "lines": [
                {
                    "id": "polite-line",
                    "met": 0.0,
                    "evidence": ["r0.e0"],
                    "reason": f"{MANNERS} ({{{{ groups.token }}}})",
                }
            ]
        }
    },
}
LEAK: Mapping[str, JsonValue] = {
    "when": {"purpose": "user_simulator"},
    "reply": {"json": {"message": f"The keeper is {KEEPER}, use that."}},
}


def build(directory: Path) -> Path:
    """Play a run of two tasks under two policies; returns the directory of runs."""
    for task_id, language in (("count", "en"), ("count_zh", "zh")):
        write_task(
            directory,
            task_id=task_id,
            task={
                "language": language,
                "family": "count",
                "capability": "skill_usage",
                "budget": {"turn_s": 60, "feedback_rounds": 2},
            },
            rubric=RUBRIC,
            rounds=(FIRST, SECOND),
            brief={"facts": [{"id": "f", "text": "The boats are wooden.", "topics": ["wood"]}]},
            references={"t.json": {"n": 3, "keeper": KEEPER}},
        )
    result = run(
        directory / "suite",
        directory / "runs",
        run="main",
        firewall=("sealed", "coarse"),
        supervisor=(write_script(directory / "judge.yaml", [JUDGE]),),
        user_simulator=(write_script(directory / "user.yaml", [LEAK]),),
        parallel=2,
    )
    assert len(result.records) == 4
    return directory / "runs"


def leaderboard(app: TestClient, query: str = "") -> str:
    """A run's overview once its intervals are computed."""
    end = time.monotonic() + 60
    while True:
        text = app.get(f"/r/main{query}").text
        if 'data-live-reload="computing"' not in text:
            return text
        assert time.monotonic() < end
        time.sleep(0.2)


def tokens(runs: Path) -> set[str]:
    """The canaries that judges quoted."""
    found: set[str] = set()
    for file in (runs / "main" / "episodes").glob("*/episode.json"):
        found |= set(re.findall(rf"{MANNERS} \((\w{{22}})\)", file.read_text(encoding="utf-8")))
    assert found
    return found


def client(runs: Path, *, hidden: bool = False, token: str | None = None) -> TestClient:
    """A client of the application; an error in a page is raised."""
    app = build_app(Site(runs=runs, hidden=hidden), Door(host="127.0.0.1", token=token))
    return TestClient(app, base_url="http://127.0.0.1")


def episodes(runs: Path, name: str = "main") -> list[str]:
    """Ids of a run's episodes that are on disk."""
    return sorted(p.name for p in (runs / name / "episodes").iterdir())


def copied(runs: Path, directory: Path) -> Path:
    """A copy to be damaged."""
    shutil.copytree(runs, directory / "runs")
    return directory / "runs"


def rewrite(file: Path, **changes: JsonValue) -> None:
    """Change fields of a stored document."""
    data = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps({**data, **changes}), encoding="utf-8")
