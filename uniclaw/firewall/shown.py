"""What is no secret: texts that are public or visible, asked lazily whether they hold a value.

Large texts are searched for the few values that matter, and never parsed as a whole.
"""

import json
import re
from collections.abc import Sequence
from functools import cached_property
from typing import cast

from pydantic import JsonValue

from uniclaw.firewall.calendar_values import dates, moment_formats, times
from uniclaw.firewall.mentions import mentions, readable
from uniclaw.firewall.normal import fold, is_cjk, squeeze
from uniclaw.firewall.terms import tokens

_SMALL = 60_000
_FIGURE = re.compile(r"\d+(?:[,'_]\d{3})*(?:\.\d+)?")
_WORD = re.compile(r"[a-z0-9]+")
_COUNTED = 400_000
_PLACES = 300


def number_pattern(form: str) -> re.Pattern[str]:
    """Matches a canonical number in its usual formats."""
    whole, _, part = form.lstrip("-").partition(".")
    groups: list[str] = []
    while whole:
        groups.insert(0, whole[-3:])
        whole = whole[:-3]
    body = "[,'_ .]?".join(groups)
    body += rf"[.,]{part}0*" if part else r"(?:[.,]0+)?"
    return re.compile(rf"(?<!\d)(?<!\d[.,])0*{body}(?![.,]?\d)")


def _plain_figure(text: str) -> str:
    """A figure without separators, leading zeros and trailing decimal zeros."""
    whole, _, part = re.sub(r"[,'_]", "", text).partition(".")
    part = part.rstrip("0")
    return (whole.lstrip("0") or "0") + (f".{part}" if part else "")


class Shown:
    """A set of texts that are known to the executor or to the user."""

    def __init__(self, texts: Sequence[str]) -> None:
        """Keep the texts; nothing is computed yet."""
        self._texts = tuple(texts)
        self._asked: dict[str, bool] = {}

    @cached_property
    def folded(self) -> str:
        """All texts, folded."""
        return "\n".join(fold(text) for text in self._texts)

    @cached_property
    def squeezed(self) -> str:
        """Letters and digits only."""
        return squeeze(self.folded)

    @cached_property
    def _figures(self) -> frozenset[str]:
        out: set[str] = set()
        for text in set(_FIGURE.findall(self.folded)):
            out.add(_plain_figure(text))
            if "," in text:  # cells of a table may look like one grouped figure
                out.update(_plain_figure(part) for part in text.split(","))
        return frozenset(out)

    @cached_property
    def _wordset(self) -> frozenset[str]:
        return frozenset(_WORD.findall(self.folded))

    def prepare(self) -> None:
        """Compute what later questions need, once."""
        _ = (self._figures, self._wordset, self._joined, self.squeezed)

    @cached_property
    def _joined(self) -> str:
        return f" {' '.join(tokens(self.folded))} "

    @cached_property
    def _said(self) -> frozenset[str]:
        """Forms of all values of a small text, number words included."""
        out: set[str] = set()
        for line in self.folded[:_SMALL].splitlines():
            for mention in mentions(readable(line[:2000])):
                out.update(mention.forms)
                if mention.base:
                    out.add(mention.base)
        return frozenset(out)

    @cached_property
    def _moments(self) -> frozenset[str]:
        return frozenset(
            form for m in (*dates(self.folded), *times(self.folded)) for form in m.forms
        )

    @cached_property
    def _counts(self) -> frozenset[str]:
        """What can be counted in the texts: lines, rows, members of JSON lists."""
        out: set[int] = set()
        for text in self._texts:
            if len(text) > _COUNTED:
                continue
            lines = sum(bool(line.strip()) for line in text.splitlines())
            out |= {lines, lines - 1, lines - 2} if lines > 2 else set()
            at = min((text.find(c) for c in "[{" if c in text), default=-1)
            if at >= 0:
                _list_lengths(text[at:], out)
        return frozenset(str(n) for n in out if n > 1)

    def number(self, form: str) -> bool:
        """Whether a number stands there in any format, as a percentage, or can be counted."""
        if form not in self._asked:
            self._asked[form] = self._number(form)
        return self._asked[form]

    def _number(self, form: str) -> bool:
        bare = form.lstrip("-")
        if bare in self._figures or bare in self._counts or form in self._said:
            return True
        if len(self.folded) <= _SMALL and number_pattern(form).search(self.folded):
            return True
        whole, _, part = bare.partition(".")
        if whole == "0" and 2 <= len(part) <= 4:
            percent = _plain_figure(f"{part[:2]}.{part[2:]}")
            pattern = rf"(?<![\d.]){re.escape(percent)}\s*(?:%|percent)"
            return percent in self._figures and bool(re.search(pattern, self.folded))
        return False

    def number_near(self, form: str, words: Sequence[str], reach: int = 120) -> bool:
        """Whether a number stands there close to one of some words."""
        text = self.folded
        whole, _, part = form.partition(".")
        for written in {form, f"{int(whole or 0):,}{'.' + part if part else ''}"}:
            at = text.find(written)
            for _ in range(_PLACES):
                if at < 0:
                    break
                end = at + len(written)
                apart = not text[at - 1 : at].isdigit() and not text[end : end + 1].isdigit()
                near = text[max(0, at - reach) : end + reach]
                if apart and any(word in near for word in words):
                    return True
                at = text.find(written, end)
            if at >= 0:  # so frequent that its places say nothing
                return any(word in text for word in words)
        return False

    def moment(self, form: str) -> bool:
        """Whether a date or time stands there in any format."""
        if form in self._said:
            return True
        if len(self.folded) <= _SMALL:
            return form in self._moments
        return any(written in self.folded for written in moment_formats(form))

    def word(self, word: str) -> bool:
        """Whether a word stands there (Chinese: as a part of the text)."""
        if is_cjk(word[0]):
            return word in self.folded
        if word.isalnum():
            return word in self._wordset
        return f" {word} " in self._joined

    def term(self, word: str) -> bool:
        """Whether a word's beginning stands there, so that inflected forms count."""
        stem = word if is_cjk(word[0]) or len(word) < 6 else word[: max(5, len(word) - 3)]
        return stem in self.folded

    def identifier(self, text: str, compact: str) -> bool:
        """Whether an identifier stands there, with other separators too."""
        if compact in self._wordset or f" {text} " in self._joined:
            return True
        return len(compact) >= 6 and (text in self.folded or compact in self.squeezed)

    def run(self, words: Sequence[str]) -> bool:
        """Whether a run of words stands there in this order."""
        return f" {' '.join(words)} " in self._joined


def _list_lengths(text: str, out: set[int]) -> None:
    try:
        document = cast("JsonValue", json.loads(text))
    except (ValueError, RecursionError):
        return
    stack: list[JsonValue] = [document]
    while stack:
        item = stack.pop()
        if isinstance(item, dict):
            out.add(len(item))
            stack.extend(item.values())
        elif isinstance(item, list):
            out.add(len(item))
            stack.extend(item)
