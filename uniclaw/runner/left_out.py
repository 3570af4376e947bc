"""Imported tasks that cannot run here: left out of a run, and said so.

A native suite is its author's own, so there the same is a mistake; and so it is in an imported
one for a task that the user named by its whole id.
"""

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from uniclaw.errors import UserError
from uniclaw.suites.bundle import Suite, TaskBundle

_WILD = frozenset("*?[")
_SHOWN = 5
_TOLD = 10
_WIDTH = 160


def leave_out(suite: Suite, globs: Sequence[str]) -> tuple[Suite, Mapping[str, str]]:
    """The suite with the tasks that can be played, and why others cannot.

    Args:
        suite: as loaded.
        globs: what the user asked for; an id without wildcards is asked for by name.

    Raises:
        UserError: nothing is left.
    """
    if suite.format == "native":
        return suite, {}
    named = {glob for glob in globs if not _WILD & set(glob)}
    out: dict[str, str] = {
        bundle.task_id: why_not(bundle)
        for bundle in suite.tasks
        if not bundle.runnable and bundle.task_id not in named and not _refused(bundle)
    }
    kept = tuple(bundle for bundle in suite.tasks if bundle.task_id not in out)
    if not kept:
        shown = "\n  ".join(f"{name}: {why}" for name, why in list(out.items())[:_SHOWN])
        more = f"\n  ... and {len(out) - _SHOWN} more" if len(out) > _SHOWN else ""
        raise UserError(f"none of these tasks can run here:\n  {shown}{more}", field="tasks")
    return replace(suite, tasks=kept), out


def _refused(bundle: TaskBundle) -> bool:
    """A row that its loader refused stays in the run, and ends with an outcome that says so."""
    return all(f.code == "refused" for f in bundle.findings if f.severity == "error")


def why_not(bundle: TaskBundle) -> str:
    """Every reason, in the order found."""
    errors = [f"{f.code}: {f.message}" for f in bundle.findings if f.severity == "error"]
    return "; ".join(errors)


def told(out: Mapping[str, str]) -> Iterator[str]:
    """Lines for people: the first tasks with the beginning of why."""
    for task_id, why in list(out.items())[:_TOLD]:
        yield f"left out: {task_id}: {textwrap.shorten(why, _WIDTH, placeholder=' ...')}"
    if len(out) > _TOLD:
        yield f"left out: {len(out) - _TOLD} more; `uniclaw validate` says why for each"
