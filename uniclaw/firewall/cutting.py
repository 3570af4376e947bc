"""Texts in pieces: sentences, bullets and table cells; windows of a message."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from uniclaw.firewall.normal import fold
from uniclaw.firewall.terms import terms

_SENTENCE: Final = re.compile(r"(?<=[.!?;])\s+|\n\s*\n|\n(?=\s*(?:[-*•|#>]|\d+[.)]))|\|")
_WINDOW: Final = re.compile(r"(?<=[.!?;\n])\s*")


def known_pieces(known: Sequence[str]) -> tuple[frozenset[str], ...]:
    """Terms of the sentences of instruction and brief, and of neighbours together."""
    out: list[frozenset[str]] = []
    for text in known:
        keys = [frozenset(t.key for t in terms(fold(piece))) for piece in pieces(text)]
        out += keys
        out += [one | two for one, two in pairwise(keys)]
    return tuple(dict.fromkeys(filter(None, out)))


def windows(folded: str) -> list[str]:
    """Sentences of a folded text, and pairs of neighbours."""
    parts = [p for p in _WINDOW.split(folded) if p.strip()]
    return [*parts, *(f"{a} {b}" for a, b in pairwise(parts))]


def pieces(text: str) -> Iterator[str]:
    """Sentences, bullets and table cells of a text; Chinese full stops count."""
    flat = text.replace("。", ". ").replace("；", "; ").replace("！", "! ").replace("？", "? ")
    flat = re.sub(r"(?<=[^\n])\n(?=[^\n\s|#>*•-])", " ", flat)
    for piece in _SENTENCE.split(flat):
        for start in range(0, len(piece), 1200):
            part = piece[start : start + 1200]
            if part.strip(" -*#>|\n\t"):
                yield part
