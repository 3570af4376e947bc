"""Read a judge's answer: every line exactly once, every number a number, or no verdict.

Nothing is clamped and nothing has a default. The only repair is a trailing comma, and it is
told. An object in prose or in a fence is found; two different ones are no verdict, for one
of them may be a quotation of what the agent forged.
"""

import json
import re
from collections.abc import Iterator, Sequence
from math import isfinite
from typing import NamedTuple, NoReturn, cast

from uniclaw.errors import JudgeError

MAX_ANSWER_CHARS = 1_000_000
_MAX_CANDIDATES = 200
_MAX_REASON_CHARS = 4_000
_LINE_KEYS = frozenset({"id", "met", "evidence", "reason"})
_TOP_KEYS = frozenset({"lines", "unrecoverable"})


class JudgedLine(NamedTuple):
    """What the judge says of one line."""

    id: str
    met: float
    evidence: tuple[str, ...]
    reason: str


class ParsedVerdict(NamedTuple):
    """A judge's answer that holds every line exactly once, in the order asked."""

    lines: tuple[JudgedLine, ...]
    unrecoverable: str | None
    """Why no further attempt can succeed, if the judge says so."""
    repaired: bool
    """A trailing comma was removed."""


def parse_verdict(text: str, ids: Sequence[str]) -> ParsedVerdict:
    """Read the one verdict in an answer.

    Args:
        text: the answer.
        ids: of the lines asked, each once.

    Raises:
        JudgeError: there is none, more than one, or one that is not exactly as asked.
    """
    if len(text) > MAX_ANSWER_CHARS:
        raise JudgeError(f"answer of {len(text)} characters")
    found, repaired = _find(text)
    return _verdict(found, ids, repaired=repaired)


# --- finding the object ------------------------------------------------------------------


def _pairs(pairs: list[tuple[str, object]]) -> dict[str, object]:
    record = dict(pairs)
    if len(record) != len(pairs):
        twice = next(key for key, _ in pairs if sum(k == key for k, _ in pairs) > 1)
        raise JudgeError(f"key {twice!r} stands twice")
    return record


def _constant(name: str) -> NoReturn:
    raise JudgeError(f"{name} is not a number")


def _float(digits: str) -> float:
    value = float(digits)
    if not isfinite(value):
        raise JudgeError(f"{digits} is not a finite number")
    return value


_DECODER = json.JSONDecoder(object_pairs_hook=_pairs, parse_constant=_constant, parse_float=_float)


def _find(text: str) -> tuple[object, bool]:
    """The verdict object, and whether it was repaired."""
    # a bare object first: its reasons may hold fences and braces
    bare = text.strip()
    for candidate, repaired in ((bare, False), (without_trailing_commas(bare), True)):
        try:
            value, end = _raw(candidate, 0)
        except ValueError:
            continue
        if end == len(candidate):
            return value, repaired
    for candidate, repaired in ((text, False), (without_trailing_commas(text), True)):
        found = list(_objects(candidate))
        if not found:
            continue
        if any(other.value != found[0].value for other in found):
            raise JudgeError("different verdicts in one answer")
        if len(_POSE.findall(candidate)) > sum(f.poses for f in found):
            raise JudgeError("a verdict, and beside it what may be another one")
        return found[0].value, repaired
    raise JudgeError(f"no verdict in the answer: {bare[:200]!r}")


def _raw(text: str, start: int) -> tuple[object, int]:
    try:
        return cast("tuple[object, int]", _DECODER.raw_decode(text, start))
    except RecursionError as error:
        raise ValueError("nested too deep") from error


class _Found(NamedTuple):
    value: object
    poses: int
    """How often it, itself, looks like the beginning of a verdict."""


_POSE = re.compile(r'"lines"\s*:')


def _objects(text: str) -> Iterator[_Found]:
    """Outermost JSON objects in prose that pose as a verdict."""
    position = 0
    for _ in range(_MAX_CANDIDATES):
        start = text.find("{", position)
        if start < 0:
            return
        try:
            value, position = _raw(text, start)
        except ValueError:
            position = start + 1
            continue
        if isinstance(value, dict) and "lines" in value:
            poses = len(_POSE.findall(text[start:position]))
            yield _Found(cast("object", value), poses)


def without_trailing_commas(text: str) -> str:
    """The text without commas that stand before a closing bracket, strings untouched."""
    kept: list[str] = []
    in_string = escaped = False
    for char in text:
        if in_string:
            in_string = escaped or char != '"'
            escaped = char == "\\" and not escaped
        elif char == '"':
            in_string = True
        elif char in "}]":
            _drop_comma(kept)
        kept.append(char)
    return "".join(kept)


def _drop_comma(kept: list[str]) -> None:
    index = len(kept) - 1
    while index >= 0 and kept[index].isspace():
        index -= 1
    if index >= 0 and kept[index] == ",":
        del kept[index]


# --- reading the object ------------------------------------------------------------------


def _verdict(value: object, ids: Sequence[str], *, repaired: bool) -> ParsedVerdict:
    record = _record(value, "the verdict", _TOP_KEYS, optional=frozenset({"unrecoverable"}))
    items = record["lines"]
    if not isinstance(items, list):
        raise JudgeError(f"`lines` is not a list: {items!r:.100}")
    lines = [_line(item, ids) for item in cast("list[object]", items)]
    given = [line.id for line in lines]
    twice = sorted({i for i in given if given.count(i) > 1})
    if twice:
        raise JudgeError(f"lines {twice} stand more than once")
    missing = [i for i in ids if i not in given]
    if missing:
        raise JudgeError(f"lines {missing} are missing")
    why = record.get("unrecoverable")
    if why is not None and not isinstance(why, str):
        raise JudgeError(f"`unrecoverable` is neither null nor a reason: {why!r:.100}")
    by_id = {line.id: line for line in lines}
    stated = why.strip()[:_MAX_REASON_CHARS] if why else ""
    return ParsedVerdict(tuple(by_id[i] for i in ids), stated or None, repaired)


def _record(
    value: object, what: str, keys: frozenset[str], *, optional: frozenset[str] = frozenset()
) -> dict[str, object]:
    if not isinstance(value, dict):
        raise JudgeError(f"{what} is not an object: {value!r:.100}")
    record = cast("dict[str, object]", value)
    strange = sorted(record.keys() - keys)
    missing = sorted(keys - optional - record.keys())
    if strange or missing:
        raise JudgeError(f"{what} has unknown keys {strange}, lacks {missing}")
    return record


def _line(value: object, ids: Sequence[str]) -> JudgedLine:
    record = _record(value, "a line", _LINE_KEYS)
    line_id, evidence, reason = record["id"], record["evidence"], record["reason"]
    if not isinstance(line_id, str) or line_id not in ids:
        raise JudgeError(f"unknown line {line_id!r:.100}")
    if not isinstance(reason, str) or not reason.strip():
        raise JudgeError(f"line {line_id!r} has no reason")
    if not isinstance(evidence, list):
        raise JudgeError(f"evidence of line {line_id!r} is not a list")
    cited = [e for e in cast("list[object]", evidence) if isinstance(e, str)]
    if len(cited) != len(cast("list[object]", evidence)):
        raise JudgeError(f"evidence of line {line_id!r} holds more than ids")
    return JudgedLine(
        id=line_id,
        met=_met(record["met"], line_id),
        evidence=tuple(dict.fromkeys(cited)),
        reason=reason.strip()[:_MAX_REASON_CHARS],
    )


def _met(value: object, line_id: str) -> float:
    # a bool is an int to Python, and `true` is not a score
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise JudgeError(f"`met` of line {line_id!r} is not a number: {value!r:.100}")
    if not 0 <= value <= 1:
        raise JudgeError(f"`met` of line {line_id!r} is {value!r:.100}, not in 0..1")
    return float(value)
