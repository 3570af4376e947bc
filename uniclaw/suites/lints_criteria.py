"""Lints of the hidden side: lines that nothing can meet, sums of weights, missing ground truth."""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from uniclaw.hidden.rubric import (
    AllCheck,
    AnyCheck,
    Check,
    CsvCheck,
    FileCheck,
    ImageCheck,
    JsonCheck,
    JudgeCheck,
    LoadedRubric,
    NotCheck,
    StateCheck,
    TextCheck,
    TraceCheck,
)
from uniclaw.records import Task
from uniclaw.suites.bundle import Finding, TaskBundle

NETWORK_PROBE = "network"
_SUM = re.compile(r"sum to ([\d.]+)")
_REFERENCE = re.compile(r"(?<![\w./-])references/([\w./-]*[\w-]\.\w{1,5})\b")
_OWN_TEXT = "eval_rule.md"
_WHOLE = 1e-6


def criteria_lints(bundle: TaskBundle, loaded: LoadedRubric) -> Iterator[Finding]:
    """Everything about a rubric that was loaded."""
    yield from _unreachable(bundle, loaded)
    total = loaded.rubric.weights_sum
    if abs(total - 1) > _WHOLE:
        message = f"weights as written sum to {total:g}; kept as they are"
        yield Finding(bundle.task_id, "note", "weights-sum", message)
    yield from _ground_truth(bundle, loaded)


def unloaded_lints(bundle: TaskBundle) -> Iterator[Finding]:
    """What can be said of a rubric that is none."""
    for finding in bundle.findings:
        found = _SUM.search(finding.message)
        if finding.code == "unparsed-rubric" and found:
            message = f"weights as written sum to {found[1]}; expected 1 (± 0.01)"
            yield Finding(bundle.task_id, "warning", "weights-sum", message)


def _unreachable(bundle: TaskBundle, loaded: LoadedRubric) -> Iterator[Finding]:
    rubric = loaded.rubric
    lines = [(f"checkpoint {c.id}", c.check) for c in rubric.checkpoints]
    lines += [(f"cap {c.id}", c.when) for c in rubric.caps]
    for name, check in lines:
        for reason, wrong in _never(check, bundle.task):
            severity = "error" if wrong else "warning"
            yield Finding(bundle.task_id, severity, "unreachable", f"{name}: {reason}")


def _never(check: Check, task: Task) -> Iterator[tuple[str, bool]]:
    """Why a check can never come true; and whether the judging would break off over it."""
    if isinstance(check, AllCheck):
        for part in check.of:
            yield from _never(part, task)
    elif isinstance(check, AnyCheck):
        found = [list(_never(part, task)) for part in check.of]
        if all(found):
            yield from found[0]
        yield from (item for reasons in found for item in reasons if item[1])
    elif isinstance(check, NotCheck):
        yield from ((reason, wrong) for reason, wrong in _never(check.check, task) if wrong)
    elif isinstance(check, StateCheck):
        yield from _no_state(check, task)
    else:
        reason = _outside(check, task) or _empty_range(check, task)
        if reason:
            yield reason, False


def _no_state(check: StateCheck, task: Task) -> Iterator[tuple[str, bool]]:
    probes = {probe.id for probe in task.probes} | {NETWORK_PROBE}
    if check.probe is not None and check.probe not in probes:
        yield f"the task has no probe {check.probe!r}", True
    background = {service.name for service in task.services if not service.oneshot}
    if check.service is not None and check.service not in background:
        yield f"the task has no background service {check.service!r}", True


def _outside(check: Check, task: Task) -> str | None:
    """A place that is never frozen."""
    if isinstance(check, FileCheck | JsonCheck | CsvCheck | TextCheck | ImageCheck):
        if isinstance(check, FileCheck) and not check.exists:
            return None
        paths = [check.path] if check.path else []
    elif isinstance(check, JudgeCheck):
        paths = list(check.files)
    else:
        return None
    for path in paths:
        if path.startswith("/") and not _inside(path, task):
            roots = ", ".join(task.artifact_roots)
            return f"{path} lies outside what is frozen ({roots})"
        if ".." in PurePosixPath(path).parts:
            return f"{path} leaves what is frozen"
    return None


def _inside(path: str, task: Task) -> bool:
    # A pattern may reach a root from above it, so only its fixed beginning is compared.
    fixed = re.split(r"[*?\[]", path)[0]
    roots = [root.rstrip("/") for root in task.artifact_roots]
    starts = (fixed == r or fixed.startswith(f"{r}/") for r in roots)
    return any(starts) or (fixed != path and any(r.startswith(fixed.rstrip("/")) for r in roots))


def _empty_range(check: Check, task: Task) -> str | None:
    """Bounds that exclude each other; those of files and traces are refused at load."""
    bounds: list[tuple[str, int, int | None]] = []
    if isinstance(check, TextCheck):
        bounds.append(("words", check.min_words, check.max_words))
    elif isinstance(check, ImageCheck):
        bounds.append(("width", check.min_width, check.max_width))
        bounds.append(("height", check.min_height, check.max_height))
    elif isinstance(check, TraceCheck):
        last = task.budget.feedback_rounds
        if check.rounds and check.min_count > 0 and min(check.rounds) > last:
            return f"it looks at rounds {list(check.rounds)}, and the last is {last}"
    for what, least, most in bounds:
        if most is not None and least > most:
            return f"at least {least} and at most {most} ({what})"
    return None


def _ground_truth(bundle: TaskBundle, loaded: LoadedRubric) -> Iterator[Finding]:
    declared = " ".join(f.message for f in bundle.findings if f.code == "missing-reference")
    named = dict.fromkeys(n for text in loaded.raw_texts for n in _REFERENCE.findall(text))
    for name in named:
        place = loaded.reference_root / "references" / name
        if not place.exists() and name != _OWN_TEXT and name not in declared:
            message = f"the rule names references/{name}, and it is not there"
            yield Finding(bundle.task_id, "warning", "missing-ground-truth", message)
    checks = [c.check for c in loaded.rubric.checkpoints]
    judged = sum(isinstance(check, JudgeCheck) for check in checks)
    if judged == len(checks) and not loaded.rubric.references and not loaded.raw_texts:
        message = "every checkpoint is judged, and there is no reference to judge by"
        yield Finding(bundle.task_id, "warning", "missing-ground-truth", message)
