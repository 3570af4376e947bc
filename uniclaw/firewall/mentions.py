"""All values of a text at once, each place read as one kind only, with the words around it."""

from bisect import bisect_left, insort
from collections.abc import Iterable, Sequence

from uniclaw.firewall.calendar_values import dates, times
from uniclaw.firewall.identifiers import file_names, identifiers
from uniclaw.firewall.numerals import digits_for_words, ordinal_days
from uniclaw.firewall.terms import Term
from uniclaw.firewall.values import Mention, numbers

CONTEXT_CHARS = 48


def readable(folded: str) -> str:
    """A folded text in which number words are digits."""
    return digits_for_words(folded)


def mentions(text: str) -> list[Mention]:
    """Values of a `readable` text, in order of their place.

    Dates and times win over file names, those over identifiers, those over numbers.
    """
    days = ordinal_days(text)
    if days != text and (found := [m for m in dates(days) if "th" in m.text]):
        taken = _free(found, ())
    else:
        taken = []
    shifted = [m._replace(start=-1, end=-1) for m in taken]
    kept: list[Mention] = []
    for layer in (dates(text), times(text), file_names(text), identifiers(text), numbers(text)):
        kept.extend(_free(layer, kept))
    return sorted([*kept, *shifted], key=lambda m: m.start)


def _free(layer: Iterable[Mention], kept: Sequence[Mention]) -> list[Mention]:
    """Mentions of a layer that overlap no earlier one, longest first."""
    taken = sorted((k.start, k.end) for k in kept)
    out: list[Mention] = []
    for mention in sorted(layer, key=lambda m: m.start - m.end):
        at = bisect_left(taken, (mention.end, mention.end))
        if at == 0 or taken[at - 1][1] <= mention.start:
            insort(taken, (mention.start, mention.end))
            out.append(mention)
    return out


def around(terms: Sequence[Term], start: int, end: int, reach: int = CONTEXT_CHARS) -> list[Term]:
    """Terms within `reach` characters of a place."""
    at = [term.at for term in terms]
    low = bisect_left(at, start - reach)
    high = bisect_left(at, end + reach)
    return [t for t in terms[low:high] if not start <= t.at < end]
