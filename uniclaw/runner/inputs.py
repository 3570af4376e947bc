"""Everything that shapes a run's results, as hashes: stored at the start, compared on resume."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pydantic import JsonValue

from uniclaw.assets import Assets, tree_hash
from uniclaw.config import RunSettings
from uniclaw.errors import UserError
from uniclaw.runner.hidden_side import rubric_hash
from uniclaw.suites.bundle import Suite, TaskBundle

SHAPING_ROOTS = ("roles", "firewall")
"""Asset trees that every episode reads from; images have digests of their own."""
SCRIPTED = "scripted/"
SHOWN = 20


def inputs(settings: RunSettings, suite: Suite, assets: Assets) -> dict[str, JsonValue]:
    """Hashes of tasks, hidden sides, solutions, assets, scripts and prices."""
    found: dict[str, JsonValue] = {
        "tasks": {bundle.task_id: _task(bundle, settings) for bundle in suite.tasks},
        "assets": dict(_assets(assets)),
        "scripts": {name: _file(Path(name)) for name in scripts(settings)},
    }
    if settings.prices is not None:
        found["prices"] = _file(settings.prices)
    return found


def scripts(settings: RunSettings) -> tuple[str, ...]:
    """Files of the scripted models that the settings name."""
    named = [executor.partition(":")[2] for executor in settings.executor]
    named += [judge for panel in settings.supervisor for judge in panel.split("+")]
    named += settings.user_simulator
    return tuple(sorted({n.removeprefix(SCRIPTED) for n in named if n.startswith(SCRIPTED)}))


def _file(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise UserError(f"cannot be read: {error.strerror}", file=path) from error


def _task(bundle: TaskBundle, settings: RunSettings) -> JsonValue:
    public = hashlib.sha256(bundle.task.model_dump_json().encode("utf-8", "replace"))
    public.update(bundle.brief.model_dump_json().encode("utf-8", "replace"))
    given = settings.solutions / bundle.task_id if settings.solutions else None
    solution = given if given is not None and given.is_dir() else bundle.solution
    return {
        "task and brief": public.hexdigest(),
        "sources": _tree(bundle.sources),
        "skills": _tree(bundle.skills),
        "services": _tree(bundle.services),
        **({"sidecars": _sidecars(bundle)} if bundle.sidecars else {}),
        "rubric": rubric_hash(bundle.load_rubric()),
        "solution": None if solution is None else tree_hash(solution),
    }


def _sidecars(bundle: TaskBundle) -> JsonValue:
    """Programs, seeds and descriptions of the background services."""
    found: dict[str, JsonValue] = {}
    for spec in bundle.sidecars:
        said = spec.model_dump_json(exclude={"files"})
        files = _tree(spec.files)
        found[spec.name] = hashlib.sha256(f"{said}\0{files}".encode("utf-8", "replace")).hexdigest()
    return found


def _tree(paths: Mapping[str, Path]) -> str:
    digest = hashlib.sha256()
    for name, path in sorted(paths.items()):
        digest.update(f"{name}\0{tree_hash(path)}\0".encode("utf-8", "replace"))
    return digest.hexdigest()


def _assets(assets: Assets) -> Iterator[tuple[str, str]]:
    names = {
        path.relative_to(root).as_posix()
        for root in assets.roots
        for tree in SHAPING_ROOTS
        for path in (root / tree).rglob("*")
        if path.is_file()
    }
    # A fresh search path: looking must not enter the log of what the run used.
    search = Assets(assets.roots)
    for name in sorted(names):
        yield name, _file(search.find(name))


def differences(before: JsonValue, now: JsonValue, path: str = "") -> list[str]:
    """Where two stored documents differ, one line each: `path: before -> now`."""
    if isinstance(before, dict) and isinstance(now, dict):
        found: list[str] = []
        for key in (*before, *(k for k in now if k not in before)):
            inner = f"{path}.{key}" if path else key
            found += differences(before.get(key), now.get(key), inner)
        return found
    return [] if before == now else [f"{path}: {_short(before)} -> {_short(now)}"]


def _short(value: JsonValue) -> str:
    if value is None:
        return "nothing"
    text = str(value)
    return text if len(text) <= 60 else f"{text[:12]}..."


def refuse_changes(
    stored: Mapping[str, JsonValue], now: Mapping[str, JsonValue], parts: Sequence[str]
) -> None:
    """Refuse to go on with a run when what shapes its results has changed.

    Raises:
        UserError: lists the differences.
    """
    found = [line for part in parts for line in differences(stored.get(part), now.get(part), part)]
    if found:
        rest = f"\n  ... and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
        shown = "\n  ".join(found[:SHOWN])
        raise UserError(
            "this run was started with other files, settings or versions; restore them, or start"
            f" a new run:\n  {shown}{rest}",
            field="resume",
        )
