"""Whether a simulated user keeps to its persona and to its task. Pure functions over messages.

A persona's measurable side (`roles/personas/measures.yaml`) is bounds on sentences and words, and
words that it does not use of its own accord. What a message asks for outside the task is measured
by what it names (files, numbers, quoted words) that stands neither in the request, nor in the
brief, nor in the visible work; a wrong guess counts too, so the rate is an upper bound.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from uniclaw.assets import Assets
from uniclaw.firewall.normal import fold, is_cjk
from uniclaw.firewall.terms import tokens
from uniclaw.records import Count, Language, Record, Unit
from uniclaw.yamlio import parse_record, parse_yaml

MEASURES_FILE: Final = "roles/personas/measures.yaml"
_SENTENCE = re.compile(r"[.!?。！？…]+[\s\"'”’)]*|\n+")
_NAMED = re.compile(
    r"[\w./-]+\.[a-z]{2,5}\b"  # files
    r"|[\"“「《]([^\"”」》]{2,60})[\"”」》]"  # quoted words
    r"|\d[\d.,]*\d|\d{2,}"  # numbers
)
_META = re.compile(
    r"\b(?:as an ai|language model|supervisor|checkpoints?|rubric|simulat|grader)\b"
    r"|作为一个?(?:ai|人工智能|语言模型)|监督者|检查点|评分标准|模拟用户"
)


class PersonaMeasure(Record):
    """What can be measured of a persona's way to write."""

    sentences: tuple[int, int] | None = None
    """At least and at most."""
    words: tuple[int, int] | None = None
    """At least and at most; a CJK character counts as one."""
    avoids: tuple[str, ...] = ()
    """Words that it uses only after the assistant did."""


class _File(Record):
    personas: Mapping[str, PersonaMeasure]


class Said(Record):
    """One delivered message with what its author saw."""

    policy: str
    persona: str | None
    """Name; None where its text is none of the known personas."""
    language: Language
    message: str
    known: tuple[str, ...]
    """Request, facts of the brief, and the visible work."""


class AdherenceRow(Record):
    """How messages of one persona under one policy kept to it."""

    policy: str
    persona: str | None
    messages: Count
    adhering: Count
    rate: Unit | None
    faults: Mapping[str, Count]
    outside: Count
    """Messages that name something outside the task."""
    outside_rate: Unit | None
    examples: tuple[str, ...] = ()
    """Some of what was named."""


def load_measures(assets: Assets) -> Mapping[str, PersonaMeasure]:
    """The measurable side of the shipped personas, by name.

    Raises:
        UserError: the file is missing or broken.
    """
    text = assets.read_text(MEASURES_FILE)
    return parse_record(_File, parse_yaml(text, file=MEASURES_FILE), file=MEASURES_FILE).personas


def faults(said: Said, measures: Mapping[str, PersonaMeasure]) -> tuple[str, ...]:
    """What of a message does not fit its persona; empty where it does."""
    found: list[str] = []
    folded = fold(said.message)
    if _META.search(folded):
        found.append("out-of-role")
    if not _in_language(said.message, said.language):
        found.append("other-language")
    measure = measures.get(said.persona or "")
    if measure is None:
        return tuple(found)
    for name, bounds, amount in (
        ("sentences", measure.sentences, _sentences(said.message)),
        ("words", measure.words, len(tokens(folded))),
    ):
        if bounds is not None and not bounds[0] <= amount <= bounds[1]:
            found.append(f"{name}:{'few' if amount < bounds[0] else 'many'}")
    seen = {word for text in said.known for word in tokens(fold(text))}
    used = set(tokens(folded))
    if any(fold(word) in used and fold(word) not in seen for word in measure.avoids):
        found.append("avoided-word")
    return tuple(found)


def outside(said: Said) -> tuple[str, ...]:
    """What a message names that stands nowhere in what its author knew."""
    known = [fold(text) for text in said.known]
    named = dict.fromkeys(
        (match.group(1) or match.group()).strip(".,") for match in _NAMED.finditer(said.message)
    )
    return tuple(name for name in named if not any(fold(name) in text for text in known))


def adherence_rows(
    messages: Iterable[Said], measures: Mapping[str, PersonaMeasure]
) -> tuple[AdherenceRow, ...]:
    """Adherence and outside requests, by policy and persona."""
    groups: dict[tuple[str, str | None], list[Said]] = {}
    for said in messages:
        groups.setdefault((said.policy, said.persona), []).append(said)
    order = sorted(groups, key=lambda key: (key[0], key[1] or ""))
    return tuple(_row(key, groups[key], measures) for key in order)


def _row(
    key: tuple[str, str | None], said: Sequence[Said], measures: Mapping[str, PersonaMeasure]
) -> AdherenceRow:
    policy, persona = key
    wrong = [faults(message, measures) for message in said]
    named = [outside(message) for message in said]
    counts: dict[str, int] = {}
    for fault in (f for found in wrong for f in found):
        counts[fault] = counts.get(fault, 0) + 1
    good, strange = sum(not found for found in wrong), sum(bool(found) for found in named)
    return AdherenceRow(
        policy=policy,
        persona=persona,
        messages=len(said),
        adhering=good,
        rate=good / len(said),
        faults=dict(sorted(counts.items())),
        outside=strange,
        outside_rate=strange / len(said),
        examples=tuple(dict.fromkeys(name for found in named for name in found))[:10],
    )


def _sentences(text: str) -> int:
    return sum(1 for part in _SENTENCE.split(text) if part and part.strip())


def _in_language(text: str, language: Language) -> bool:
    letters = [char for char in text if char.isalpha()]
    if not letters:
        return True
    share = sum(is_cjk(char) for char in letters) / len(letters)
    return share > 0.2 if language == "zh" else share < 0.2
