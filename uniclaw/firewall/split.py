"""Values that are told in pieces: over several rounds, or in one message with gaps between."""

import re
from collections.abc import Iterator, Sequence

from uniclaw.firewall.against import Against
from uniclaw.firewall.background import background
from uniclaw.firewall.decision import Hit
from uniclaw.firewall.index import shingles, word_weight
from uniclaw.firewall.match_text import heavy
from uniclaw.firewall.normal import is_cjk, squeeze
from uniclaw.firewall.terms import tokens

_MOST = 24
_RUNS = 5
_PIECE = re.compile(r"[a-z0-9]+(?:[._,'-][a-z0-9]+)*|[\u3400-\u9fff]{1,4}")


def fragments(folded: str) -> list[str]:
    """Pieces of a text that are no ordinary words, without separators."""
    out: list[str] = []
    for match in _PIECE.finditer(folded):
        piece = squeeze(match.group())
        plain = piece.isalpha() and not is_cjk(piece[0]) and background().common(piece)
        if not plain and not is_cjk(piece[0]) and "'" not in match.group():
            out.append(piece)
    return out[:_MOST]


def split_hits(folded: str, history: Sequence[str], against: Against) -> Iterator[Hit]:
    """Hidden values and runs of words that only the pieces together make up.

    Args:
        folded: the message.
        history: folded earlier messages of the episode, oldest first.
        against: index and known texts.
    """
    now = fragments(folded)
    before = [piece for text in history[-3:] for piece in fragments(text)][-_MOST:]
    pairs = [(a + b, "split") for i, a in enumerate(now) for b in now[i + 1 :]]
    pairs += [(a + b, "rounds") for a in before for b in now]
    pairs += [
        (a + b + c, "rounds")
        for i, a in enumerate(before[-12:])
        for b in before[-12:][i + 1 :]
        for c in now[:12]
    ]
    pairs += [(a + b + c, "split") for a, b, c in zip(now, now[1:], now[2:], strict=False)]
    for text, view in dict(pairs).items():
        if len(text) < 5:
            continue
        for start, bare, (form, kind) in against.index.compacts.found(text):
            same = bare == text or (text.isdigit() and bare == text.rstrip("0"))
            if start == 0 and same and not against.identifier_known(form, bare):
                yield Hit.model_validate(
                    {"kind": kind, "matched": form.strip(), "where": "split value", "view": view}
                )
    if history:
        yield from _joined_runs(tokens(folded), [tokens(text) for text in history[-3:]], against)


def _runs(words: Sequence[str], triples: set[int]) -> list[list[str]]:
    """The weightiest runs of words whose every three stand together in a hidden text."""
    known = [shingle in triples for shingle in shingles(words, 3)]
    runs: list[list[str]] = []
    start = 0
    while start < len(known):
        stop = start
        while stop < len(known) and known[stop]:
            stop += 1
        if stop > start:
            runs.append(list(words[start : stop + 2]))
        start = stop + 1
    runs.sort(key=lambda run: -sum(map(word_weight, run)))
    return runs[:_RUNS]


def _joined_runs(
    now: Sequence[str], before: Sequence[Sequence[str]], against: Against
) -> Iterator[Hit]:
    """Hidden wording that begins in an earlier message and goes on in this one."""
    triples = against.index.triples
    late = _runs(now, triples)
    early = [run for words in before for run in _runs(words, triples)]
    for first in early:
        for second in late:
            for one, two in ((first, second), (second, first)):
                words = [*one, *two]
                seam = shingles([*one[-2:], *two[:2]], 3)
                if not all(triple in triples for triple in seam) or not heavy(words):
                    continue
                whole = " ".join(words)
                if f" {whole} " in against.index.joined and not _known(words, against):
                    yield Hit(kind="phrase", matched=whole[:200], where="text", view="rounds")
                    return


def _known(words: Sequence[str], against: Against) -> bool:
    return against.run_known(words) or against.files.run(words)
