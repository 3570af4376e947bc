"""Reading untyped JSON without surprises: a value of the wrong kind reads as absent."""

import json
from collections.abc import Mapping, Sequence

from pydantic import JsonValue

Json = dict[str, JsonValue]


class BadRequest(ValueError):
    """A request that cannot be read as its API; the message names field and expectation."""


def text_of(value: JsonValue) -> str:
    """A string, or an empty one."""
    return value if isinstance(value, str) else ""


def object_of(value: JsonValue) -> Json:
    """An object, or an empty one."""
    return value if isinstance(value, dict) else {}


def objects_of(value: JsonValue) -> list[Json]:
    """The objects of a list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def texts_of(value: JsonValue) -> tuple[str, ...]:
    """The strings of a list, or a lone string."""
    if isinstance(value, str):
        return (value,)
    return tuple(v for v in value if isinstance(v, str)) if isinstance(value, list) else ()


def int_of(value: JsonValue) -> int | None:
    """A whole number that is no bool."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value)


def float_of(value: JsonValue) -> float | None:
    """A number that is no bool."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value)


def bool_of(value: JsonValue) -> bool | None:
    """A bool."""
    return value if isinstance(value, bool) else None


def dump(value: JsonValue | Mapping[str, JsonValue] | Sequence[JsonValue]) -> str:
    """JSON text, compact, as it is sent."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def encode(value: JsonValue | Mapping[str, JsonValue]) -> bytes:
    """JSON bytes; text that is no valid Unicode goes as escapes."""
    try:
        return dump(value).encode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":"), allow_nan=False).encode("ascii")


def parse_object(text: str | bytes) -> Json | None:
    """A JSON object, or None."""
    try:
        value: JsonValue = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
