"""Words near in meaning: synonyms and wider words of a term, and the English of Chinese words.

Data under `firewall/background`; a term and its relatives are compared with falling weight.
"""

from collections.abc import Mapping
from functools import cache
from typing import Final

from uniclaw.assets import Assets, default_roots
from uniclaw.firewall.background import DIRECTORY

SYNONYM: Final = 0.7
WIDER: Final = 0.35


@cache
def _lines(name: str) -> tuple[str, ...]:
    text = Assets(default_roots(None)).read_text(f"{DIRECTORY}/{name}")
    return tuple(line for line in text.splitlines() if line and not line.startswith("#"))


@cache
def glosses() -> Mapping[str, tuple[str, ...]]:
    """Chinese word -> English words of its first senses."""
    return {word: tuple(rest) for word, *rest in map(str.split, _lines("zh-en.txt"))}


@cache
def neighbours() -> Mapping[str, Mapping[str, float]]:
    """Stem -> stems near it in meaning, with how near; the relation goes both ways."""
    out: dict[str, dict[str, float]] = {}
    for line in _lines("near.txt"):
        same, _, wider = line.partition("|")
        word, *synonyms = same.split()
        for others, factor in ((synonyms, SYNONYM), (wider.split(), WIDER)):
            for other in others:
                for one, two in ((word, other), (other, word)):
                    row = out.setdefault(one, {})
                    row[two] = max(factor, row.get(two, 0.0))
    return out
