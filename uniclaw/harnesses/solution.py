"""Reads staged solution scripts: steps that become tool calls, and the final message.

Lines that start with `#---` separate steps; lines that start with `#:` form the message.
Neither counts inside a here-document.
"""

import re
from pathlib import Path
from typing import NamedTuple

from uniclaw.errors import UserError

_HEREDOC = re.compile(
    r"<<(?P<dash>-?)\s*(?P<quote>['\"]?)(?P<word>[A-Za-z_][A-Za-z0-9_]*)(?P=quote)"
)


class Solution(NamedTuple):
    """One round of a staged solution."""

    steps: tuple[str, ...]
    """Bash, each one tool call; run with the workspace as current directory."""
    message: str
    """The assistant's final message."""


def parse_solution(text: str) -> Solution:
    """Split a script into steps and message."""
    steps: list[list[str]] = [[]]
    said: list[str] = []
    pending: list[tuple[str, bool]] = []
    for line in text.splitlines():
        if pending:
            steps[-1].append(line)
            word, dashed = pending[0]
            if (line.lstrip("\t") if dashed else line) == word:
                pending.pop(0)
        elif line.startswith("#---"):
            steps.append([])
        elif line.startswith("#:"):
            said.append(line[2:].removeprefix(" "))
        else:
            steps[-1].append(line)
            pending = [(m["word"], bool(m["dash"])) for m in _HEREDOC.finditer(line)]
    bodies = ("\n".join(step).strip("\n") for step in steps)
    return Solution(tuple(b for b in bodies if _does_something(b)), "\n".join(said).strip())


def _does_something(step: str) -> bool:
    return any(line.strip() and not line.lstrip().startswith("#") for line in step.splitlines())


def read_solution(directory: Path, round_number: int) -> Solution | None:
    """`round-N.sh` of a solution directory, or None when this round has none.

    Raises:
        UserError: the file is not UTF-8.
    """
    file = directory / f"round-{round_number}.sh"
    if not file.is_file():
        return None
    return read_script(file)


def read_script(file: Path) -> Solution:
    """Parse one script file.

    Raises:
        UserError: the file is not UTF-8.
    """
    try:
        return parse_solution(file.read_text(encoding="utf-8"))
    except UnicodeDecodeError as error:
        raise UserError("not UTF-8", file=file, value=str(error)) from error
