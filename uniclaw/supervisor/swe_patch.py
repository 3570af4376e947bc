"""A candidate patch: cut into one section per file, and filtered by whole names of its paths.

Pure functions over bytes. Every section that is dropped is reported with its path and reason.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal, NamedTuple

from uniclaw.records import Count, Record

MAX_PATCH_BYTES = 20_000_000
"""Of a whole patch after filtering."""
MAX_FILE_BYTES = 5_000_000
"""Of one changed file."""

LOCK_AND_BUILD = frozenset(
    {
        "pyproject.toml",
        "tox.ini",
        "setup.py",
        "package-lock.json",
        "yarn.lock",
        "pnpm-lock.yaml",
        "Cargo.lock",
        "poetry.lock",
        "Gemfile.lock",
        "composer.lock",
        "Pipfile.lock",
        "go.sum",
    }
)
"""Files that the benchmark leaves out of every patch, by the last name of the path."""
RUNNER_SETTINGS = frozenset(
    {
        "conftest.py",
        "pytest.ini",
        ".pytest.ini",
        "setup.cfg",
        "sitecustomize.py",
        "usercustomize.py",
        ".coveragerc",
        ".npmrc",
    }
)
"""Files by which a test runner could be talked into another result."""
SCAFFOLD = frozenset(
    {
        "AGENTS.md",
        "CLAUDE.md",
        "GEMINI.md",
        "HEARTBEAT.md",
        "SOUL.md",
        "TOOLS.md",
        "USER.md",
        "IDENTITY.md",
        "BOOTSTRAP.md",
        "MEMORY.md",
        "memory",
        "sessions",
        ".nanobot",
        ".openclaw",
        ".claude",
        ".claude.json",
        ".codex",
        ".hermes",
        ".opencode",
        ".edict",
        ".uniclaw",
    }
)
"""What harnesses put at the top of a workspace; dropped where the repository has none."""
PRODUCTS = frozenset(
    {
        "__pycache__",
        ".pytest_cache",
        ".mypy_cache",
        ".ruff_cache",
        "node_modules",
        ".tox",
        ".nox",
        ".venv",
    }
)
_PRODUCT_SUFFIXES = (".pyc", ".pyo", ".o", ".orig", ".rej", ".swp")

Reason = Literal[
    "test file",
    "lock or build file",
    "test runner settings",
    "scaffold file",
    "build product",
    "binary",
    "too large",
    "not copied",
    "path not usable",
]


class Dropped(Record):
    """A file whose change is no part of the patch."""

    path: str
    reason: Reason


class Patch(Record):
    """What an attempt changed, as it is graded and exported."""

    source: Literal["repository", "model"]
    text: str = ""
    dropped: tuple[Dropped, ...] = ()
    raw_bytes: Count = 0
    """Before filtering."""
    applies: bool | None = None
    """None: it was not tried, because it is empty or could not be taken."""
    problem: str | None = None
    """Why there is no patch, or why it does not apply."""
    tests: Mapping[str, str] = {}
    """Test -> `passed` or `not passed`."""


@dataclass(frozen=True, kw_only=True)
class TestsRun:
    """What the tests of one round said of a patch."""

    patch: Patch
    passed: frozenset[str] = frozenset()
    problem: str | None = None
    """Why no test could be run, for reasons that are not the agent's."""


class Section(NamedTuple):
    """The change of one file."""

    path: str
    body: bytes
    new: bool
    binary: bool


def sections(patch: bytes) -> tuple[Section, ...]:
    """One section per file, in order; text before the first header is left out."""
    starts = [m.start() for m in re.finditer(rb"^diff --git ", patch, re.MULTILINE)]
    ends = [*starts, len(patch)][1:]
    return tuple(_section(patch[a:b]) for a, b in zip(starts, ends, strict=True))


def _section(body: bytes) -> Section:
    head, _, rest = body.partition(b"\n")
    intro = rest.split(b"\n@@ ", 1)[0]
    lines = intro.split(b"\n")
    return Section(
        path=_path(head),
        body=body,
        new=any(line.startswith(b"new file mode") for line in lines),
        binary=any(line.startswith((b"Binary files ", b"GIT binary patch")) for line in lines)
        or b"\0" in body,
    )


def _path(head: bytes) -> str:
    """Path of a header without renames: both of its names are the same."""
    names = head.removeprefix(b"diff --git ").rstrip(b"\r")
    if names.startswith(b'"'):
        first = names[1 : names.index(b'" ')] if b'" ' in names else names.strip(b'"')
        return _unquote(first).decode("utf-8", "replace").removeprefix("a/")
    half = names[: (len(names) - 1) // 2]
    if names == half + b" b/" + half.removeprefix(b"a/"):
        return half.decode("utf-8", "replace").removeprefix("a/")
    return names.split(b" b/", 1)[-1].decode("utf-8", "replace")


def _unquote(name: bytes) -> bytes:
    plain = {b"n": b"\n", b"t": b"\t", b'"': b'"', b"\\": b"\\", b"r": b"\r"}

    def one(match: re.Match[bytes]) -> bytes:
        said = match.group(1)
        return bytes([int(said, 8) & 255]) if said.isdigit() else plain.get(said, said)

    return re.sub(rb"\\([0-7]{3}|.)", one, name)


def why_dropped(section: Section, test_files: Sequence[str]) -> Reason | None:
    """Why a section is no part of the candidate patch; None keeps it."""
    path = PurePosixPath(section.path)
    parts = path.parts
    if not parts or path.is_absolute() or ".." in parts or ".git" in map(str.lower, parts):
        return "path not usable"
    if section.path in test_files:
        return "test file"
    if path.name in LOCK_AND_BUILD:
        return "lock or build file"
    if path.name in RUNNER_SETTINGS or path.suffix == ".pth" or _metadata(parts):
        return "test runner settings"
    if section.new and parts[0] in SCAFFOLD:
        return "scaffold file"
    if section.new and (PRODUCTS & set(parts) or path.name.endswith(_PRODUCT_SUFFIXES)):
        return "build product"
    if section.binary:
        return "binary"
    return "too large" if len(section.body) > MAX_FILE_BYTES else None


def _metadata(parts: Sequence[str]) -> bool:
    return any(part.endswith((".dist-info", ".egg-info")) for part in parts)


def filter_patch(
    raw: bytes,
    *,
    source: Literal["repository", "model"],
    test_files: Sequence[str],
    dropped: Sequence[Dropped] = (),
) -> Patch:
    """The candidate patch of a raw diff.

    Args:
        raw: unified diff with git's headers, without renames.
        source: where it was taken.
        test_files: paths that the test patch touches.
        dropped: what was left out before.
    """
    kept: list[bytes] = []
    out = list(dropped)
    for section in sections(raw):
        reason = why_dropped(section, test_files)
        if reason is None:
            kept.append(section.body if section.body.endswith(b"\n") else section.body + b"\n")
        else:
            out.append(Dropped(path=section.path, reason=reason))
    told = tuple(dict.fromkeys(out))
    size = sum(map(len, kept))
    if size > MAX_PATCH_BYTES:
        problem = f"the patch has {size} bytes; at most {MAX_PATCH_BYTES} are taken"
        return Patch(source=source, dropped=told, raw_bytes=len(raw), problem=problem)
    text, told = _decodable(kept, told)
    return Patch(source=source, text=text, dropped=told, raw_bytes=len(raw))


def _decodable(
    kept: Sequence[bytes], dropped: tuple[Dropped, ...]
) -> tuple[str, tuple[Dropped, ...]]:
    """Text of the sections; one that is no UTF-8 could not be exported and counts as binary."""
    texts: list[str] = []
    for body in kept:
        try:
            texts.append(body.decode("utf-8"))
        except UnicodeDecodeError:
            dropped = (*dropped, Dropped(path=_section(body).path, reason="binary"))
    return "".join(texts), dropped


_FENCED = re.compile(r"^(`{3,})(?:diff|patch)[^\n]*\n(.*?)^\1\s*$", re.MULTILINE | re.DOTALL)
_HEADERS = re.compile(r"^--- (a/\S+|/dev/null)[^\n]*\n\+\+\+ (b/\S+|/dev/null)", re.MULTILINE)


def patch_of_message(message: str) -> bytes:
    """The last fenced diff of a message, with git's headers; empty when it shows none."""
    fenced = [match[1] for match in _FENCED.findall(message)]
    if not fenced:
        return b""
    text = fenced[-1]
    if "diff --git " not in text:
        text = _HEADERS.sub(_with_header, text)
    return text.encode("utf-8", "replace")


def _with_header(match: re.Match[str]) -> str:
    old, new = match.group(1), match.group(2)
    path = (old if new == "/dev/null" else new)[2:]
    head = f"diff --git a/{path} b/{path}\n"
    if old == "/dev/null":
        head += "new file mode 100644\n"
    if new == "/dev/null":
        head += "deleted file mode 100644\n"
    return head + match.group(0)
