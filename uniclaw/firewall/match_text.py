"""Hidden wording in a message: names, short phrases, runs of words, code, paraphrases."""

import heapq
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from uniclaw.firewall.against import Against, quality, shared_context
from uniclaw.firewall.background import background
from uniclaw.firewall.cutting import windows
from uniclaw.firewall.decision import Hit
from uniclaw.firewall.index import SHINGLE, Phrase, is_rare, shingles, word_weight
from uniclaw.firewall.normal import is_cjk
from uniclaw.firewall.stance import asked, stated
from uniclaw.firewall.terms import Term, terms, tokens

RUN_WEIGHT = 1.7
LONG_RUN_WEIGHT = 1.0
PARAPHRASE_WEIGHT = 0.5
ASKED_FACTOR = 1.6
"""A question needs more to be a leak."""
PARAPHRASE_SHARE = 0.17
MIN_TOTAL = 0.5
KNOWN_FACTOR = 0.25
VISIBLE_FACTOR = 0.3
_FEW_NAMES = 400
DECODED = frozenset({"base64", "base32", "hex", "codes", "bits", "morse", "escapes"})
_POSSESSIVE = re.compile(r"(?<=[a-z])'s?(?![a-z])")
_NAMES = re.compile(r"[\w/-]+(?:\.[a-z]{2,5}\b|_\w+)")


def phrase_hits(folded: str, against: Against, *, view: str = "plain") -> Iterator[Hit]:
    """Names and short values of structured documents."""
    joined = f" {' '.join(tokens(_POSSESSIVE.sub('', folded)))} "
    if "-" in joined and view == "plain":
        joined += joined.replace("-", " ")
    found = terms(folded) if view == "plain" else ()
    longest_first = sorted(against.index.phrases.found(joined), key=lambda f: -len(f[1]))
    for _, key, phrase in longest_first:
        words = key.split()
        if against.run_known(words) or not _likely(words, view):
            continue
        in_files = against.files.run(words) if len(words) > 1 else against.files.word(words[0])
        if view != "plain" and (len(words) > 1 or view in DECODED):
            in_files = False  # nobody encodes what he may say
        if (not in_files and _stands_out(words, phrase)) or (
            view == "plain"
            and (
                _in_context(words, phrase, found, folded) or _named(words, phrase, against, folded)
            )
        ):
            kind = "name" if phrase.kind == "name" and len(words) <= 4 else "phrase"
            yield Hit(kind=kind, matched=phrase.text, where=phrase.where, view=view)


def _named(words: Sequence[str], phrase: Phrase, against: Against, folded: str) -> bool:
    """A name of the answer that stands in public files too, said as a fact."""
    surface = ("" if is_cjk(words[0][0]) else " ").join(words)
    start = folded.find(surface)
    few = against.index.names <= _FEW_NAMES
    if start < 0 or phrase.kind != "name" or not few:
        return False
    plain = len(surface) == 3 and not any(
        surface[i : i + 2] in background().chinese for i in range(2)
    )
    if not (_stands_out(words, phrase) or (is_cjk(surface[0]) and plain)):
        return False
    return stated(folded, start, start + len(surface))


def _likely(words: Sequence[str], view: str) -> bool:
    """In turned readings a short word may be an ordinary one that was turned."""
    if view == "plain" or len(words) > 1 or is_cjk(words[0][0]):
        return True
    word = words[0]
    return len(word) >= 6 or (len(word) >= 4 and not background().common(word[::-1]))


def _stands_out(words: Sequence[str], phrase: Phrase) -> bool:
    """Whether a phrase is no ordinary language."""
    if is_cjk(words[0][0]):
        return _chinese_stands_out("".join(words))
    rare = [w for w in words if any(map(is_rare, re.split(r"[._-]", w)))]
    if len(words) == 1:
        return bool(rare)
    return bool(rare) or phrase.weight >= 9 or (len(words) >= 4 and phrase.weight >= 2.0)


def _chinese_stands_out(run: str) -> bool:
    if len(run) >= 8:
        return True
    pairs = [run[i : i + 2] for i in range(len(run) - 1)]
    common = sum(pair in background().chinese for pair in pairs)
    lexical = any(t.key.startswith("#") for t in terms(run))
    if len(run) <= 2:
        return False
    return common == 0 and (len(run) >= 4 or not lexical)


def _in_context(words: Sequence[str], phrase: Phrase, found: Sequence[Term], folded: str) -> bool:
    """Whether an ordinary value stands beside the words that name it on the hidden side."""
    surface = ("" if is_cjk(words[0][0]) else " ").join(words)
    start = folded.find(surface)
    if start < 0 or not phrase.contexts or len(surface) < 2 or len(phrase.contexts) >= 60:
        return False
    own = {t.key for t in terms(surface)}
    if own <= quality():
        return False
    end = start + len(surface)
    shared = shared_context(found, start, end, phrase.contexts - own, 30)
    alone = len(words) == 1 or len(surface) <= 2
    return len({t.word for t in shared}) >= (2 if alone or phrase.weight < 0.5 else 1)


def heavy(run: Sequence[str]) -> bool:
    """Whether a run of words is long and rare enough to come from the hidden text."""
    weight = sum(map(word_weight, run))
    return len(run) > SHINGLE and weight >= (LONG_RUN_WEIGHT if len(run) >= 8 else RUN_WEIGHT)


def run_hits(
    words: Sequence[str], against: Against, *, view: str = "plain", least: int = 0
) -> Iterator[Hit]:
    """Runs of words that stand in a hidden text, weighted by rarity.

    Args:
        words: tokens of the message.
        against: index and known texts.
        view: name of the reading.
        least: a run must reach beyond this position (what stands before was said earlier).
    """
    hidden = [
        i
        for i, shingle in enumerate(shingles(words))
        if shingle in against.index.shingles
        and not against.run_known(words[i : i + SHINGLE])
        and not against.files.run(words[i : i + SHINGLE])
    ]
    start = 0
    while start < len(hidden):
        stop = start
        while stop + 1 < len(hidden) and hidden[stop + 1] - hidden[stop] <= 2:
            stop += 1
        first, last = hidden[start], hidden[stop] + SHINGLE
        run = words[first:last]
        if last > least and heavy(run) and not _mostly_said(run, against):
            yield Hit(kind="phrase", matched=" ".join(run)[:200], where="text", view=view)
        start = stop + 1


def _mostly_said(run: Sequence[str], against: Against) -> bool:
    """A short run of Chinese whose pairs of characters are mostly the instruction's."""
    if len(run) > 10 or not all(is_cjk(word[0]) for word in run):
        return False
    pairs = ["".join(run[i : i + 2]) for i in range(len(run) - 1)]
    said = against.known.folded + against.visible.folded
    return sum(pair in said for pair in pairs) >= len(pairs) / 2


def piece_hits(folded: str, against: Against, *, view: str = "plain") -> Iterator[Hit]:
    """Parts of long hidden tokens: hashes, keys, addresses."""
    for piece in re.findall(r"[a-z0-9]{8,}", folded):
        mixed = any(c.isdigit() for c in piece) and any(c.isalpha() for c in piece)
        if mixed and piece in against.index.squeezed and not _squeezed_known(piece, against):
            yield Hit(kind="identifier", matched=piece[:120], where="text", view=view)


def squeezed_run_hits(text: str, against: Against, *, view: str) -> Iterator[Hit]:
    """Hidden wording in text that has no word borders.

    Text reaches this form only when somebody spelled it, so that one run of twelve letters
    (Chinese: five characters) that is hidden and not known is enough.
    """
    size = 5 if sum(map(is_cjk, text)) > len(text) / 2 else 12
    for start in range(0, max(0, len(text) - size) + 1, 2):
        run = text[start : start + size]
        hidden = len(run) == size and not run.isdigit() and run in against.index.squeezed
        if hidden and not _squeezed_known(run, against):
            yield Hit(kind="phrase", matched=run, where="text", view=view)
            return


def _squeezed_known(run: str, against: Against) -> bool:
    return any(run in k.squeezed for k in (against.known, against.files, against.visible))


def code_hits(folded: str, against: Against, *, view: str = "plain") -> Iterator[Hit]:
    """Code and other strings full of punctuation, without spaces."""
    bare = re.sub(r"\s+", "", folded)
    for _, code, where in against.index.codes.found(bare):
        known = (against.known, against.files, against.visible)
        if not any(code in re.sub(r"\s+", "", shown.folded) for shown in known):
            yield Hit(kind="code", matched=code[:120], where=where, view=view)


def paraphrase_hits(folded: str, against: Against, *, view: str = "plain") -> Iterator[Hit]:
    """Hidden demands in other words, or in the other language.

    A window of the message counts when enough of what is new in it (neither in the instruction
    nor in the work) stands together in one hidden passage.
    """
    index = against.index
    best: tuple[float, int, list[str]] | None = None
    for near in likenesses(folded, against):
        if near.tells() and (best is None or near.score > best[0]):
            best = (near.score, near.passage, list(near.words))
    if best is not None:
        matched = ", ".join(dict.fromkeys(best[2]))[:200]
        where = index.passages[best[1]].where
        yield Hit(kind="paraphrase", matched=matched, where=where, view=view)


class Likeness(NamedTuple):
    """How much of a window of the message stands in one hidden passage."""

    score: float
    share: float
    passage: int
    words: tuple[str, ...]
    new: int
    window: str

    def tells(self) -> bool:
        """Whether it is too much for chance."""
        enough = self.new >= 2 and len(set(self.words)) >= 3
        least = PARAPHRASE_WEIGHT * (ASKED_FACTOR if asked(self.window) else 1.0)
        return enough and self.score >= least and self.share >= PARAPHRASE_SHARE


def likenesses(folded: str, against: Against) -> Iterator[Likeness]:
    """Windows of a message with the hidden passages that are most like them."""
    index = against.index
    for window in windows(folded):
        said = {t.key: t for t in reversed(terms(_NAMES.sub(" ", window)))}
        total = sum(_weight(term, against) for term in said.values())
        if total < MIN_TOTAL or against.visible.run(tokens(window)):
            continue
        shared: dict[int, dict[str, tuple[float, str]]] = {}
        for term in said.values():
            _share_out(term, against, shared)
        top = heapq.nlargest(6, shared, key=lambda n: sum(v for v, _ in shared[n].values()))
        for number in top:
            found = shared[number]
            words = tuple(dict.fromkeys(said[key].word for key in found))
            new = {
                said[key].word
                for key, (_, other) in found.items()
                if not {key, other} & (index.known_keys | quality())
            }
            score = sum(value for value, _ in found.values())
            yield Likeness(score, score / total, number, words, len(new), window)


def _share_out(
    term: Term, against: Against, shared: dict[int, dict[str, tuple[float, str]]]
) -> None:
    """Credit the passages that hold a term."""
    index = against.index
    most = max(12, len(index.passages) // 3)
    weight = _novelty(term, against)
    places = index.by_term.get(term.key, ())
    if not places or len(places) > most:
        return
    value = weight * index.telling(term.key)
    for number in places:
        shared.setdefault(number, {})[term.key] = (value, term.key)


def _weight(term: Term, against: Against) -> float:
    return term.weight * (KNOWN_FACTOR if term.key in against.index.known_keys else 1.0)


def _novelty(term: Term, against: Against) -> float:
    seen = against.visible.term(term.word)
    return _weight(term, against) * (VISIBLE_FACTOR if seen else 1.0)
