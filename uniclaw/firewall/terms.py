"""Terms of a text: concept ids where the lexicon knows the word, stems and bigrams otherwise.

Two texts of the same content share terms whatever the language or the choice of synonyms.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from typing import NamedTuple

from uniclaw.firewall.background import background
from uniclaw.firewall.manystrings import ManyStrings
from uniclaw.firewall.near import glosses, neighbours
from uniclaw.firewall.normal import is_cjk

_TOKEN = re.compile(r"[a-z0-9]+(?:[._'-][a-z0-9]+)*|[\u3400-\u9fff]+")
_SUFFIXES = (
    ("ization", 5), ("ations", 4), ("ation", 4), ("ingly", 4), ("ments", 4), ("ement", 5),
    ("ment", 4), ("edly", 4), ("ings", 4), ("ions", 4), ("ness", 4), ("able", 4), ("ing", 4),
    ("ies", 3), ("ied", 3), ("ion", 4), ("ers", 4), ("est", 4), ("ed", 3), ("er", 4), ("ly", 4),
    ("es", 3), ("s", 3), ("e", 4), ("y", 4),
)  # fmt: skip
_STOP_WORDS = (
    "the a an of and or to in on at by for with from as is are was were be been being it its this"
    " that these those there here i you he she we they me him her us them my your his our their"
    " not no yes do does did done have has had will would can could should shall may might must"
    " if then else than so such but also just very really please thanks thank ok okay hi hello"
    " about into over under out up down off again once more most some any each other what which"
    " who whom whose when where why how all both own same too get got make sure let like want need"
    " see look think know go going one ones thing things way bit lot still yet now re against"
)
_STOP_PAIRS = (
    "请你 我的 你的 一下 一个 这个 那个 可以 能不 不能 能否 是否 是不 不是 就是 还是 或者 以及"
    " 和你 我要 我想 谢谢 麻烦 再把 把它 一遍 这些 那些 里面 进行 需要 应该 已经 没有 有没 有些"
    " 还有 看看 看一"
)
_FUNCTION_ZH = frozenset(
    "的了是也在和就都要有不没把被给这那你我他她它请再还吗呢吧啊与及或从到对很又着过个会能可"
)
_CUT_WORDS = (
    "doesn don didn isn aren wasn weren couldn wouldn shouldn hasn haven hadn won can mustn"
)
_CONTRACTED = frozenset(_CUT_WORDS.split())
_MOST_SENSES = 4
_SHORT = 2_000
"""Characters of a text whose words are remembered."""
_STOP = frozenset(_STOP_WORDS.split())
_STOP_ZH = frozenset(_STOP_PAIRS.split())


class Term(NamedTuple):
    """One term of a text."""

    key: str
    """`#n` for concept n, otherwise a stem or a pair of characters."""
    word: str
    """As it stands in the folded text."""
    at: int
    weight: float


@cache
def stem(word: str) -> str:
    """Cut inflection; crude, and the same on both sides."""
    for suffix, least in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= least - 1:
            base = word[: -len(suffix)]
            if len(base) > 3 and base[-1] == base[-2] and base[-1] not in "aeiouls":
                base = base[:-1]
            return base if len(base) >= 3 else word
    return word


@cache
def _lexicon() -> tuple[Mapping[str, tuple[str, ...]], ManyStrings[tuple[str, ...]]]:
    """Stem or Chinese word -> its concepts; a word of several senses has several."""
    english: dict[str, tuple[str, ...]] = {}
    chinese: dict[str, tuple[str, ...]] = {}
    for number, (words, terms) in enumerate(background().concepts):
        key = f"#{number}"
        for word in (*words, *(t.lower() for t in terms if not is_cjk(t[0]))):
            english[stem(word)] = tuple(dict.fromkeys((*english.get(stem(word), ()), key)))
        for term in (t for t in terms if is_cjk(t[0])):
            chinese[term] = tuple(dict.fromkeys((*chinese.get(term, ()), key)))
    return english, ManyStrings({**_glossed(english, chinese), **chinese})


def _glossed(
    english: Mapping[str, tuple[str, ...]], chinese: Mapping[str, tuple[str, ...]]
) -> dict[str, tuple[str, ...]]:
    """Chinese words outside the concepts -> the terms of their English senses."""
    out: dict[str, tuple[str, ...]] = {}
    for word, senses in glosses().items():
        if word not in chinese and not _FUNCTION_ZH.intersection(word) and word not in _STOP_ZH:
            keys = (key for sense in senses for key in english.get(stem(sense), (stem(sense),)))
            out[word] = tuple(dict.fromkeys(keys))[:_MOST_SENSES]
    return out


@cache
def _concept_words() -> Mapping[str, tuple[str, ...]]:
    """Concept -> stems of its English words."""
    return {
        f"#{number}": tuple(dict.fromkeys(stem(word) for word in words))
        for number, (words, _) in enumerate(background().concepts)
    }


@cache
def related(key: str) -> Mapping[str, float]:
    """Terms near a term in meaning, itself first, with how near they are (1 is the same)."""
    english, _ = _lexicon()
    near = neighbours()
    own = _concept_words().get(key, (key,))
    out: dict[str, float] = {key: 1.0}
    for word in own[:3]:
        for other, factor in near.get(word, {}).items():
            for found in english.get(other, (other,)):
                out[found] = max(factor, out.get(found, 0.0))
    return out


def tokens(folded: str) -> list[str]:
    """Words of a folded text; each Chinese character is a word."""
    return list(_of_short(folded)) if len(folded) <= _SHORT else _split(folded)


@lru_cache(maxsize=1024)
def _of_short(folded: str) -> tuple[str, ...]:
    """Several rules ask for the same words."""
    return tuple(_split(folded))


def _split(folded: str) -> list[str]:
    out: list[str] = []
    for match in _TOKEN.finditer(folded):
        word = match.group()
        if is_cjk(word[0]):
            out.extend(word)
        else:
            out.append(word)
    return out


def terms(folded: str) -> tuple[Term, ...]:
    """Content terms of a folded text, in order."""
    out: list[Term] = []
    for match in _TOKEN.finditer(folded):
        word = match.group()
        if is_cjk(word[0]):
            out.extend(_chinese(word, match.start()))
        else:
            out.extend(_english(word, match.start()))
    return tuple(out)


def _english(word: str, at: int) -> Iterator[Term]:
    english, _ = _lexicon()
    word = word.partition("'")[0]
    if word in _CONTRACTED:
        return
    for part in (word, *re.split(r"[._'-]", word)) if re.search(r"[._'-]", word) else (word,):
        if len(part) < 2 or part in _STOP or part.isdigit():
            continue
        keys = english.get(stem(part))
        rarity = background().rarity(part)
        if keys is None:
            yield Term(stem(part), part, at, rarity)
            continue
        weight = max(0.25, min(rarity, 0.6)) / len(keys) ** 0.5
        yield from (Term(key, part, at, weight) for key in keys)


def _chinese(run: str, at: int) -> Iterator[Term]:
    _, chinese = _lexicon()
    best: dict[int, tuple[str, tuple[str, ...]]] = {}
    for start, word, concepts in chinese.found(run):
        if start not in best or len(word) > len(best[start][0]):
            best[start] = (word, concepts)
    position = 0
    while position < len(run):
        if position in best:
            word, concepts = best[position]
            weight = 0.5 / len(concepts) ** 0.5
            yield from (Term(key, word, at + position, weight) for key in concepts)
            position += len(word)
            continue
        pair = run[position : position + 2]
        plain = not _FUNCTION_ZH.intersection(pair) and pair not in _STOP_ZH
        if len(pair) == 2 and position + 1 not in best and plain:
            yield Term(pair, pair, at + position, 0.2 if pair in background().chinese else 0.45)
        position += 1
