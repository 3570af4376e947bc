"""Hidden values in a message: numbers, dates, times, identifiers, file names.

A value that stands out is a hit by itself; one that many texts hold by chance needs words around
it that also stand around the hidden one.
"""

import math
import re
from collections.abc import Iterator, Sequence
from functools import cache

from uniclaw.firewall.against import Against, generic, shared_context
from uniclaw.firewall.decision import Hit
from uniclaw.firewall.index import Occurrence, is_rare, shape
from uniclaw.firewall.mentions import around, mentions
from uniclaw.firewall.stance import stated
from uniclaw.firewall.terms import Term, terms
from uniclaw.firewall.values import Mention, significant

_CHANCE = 0.02
_COUNTING_WORDS = "count rows number missing short duplicates days"
_MANY_MOMENTS = 40
_BRIEF = 4
"""A message of so few terms is about its number."""


def value_hits(text: str, against: Against, *, view: str = "plain") -> Iterator[Hit]:
    """Hits of a readable text.

    Args:
        text: folded, number words as digits.
        against: index and known texts.
        view: name of the reading; in others than the plain one context does not count.
    """
    found = terms(text) if view == "plain" else ()
    for mention in mentions(text):
        hit = _hit(mention, found, against) or _answer(mention, text, found, against)
        if hit is not None:
            yield hit.model_copy(update={"view": view})


def _hit(mention: Mention, found: Sequence[Term], against: Against) -> Hit | None:
    if mention.kind == "number":
        return _number(mention, found, against)
    if mention.kind in ("date", "time"):
        return _moment(mention, found, against)
    return _identifier(mention, found, against)


def _answer(mention: Mention, text: str, found: Sequence[Term], against: Against) -> Hit | None:
    """A value of the answer that stands in public files too, said as a fact.

    Many values stand in the files; which of them is the answer does not.
    """
    values = against.index.values
    form = next((f for f in mention.forms if f in values and values[f].stated), None)
    if form is None:
        return None
    value = values[form]
    if value.kind == "number":
        known = any(map(against.number_known, mention.forms))
        telling = not known and _few(form, against, found, mention)
    elif mention.kind == "date":
        known = any(map(against.moment_known, mention.forms))
        telling = not known and against.index.stated_dates <= _MANY_MOMENTS
    else:
        return None
    placed = (mention.start, mention.end) if mention.start >= 0 else (0, len(text))
    if telling and stated(text, *placed):
        return _made(value.kind, mention, value)
    return None


def _few(form: str, against: Against, found: Sequence[Term], mention: Mention) -> bool:
    """Whether few numbers of the answer look like this, so that chance is no explanation."""
    whole, part = shape(form)
    digits = len(form.strip("-0.").replace(".", ""))
    if re.fullmatch(r"(?:19|20)\d\d", form) or whole + part < 2 or digits < 2:
        return False
    chance = against.index.stated_numbers[whole, part] / (9 * 10 ** (whole + part - 1))
    if whole + part >= 3:
        return chance <= _CHANCE
    topical = around(found, mention.start, mention.end, 40)
    spoken = {t.key for t in topical} & (against.index.known_keys | set(against.index.by_term))
    brief = len(found) <= _BRIEF
    return chance <= 4 * _CHANCE and (brief or bool(spoken - generic()))


def _made(kind: str, mention: Mention, value: Occurrence) -> Hit:
    kinds = {"time": "date"}
    return Hit.model_validate(
        {"kind": kinds.get(kind, kind), "matched": value.text, "where": value.where}
    )


# --- numbers -----------------------------------------------------------------------------


def _number(mention: Mention, found: Sequence[Term], against: Against) -> Hit | None:
    values = against.index.values
    exact = [f for f in (*mention.forms, mention.base) if f in values]
    forms = exact or _rounded_forms(mention, against)
    for form in forms:
        bare = form.split(":")[-1]
        if any(against.number_known(f) for f in {bare, *mention.forms}):
            continue
        value = values[form]
        in_files = against.files.number(bare)
        alone = not in_files and (
            _stands_out(form, against) if exact else _rounded_stands_out(mention, form, against)
        )
        if alone or _in_context(mention, found, value, bare, against, in_files=in_files):
            return _made("number", mention, value)
    return None


def _chance(form: str, against: Against) -> float:
    """How likely a number of this shape is a hidden one by chance."""
    whole, part = shape(form)
    return against.index.density[whole, part] / 10 ** (whole + part - 1)


def _stands_out(form: str, against: Against) -> bool:
    if ":" in form:
        return significant(form.split(":")[-1]) >= 3
    if re.fullmatch(r"(?:19|20)\d\d", form):
        return False
    return significant(form) >= 4 and _chance(form, against) <= _CHANCE


def _rounded_forms(mention: Mention, against: Against) -> list[str]:
    """More exact hidden numbers that the mention is a rounding or truncation of."""
    digits = mention.significant
    if digits < 2 or (digits < 4 and not mention.rounded) or not mention.forms:
        return []
    near: list[str] = []
    for form in mention.forms if "%" in mention.text else mention.forms[:1]:
        value = float(form)
        if value == 0 or not math.isfinite(value):
            continue
        unit = 10.0 ** (math.floor(math.log10(abs(value))) - digits + 1)
        near += against.index.between(value - unit / 2, value + unit)
    return [f for f in near if significant(f) > digits][:5]


def _rounded_stands_out(mention: Mention, form: str, against: Against) -> bool:
    if mention.significant < 3:
        return False
    value = abs(float(mention.forms[0]))
    rivals = len(against.index.between(value / 2, value * 2))
    return rivals / 10**mention.significant <= _CHANCE and not re.fullmatch(r"(?:19|20)\d\d", form)


def _in_context(
    mention: Mention,
    found: Sequence[Term],
    value: Occurrence,
    form: str,
    against: Against,
    *,
    in_files: bool,
) -> bool:
    """Whether words around the mention tie it to the hidden value."""
    if form in ("0", "1"):
        return False
    small = len(form.replace(".", "").lstrip("-0")) <= 1
    if small and not (value.stated and value.contexts & _counting()):
        return False
    reach = 18 if small else 40
    shared = shared_context(found, mention.start, mention.end, value.contexts, reach)
    if small:  # the counted thing follows at once
        shared = [t for t in shared if 0 <= t.at - mention.end <= 3]
    if not shared or len(value.contexts) >= 60:
        return False
    if in_files and against.files.number_near(form, [t.word for t in shared], 60):
        return False
    weight = sum({t.key: max(t.weight, 0.3) for t in shared}.values())
    return weight >= (0.45 if small else 0.3 if value.stated else 0.6)


# --- dates and identifiers ---------------------------------------------------------------


def _moment(mention: Mention, found: Sequence[Term], against: Against) -> Hit | None:
    values = against.index.values
    if any(against.moment_known(form) for form in mention.forms):
        return None
    dated = any(not form.startswith(("--", "t")) for form in mention.forms)
    for form in mention.forms:
        value = values.get(form)
        if value is None or (dated and form.startswith("--") and _has_year(form, against)):
            continue
        crowd = sum(v.kind == value.kind for v in values.values()) > 2 * _MANY_MOMENTS
        if not crowd and not against.files.moment(form):
            return _made("date", mention, value)
        if shared_context(found, mention.start, mention.end, value.contexts, 40):
            return _made("date", mention, value)
    return None


@cache
def _counting() -> frozenset[str]:
    """Terms of values that count something."""
    return frozenset(t.key for t in terms(_COUNTING_WORDS))


def _has_year(short: str, against: Against) -> bool:
    """Whether the hidden date of this month and day has a year of its own."""
    return any(f.endswith(short[1:]) and f[0].isdigit() for f in against.index.values)


def _identifier(mention: Mention, found: Sequence[Term], against: Against) -> Hit | None:
    value = against.index.values.get(mention.forms[0])
    if value is None or value.kind == "number":
        return None
    bare = re.sub(r"[^a-z0-9\u3400-\u9fff]", "", mention.forms[0])
    if against.identifier_known(mention.text, bare):
        return None
    words = re.findall(r"[a-z]+", mention.text)
    digits = any(c.isdigit() for c in mention.text)
    named = value.stated and ("_" in value.text or any(map(is_rare, words)))
    if not digits and "-" in mention.text and not named:
        return None
    if not against.files.identifier(mention.text, bare):
        return _made(value.kind, mention, value)
    shared = shared_context(found, mention.start, mention.end, value.contexts, 60)
    if value.stated and mention.kind == "identifier" and digits and shared:
        return _made(value.kind, mention, value)
    return None
