"""What a loaded task amounts to: whether it can run, and what its rubric holds as written."""

from typing import NamedTuple

from uniclaw.errors import UserError
from uniclaw.suites.bundle import TaskBundle
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
