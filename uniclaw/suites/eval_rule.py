"""Parse an imported `eval_rule.md` into a rubric: checkpoints, caps, pass requirements.

Weights are read where the rule writes them (the head of a bullet, a table column, a
sub-heading) and summed as written. A rule whose weights do not sum to 1 is not a rubric:
it is reported with the reason and nothing is guessed. What is prose stays prose: every line
becomes a judge line.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from uniclaw.errors import UserError
from uniclaw.hidden.rubric import (
    WEIGHT_SUM_TOLERANCE,
    Cap,
    Checkpoint,
    JudgeCheck,
    PassRequires,
    Rubric,
)
from uniclaw.suites.eval_caps import find_caps, find_line_bounds
from uniclaw.suites.eval_pass import find_pass_requires
from uniclaw.suites.markdown import (
    RUBRIC_SECTION,
    Block,
    Section,
    plain,
    sentences,
    split_sections,
)

_NUMBER = r"(?:0?\.\d+|1\.0+|\d{1,2}(?:\.\d+)?\s*%)"
_LEADING = re.compile(rf"^({_NUMBER})(?![\w.])\s*(?:cap\b)?\s*[-–—:]*\s*")
_IN_LEAD = re.compile(rf"^((?:CP|C)?\d+)?\s*[-–—:.]*\s*([^().]*?)\s*\(({_NUMBER})\)")
_EXPLICIT_ID = re.compile(r"^(CP[-_ ]?\d+[a-z]?)\b\s*[-–—:.]*\s*", re.IGNORECASE)
_SUBHEAD = re.compile(rf"\(({_NUMBER})\)")
_TITLE_CHARS = 160


@dataclass(frozen=True, kw_only=True)
class RuleReport:
    """What one rule holds, as written."""

    checkpoints: tuple[Checkpoint, ...]
    caps: tuple[Cap, ...]
    pass_requires: PassRequires
    weights_sum: float | None
    """Sum of the weights as written; None when the rule has none."""
    form: str
    """`bullets`, `table`, `sub-headings` or `none`."""
    stated_threshold: float | None
    """Threshold that the rule's prose names for a pass, if it names one."""
    reason: str | None
    """Why the rule is no rubric; None when it is one."""

    def rubric(self, threshold: float, *, file: object = None) -> Rubric:
        """The rubric of this rule.

        Raises:
            UserError: the rule is no rubric; the message holds the reason.
        """
        if self.reason is not None:
            raise UserError(self.reason, file=file, field="Checkpoint Rubric")
        return Rubric(
            threshold=threshold,
            checkpoints=self.checkpoints,
            caps=self.caps,
            pass_requires=self.pass_requires,
        )


@dataclass(frozen=True, kw_only=True)
class _Line:
    weight: float
    text: str
    title: str
    explicit: str | None = None


def parse_rule(text: str, *, outputs: Sequence[str] = ()) -> RuleReport:
    """Read a rule.

    Args:
        text: the whole Markdown file.
        outputs: result files that the public task names, relative to its results
            directory; a checkpoint that names exactly one of them has it as its artifact.
    """
    sections = split_sections(text)
    form, lines = _checkpoint_lines(sections)
    checkpoints = _checkpoints(lines, outputs, find_line_bounds(sections))
    total = sum(line.weight for line in lines) if lines else None
    requires, stated = find_pass_requires(sections, [c.id for c in checkpoints])
    return RuleReport(
        checkpoints=checkpoints,
        caps=find_caps(sections),
        pass_requires=requires,
        weights_sum=None if total is None else round(total, 6),
        form=form,
        stated_threshold=stated,
        reason=_reason(form, lines, total),
    )


def _reason(form: str, lines: Sequence[_Line], total: float | None) -> str | None:
    if total is None:
        return (
            "no weighted checkpoints found; expected bullets, a table or sub-headings with weights"
        )
    if len(lines) < 2:
        return f"only one weighted checkpoint found ({form}); expected at least two"
    if any(line.weight <= 0 for line in lines):
        return f"a weight is not positive ({form})"
    if abs(total - 1) > WEIGHT_SUM_TOLERANCE:
        return f"weights of the {form} sum to {total:g}; expected 1 (± 0.01)"
    return None


def _checkpoint_lines(sections: Sequence[Section]) -> tuple[str, list[_Line]]:
    """Lines of the rubric section, in the first form that it uses.

    Sub-headings with weights come first (what stands under them are grades of one line), then
    tables with a weight column, then bullets.
    """
    for section in sections:
        if RUBRIC_SECTION not in section.title.lower():
            continue
        forms = (
            ("sub-headings", _from_subheads(section.blocks)),
            ("table", _from_tables(section.blocks)),
            ("bullets", _from_bullets(section.blocks)),
        )
        for name, lines in forms:
            if lines:
                return name, lines
    return "none", []


def _weight(text: str) -> float:
    number = text.strip()
    if number.endswith("%"):
        return float(number.rstrip("% ")) / 100
    return float(number)


def _from_subheads(blocks: Sequence[Block]) -> list[_Line]:
    lines: list[_Line] = []
    title, weight, body = "", 0.0, list[str]()
    for block in (*blocks, Block(kind="heading", text="", level=1)):
        if block.kind != "heading":
            body.append(_block_text(block))
            continue
        if title:
            lines.append(_Line(weight=weight, title=title, text=" ".join([title, *body])))
        match = _SUBHEAD.search(plain(block.text))
        title = ""
        if match:
            weight = _weight(match.group(1))
            title = _clean_title(re.sub(r"^\d+(?:\.\d+)*\s+", "", plain(block.text)), match.group())
        body = []
    return lines


def _clean_title(title: str, weight: str) -> str:
    return re.sub(r"\s+(?=[.,;:])", "", " ".join(title.replace(weight, " ").split()))


def _block_text(block: Block) -> str:
    if block.kind == "table":
        return " ".join(" | ".join(row) + " ;" for row in block.rows)
    return block.text


def _from_tables(blocks: Sequence[Block]) -> list[_Line]:
    lines: list[_Line] = []
    for block in blocks:
        if block.kind == "table" and block.rows:
            lines.extend(_table_lines(block.rows))
    return lines


def _table_lines(rows: tuple[tuple[str, ...], ...]) -> list[_Line]:
    header = [plain(cell).lower() for cell in rows[0]]
    column = next((i for i, cell in enumerate(header) if cell.startswith("weight")), None)
    if column is None:
        return []
    identity = next((i for i, c in enumerate(header) if c in {"id", "cp", "checkpoint id"}), None)
    ordinal = next((i for i, c in enumerate(header) if c in {"#", "no", "no."}), None)
    lines: list[_Line] = []
    for row in rows[1:]:
        if len(row) != len(header):
            return []
        match = re.fullmatch(_NUMBER, plain(row[column]))
        prose = [c for i, c in enumerate(row) if i not in {column, identity, ordinal}]
        if re.fullmatch(r"(?i)(total|sum)\W*", plain(" ".join(prose)) or plain(row[0])):
            continue
        if match is None:
            return []
        text = " — ".join(cell for cell in prose if cell)
        explicit = None if identity is None else plain(row[identity])
        lines.append(
            _Line(weight=_weight(match.group()), text=text, title=_title(text), explicit=explicit)
        )
    return lines


def _from_bullets(blocks: Sequence[Block]) -> list[_Line]:
    lines = [_bullet_line(block.text) for block in blocks if block.kind == "bullet"]
    return [line for line in lines if line is not None]


def _bullet_line(text: str) -> _Line | None:
    """A bullet with its weight in its head: first of all, or in brackets after an id or title."""
    bare = plain(text)
    explicit = _EXPLICIT_ID.match(bare)
    rest = bare[explicit.end() :] if explicit else bare
    leading = _LEADING.match(rest)
    if leading:
        prose = rest[leading.end() :]
        explicit = explicit or _EXPLICIT_ID.match(prose)
        weight = leading.group(1)
    else:
        inside = _IN_LEAD.match(rest)
        if inside is None or not (explicit or text.startswith("**")):
            return None
        prose = _clean_title(rest, f"({inside.group(3)})")
        weight = inside.group(3)
    return _Line(
        weight=_weight(weight),
        text=text,
        title=_bold_title(text, prose) or _title(prose),
        explicit=explicit.group(1).replace(" ", "") if explicit else None,
    )


def _bold_title(text: str, prose: str) -> str | None:
    """The bold words at the head of a bullet, when there are more of them than the weight."""
    bold = re.match(r"^[^*]{0,12}\*\*(.+?)\*\*", text)
    if bold is None:
        return None
    words = plain(bold.group(1))
    kept = next((words[i:] for i in range(len(words)) if prose.startswith(words[i:])), "")
    return kept if re.search(r"[^\W\d_]{3}", kept) else None


def _title(text: str) -> str:
    first = plain(sentences(text)[0]) if text.strip() else "-"
    return first if len(first) <= _TITLE_CHARS else first[: _TITLE_CHARS - 1].rstrip() + "…"


def _checkpoints(
    lines: Sequence[_Line], outputs: Sequence[str], bounds: Sequence[str]
) -> tuple[Checkpoint, ...]:
    explicit = [line.explicit for line in lines]
    usable = all(explicit) and len(set(explicit)) == len(explicit)
    found: list[Checkpoint] = []
    for number, line in enumerate(lines, start=1):
        if line.weight <= 0:
            continue
        named = [name for name in outputs if _names(line.text, name)]
        text = f"Weight {line.weight:g}. {line.text}"  # grades in the prose are parts of it
        criterion = "\nWhere it concerns this line: ".join([text, *bounds])
        found.append(
            Checkpoint(
                id=line.explicit if usable and line.explicit else f"c{number:02d}",
                weight=line.weight,
                description=line.title or "-",
                check=JudgeCheck(criterion=criterion, files=tuple(named)),
                artifact=named[0] if len(named) == 1 else None,
            )
        )
    return tuple(found)


def _names(text: str, output: str) -> bool:
    name = output.rsplit("/", 1)[-1]
    return re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-]|\.\w)", text) is not None
