"""Commented skeletons for people who write tasks, rubrics, personas, policies and harnesses.

The files stand under `examples/skeletons/`; in their texts and names `__NAME__` is the new name.
"""

import os
from pathlib import Path
from typing import Literal

from uniclaw.assets import Assets
from uniclaw.environments.recipe import check_name
from uniclaw.errors import UserError
from uniclaw.store.atomic import write_bytes
from uniclaw.suites.files import check_id
from uniclaw.suites.native import rubric_root

_PLACEHOLDER = "__NAME__"
_SKELETONS = "examples/skeletons"


Kind = Literal["task", "rubric", "persona", "policy", "harness"]


def scaffold(
    kind: Kind, name: str, assets: Assets, *, root: Path, suite: Path | None
) -> list[Path]:
    """Write a skeleton; nothing that exists is replaced.

    Args:
        kind: what to make.
        name: of the new thing.
        assets: where the skeletons are.
        root: the asset tree that gets personas, policies and harnesses.
        suite: directory of the native suite that gets a task or a rubric; made if absent.

    Returns:
        The files written.

    Raises:
        UserError: a bad name, a missing suite, or a file that exists.
    """
    if kind == "harness":
        check_name(name)
    check_id(name, file=None, field="name")
    if kind in ("task", "rubric"):
        if suite is None:
            raise UserError("a task and a rubric belong to a suite", field="suite")
        places = _in_suite(kind, name, suite, assets)
    else:
        places = _in_assets(kind, name, root, assets)
    taken = next((path for path in places if path.exists()), None)
    if taken is not None:
        raise UserError("exists already; nothing was written", file=taken, field="name", value=name)
    for path, data in places.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_bytes(path, data)
    return list(places)


def _in_suite(kind: Kind, name: str, suite: Path, assets: Assets) -> dict[Path, bytes]:
    file = suite / "suite.yaml"
    places: dict[Path, bytes] = {}
    if file.is_file():
        rubrics = rubric_root(suite)
    else:
        rubrics, written = _new_suite(suite)
        places[file] = written
    if kind == "task":
        places |= _files("task/public", name, suite / name, assets)
        return places | _files("task/hidden", name, rubrics / name, assets)
    return places | _files("rubric", name, rubrics / name, assets)


def _new_suite(suite: Path) -> tuple[Path, bytes]:
    """Where a new suite keeps its hidden side: beside an asset tree's, else beside the suite."""
    shared = suite.parent.parent / "rubrics"
    relative = f"../../rubrics/{suite.name}" if shared.is_dir() else f"../{suite.name}-rubrics"
    text = (
        f"# A suite: every directory here with a task.yaml is a task.\n"
        f"name: {check_id(suite.name, file=suite, field='suite')}\n"
        f"description: Say here what the suite is about.\n"
        f"rubrics: {relative}   # the hidden side, apart from the tasks\n"
    )
    return Path(os.path.normpath(suite / relative)), text.encode()


def _in_assets(kind: Kind, name: str, root: Path, assets: Assets) -> dict[Path, bytes]:
    if kind == "persona":
        found = _files("persona", name, root / "roles" / "personas", assets)
        return {p.with_name(p.name.replace("persona", name, 1)): d for p, d in found.items()}
    if kind == "policy":
        (data,) = _files("policy", name, root, assets).values()
        return {root / "firewall" / "policies" / f"{name}.yaml": data}
    return _files("harness", name, root / "environments" / "harness" / name, assets)


def _files(part: str, name: str, target: Path, assets: Assets) -> dict[Path, bytes]:
    source = assets.find(f"{_SKELETONS}/{part}")
    return {
        target
        / str(path.relative_to(source)).replace(_PLACEHOLDER, name): path.read_bytes().replace(
            _PLACEHOLDER.encode(), name.encode()
        )
        for path in sorted(source.rglob("*"))
        if path.is_file()
    }
