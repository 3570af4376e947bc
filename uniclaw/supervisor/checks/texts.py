"""Statements about text: a file's, the final message's, what OCR read, what a probe printed."""

import re
import unicodedata
from collections.abc import Iterator, Sequence

from pydantic import JsonValue

from uniclaw.hidden.rubric import TextCheck
from uniclaw.hidden.verdict import CheckResult
from uniclaw.supervisor.checks.context import CheckContext, Statement, conclude, hold, unmet
from uniclaw.supervisor.checks.regexes import Search, search_all
from uniclaw.supervisor.checks.values import close, normal, number, numbers_in, show
from uniclaw.supervisor.frozen import Unreadable, decode

MAX_TEXT_BYTES = 5_000_000
_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002fa1f"
_WORD = re.compile(rf"[{_CJK}]|[^\W{_CJK}]+(?:(?:['’.-]|,(?=[0-9]))[^\W{_CJK}]+)*")


def check_text(check: TextCheck, context: CheckContext) -> CheckResult:
    """Carry out a `text` check.

    Where a glob matches several files the best one counts, unless something must be absent:
    then it must be absent from all, so the worst counts.
    """
    if check.path is None:
        message = context.evidence.turn.final_message
        return _conclude(check, message, "final_message", context)
    try:
        entries = context.files.readable(check.path)
        texts = [
            (entry.path, decode(context.files.read(entry, max_bytes=MAX_TEXT_BYTES)))
            for entry in entries
        ]
    except Unreadable as error:
        return unmet(str(error))
    results = [_conclude(check, text, path, context) for path, text in texts]
    choose = min if check.absent or check.max_words is not None else max
    return choose(results, key=lambda result: result.value or 0.0)


def _conclude(check: TextCheck, text: str, name: str, context: CheckContext) -> CheckResult:
    resolved = {
        "contains": [context.references.value(v) for v in check.contains],
        "any_of": [context.references.value(v) for v in check.any_of],
        "absent": [context.references.value(v) for v in check.absent],
    }
    finder = _Finder(text, ignore_case=check.ignore_case)
    statements = [hold(finder.has(v), _says(finder, v)) for v in _flat(resolved["contains"])]
    if options := _flat(resolved["any_of"]):
        held = any(finder.has(v) for v in options)
        statements.append(hold(held, f"says {'one' if held else 'none'} of {len(options)} options"))
    statements += _patterns(check, text)
    alone = not statements and check.min_words == 0
    statements += [
        hold(not finder.has(v), _says(finder, v), gate=not alone) for v in _flat(resolved["absent"])
    ]
    statements += _words(check, text)
    evidence = [name] if check.path is not None else []
    return conclude(statements, partial=check.partial, evidence=evidence)


def contains_all(wanted: Sequence[JsonValue], text: str, *, ignore_case: bool) -> list[Statement]:
    """One statement for each value that a text should hold."""
    finder = _Finder(text, ignore_case=ignore_case)
    return [hold(finder.has(v), _says(finder, v)) for v in _flat(wanted)]


def count_words(text: str) -> int:
    """Words of a text; each Chinese or Japanese character counts as one."""
    return sum(1 for _ in _WORD.finditer(text))


class _Finder:
    """Looks for values in one text: text without regard to width and spacing, numbers as such."""

    def __init__(self, text: str, *, ignore_case: bool) -> None:
        self._ignore_case = ignore_case
        self._text = normal(text, ignore_case=ignore_case)
        self._numbers: set[float] | None = None

    def has(self, value: JsonValue) -> bool:
        wanted = number(value)
        if wanted is not None:
            if self._numbers is None:
                self._numbers = numbers_in(self._text)
            return any(close(found, wanted) for found in self._numbers)
        if not isinstance(value, str):
            return False
        needle = normal(value, ignore_case=self._ignore_case)
        return needle != "" and needle in self._text


def _says(finder: _Finder, value: JsonValue) -> str:
    return f"{'says' if finder.has(value) else 'does not say'} {show(value)}"


def _flat(values: Sequence[JsonValue]) -> list[JsonValue]:
    """A reference may bring a list: each of its members is meant."""
    return [inner for v in values for inner in (v if isinstance(v, list) else [v])]


def _patterns(check: TextCheck, text: str) -> Iterator[Statement]:
    flags = re.MULTILINE | (re.IGNORECASE if check.ignore_case else 0)
    normalised = unicodedata.normalize("NFC", text)
    found = search_all([Search(pattern, normalised, flags) for pattern in check.regex])
    for pattern, matched in zip(check.regex, found, strict=True):
        words = {True: "matches", False: "does not match", None: "took too long for"}[matched]
        yield hold(matched is True, f"{words} {show(pattern)}")


def _words(check: TextCheck, text: str) -> Iterator[Statement]:
    if check.min_words == 0 and check.max_words is None:
        return
    count = count_words(text)
    if check.min_words > 0:
        yield hold(count >= check.min_words, f"{count} words")
    if check.max_words is not None:
        yield hold(count <= check.max_words, f"{count} words", gate=check.min_words > 0)
