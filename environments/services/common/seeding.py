"""Reads a service's seed by a schema, so that an author's mistake is named before anything runs.

A schema is a dict of field name -> kind. Kinds: `text`, `text!` (required, not empty), `texts`
(list of texts), `flag`, `int`, `number`, `time`, `time!`, `regexes` (field -> regex), `object`
(a dict as it is), `any`, a tuple (one of its words, the first is the default), a dict (a nested
object; None when left out), and a list with one schema in it (a list of such objects).
"""

import json
import re
from datetime import datetime
from pathlib import Path
from typing import Any

MAX_SEED_BYTES = 16_000_000

_TIME = "%Y-%m-%dT%H:%M"
_DEFAULTS: dict[str, Any] = {"text": "", "flag": False}


class SeedError(Exception):
    """The seed is broken; the message starts with the place."""

    def __init__(self, where: str, what: str) -> None:
        super().__init__(f"{where}: {what}")


def load_seed(path: Path) -> dict[str, Any]:
    """The seed's object; an absent file is an empty one.

    Raises:
        SeedError: too large, or no JSON object.
    """
    if not path.exists():
        return {}
    if path.stat().st_size > MAX_SEED_BYTES:
        raise SeedError(path.name, f"more than {MAX_SEED_BYTES} bytes")
    try:
        value = json.loads(path.read_bytes().decode("utf-8"), parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise SeedError(path.name, f"is no JSON: {error}") from error
    if not isinstance(value, dict):
        raise SeedError(path.name, "expected an object")
    return value


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON number")


def conform(value: Any, schema: dict[str, Any], where: str) -> dict[str, Any]:
    """An object with exactly the schema's fields, defaults filled in.

    Raises:
        SeedError: an unknown field, one that is missing, or of a wrong kind.
    """
    if not isinstance(value, dict):
        raise SeedError(where, f"expected an object, not {value!r:.80}")
    for name in value:
        if name not in schema:
            raise SeedError(f"{where}.{name}", f"unknown; known are {', '.join(sorted(schema))}")
    return {
        name: conform_field(value.get(name), kind, f"{where}.{name}")
        for name, kind in schema.items()
    }


def conform_field(value: Any, kind: Any, where: str) -> Any:
    """One value of a kind; None stands for a field that is left out."""
    if isinstance(kind, dict):
        return None if value is None else conform(value, kind, where)
    if isinstance(kind, list):
        if value is None:
            return []
        if not isinstance(value, list):
            raise SeedError(where, "expected a list")
        return [conform(item, kind[0], f"{where}[{i}]") for i, item in enumerate(value)]
    if isinstance(kind, tuple):
        if value is None:
            return kind[0]
        if value not in kind:
            raise SeedError(where, f"expected one of {', '.join(kind)}, not {value!r:.80}")
        return value
    return _scalar(value, kind, where)


def _scalar(value: Any, kind: str, where: str) -> Any:
    required, kind = kind.endswith("!"), kind.rstrip("!")
    if value is None or (required and value == ""):
        if required:
            raise SeedError(where, "is missing")
        return [] if kind == "texts" else {} if kind == "regexes" else _DEFAULTS.get(kind)
    return _READERS[kind](value, where)


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str):
        raise SeedError(where, f"expected text, not {value!r:.80}")
    return value


def _texts(value: Any, where: str) -> list[str]:
    if isinstance(value, str):
        return [value]
    if not isinstance(value, list):
        raise SeedError(where, f"expected a list of texts, not {value!r:.80}")
    return [_text(item, f"{where}[{i}]") for i, item in enumerate(value)]


def _flag(value: Any, where: str) -> bool:
    if not isinstance(value, bool):
        raise SeedError(where, f"expected true or false, not {value!r:.80}")
    return value


def _int(value: Any, where: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise SeedError(where, f"expected a whole number from 0, not {value!r:.80}")
    return value


def _number(value: Any, where: str) -> float:
    try:
        number = float(value) if not isinstance(value, bool) else float("nan")
    except (TypeError, ValueError):
        number = float("nan")
    if not 0 <= number < 1e12:
        raise SeedError(where, f"expected a number from 0, not {value!r:.80}")
    return number


def _time(value: Any, where: str) -> str:
    found = parse_time(_text(value, where))
    if found is None:
        raise SeedError(where, f"expected a time like 2026-03-02T09:00, not {value!r:.80}")
    return found


def parse_time(text: str) -> str | None:
    """A local time as `YYYY-MM-DDTHH:MM`, from a date or a date and time without an offset."""
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    return None if moment.tzinfo else moment.strftime(_TIME).rjust(16, "0")


def _regexes(value: Any, where: str) -> dict[str, str]:
    if not isinstance(value, dict):
        raise SeedError(where, "expected an object of regexes")
    for name, pattern in value.items():
        try:
            re.compile(_text(pattern, f"{where}.{name}"))
        except re.error as error:
            raise SeedError(f"{where}.{name}", f"is no regex: {error}") from error
    return value


def _object(value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise SeedError(where, "expected an object")
    return value


_READERS: dict[str, Any] = {
    "text": _text,
    "texts": _texts,
    "flag": _flag,
    "int": _int,
    "number": _number,
    "time": _time,
    "regexes": _regexes,
    "object": _object,
    "any": lambda value, _: value,
}
