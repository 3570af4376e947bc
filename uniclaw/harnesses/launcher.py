"""Starts a harness program inside an environment and reads what it wrote, line by line with times.

The program runs under a small parent of ours (`inside/launch.py`) that ends the turn when the
program has said its last word but stays. The parent's source goes along with each call, so nothing
in the environment can replace it. Must not know any harness.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from pydantic import JsonValue

from uniclaw.errors import HarnessError
from uniclaw.ports import Environment

_SOURCE = (Path(__file__).parent / "inside" / "launch.py").read_text(encoding="utf-8")
_MAX_LINE = 8_000_000
_MAX_BYTES = 48_000_000
_WIRE_BYTES = 64_000_000


class Command(NamedTuple):
    """How a program is run for one turn."""

    argv: Sequence[str]
    stdin: str = ""
    """The prompt; programs that cannot take it here read it from a file."""
    env: Mapping[str, str] = {}
    final: Mapping[str, Sequence[str]] | None = None
    """What the JSON line holds that ends a turn: dotted key -> possible values. Under an empty key:
    the whole line, JSON or not."""
    grace_s: float = 5.0
    """How long the program may stay silent after that line."""


class Line(NamedTuple):
    """One line of the program's output."""

    at_s: float
    stream: str
    """`out` or `err`."""
    text: str


class Launched(NamedTuple):
    """What a program left."""

    lines: tuple[Line, ...]
    exit_code: int | None
    """None when it was killed at the turn's end."""
    lingered: bool
    """It wrote its final line and did not end."""
    timed_out: bool
    oom_killed: bool
    dropped_bytes: int
    """Output past the limits."""
    duration_s: float

    def text(self, stream: str) -> str:
        """A stream as one text."""
        return "\n".join(line.text for line in self.lines if line.stream == stream)

    def tail(self, characters: int = 2000) -> str:
        """The end of what it said, errors first: for messages to people."""
        said = self.text("err").strip() or self.text("out").strip()
        return said[-characters:]

    def records(self) -> Iterator[tuple[float, dict[str, JsonValue]]]:
        """Lines of standard output that are JSON objects, with their times."""
        for line in self.lines:
            if line.stream == "out" and line.text.lstrip().startswith("{"):
                record = parse_object(line.text)
                if record is not None:
                    yield line.at_s, record


def parse_object(text: str) -> dict[str, JsonValue] | None:
    """A JSON object, or None; NaN and infinities are no numbers and become their words."""
    try:
        value: JsonValue = json.loads(text, parse_constant=str)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


async def launch(
    environment: Environment, command: Command, *, cwd: str, timeout_s: float
) -> Launched:
    """Run a program to the end of its turn.

    Raises:
        HarnessError: not even its parent could be started.
    """
    given = {
        "argv": list(command.argv),
        "env": dict(command.env),
        "stdin": command.stdin.encode("utf-8", "replace").decode("utf-8"),
        "final": {k: list(v) for k, v in command.final.items()} if command.final else None,
        "grace_s": command.grace_s,
        "max_line": _MAX_LINE,
        "max_bytes": _MAX_BYTES,
    }
    done = await environment.exec(
        ["python3", "-I", "-c", _SOURCE],
        stdin=json.dumps(given).encode(),
        cwd=cwd,
        timeout_s=timeout_s,
        max_bytes=_WIRE_BYTES,
    )
    lines: list[Line] = []
    last: dict[str, JsonValue] = {}
    for text in done.stdout.decode("utf-8", "replace").splitlines():
        record = parse_object(text) or {}
        at = record.get("t")
        at_s = float(at) if isinstance(at, int | float) else 0.0
        for stream in ("out", "err"):
            said = record.get(stream)
            if isinstance(said, str):
                lines.append(Line(at_s, stream, said))
        last = record if "exit" in record else last
    if not lines and not last and not done.timed_out and not done.oom_killed:
        said = done.stderr.decode("utf-8", "replace")[-1000:]
        if done.exit_code in {126, 127} or "Traceback" in said:
            raise HarnessError(f"cannot start programs inside: {said}")
    lingered = last.get("ended") == "final"
    # Without a last record the parent itself was killed, and the program with it.
    code = last.get("exit") if last or done.timed_out else done.exit_code
    dropped = last.get("dropped")
    return Launched(
        lines=tuple(lines),
        exit_code=code if isinstance(code, int) and not lingered else None,
        lingered=lingered,
        timed_out=done.timed_out,
        oom_killed=done.oom_killed,
        dropped_bytes=dropped if isinstance(dropped, int) else 0,
        duration_s=done.duration_s,
    )
