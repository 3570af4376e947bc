"""What a message is compared against: the index, and everything that is no secret."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from uniclaw.firewall.index import HiddenIndex
from uniclaw.firewall.mentions import around
from uniclaw.firewall.shown import Shown
from uniclaw.firewall.terms import Term, stem, terms

_GENERIC_WORDS: Final = (
    "file result input number check detail requirement update complete correct wrong good must"
    " create question answer problem case every only none both please note list value actual line"
    " new more less time keep long short include exact first last than because also but instead"
    " expected option fact evidence reason name second two biggest largest smallest"
    " rank"
)


_QUALITY_WORDS: Final = (
    "row table header sort duplicate missing total order date used open read forgotten occurs same"
    " section summary report source format output page column copy mark link title text view"
    " show explain verify confirm finish complete start done larger smaller bigger below above"
    " right reference whether pass fail status valid error accept reject match verbatim json csv"
    " yaml task continue request contains visible artifact package extra remove spec"
)


@cache
def quality() -> frozenset[str]:
    """Terms of any request for careful work, on top of the generic ones."""
    return generic() | {t.key for word in _QUALITY_WORDS.split() for t in terms(word)}


@cache
def generic() -> frozenset[str]:
    """Terms that say nothing of what a value is about."""
    words = _GENERIC_WORDS.split()
    keys = {t.key for word in words for t in terms(word)}
    return frozenset(keys | {stem(word) for word in words})


@dataclass(frozen=True, kw_only=True)
class Against:
    """The index and the three kinds of known text."""

    index: HiddenIndex
    known: Shown
    """Instruction and brief."""
    files: Shown
    """Public files: large, so that a value may stand there by chance."""
    visible: Shown
    """The work so far, earlier messages, and what the policy released."""

    def number_known(self, form: str) -> bool:
        """A number that may be said."""
        return self.known.number(form) or self.visible.number(form)

    def moment_known(self, form: str) -> bool:
        """A date or time that may be said."""
        return self.known.moment(form) or self.visible.moment(form)

    def identifier_known(self, text: str, compact: str) -> bool:
        """An identifier or file name that may be said."""
        return self.known.identifier(text, compact) or self.visible.identifier(text, compact)

    def run_known(self, words: Sequence[str]) -> bool:
        """A run of words that may be said."""
        if len(words) == 1:
            return self.known.word(words[0]) or self.visible.word(words[0])
        return self.known.run(words) or self.visible.run(words)


def shared_context(
    found: Sequence[Term], start: int, end: int, contexts: set[str] | frozenset[str], reach: int
) -> list[Term]:
    """Terms around a place that also stand around the hidden value, generic ones left out."""
    return [
        term
        for term in around(found, start, end, reach)
        if term.key in contexts and term.key not in generic() and term.weight >= 0.12
    ]
