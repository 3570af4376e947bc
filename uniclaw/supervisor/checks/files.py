"""Statements about files as such: there or not, size, hash, changed against the baseline."""

from uniclaw.hidden.rubric import FileCheck, Ref
from uniclaw.hidden.verdict import CheckResult
from uniclaw.records import Entry
from uniclaw.supervisor.checks.context import CheckContext, conclude, hold, unmet
from uniclaw.supervisor.checks.values import show
from uniclaw.supervisor.frozen import Unreadable, why_not

_MAX_EVIDENCE = 10


def check_file(check: FileCheck, context: CheckContext) -> CheckResult:
    """Carry out a `file` check: enough files match, each as described."""
    found = context.files.find(check.path)
    if not check.exists:
        held = not found and not context.files.truncated
        why = "is not there" if not found else f"is there ({found[0].path})"
        if context.files.truncated and not found:
            why = "is not in a listing that was cut at its limit"
        return conclude([hold(held, f"{check.path} {why}")], partial=False)
    if not found:
        cut = " (the listing of artifacts was cut at its limit)" if context.files.truncated else ""
        return unmet(f"{check.path} is missing{cut}")
    wanted_hash = _expected_hash(check, context)
    problems = {e.path: _problem(check, e, wanted_hash, context) for e in found}
    good = [path for path, problem in problems.items() if problem is None]
    words = f"{len(good)} of {len(found)} files as described"
    bad = [problem for problem in problems.values() if problem is not None]
    if len(good) < check.min_count and bad:
        words = f"{words}: {'; '.join(bad[:3])}"
    return conclude(
        [hold(len(good) >= check.min_count, words)],
        partial=False,
        evidence=(good or [e.path for e in found])[:_MAX_EVIDENCE],
    )


def _expected_hash(check: FileCheck, context: CheckContext) -> str | None:
    """Lower-case SHA-256; a reference without a pointer means the hash of that file."""
    if check.sha256 is None:
        return None
    if isinstance(check.sha256, Ref) and not check.sha256.pointer:
        return context.references.sha256(check.sha256.ref)
    return str(context.references.value(check.sha256)).lower()


def _problem(
    check: FileCheck, entry: Entry, wanted_hash: str | None, context: CheckContext
) -> str | None:
    """Why an entry is not as described; a file too large to be copied still has its size."""
    if entry.kind != "file":
        return why_not(entry)
    if entry.size < check.min_bytes:
        return f"{entry.path} has {entry.size} bytes"
    if check.max_bytes is not None and entry.size > check.max_bytes:
        return f"{entry.path} has {entry.size} bytes"
    if check.changed is not None and check.changed != (entry.change != "same"):
        return f"{entry.path} is {'unchanged' if entry.change == 'same' else entry.change}"
    if wanted_hash is None:
        return None
    try:
        actual = context.files.sha256(entry)
    except Unreadable as error:
        return str(error)
    return None if actual == wanted_hash else f"{entry.path} has hash {show(actual)}"
