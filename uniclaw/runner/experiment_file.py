"""Experiment files: YAML that names a suite, the axes of a matrix, budgets and parallelism.

Every setting of a run may stand in one, at the top or (where it makes the matrix) under
`axes`, with one value or a list. The command line overrides the file.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import JsonValue

from uniclaw.assets import Assets
from uniclaw.config import LISTS, MoreAxes, RunSettings, split_list
from uniclaw.errors import UserError
from uniclaw.yamlio import read_yaml

SUFFIXES = (".yaml", ".yml")
PLAIN_AXES = ("executor", "supervisor", "user_simulator", "firewall")
"""Axes that are settings of their own."""
PAIR = ("harness", "model")
"""Instead of `executor`: every harness with every model."""
OWN = ("name", "description")
ENGINE = "engine"
"""The one setting of the tool that a file may hold; it shapes no result."""
_PARALLEL = ("episodes", "models")


def find_experiment(text: str, assets: Assets) -> Path | None:
    """The experiment file that `uniclaw run` was given; None when it is a suite."""
    path = Path(text)
    if path.is_file():
        return path
    shipped = not path.is_absolute() and ".." not in path.parts and text.endswith(SUFFIXES)
    return assets.find(text) if shipped and assets.exists(text) else None


def read_experiment(path: Path) -> dict[str, object]:
    """The settings an experiment file stands for.

    Raises:
        UserError: not YAML, an unknown key, an axis given twice, or one without values.
    """
    data = read_yaml(path)
    if not isinstance(data, dict):
        raise UserError("expected a mapping", file=path, value=data)
    known = {*OWN, *RunSettings.model_fields, ENGINE}
    for key, value in data.items():
        if key not in known:
            raise UserError("unknown key", file=path, field=key, value=value)
    if "suite" not in data:
        raise UserError("an experiment names its suite", file=path, field="suite")
    settings: dict[str, object] = {
        key: _listed(key, value) for key, value in data.items() if key not in (*OWN, "axes")
    }
    _parallel(settings, data.get("parallel"), path)
    for key, value in _axes(data.get("axes"), path).items():
        if key in data and key != "axes":
            raise UserError("given at the top and under `axes`", file=path, field=key)
        settings[key] = value
    return settings


def _listed(key: str, value: JsonValue) -> JsonValue:
    return list(split_list(value)) if key in LISTS and isinstance(value, str) else value


def _parallel(settings: dict[str, object], value: JsonValue, path: Path) -> None:
    if not isinstance(value, dict):
        return
    for key in value:
        if key not in _PARALLEL:
            raise UserError("unknown key", file=path, field=f"parallel.{key}", value=value[key])
    settings.pop("parallel")
    if "episodes" in value:
        settings["parallel"] = value["episodes"]
    if "models" in value:
        settings["parallel_models"] = value["models"]


def _axes(value: JsonValue, path: Path) -> dict[str, object]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise UserError("expected a mapping of axes", file=path, field="axes", value=value)
    known = (*PLAIN_AXES, *PAIR, *MoreAxes.model_fields)
    listed: dict[str, list[JsonValue]] = {}
    for name, given in value.items():
        field = f"axes.{name}"
        if name not in known:
            raise UserError(f"unknown axis; known are {', '.join(known)}", file=path, field=field)
        listed[name] = given if isinstance(given, list) else [given]
        if not listed[name]:
            raise UserError("an axis needs at least one value", file=path, field=field)
    found: dict[str, object] = {n: listed[n] for n in PLAIN_AXES if n in listed}
    if any(name in listed for name in PAIR):
        found["executor"] = _executors(listed, path)
    more: dict[str, object] = {n: listed[n] for n in MoreAxes.model_fields if n in listed}
    if "skills" in listed:
        more["skills"] = [_skills(item) for item in listed["skills"]]
    return {**found, "axes": more} if more else found


def _skills(item: JsonValue) -> JsonValue:
    """One value of the axis: nothing, one directory, or several together."""
    if item is None:
        return []
    return [item] if isinstance(item, str) else item


def _executors(listed: Mapping[str, Sequence[JsonValue]], path: Path) -> list[str]:
    if "executor" in listed:
        raise UserError("give `executor`, or `harness` and `model`", file=path, field="axes")
    for name in PAIR:
        if name not in listed:
            raise UserError("`harness` and `model` go together", file=path, field=f"axes.{name}")
    return [f"{harness}:{model}" for harness in listed["harness"] for model in listed["model"]]
