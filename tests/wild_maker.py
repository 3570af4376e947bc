"""Writes WildClawBench checkouts of one task in their layout."""

from pathlib import Path

CATEGORY = "01_Productivity_Flow"
FENCE = "```"
ECHO = """import json
from pathlib import Path

def grade(**kwargs):
    path = Path("/tmp_workspace/results/n.json")
    n = json.loads(path.read_text()) if path.exists() else 0
    return {"n": n, "overall_score": float(n)}
"""


def fenced(text: str, kind: str = "") -> str:
    return f"{FENCE}{kind}\n{text}\n{FENCE}"


def task_text(
    *,
    grader: str = ECHO,
    name: str = "a",
    front: str = "timeout_seconds: 60\nenvironment: base",
    skills: str = "",
    env: str = "",
    warmup: str = "",
    prompt: str = "Write 1 to `/tmp_workspace/results/n.json`.",
) -> str:
    parts = {
        "Prompt": prompt,
        "Expected Behavior": "The number one.",
        "Grading Criteria": "- one",
        "Automated Checks": fenced(grader, "python"),
        "Workspace Path": fenced(f"workspace/{CATEGORY}/task_1_{name}"),
        "Skills": fenced(skills),
        "Env": fenced(env),
        "Warmup": fenced(warmup),
    }
    body = "\n\n".join(f"## {title}\n\n{text}" for title, text in parts.items())
    return f"---\nid: {CATEGORY}_task_1_{name}\n{front}\n---\n\n{body}\n"


def write_wild(
    root: Path, text: str | None = None, *, name: str = "a", gt: str | None = None, step: str = ""
) -> Path:
    """One task; `gt` is the text of gt/truth.txt, `step` its solution."""
    task = f"{CATEGORY}_task_1_{name}"
    file = root / "tasks" / CATEGORY / f"{task}.md"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text or task_text(name=name), encoding="utf-8")
    place = root / "workspace" / CATEGORY / f"task_1_{name}"
    (place / "exec").mkdir(parents=True, exist_ok=True)
    (place / "exec" / "input.txt").write_text("one\n", encoding="utf-8")
    if gt is not None:
        (place / "gt").mkdir(exist_ok=True)
        (place / "gt" / "truth.txt").write_text(gt, encoding="utf-8")
    solution = root / "solutions" / task
    solution.mkdir(parents=True, exist_ok=True)
    script = step or "mkdir -p results; echo 1 > results/n.json"
    (solution / "round-0.sh").write_text(f"{script}\n#: Done.\n", encoding="utf-8")
    return root
