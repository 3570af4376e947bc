"""The one-time index over hidden material: values with context, names, phrases, sentences.

What the public side already says is taken out as far as that can be known beforehand.
"""

import math
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, NamedTuple

from uniclaw.firewall.background import background
from uniclaw.firewall.cutting import known_pieces, pieces
from uniclaw.firewall.identifiers import compact
from uniclaw.firewall.manystrings import ManyStrings
from uniclaw.firewall.material import HiddenMaterial
from uniclaw.firewall.mentions import around, mentions, readable
from uniclaw.firewall.normal import fold, is_cjk, shown, squeeze
from uniclaw.firewall.terms import Term, stem, terms, tokens
from uniclaw.firewall.values import Mention

SHINGLE: Final = 5
"""Words (Chinese: characters) of one shingle."""
_MAX_CONTEXTS: Final = 60
_MAX_SENTENCES: Final = 4_000
_PAIR_TERMS: Final = 40
_ROW_BARS: Final = 3
_ROW_CHARS: Final = 400
_QUOTED = re.compile(r"[`\"“”']([^`\"“”'\n]{3,60})[`\"“”']")
_NAME = re.compile(r"(?<=[a-z0-9,)(] )([A-Z][a-z]{3,}(?:[ -][A-Z][a-z]+)*)")
_CODE = re.compile(r"[=(){}\[\]<>;|&$]")


@dataclass
class Occurrence:
    """A hidden value and what is said of it."""

    kind: str
    text: str
    where: str
    stated: bool = False
    """It is a value of a structured document or of a check."""
    contexts: set[str] = field(default_factory=set[str])
    """Terms around it."""
    seen: int = 0


class Passage(NamedTuple):
    """A hidden statement, or two that follow each other."""

    where: str
    keys: frozenset[str]


class Phrase(NamedTuple):
    """A hidden name or short phrase."""

    text: str
    where: str
    weight: float
    contexts: frozenset[str]
    kind: str

    @property
    def text_words(self) -> list[str]:
        """Its words, folded."""
        return tokens(fold(self.text))


class HiddenIndex:
    """Everything that a message is compared with."""

    def __init__(self, material: HiddenMaterial, *, known: Sequence[str]) -> None:
        """Build it.

        Args:
            material: hidden of the task under the policy.
            known: instruction and brief; large public files are asked later, value by value.
        """
        self.known_keys = frozenset(t.key for text in known for t in terms(fold(text)))
        self.known_pieces = known_pieces(known)
        self.known_signs = tuple(
            signs
            for text in known
            for piece in pieces(text)
            if (signs := frozenset(filter(is_cjk, fold(piece))))
        )
        self.values: dict[str, Occurrence] = {}
        self.shingles: set[int] = set()
        self.triples: set[int] = set()
        self.vocabulary: dict[str, str] = {}
        self._phrases: dict[str, Phrase] = {}
        self._sentences: list[tuple[str, str, tuple[Term, ...]]] = []
        self._codes: dict[str, str] = {}
        self._texts = [text for _, text in material.texts()]
        for text, where, rule in ((p.text, p.where, p.rule) for p in material.prose):
            self._prose(text, where, rule=rule)
        for leaf in material.leaves:
            self._leaf(leaf.text, leaf.context, leaf.where)
        for name in material.file_names:
            self._file_name(name)
        for line_id in (*material.ids, *material.tags):
            self._identifier(line_id)
        self.phrases = ManyStrings(self._phrases)
        self.codes = ManyStrings(self._codes)
        self.passages, self.by_term = self._passages()
        self._spread = {key: len(places) for key, places in self.by_term.items()}

    # --- filling ---------------------------------------------------------------------

    def _prose(self, text: str, where: str, *, rule: bool) -> None:
        plain = shown(text)
        for match in _NAME.finditer(plain):
            self._phrase(match[1], "", where, "name")
        for match in _QUOTED.finditer(plain):
            self._quoted(match[1], where)
        self._shingle(tokens(fold(text)), where)
        self._rows(plain, where)
        for piece in pieces(text):
            folded = readable(fold(piece))
            found = terms(folded)
            for mention in mentions(folded):
                near = around(found, mention.start, mention.end)
                self._value(mention, near, where, stated=False)
            if rule and len(self._sentences) < _MAX_SENTENCES:
                self._sentences.append((where, piece, found))
                self._whole(piece, where)

    def _rows(self, text: str, where: str) -> None:
        """A value in a table is about what stands in its row."""
        for line in text.splitlines():
            if line.count("|") >= _ROW_BARS:
                folded = readable(fold(line[:_ROW_CHARS]))
                found = terms(folded)
                for mention in mentions(folded):
                    self._value(mention, found, where, stated=False)

    def _whole(self, piece: str, where: str) -> None:
        """A short demand counts as one phrase."""
        words = tokens(fold(piece))
        if 5 <= len(words) <= 24:
            weight = sum(word_weight(w) for w in words)
            if weight >= 1.0:
                key = f" {' '.join(words)} "
                phrase = Phrase(piece.strip(), where, 9.0, frozenset(), "phrase")
                self._phrases.setdefault(key, phrase)

    def _quoted(self, text: str, where: str) -> None:
        if _CODE.search(text):
            self._code(text, where)
        elif len(text.split()) <= 6:
            self._phrase(text, "", where, "name" if text[:1].isupper() else "phrase")

    def _leaf(self, text: str, context: str, where: str) -> None:
        folded = readable(fold(text))
        about = terms(fold(re.sub(r"[_/.-]|(?<=[a-z])(?=[A-Z])", " ", context)))
        if len(folded) <= 400:
            found = mentions(folded)
            beside = list(about) if len(found) == 1 else [*about, *terms(folded)]
            for mention in found:
                self._value(mention, beside, where, stated=True)
        words = tokens(fold(text))
        self._words(words, where)
        self.triples.update(shingles(words, 3))
        if 1 <= len(words) <= 8 and not re.fullmatch(r"[\d\W]+", folded):
            self._phrase(text, context, where, "name")
        elif len(words) > 8:
            self._shingle(words, where)
        if _CODE.search(text):
            self._code(text, where)

    def _value(self, mention: Mention, near: Iterable[Term], where: str, *, stated: bool) -> None:
        keys = {term.key for term in near}
        for form in (*mention.forms, *((mention.base,) if mention.base else ())):
            known = self.values.get(form)
            if known is None:
                known = Occurrence(mention.kind, mention.text, where, stated)
                self.values[form] = known
            known.seen += 1
            known.stated |= stated
            if len(known.contexts) < _MAX_CONTEXTS:
                known.contexts |= keys

    def _file_name(self, name: str) -> None:
        folded = fold(name)
        self.values.setdefault(folded, Occurrence("file_name", name, "references", stated=True))

    def _identifier(self, text: str) -> None:
        folded = fold(text)
        if len(folded) >= 6 and re.search(r"[-_.]|\d", folded):
            self.values.setdefault(
                compact(folded), Occurrence("identifier", text, "ids", stated=True)
            )

    def _phrase(self, text: str, context: str, where: str, kind: str) -> None:
        words = tokens(fold(text))
        if not words or len(words) > 8 or all(w.isdigit() for w in words):
            return
        weight = sum(word_weight(w) for w in words)
        keys = frozenset(t.key for t in terms(fold(context)))
        key = f" {' '.join(words)} "
        old = self._phrases.get(key)
        if old is not None:
            keys |= old.contexts
        keys = frozenset(list(keys)[:_MAX_CONTEXTS])
        self._phrases[key] = Phrase(text, where, weight, keys, kind)
        if len(words) == 1 and len(parts := re.split(r"[_-]", words[0])) > 1 and all(parts):
            self._phrases.setdefault(
                f" {' '.join(parts)} ", Phrase(text, where, weight, keys, kind)
            )
        if kind == "name" and 1 < len(words) <= 4 and text[:1].isupper():
            for word in words:
                if is_rare(word):
                    self._phrases.setdefault(f" {word} ", Phrase(word, where, 1.0, keys, "name"))

    def _code(self, text: str, where: str) -> None:
        bare = re.sub(r"\s+", "", fold(text))
        if len(bare) >= 10:
            self._codes.setdefault(bare[:200], where)

    def _words(self, words: Sequence[str], where: str) -> None:
        for word in words:
            if len(word) >= 5 and word.isalpha() and not is_cjk(word[0]):
                self.vocabulary.setdefault(word, where)

    def _shingle(self, words: Sequence[str], where: str) -> None:
        self._words(words, where)
        self.shingles.update(shingles(words))
        self.triples.update(shingles(words, 3))

    def _passages(self) -> tuple[list[Passage], dict[str, list[int]]]:
        """Statements and pairs of neighbours, found by their terms."""
        passages: list[Passage] = []
        before: tuple[str, frozenset[str]] = ("", frozenset())
        for where, _, found in self._sentences:
            keys = frozenset(t.key for t in found)
            if len(keys) >= 2:
                passages.append(Passage(where, keys))
                if before[0] == where and len(keys) + len(before[1]) <= _PAIR_TERMS:
                    passages.append(Passage(where, keys | before[1]))
            before = (where, keys)
        by_term: dict[str, list[int]] = {}
        for number, passage in enumerate(passages):
            for key in passage.keys:
                by_term.setdefault(key, []).append(number)
        return passages, by_term

    # --- asking ----------------------------------------------------------------------

    def telling(self, key: str) -> float:
        """How much a term tells of a passage: less, the more passages hold it."""
        half = max(4.0, len(self.passages) / 12)
        return 1 / (1 + math.log1p(self._spread.get(key, 0) / half))

    @cached_property
    def _sorted(self) -> tuple[list[float], list[str]]:
        pairs = sorted(
            (float(form), form)
            for form, value in self.values.items()
            if value.kind == "number" and ":" not in form and len(form) < 24
        )
        return [p[0] for p in pairs], [p[1] for p in pairs]

    def between(self, low: float, high: float) -> list[str]:
        """Hidden numbers of a closed interval."""
        floats, forms = self._sorted
        return forms[bisect_left(floats, low) : bisect_right(floats, high)]

    @cached_property
    def joined(self) -> str:
        """Words of all hidden texts, one space between."""
        return " ".join(f" {' '.join(tokens(fold(text)))} \n" for text in self._texts)

    @cached_property
    def squeezed(self) -> str:
        """Letters and digits of all hidden texts."""
        return "\n".join(squeeze(fold(text)) for text in self._texts)

    @cached_property
    def density(self) -> Counter[tuple[int, int]]:
        """How many hidden numbers there are by digits before and after the point."""
        return Counter(shape(form) for form in self._sorted[1])

    @cached_property
    def stated_numbers(self) -> Counter[tuple[int, int]]:
        """How many numbers of the answer there are by digits before and after the point."""
        return Counter(shape(form) for form in self._sorted[1] if self.values[form].stated)

    @cached_property
    def stated_dates(self) -> int:
        """How many dates of the answer there are."""
        return sum(
            v.kind == "date" and v.stated and form.startswith("--")
            for form, v in self.values.items()
        )

    @cached_property
    def compacts(self) -> ManyStrings[tuple[str, str]]:
        """Distinctive values without separators -> form and kind."""
        out: dict[str, tuple[str, str]] = {}
        for form, value in self.values.items():
            bare = squeeze(form)
            if _stands_out(value.kind, bare):
                out[bare] = (form, value.kind)
        for key, phrase in self._phrases.items():
            bare = squeeze(key)
            heavy = phrase.weight >= 1.0 or len(bare) >= 9
            least = 3 if is_cjk(bare[0]) else 5
            if len(bare) >= least and (heavy or is_cjk(bare[0])) and not bare.isdigit():
                out.setdefault(bare, (key, phrase.kind))
        return ManyStrings(out)

    def prepare(self) -> None:
        """Compute what later questions need, once."""
        _ = (self._sorted, self.joined, self.squeezed, self.density, self.compacts)
        _ = (self.stated_numbers, self.stated_dates)

    @cached_property
    def names(self) -> int:
        """How many names the hidden side holds."""
        return sum(phrase.kind == "name" for phrase in self._phrases.values())

    @cached_property
    def _bare(self) -> dict[str, Phrase]:
        return {squeeze(key): phrase for key, phrase in self._phrases.items()}

    def phrases_whole(self, bare: str) -> Phrase | None:
        """The phrase that a text without word borders is, if long enough to be no chance."""
        least = 2 if is_cjk(bare[0]) else 4
        return self._bare.get(bare) if len(bare) >= least else None

    def phrase(self, key: str) -> Phrase:
        """A phrase by its key."""
        return self._phrases[key]


def _stands_out(kind: str, bare: str) -> bool:
    """Whether a value without separators is found by chance only."""
    if kind == "identifier":
        mixed = any(c.isdigit() for c in bare) and any(c.isalpha() for c in bare)
        return len(bare) >= 5 and (mixed or len(bare) >= 8)
    if kind == "number":
        return len(bare) >= 4 and len(bare.strip("0")) >= 3
    return kind == "file_name"


def shape(form: str) -> tuple[int, int]:
    """Digits before and after the point."""
    whole, _, part = form.lstrip("-").partition(".")
    return len(whole), len(part)


def word_weight(word: str) -> float:
    """Rarity of one word or Chinese character."""
    if is_cjk(word[0]):
        return 0.3
    return 0.6 if word.isdigit() else background().rarity(word)


def is_rare(word: str) -> bool:
    """A word that is no common English one, also without its inflection."""
    if is_cjk(word[0]) or len(word) < 4 or not word.isalpha():
        return False
    words = background()
    return not any(
        words.common(w) for w in (word, word.rstrip("s"), stem(word), stem(word) + "e", word[:-1])
    )


def shingles(words: Sequence[str], size: int = SHINGLE) -> list[int]:
    """Hashes of all runs of `size` words."""
    return [hash(tuple(words[i : i + size])) for i in range(len(words) - size + 1)]
