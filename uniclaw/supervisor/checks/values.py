"""Compare JSON values: numbers as numbers, text as text, and nothing else as either.

Nothing is ever evaluated. A boolean is not a number, null is not 0, and text that only looks
like a number is one in tables and prose alone, where everything is text.
"""

import json
import math
import re
import unicodedata
from collections.abc import Sequence
from typing import NamedTuple, NoReturn, cast

from pydantic import JsonValue

MAX_DEPTH = 200
_EPSILON = 1e-9
_MAX_SHOWN = 80
_PLAIN = re.compile(r"[-+]?(?:0|[1-9][0-9]*)(?:\.[0-9]*)?(?:[eE][-+]?[0-9]{1,3})?|[-+]?\.[0-9]+")
_GROUPED = re.compile(r"[-+]?[1-9][0-9]{0,2}(?:,[0-9]{3})+(?:\.[0-9]+)?")


class Tolerance(NamedTuple):
    """How far two numbers, or two texts, may be apart and still be equal."""

    absolute: float = 0.0
    relative: float = 0.0
    ignore_case: bool = False


EXACT = Tolerance()


class Parsed(NamedTuple):
    """A JSON document of the agent's."""

    value: JsonValue
    repeated: tuple[str, ...]
    """Keys that stand twice in one object; the last value counts."""


def parse_json(text: str) -> Parsed:
    """Parse strictly.

    Raises:
        ValueError: not JSON; NaN, Infinity and numbers beyond double range are not; or it is
            nested more than `MAX_DEPTH` levels deep.
    """
    repeated: list[str] = []

    def pairs(items: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
        found = dict(items)
        if len(found) != len(items):
            names = [name for name, _ in items]
            repeated.extend(sorted({n for n in names if names.count(n) > 1}))
        return found

    try:
        value = cast(
            "JsonValue",
            json.loads(text, parse_constant=_refuse, parse_float=_finite, object_pairs_hook=pairs),
        )
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    if _depth(value) > MAX_DEPTH:
        raise ValueError(f"nested more than {MAX_DEPTH} levels deep")
    return Parsed(value, tuple(dict.fromkeys(repeated)))


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON value")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"the number {text[:40]} is out of range")
    return number


def _depth(value: JsonValue) -> int:
    """Levels of nesting, found level by level."""
    depth, level = 0, [value]
    while level:
        inner: list[JsonValue] = []
        for item in level:
            if isinstance(item, dict):
                inner += item.values()
            elif isinstance(item, list):
                inner += item
        level = inner
        depth += 1
    return depth


def number(value: JsonValue) -> float | int | None:
    """The value when it is a JSON number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value


def read_number(text: str) -> float | None:
    """The number that a text is: decimal, `1,234.5` or `1e3`; ids such as `007` are not."""
    text = unicodedata.normalize("NFKC", text).strip()
    if len(text) > 60 or not (_PLAIN.fullmatch(text) or _GROUPED.fullmatch(text)):
        return None
    found = float(text.replace(",", ""))
    return found if math.isfinite(found) else None


def numbers_in(text: str) -> set[float]:
    """Every number that stands in a text as a token of its own."""
    tokens = re.findall(r"(?<![A-Za-z0-9_.,])[-+]?[0-9][0-9,]*(?:\.[0-9]+)?(?![A-Za-z0-9_])", text)
    return {n for token in tokens if (n := read_number(token.rstrip(","))) is not None}


def close(actual: float | int, expected: float | int, tolerance: Tolerance = EXACT) -> bool:
    """Whether two numbers are equal within a tolerance; exact for large integers without one."""
    if actual == expected:
        return True
    try:
        distance = abs(actual - expected)
        allowed = max(tolerance.absolute, tolerance.relative * abs(expected))
        return allowed > 0 and distance <= allowed * (1 + _EPSILON) + 1e-12 * abs(expected)
    except OverflowError:  # an integer beyond double range
        return False


def normal(text: str, *, ignore_case: bool = False) -> str:
    """Text for comparing: NFKC, runs of white space as one space, without case if asked."""
    text = " ".join(unicodedata.normalize("NFKC", text).split())
    return text.casefold() if ignore_case else text


def equal(actual: JsonValue, expected: JsonValue, tolerance: Tolerance = EXACT) -> bool:
    """Whether two JSON values are the same, at any depth."""
    left, right = number(actual), number(expected)
    if left is not None and right is not None:
        return close(left, right, tolerance)
    if isinstance(actual, str) and isinstance(expected, str):
        return _same_text(actual, expected, tolerance)
    if isinstance(actual, list) and isinstance(expected, list):
        return len(actual) == len(expected) and all(
            equal(a, e, tolerance) for a, e in zip(actual, expected, strict=True)
        )
    if isinstance(actual, dict) and isinstance(expected, dict):
        return actual.keys() == expected.keys() and all(
            equal(actual[key], expected[key], tolerance) for key in expected
        )
    return type(actual) is type(expected) and actual == expected


def _same_text(actual: str, expected: str, tolerance: Tolerance) -> bool:
    left, right = (unicodedata.normalize("NFC", t) for t in (actual, expected))
    if tolerance.ignore_case:
        return left.strip().casefold() == right.strip().casefold()
    return left == right


def member(item: JsonValue, items: Sequence[JsonValue], tolerance: Tolerance = EXACT) -> bool:
    """Whether a value is equal to one of several."""
    return any(equal(other, item, tolerance) for other in items)


def same_cell(actual: str, expected: JsonValue, tolerance: Tolerance = EXACT) -> bool:
    """Whether a table's cell says a value. Null is the empty cell and nothing else."""
    if expected is None:
        return actual.strip() == ""
    if isinstance(expected, bool):
        return actual.strip().lower() == str(expected).lower()
    if isinstance(expected, list | dict):
        return False
    wanted = read_number(expected) if isinstance(expected, str) else expected
    found = read_number(actual)
    if wanted is not None and found is not None:
        return close(found, wanted, tolerance)
    ignore = tolerance.ignore_case
    return isinstance(expected, str) and (
        normal(actual, ignore_case=ignore) == normal(expected, ignore_case=ignore)
    )


def type_name(value: JsonValue) -> str:
    """JSON's name of a value's type; a whole number is an `integer`."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "integer" if isinstance(value, int) or value.is_integer() else "number"
    return {"str": "string", "list": "array", "dict": "object"}[type(value).__name__]


def show(value: JsonValue) -> str:
    """A value for a reason, short and on one line."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}…"
