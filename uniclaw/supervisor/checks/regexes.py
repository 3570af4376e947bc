"""Regular expressions over text of the agent's, with a bound on their time.

A pattern that is harmless on honest text can take for ever on another. Where pattern and length
do not rule that out, the search runs in a process of its own that is killed at a deadline.
"""

import json
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

MAX_STEPS: Final = 20_000_000
"""Searches that surely take fewer steps than this run in this process."""
TIMEOUT_S: Final = 5.0
_MAX_TIMEOUTS: Final = 3
_UNBOUNDED = re.compile(r"(?<!\\)(?:[*+]|\{[0-9]*,[0-9]{3,}\}|\{[0-9]*,\})")
_NESTED = re.compile(r"(?<!\\)\)(?:[*+]|\{[0-9]*,?[0-9]*\})|\(\?P=|\\[1-9]")
_PROGRAM: Final = """
import json, re, sys
for pattern, flags, text in json.load(sys.stdin):
    print(1 if re.search(pattern, text, flags) else 0, flush=True)
"""


class Search(NamedTuple):
    """A pattern to look for in a text."""

    pattern: str
    text: str
    flags: int = 0


def search_all(searches: Sequence[Search]) -> tuple[bool | None, ...]:
    """Whether each pattern matches somewhere in its text; None where it took too long."""
    results: dict[int, bool | None] = {}
    slow: list[int] = []
    for index, search in enumerate(searches):
        if _surely_fast(search):
            found = re.search(search.pattern, search.text, search.flags)
            results[index] = found is not None
        else:
            slow.append(index)
    results.update(zip(slow, _search_apart([searches[i] for i in slow]), strict=True))
    return tuple(results[i] for i in range(len(searches)))


def _surely_fast(search: Search) -> bool:
    if _NESTED.search(search.pattern):
        return False
    degree = 1 + len(_UNBOUNDED.findall(search.pattern))
    return len(search.text) ** degree <= MAX_STEPS


def _search_apart(searches: Sequence[Search]) -> Iterator[bool | None]:
    left = list(searches)
    timeouts = 0
    while left:
        if timeouts >= _MAX_TIMEOUTS:
            yield from (None for _ in left)
            return
        answers = _run([(s.pattern, int(s.flags), s.text) for s in left])
        yield from answers
        left = left[len(answers) :]
        if left:
            timeouts += 1
            yield None
            left = left[1:]


def _run(searches: Sequence[tuple[str, int, str]]) -> list[bool]:
    """Answers in order, up to the first search that was not done at the deadline."""
    command = [sys.executable, "-I", "-S", "-c", _PROGRAM]
    data = json.dumps(searches).encode("ascii")
    try:
        done = subprocess.run(command, input=data, capture_output=True, timeout=TIMEOUT_S)
        output = done.stdout
    except subprocess.TimeoutExpired as error:
        output = error.stdout or b""
    return [token == b"1" for token in output.split()]
