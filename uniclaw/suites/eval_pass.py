"""Find what an imported rule requires for a pass beside the threshold.

Named checkpoints and "no cap fired" become fields that code decides; what remains is prose
and becomes a judge line. Nothing is dropped: a passage that is not understood whole is kept
whole.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from uniclaw.hidden.rubric import PassRequires
from uniclaw.suites.markdown import RUBRIC_SECTION, Block, Section, plain, sentences

_START = re.compile(
    r"^(?:(?P<own>pass (?:requires|requirements?|condition)\b|pass =)|a pass requires\b"
    r"|full pass (?:eligibility )?requires\b"
    r"|(?:a|the) (?:run|task) (?:can )?(?:passes|pass) (?:only )?if\b"
    r"|the task passes only\b|an answer can pass only if\b|a run cannot pass unless\b)",
    re.IGNORECASE,
)
_VALUE = r"(?:(?:>=|≥|at least|at or above|of at least)\s*)(0?\.\d+|1\.0+)"
_SCORE = re.compile(
    r"(?:,?\s*(?:and|with|at)\s+)?(?:the\s+|a\s+)?(?:(?:§\d+|rubric|total|weighted|final|capped|"
    r"score|is|a|the|only|at|after|all|caps)\s+)*"
    rf"{_VALUE}(?:\s+after (?:all )?caps)?",
    re.IGNORECASE,
)
_STATED = re.compile(r"\bpass(?: threshold)? is (?:>=|≥)?\s*(0?\.\d+)", re.IGNORECASE)
_LOW_CAP = re.compile(
    r"(?:,?\s*and\s+)?no (?:score )?cap below 0?\.\d+(?: applies)?", re.IGNORECASE
)
_CLEAR = re.compile(
    r"(?:(?:the|§\d+|rubric|weighted|total|to)\s+)*(?:clear|at or above)\s+(?:the\s+)?"
    r"(?:success_)?threshold(?:\s+\(0?\.\d+\))?(?:\s+in §\d+)?|\botherwise see §\d+",
    re.IGNORECASE,
)
_OTHER_MATTER = re.compile(r"^(?:the )?(?:following )?caps\b", re.IGNORECASE)
_NO_CAP = re.compile(
    r"(?:,?\s*(?:and|with)\s+)*(?:no (?:triggered |§\d+ )?(?:score )?caps?"
    r"(?: (?:has |have |is |was |may |to )*(?:fired|fire|triggered|trigger|engaged|applies|apply))?"
    r"|none of the above caps (?:to )?(?:triggers?|fires?|apply))",
    re.IGNORECASE,
)
_IDS = re.compile(r"\bCP[-_]?(\d+)(?:\s*[-–]\s*(?:CP)?(\d+))?\b", re.IGNORECASE)
_ORDINALS = re.compile(r"\bcheckpoints (\d+(?:(?:,? and |, |,)\d+)*)\b", re.IGNORECASE)
_FILLER = re.compile(
    r"\b(?:all|both|fully|satisfied|met|and|are|is|be|must|pass|requires?|requirements?|condition"
    r"|verdict|score|checkpoints?|a|an|the|run|task|answer|passes|can|only|if)\b|[^\w]",
    re.IGNORECASE,
)
_JUDGE_PREFIX = "Apart from the total and the caps, which are computed elsewhere: "


class _Passage(NamedTuple):
    text: str
    items: tuple[str, ...]
    """Bullets that belong to it."""


def find_pass_requires(
    sections: Sequence[Section], ids: Sequence[str]
) -> tuple[PassRequires, float | None]:
    """The requirements, and the threshold that their prose states (None when it states none)."""
    checkpoints: list[str] = []
    prose: list[str] = []
    no_cap = False
    stated = _stated(sections)
    for passage in _passages(sections):
        whole = plain(" ".join([passage.text, *passage.items]))
        rest = _CLEAR.sub(" ", _LOW_CAP.sub(" ", whole))
        if value := _SCORE.search(rest):
            stated = stated if stated is not None else float(value.group(1))
            rest = _SCORE.sub(" ", rest)
        no_cap = no_cap or bool(_NO_CAP.search(rest))
        named, left = _named(_NO_CAP.sub(" ", rest), ids)
        if _FILLER.sub("", left):
            prose.append(_JUDGE_PREFIX + whole)
        else:
            checkpoints.extend(named)
    unique = tuple(dict.fromkeys(checkpoints))
    judge = tuple(dict.fromkeys(prose))
    return PassRequires(checkpoints=unique, no_cap=no_cap, judge=judge), stated


def _stated(sections: Sequence[Section]) -> float | None:
    for section in sections:
        for block in section.blocks:
            if "pass" in block.text.lower() and (value := _STATED.search(plain(block.text))):
                return float(value.group(1))
    return None


def _named(text: str, ids: Sequence[str]) -> tuple[list[str], str]:
    """Checkpoints that a passage names, and what remains of it."""
    bare = re.sub(r"\([^()]*\)", " ", re.sub(r"\([^()]*\)", " ", text))
    numbers: list[int] = []
    by_id = {int(m.group(1)): i for i in ids if (m := re.fullmatch(r"CP[-_]?(\d+)", i))}
    by_order = dict(enumerate(ids, start=1))
    table = by_id or by_order
    for match in _IDS.finditer(bare):
        first = int(match.group(1))
        numbers.extend(range(first, int(match.group(2) or first) + 1))
    bare = _IDS.sub(" ", bare) if by_id else bare
    if not by_id:
        for match in _ORDINALS.finditer(bare):
            numbers.extend(int(n) for n in re.findall(r"\d+", match.group(1)))
        bare = _ORDINALS.sub(" ", bare)
    unknown = [n for n in numbers if n not in table]
    if unknown:
        return [], text
    return [table[n] for n in numbers], bare


def _passages(sections: Sequence[Section]) -> Iterator[_Passage]:
    for section in sections:
        if RUBRIC_SECTION in section.title.lower():  # says what single lines need
            continue
        blocks = section.blocks
        for index, block in enumerate(blocks):
            if block.kind in {"paragraph", "bullet"} and "pass" in block.text.lower():
                yield from _of_text(block, blocks[index + 1 :])


def _of_text(block: Block, following: Sequence[Block]) -> Iterator[_Passage]:
    parts = sentences(block.text)
    for index, part in enumerate(parts):
        match = _START.match(plain(part))
        if not match:
            continue
        own = match.group("own") is not None
        kept = parts[index:] if own else [part]
        text = " ".join(p for p in kept if not _OTHER_MATTER.match(p))
        items = _bullets(following) if plain(text).endswith(":") else ()
        yield _Passage(text=text, items=items)
        if own:
            return


def _bullets(blocks: Sequence[Block]) -> tuple[str, ...]:
    found: list[str] = []
    for block in blocks:
        if block.kind != "bullet":
            break
        found.append(block.text)
    return tuple(found)
