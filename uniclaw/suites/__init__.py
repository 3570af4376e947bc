"""Loaders of task suites, one module per format, behind `load_suite`."""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from uniclaw.assets import Assets
from uniclaw.errors import UserError
from uniclaw.records import NeutralId, Task, TaskId
from uniclaw.suites.bundle import Suite, TaskBundle
from uniclaw.suites.claw_swe import SweOptions, load_claw_swe
from uniclaw.suites.lints import lint
from uniclaw.suites.native import load_native
from uniclaw.suites.uniclawbench import load_uniclawbench
from uniclaw.suites.uniclawbench_resources import Given
from uniclaw.suites.wildclawbench import load_wildclawbench

FORMATS = ("native", "uniclawbench", "wildclawbench", "claw-swe")
_URI = re.compile(r"([A-Za-z][A-Za-z0-9_-]*):(.*)", re.DOTALL)
_NEUTRAL_DIGITS = 8


def load_suite(
    uri: str,
    *,
    assets: Assets,
    tasks: Sequence[str] = (),
    snapshot: bool = False,
    credentials: frozenset[str] = frozenset(),
    placeholders: frozenset[str] = frozenset(),
    swe: SweOptions | None = None,
) -> Suite:
    """Load a suite with its lints.

    Args:
        uri: `[FORMAT:]PATH`; without a format, native. A path that does not exist here is
            looked for among the assets (`examples/office`).
        assets: where overlay rubrics and bundled suites are.
        tasks: globs on task ids; empty takes all.
        snapshot: the snapshot instruction, where a task has one, replaces the instruction for
            every role alike; budgets and feedback rounds stay.
        credentials: names of private variables that the caller can provide.
        placeholders: names of those whose value is none yet.
        swe: options of Claw-SWE-Bench; None takes the defaults.

    Raises:
        UserError: unknown format, missing path, a glob without a match, or anything that a
            loader refuses.
    """
    kind, path = _split_uri(uri)
    root = _locate(path, assets, file=kind == "claw-swe")
    if kind == "native":
        suite = load_native(root, uri=uri, globs=tasks, assets=assets)
        for bundle in suite.tasks:
            bundle.load_rubric()
    elif kind == "claw-swe":
        suite = load_claw_swe(
            root, uri=uri, assets=assets, globs=tasks, options=swe or SweOptions()
        )
    else:
        load = load_wildclawbench if kind == "wildclawbench" else load_uniclawbench
        suite = load(
            root,
            uri=uri,
            assets=assets,
            globs=tasks,
            given=Given(credentials, placeholders, snapshot),
        )
    bundles = [in_snapshot(bundle) if snapshot else bundle for bundle in suite.tasks]
    linted = tuple(replace(b, findings=(*b.findings, *lint(b))) for b in bundles)
    return replace(suite, tasks=linted)


def _split_uri(uri: str) -> tuple[str, str]:
    match = _URI.fullmatch(uri)
    if match is None:
        return "native", uri
    kind, path = match.groups()
    if kind not in FORMATS:
        expected = ", ".join(FORMATS)
        raise UserError(
            f"unknown format {kind!r}; expected [FORMAT:]PATH with one of {expected}",
            field="suite",
            value=uri,
        )
    return kind, path


def _locate(path: str, assets: Assets, *, file: bool = False) -> Path:
    if not path or "\0" in path:
        raise UserError("expected a path", field="suite", value=path)
    root = Path(path).expanduser()
    if root.is_file() if file else root.is_dir():
        return root.resolve()
    inside = not root.is_absolute() and ".." not in root.parts
    if inside and assets.exists(path):
        found = assets.find(path)
        if found.is_file() if file else found.is_dir():
            return found.resolve()
    expected = "file" if file else "directory"
    problem = f"not a {expected}" if root.exists() else f"no such {expected}"
    raise UserError(problem, field="suite", value=path)


def in_snapshot(bundle: TaskBundle) -> TaskBundle:
    """The bundle with its snapshot instruction as the instruction, where it has one."""
    snapshot = bundle.task.snapshot_instruction
    if snapshot is None:
        return bundle
    return replace(bundle, task=bundle.task.model_copy(update={"instruction": snapshot}))


def neutral_id(
    seed: str, kind: Literal["task", "episode", "family", "suite"] = "task"
) -> NeutralId:
    """An id such as `task-7f3a91c2`, a hash of the seed, that carries no meaning.

    Args:
        seed: a secret of the run together with the real id; equal seeds give equal ids.
        kind: first word of the id.
    """
    digest = hashlib.sha256(f"{kind}\0{seed}".encode("utf-8", "replace")).hexdigest()
    return NeutralId(f"{kind}-{digest[:_NEUTRAL_DIGITS]}")


def neutral_task(task: Task, salt: str) -> Task:
    """The task as roles may see it: ids, family and suite replaced by neutral ones."""
    return task.model_copy(
        update={
            "task_id": TaskId(neutral_id(f"{salt}\0{task.task_id}", "task")),
            "family": str(neutral_id(f"{salt}\0{task.family}", "family")),
            "suite": str(neutral_id(f"{salt}\0{task.suite}", "suite")),
        }
    )
