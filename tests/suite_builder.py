"""Writes small native suites for tests."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import JsonValue

Json = Mapping[str, JsonValue]

RIGHT = "echo '{\"n\": 3}' > results/out.json\n#: It is three.\n"
WRONG = "echo '{\"n\": 4}' > results/out.json\n#: It is four.\n"

RUBRIC: Json = {
    "threshold": 0.9,
    "checkpoints": [
        {
            "id": "there",
            "weight": 0.25,
            "description": "The answer is written down as JSON.",
            "artifact": "out.json",
            "tag": "format",
            "check": {
                "kind": "json",
                "path": "out.json",
                "asserts": [{"pointer": "/n", "op": "type", "value": "number"}],
            },
        },
        {
            "id": "right",
            "weight": 0.75,
            "description": "The answer agrees with the ledger of the harbour office.",
            "tag": "numbers",
            "check": {
                "kind": "json",
                "path": "out.json",
                "asserts": [
                    {"pointer": "/n", "value": {"ref": "references/t.json", "pointer": "/n"}}
                ],
            },
        },
    ],
    "references": ["references/t.json"],
}


REFERENCES: Json = {"t.json": {"n": 3, "keeper": "Orsolya Vantongeren"}}


def write_task(
    root: Path,
    *,
    task_id: str = "count",
    task: Json | None = None,
    rubric: Json | None = None,
    rounds: Sequence[str] = (WRONG, RIGHT),
    brief: Json | None = None,
    sources: Mapping[str, bytes] | None = None,
    references: Mapping[str, JsonValue] | None = None,
) -> Path:
    """Add a task to the suite at `root/suite` (made if absent); returns the suite."""
    suite, hidden = root / "suite", root / "hidden" / task_id
    (suite / task_id / "sources").mkdir(parents=True)
    hidden.mkdir(parents=True)
    _yaml(suite / "suite.yaml", {"name": "small", "rubrics": "../hidden"})
    plain: dict[str, JsonValue] = {
        "task_id": task_id,
        "instruction": "How many boats lie in sources/boats.txt? Write results/out.json.",
        "environment": "base",
        "budget": {"turn_s": 60, "feedback_rounds": 2},
    }
    _yaml(suite / task_id / "task.yaml", {**plain, **(task or {})})
    if brief is not None:
        _yaml(suite / task_id / "brief.yaml", brief)
    for name, data in (sources or {"boats.txt": b"ada\nbo\ncy\n"}).items():
        (suite / task_id / "sources" / name).write_bytes(data)
    _yaml(hidden / "rubric.yaml", rubric or RUBRIC)
    (hidden / "references").mkdir()
    for name, value in (
        references or {"t.json": {"n": 3, "keeper": "Orsolya Vantongeren"}}
    ).items():
        (hidden / "references" / name).write_text(json.dumps(value), encoding="utf-8")
    (hidden / "solution").mkdir()
    for number, script in enumerate(rounds):
        (hidden / "solution" / f"round-{number}.sh").write_text(script, encoding="utf-8")
    return suite


def _yaml(path: Path, value: Json) -> None:
    # Every JSON document is a YAML document.
    path.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")


def write_script(path: Path, rules: Sequence[Json]) -> str:
    """A scripted model; returns its `scripted/FILE` name."""
    _yaml(path, {"rules": [dict(rule) for rule in rules]})
    return f"scripted/{path}"
