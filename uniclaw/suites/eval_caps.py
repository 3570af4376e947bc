"""Find the caps of an imported rule: numeric bounds with a condition in prose.

A bound is taken only from a statement that caps the whole score. Bounds of single lines, and
sentences that merely refer to a cap, are left in the prose.
"""

import re
from collections.abc import Iterator, Sequence

from uniclaw.hidden.rubric import Cap, JudgeCheck
from uniclaw.suites.markdown import Block, Section, plain, sentences

_SECTION = re.compile(r"\bcaps?\b|scoring policy", re.IGNORECASE)
_SUBSECTION = re.compile(r"integrity|\bcaps?\b", re.IGNORECASE)
_V = r"(0?\.\d+|1\.0+|0|\d{1,2}(?:\.\d+)?\s*%)(?![\d.]*\w)"
_FILLER = (
    r"(?:\s+(?:the|this|its|run|total|score|final|overall|entire|whole|result|task"
    r"|at|to|is|about))*"
)
_STATEMENTS = (
    re.compile(rf"\bcap(?:s|ped)?\b{_FILLER}\s*[-–—:=]?\s*{_V}", re.IGNORECASE),
    re.compile(rf"\b(?:and|also)\s+total\s+(?:score\s+)?at\s+{_V}", re.IGNORECASE),
    re.compile(rf"(?:→|->|=>)\s*(?:total\s+(?:at\s+)?)?{_V}", re.IGNORECASE),
    re.compile(
        rf"\b(?:should|must|may|can)(?:\s+not|not)\s+(?:exceed|score\s+above)\s+{_V}", re.IGNORECASE
    ),
    re.compile(r"^score\s+(0)(?:\.0+)?\s+if\b", re.IGNORECASE),
    re.compile(r"^fail\s+to\s+(0(?:\.0+)?)\s+if\b", re.IGNORECASE),
)
_LINE_BOUND = re.compile(
    r"\bcap\b[^.→]*\b(?:checkpoints?|line)\b[^.]*\bat\s+(?:0|\d+\s*%)"
    r"|\bzero out (?:the )?checkpoint"
    r"|\bno CP\d+ credit\b|\bwithhold the relevant CP\d+ credit\b",
    re.IGNORECASE,
)
_LEADING = re.compile(rf"^{_V}\s*(?:cap\b)?\s*[-–—:]", re.IGNORECASE)
_GUARD = re.compile(r"^do\s+not\b", re.IGNORECASE)
_LEANS_BACK = re.compile(
    r"^(?:if (?:this|that|these|both|it|two or more)|otherwise|instead|in that)\b", re.IGNORECASE
)
_TITLE_CHARS = 160


def find_caps(sections: Sequence[Section]) -> tuple[Cap, ...]:
    """All caps of the rule, in order, with ids `cap01` ...."""
    found: list[Cap] = []
    for bound, condition in _conditions(sections):
        number = len(found) + 1
        found.append(
            Cap(
                id=f"cap{number:02d}",
                max=bound,
                description=_short(condition),
                when=JudgeCheck(criterion=condition),
            )
        )
    return tuple(found)


def find_line_bounds(sections: Sequence[Section]) -> tuple[str, ...]:
    """Statements of the cap sections that bound single checkpoints, not the whole score."""
    return tuple(
        block.text
        for section in sections
        if _SECTION.search(section.title)
        for block in section.blocks
        if block.kind in {"bullet", "paragraph"} and _LINE_BOUND.search(plain(block.text))
    )


def _conditions(sections: Sequence[Section]) -> Iterator[tuple[float, str]]:
    for section in sections:
        whole = bool(_SECTION.search(section.title))
        inside = whole
        guarded = False
        for block in section.blocks:
            if block.kind == "heading":
                inside = whole or bool(_SUBSECTION.search(block.text))
                guarded = False
            elif block.kind == "paragraph":
                guarded = bool(_GUARD.match(plain(block.text)))
            if inside and not guarded:
                yield from _of_block(block)


def _of_block(block: Block) -> Iterator[tuple[float, str]]:
    if block.kind == "bullet":
        yield from _of_bullet(block.text)
    elif block.kind == "paragraph":
        yield from _of_paragraph(block.text)
    elif block.kind == "table":
        yield from _of_table(block.rows)


def _bound(text: str) -> float:
    number = text.strip()
    return float(number.rstrip("% ")) / 100 if number.endswith("%") else float(number)


def _bounds(text: str, *, head: bool) -> list[float]:
    """Distinct bounds of a text in order of appearance."""
    bare = plain(text)
    hits: list[tuple[int, float]] = []
    if head and (match := _LEADING.match(bare)):
        hits.append((match.start(1), _bound(match.group(1))))
    for pattern in _STATEMENTS:
        hits.extend((m.start(1), _bound(m.group(1))) for m in pattern.finditer(bare))
    return list(dict.fromkeys(value for _, value in sorted(hits)))


def _of_bullet(text: str) -> Iterator[tuple[float, str]]:
    if _GUARD.match(plain(text)):
        return
    bounds = _bounds(text, head=True)
    yield from _split(bounds, text)


def _split(bounds: Sequence[float], text: str) -> Iterator[tuple[float, str]]:
    if len(bounds) == 1:
        yield bounds[0], text
        return
    for bound in bounds:
        yield bound, f"Only what leads to the bound {bound:g} in this: {text}"


def _of_paragraph(text: str) -> Iterator[tuple[float, str]]:
    before = ""
    for sentence in sentences(text):
        bounds = [] if _GUARD.match(plain(sentence)) else _bounds(sentence, head=False)
        leans = bool(before) and bool(_LEANS_BACK.match(plain(sentence)))
        yield from _split(bounds, f"{before} {sentence}" if leans else sentence)
        before = sentence


def _of_table(rows: tuple[tuple[str, ...], ...]) -> Iterator[tuple[float, str]]:
    if not rows:
        return
    header = [plain(cell).lower() for cell in rows[0]]
    column = next((i for i, cell in enumerate(header) if "cap" in cell or "max" in cell), None)
    if column is None:
        return
    for row in rows[1:]:
        if column >= len(row):
            continue
        match = re.search(_V, plain(row[column]))
        prose = " — ".join(cell for i, cell in enumerate(row) if i != column and cell)
        if match and prose:
            yield _bound(match.group(1)), prose


def _short(text: str) -> str:
    first = plain(text)
    return first if len(first) <= _TITLE_CHARS else first[: _TITLE_CHARS - 1].rstrip() + "…"
