"""The Markdown task file of WildClawBench, parsed by the rules of its own runner.

Frontmatter, then sections cut at every line that begins with `## `, inside a code fence too. A
fence is taken off by dropping the first line that opens one and the last that closes one. What
these rules cut wrongly is reported, not repaired: the benchmark itself would have run it so.
"""

import itertools
import re
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field, JsonValue

from uniclaw.errors import UserError
from uniclaw.records import Record, Unit
from uniclaw.suites.files import check_id, check_relative, read_text
from uniclaw.yamlio import parse_record, parse_yaml

DEFAULT_TIMEOUT_S = 120
SECTIONS = (
    "Prompt",
    "Expected Behavior",
    "Grading Criteria",
    "Automated Checks",
    "Workspace Path",
    "Skills",
    "Env",
    "Warmup",
)
_FRONT = re.compile(r"^---(?>\s*\n)(.*?)\n---(?>\s*\n)(.*)", re.DOTALL)
"""Their pattern with atomic groups, so that a file of blank lines costs no quadratic time."""
_HEADING = re.compile(r"^##\s+(.+)$", re.MULTILINE)
_OPENING = re.compile(r"```[^`]*")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class FrontKeys(Record):
    """Keys of the frontmatter; `environment` and `threshold` are additions of ours."""

    id: str = ""
    name: str = ""
    category: str = ""
    timeout_seconds: int = Field(default=DEFAULT_TIMEOUT_S, ge=1)
    modality: str = "pure-text"
    environment: str = "office"
    """Image recipe that the task plays in."""
    threshold: Unit | None = None
    """Overall score from which an attempt passes; the format itself knows no pass."""


@dataclass(frozen=True, kw_only=True)
class TaskFile:
    """One parsed task file."""

    file: Path
    task_id: str
    category: str
    """Name of the directory that the file lies in."""
    keys: FrontKeys
    unknown_keys: tuple[str, ...]
    prompt: str
    hidden: tuple[str, ...]
    """Expected behaviour and grading criteria: prose that only graders may know."""
    grader: str
    workspace: str
    """Relative to the checkout."""
    skills: tuple[str, ...]
    env: tuple[str, ...]
    """Names of variables."""
    warmup: tuple[str, ...]
    """Commands, one a line."""
    remarks: tuple[tuple[str, str], ...]
    """(code, message) of what looks wrong and runs all the same."""


def parse_task(file: Path) -> TaskFile:
    """Parse one task file.

    Raises:
        UserError: no frontmatter, a key of a wrong kind, no prompt, no workspace path, or a path
            that leaves its directory.
    """
    text = read_text(file).removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    match = _FRONT.match(text)
    if match is None:
        raise UserError("expected frontmatter between two lines `---`", file=file)
    keys, unknown = _front(match.group(1), file)
    sections, remarks = split_sections(match.group(2))
    prompt = sections.get("Prompt", "").strip()
    if not prompt:
        raise UserError("expected text", file=file, field="## Prompt")
    task_id = keys.id or file.stem
    check_id(task_id, file=file, field="id")
    check_id(keys.environment, file=file, field="environment")
    place = unfenced(sections.get("Workspace Path", "")).strip()
    if not place:
        raise UserError("expected a path", file=file, field="## Workspace Path")
    if keys.category and keys.category != file.parent.name:
        told = f"the frontmatter says {keys.category!r}; the directory {file.parent.name!r} holds"
        remarks = (*remarks, ("category-differs", told))
    skills = tuple(dict.fromkeys(_items(sections.get("Skills", ""))))
    for index, skill in enumerate(skills):
        check_relative(skill, file=file, field=f"## Skills[{index}]")
    env = tuple(dict.fromkeys(_items(sections.get("Env", ""))))
    for name in env:
        if not _NAME.fullmatch(name):
            raise UserError(
                "expected the name of a variable", file=file, field="## Env", value=name[:80]
            )
    return TaskFile(
        file=file,
        task_id=task_id,
        category=file.parent.name,
        keys=keys,
        unknown_keys=unknown,
        prompt=prompt,
        hidden=tuple(
            part
            for name in ("Expected Behavior", "Grading Criteria")
            if (part := sections.get(name, "").strip())
        ),
        grader=unfenced(sections.get("Automated Checks", "")),
        workspace=check_relative(place, file=file, field="## Workspace Path"),
        skills=skills,
        env=env,
        warmup=_items(sections.get("Warmup", "")),
        remarks=remarks,
    )


def _front(text: str, file: Path) -> tuple[FrontKeys, tuple[str, ...]]:
    data: JsonValue = parse_yaml(text, file=file) if text.strip() else {}
    if not isinstance(data, dict):
        raise UserError("expected a mapping of keys", file=file, field="frontmatter")
    known = {k: v for k, v in data.items() if k in FrontKeys.model_fields and v is not None}
    unknown = tuple(k for k in data if k not in FrontKeys.model_fields)
    return parse_record(FrontKeys, known, file=file), unknown


def split_sections(body: str) -> tuple[dict[str, str], tuple[tuple[str, str], ...]]:
    """Text of every section by its heading, and remarks on headings.

    A heading that stands twice keeps its last text.
    """
    heads = list(_HEADING.finditer(body))
    found: dict[str, str] = {}
    remarks: list[tuple[str, str]] = []
    for head, following in itertools.zip_longest(heads, heads[1:]):
        title = head.group(1).strip()
        text = body[head.end() : following.start() if following else len(body)]
        if title in found:
            remarks.append(("section-twice", f"the section {title[:80]!r} stands twice"))
        if _open_fence(text) and following is not None:
            told = f"the line {following.group(0)[:80]!r} cuts a code fence of {title[:80]!r}"
            remarks.append(("heading-in-fence", told))
        found[title] = text
    if found and tuple(n for n in found if n in SECTIONS) != SECTIONS:
        missing = [n for n in SECTIONS if n not in found]
        told = f"missing: {', '.join(missing)}" if missing else "in another order than usual"
        remarks.append(("sections", f"sections {told}"))
    return found, tuple(remarks)


def _open_fence(text: str) -> bool:
    fences = sum(1 for line in text.splitlines() if line.lstrip().startswith("```"))
    return fences % 2 == 1


def unfenced(section: str) -> str:
    """A section without its fence lines: the first that opens one, the last that closes one."""
    lines = section.strip().split("\n")
    first = next((i for i, line in enumerate(lines) if _OPENING.fullmatch(line.rstrip())), None)
    if first is not None:
        del lines[first]
    last = next((i for i in reversed(range(len(lines))) if lines[i].strip() == "```"), None)
    if last is not None:
        del lines[last]
    return "\n".join(lines)


def _items(section: str) -> tuple[str, ...]:
    """Lines of a fenced list, without empty ones and comments."""
    lines = (line.strip() for line in unfenced(section).split("\n"))
    return tuple(line for line in lines if line and not line.startswith("#"))
