"""How common words are, and which words mean the same: the files under `firewall/background`.

What is common in the language says little about a task; weights rise with rarity.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from uniclaw.assets import Assets, default_roots

DIRECTORY = "firewall/background"


@dataclass(frozen=True)
class Background:
    """Word ranks, script pairs and concepts."""

    english: Mapping[str, int]
    """Common English word -> rank, 0 is the most frequent."""
    chinese: frozenset[str]
    """Common Chinese words of two characters."""
    simplified: Mapping[str, str]
    """Traditional character -> simplified one."""
    concepts: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]
    """English and Chinese words of one meaning."""

    @classmethod
    def load(cls, assets: Assets) -> "Background":
        """Read the files.

        Raises:
            UserError: one is missing.
        """
        pairs = _words(assets.read_text(f"{DIRECTORY}/traditional.txt"))
        concepts: list[tuple[tuple[str, ...], tuple[str, ...]]] = []
        for line in assets.read_text(f"{DIRECTORY}/concepts.txt").splitlines():
            if line.strip() and not line.startswith("#"):
                english, _, chinese = line.partition("|")
                concepts.append((tuple(english.split()), tuple(chinese.split())))
        english = _words(assets.read_text(f"{DIRECTORY}/en.txt"))
        return cls(
            english={word: rank for rank, word in enumerate(english)},
            chinese=frozenset(_words(assets.read_text(f"{DIRECTORY}/zh.txt"))),
            simplified={pair[0]: pair[1] for pair in pairs if len(pair) == 2},
            concepts=tuple(concepts),
        )

    def rarity(self, word: str) -> float:
        """0.1 for the most frequent words up to 1.0 for words that are not in the list."""
        rank = self.english.get(word)
        if rank is None:
            return 1.0
        for bound, weight in ((150, 0.05), (600, 0.15), (1500, 0.3), (4000, 0.5), (9000, 0.7)):
            if rank < bound:
                return weight
        return 0.85

    def common(self, word: str) -> bool:
        """Whether a lower-case English word is in the list."""
        return word in self.english


def _words(text: str) -> list[str]:
    lines = (line for line in text.splitlines() if not line.startswith("#"))
    return re.findall(r"\S+", "\n".join(lines))


@cache
def background() -> Background:
    """The background of the default asset places, read once."""
    return Background.load(Assets(default_roots(None)))
