"""What a loaded suite amounts to: what can run, what rubrics hold, and the lints by kind."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Literal, NamedTuple

from uniclaw.errors import UserError
from uniclaw.records import Record
from uniclaw.suites.bundle import Finding, TaskBundle
from uniclaw.suites.eval_rule import parse_rule
from uniclaw.suites.files import read_text
from uniclaw.suites.uniclawbench_resources import RULE


class TaskReport(NamedTuple):
    """One task; counts are None when there is no rubric to count."""

    task_id: str
    runnable: bool
    reasons: tuple[str, ...]
    """Messages of the findings that keep it from running."""
    checkpoints: int | None
    weights_sum: float | None
    """As written, before anything."""
    caps: int | None


def report(bundle: TaskBundle) -> TaskReport:
    """Sum up one task; a rubric that is none is reported with what it holds."""
    checkpoints, weights_sum, caps, problem = _rubric(bundle)
    errors = [f"{f.code}: {f.message}" for f in bundle.findings if f.severity == "error"]
    if problem is not None and not errors:
        errors.append(f"bad-rubric: {problem}")
    return TaskReport(
        task_id=bundle.task_id,
        runnable=not errors,
        reasons=tuple(errors),
        checkpoints=checkpoints,
        weights_sum=weights_sum,
        caps=caps,
    )


def _rubric(bundle: TaskBundle) -> tuple[int | None, float | None, int | None, str | None]:
    try:
        rubric = bundle.load_rubric().rubric
    except UserError as error:
        rule = bundle.root / RULE
        if not rule.is_file():
            return None, None, None, str(error)
        written = parse_rule(read_text(rule))
        return len(written.checkpoints), written.weights_sum, len(written.caps), str(error)
    return len(rubric.checkpoints), round(rubric.weights_sum, 6), len(rubric.caps), None


NULL_SCORE = "null-score"
"""Code of the lint that comes from playing: the agent that does nothing gets points."""
_TITLES: Mapping[str, str] = {
    NULL_SCORE: "An agent that does nothing gets points",
    "missing-ground-truth": "Ground truth is missing",
    "missing-reference": "Ground truth is missing",
    "missing-rule": "Ground truth is missing",
    "answer-leak": "The agent can read a file that holds the answer",
    "answer-name": "The agent can read a file that is named like an answer",
    "history-leak": "The agent can read a repository that holds more than its past",
    "needs-network": "The network is needed",
    "needs-credentials": "Private variables are needed",
    "needs-judge": "A judge model is needed",
    "unreachable": "A line of the rubric can never be met",
    "weights-sum": "Weights do not sum to 1",
    "unparsed-rubric": "The rule is no rubric that can be weighed",
    "bad-rubric": "The rule is no rubric that can be weighed",
    "output-name-mismatch": "Prompt and rubric name different files",
    "prompt-path": "Prompt and rubric name different files",
    "lfs-pointer": "A file is a Git LFS pointer",
    "missing-source": "A declared file is missing",
    "missing-skill": "A declared file is missing",
    "missing-skill-file": "A declared file is missing",
    "missing-service": "A declared file is missing",
    "pre-exec": "A script prepares the task",
    "background-service": "A background service shares no files with the agent",
}
_RANK: Mapping[str, int] = {"error": 0, "warning": 1, "note": 2}


class Lint(Record):
    """One kind of remark, over all tasks of a suite."""

    title: str
    codes: tuple[str, ...]
    severity: Literal["error", "warning", "note"]
    """The gravest among them."""
    tasks: int
    remarks: tuple[tuple[str, str], ...]
    """Task and message, in the suite's order."""


def lints(findings: Iterable[Finding]) -> tuple[Lint, ...]:
    """The findings by kind, the gravest and most frequent first."""
    kinds: dict[str, list[Finding]] = {}
    for finding in findings:
        title = _TITLES.get(finding.code, finding.code.replace("-", " ").capitalize())
        kinds.setdefault(title, []).append(finding)
    found = [_lint(title, items) for title, items in kinds.items()]
    return tuple(sorted(found, key=lambda lint: (_RANK[lint.severity], -lint.tasks, lint.title)))


def _lint(title: str, found: list[Finding]) -> Lint:
    return Lint(
        title=title,
        codes=tuple(dict.fromkeys(f.code for f in found)),
        severity=min((f.severity for f in found), key=lambda s: _RANK[s]),
        tasks=len({f.task_id for f in found}),
        remarks=tuple((f.task_id, f.message) for f in found),
    )


def told(found: Iterable[Lint], *, shown: int = 5) -> Iterator[str]:
    """Lines for people: each kind with its first remarks.

    Args:
        found: as `lints` orders them.
        shown: remarks of each kind.
    """
    for lint in found:
        tasks = "1 task" if lint.tasks == 1 else f"{lint.tasks} tasks"
        yield f"{lint.severity}: {lint.title} ({tasks})"
        for task_id, message in lint.remarks[:shown]:
            yield f"    {task_id}: {message}"
        if len(lint.remarks) > shown:
            yield f"    and {len(lint.remarks) - shown} more"
