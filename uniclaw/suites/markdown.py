"""Cut Markdown prose into sections and blocks: headings, bullets, tables, paragraphs.

It reads the few constructs that imported grading rules use and nothing else; it knows
nothing of weights or caps.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

_HEADING = re.compile(r"^(#{1,6})\s+(.*?)\s*#*\s*$")
_BULLET = re.compile(r"^(?:[-*]|\d{1,2}[.)])\s+(\S.*)$")
_FENCE = re.compile(r"^\s{0,3}(```+|~~~+)")
_RULE_ROW = re.compile(r"^:?-{2,}:?$")
_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+(?=[A-Z`\"(*])")
_EMPHASIS = re.compile(r"(?<!\w)\*(?=\S)|(?<=\S)\*(?!\w)")
_NUMBER_PREFIX = re.compile(r"^\d+(?:\.\d+)*[.)]?\s+")


RUBRIC_SECTION = "checkpoint rubric"
"""Part of the title of the section that holds the weights, in lower case."""


@dataclass(frozen=True, kw_only=True)
class Block:
    """One block of a section."""

    kind: Literal["heading", "bullet", "table", "paragraph", "code"]
    text: str
    """Prose on one line, white space collapsed; source lines for code."""
    level: int = 0
    """Heading level, 0 for other blocks."""
    rows: tuple[tuple[str, ...], ...] = ()
    """Cells of a table, header first, delimiter row left out."""


@dataclass(frozen=True, kw_only=True)
class Section:
    """A second-level section."""

    title: str
    """Without its number."""
    blocks: tuple[Block, ...]


@lru_cache(maxsize=4096)
def plain(text: str) -> str:
    """Text without emphasis and code marks."""
    bare = text.replace("**", "").replace("__", "").replace("`", "")
    return (_EMPHASIS.sub("", bare) if "*" in bare else bare).strip()


def collapse(text: str) -> str:
    """Text with runs of white space replaced by one space."""
    return " ".join(text.split())


def sentences(text: str) -> tuple[str, ...]:
    """Sentences of a one-line text, split also at semicolons before a capital."""
    return tuple(part for part in _SENTENCE_END.split(text) if part.strip())


def split_sections(text: str) -> tuple[Section, ...]:
    """All `##` sections; what precedes the first one has the title `""`."""
    found: list[Section] = []
    title = ""
    lines: list[str] = []
    fence: str | None = None
    for line in text.splitlines():
        fence = _fence_state(fence, line)
        match = None if fence else _HEADING.match(line)
        if match and len(match.group(1)) == 2:
            found.append(Section(title=title, blocks=tuple(_blocks(lines))))
            title, lines = _NUMBER_PREFIX.sub("", match.group(2)), []
        else:
            lines.append(line)
    found.append(Section(title=title, blocks=tuple(_blocks(lines))))
    return tuple(found)


def _fence_state(fence: str | None, line: str) -> str | None:
    match = _FENCE.match(line)
    if not match:
        return fence
    mark = match.group(1)[0]
    if fence is None:
        return mark
    return None if fence == mark else fence


def _blocks(lines: Sequence[str]) -> Iterator[Block]:
    index = 0
    while index < len(lines):
        line = lines[index]
        heading = _HEADING.match(line)
        if not line.strip():
            index += 1
        elif _FENCE.match(line):
            end = _end_of_fence(lines, index)
            yield Block(kind="code", text="\n".join(lines[index:end]))
            index = end
        elif heading:
            title = heading.group(2)
            yield Block(kind="heading", text=title, level=len(heading.group(1)))
            index += 1
        elif line.startswith("|"):
            end = _end_of_table(lines, index)
            yield Block(kind="table", text="", rows=_rows(lines[index:end]))
            index = end
        elif bullet := _BULLET.match(line):
            end = _end_of_bullet(lines, index)
            body = [bullet.group(1), *lines[index + 1 : end]]
            yield Block(kind="bullet", text=collapse(" ".join(body)))
            index = end
        else:
            end = _end_of_paragraph(lines, index)
            yield Block(kind="paragraph", text=collapse(" ".join(lines[index:end])))
            index = end


def _end_of_fence(lines: Sequence[str], start: int) -> int:
    fence: str | None = None
    for index in range(start, len(lines)):
        fence = _fence_state(fence, lines[index])
        if fence is None:
            return index + 1
    return len(lines)


def _end_of_table(lines: Sequence[str], start: int) -> int:
    index = start
    while index < len(lines) and lines[index].startswith("|"):
        index += 1
    return index


def _starts_block(line: str) -> bool:
    return bool(
        _BULLET.match(line) or _HEADING.match(line) or _FENCE.match(line) or line.startswith("|")
    )


def _end_of_paragraph(lines: Sequence[str], start: int) -> int:
    index = start + 1
    while index < len(lines) and lines[index].strip() and not _starts_block(lines[index]):
        index += 1
    return index


def _end_of_bullet(lines: Sequence[str], start: int) -> int:
    """A bullet goes on over indented lines, also after blank ones, and lazy continuations."""
    index = start + 1
    while index < len(lines):
        line = lines[index]
        if line.strip():
            indented = line[0] in " \t"
            lazy = bool(lines[index - 1].strip()) and not _starts_block(line)
            if not (indented or lazy):
                break
        index += 1
    while index > start + 1 and not lines[index - 1].strip():
        index -= 1
    return index


def _rows(lines: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    rows = [_cells(line) for line in lines]
    return tuple(row for row in rows if not all(_RULE_ROW.match(cell) for cell in row))


def _cells(line: str) -> tuple[str, ...]:
    """Cells of a row; a `|` inside code or after a backslash belongs to its cell."""
    cells: list[str] = []
    cell = ""
    code = False
    for index, char in enumerate(line.strip().removeprefix("|")):
        if char == "`":
            code = not code
        escaped = index > 0 and cell.endswith("\\")
        if char == "|" and not code and not escaped:
            cells.append(collapse(cell))
            cell = ""
        else:
            cell = cell[:-1] + char if char == "|" and escaped else cell + char
    if cell.strip():
        cells.append(collapse(cell))
    return tuple(cells)
