"""Small suites on disk, as an author would write them, to be spoiled by a test."""

import json
from collections.abc import Mapping
from pathlib import Path

RUBRIC: dict[str, object] = {
    "threshold": 0.9,
    "checkpoints": [
        {
            "id": "present",
            "weight": 0.4,
            "description": "The report exists.",
            "check": {"kind": "file", "path": "report.md"},
        },
        {
            "id": "total",
            "weight": 0.6,
            "description": "The report names the total.",
            "check": {"kind": "text", "path": "report.md", "contains": ["42"]},
        },
    ],
}
TASK: dict[str, object] = {
    "task_id": "sum_en",
    "instruction": "Add the numbers in sources/numbers.csv and write results/report.md.",
}


class NativeSuite:
    """A small native suite on disk, to be spoiled by a test."""

    def __init__(self, root: Path) -> None:
        self.root = root / "suite"
        self.rubrics = root / "hidden"
        self.write(self.root / "suite.yaml", {"name": "small", "rubrics": "../hidden"})
        self.add("sum_en")

    def add(self, task_id: str) -> None:
        self.task(task_id, task_id=task_id)
        self.text(self.root / task_id / "sources" / "numbers.csv", "n\n40\n2\n")
        self.rubric(task_id)

    def task(self, name: str = "sum_en", /, **changes: object) -> Path:
        return self.write(self.root / name / "task.yaml", {**TASK, **changes})

    def rubric(self, name: str = "sum_en", /, **changes: object) -> Path:
        return self.write(self.rubrics / name / "rubric.yaml", {**RUBRIC, **changes})

    def suite(self, **changes: object) -> Path:
        keys = {"name": "small", "rubrics": "../hidden", **changes}
        return self.write(self.root / "suite.yaml", keys)

    def write(self, path: Path, data: Mapping[str, object]) -> Path:
        return self.text(path, json.dumps(data))

    def text(self, path: Path, text: str) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path


RULE = """# Hidden rule

## 1. Checkpoint Rubric

Weights sum to 1.00.

- **0.40 — File.** `report.md` exists.
- **0.60 — Total.** The total is right.

## 2. Scoring Policy / Score Caps

- **Cap 0.30 — Nothing.** No file at all.

Pass requires the total to be cited.

## 3. Dynamic Content Note

Offline task.
"""
KEYS: dict[str, object] = {
    "task_id": "task_101_99_sum",
    "category": "101_skill_usage",
    "timeout_seconds": 60,
    "max_total_seconds": 90,
    "success_threshold": 0.9,
    "task": "Add /tmp_workspace/clawbench/sources/n.csv into /tmp_workspace/results/report.md",
    "references": ["references/eval_rule.md"],
    "sources": ["n.csv"],
    "codex": {"max_user_followups": 2},
}


class Checkout:
    """A small checkout in the layout of the reference benchmark."""

    def __init__(self, root: Path) -> None:
        self.root = root / "bench"
        self.injection = self.root / "injection" / "101_skill_usage" / "task_101_99_sum"
        self.task()
        self.put("references/eval_rule.md", RULE)
        self.put("sources/n.csv", "n\n40\n2\n")

    def task(self, **changes: object) -> Path:
        keys = {k: v for k, v in {**KEYS, **changes}.items() if v is not None}
        path = self.root / "tasks" / "101_skill_usage" / "task_101_99_sum.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(keys), encoding="utf-8")
        return path

    def put(self, relative: str, text: str) -> Path:
        path = self.injection / relative
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    @property
    def uri(self) -> str:
        return f"uniclawbench:{self.root}"
