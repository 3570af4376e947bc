"""Frozen files as checks read them: found by path or glob, never through links, within limits.

What the manifest does not list as a copied regular file does not exist here.
"""

import functools
import hashlib
import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from uniclaw.records import Entry
from uniclaw.trajectory import Evidence

MAX_MATCHES = 50
"""Files that one glob of a content check may match."""


class Layer(NamedTuple):
    """A tree of frozen files."""

    root: Path
    """Host directory; the file `/a/b` lies at `root/a/b`."""
    entries: tuple[Entry, ...]


class Unreadable(Exception):
    """A file that should be read is not there or cannot be; the message says why."""


@dataclass(frozen=True, kw_only=True)
class FrozenFiles:
    """The artifacts of a round, and what commands produced from them."""

    base: PurePosixPath
    """Relative paths start here."""
    layers: tuple[Layer, ...]
    truncated: bool = False
    """A cap cut the listing, so that a missing path may have been there."""

    @classmethod
    def of(cls, evidence: Evidence) -> "FrozenFiles":
        """The artifacts of a round."""
        return cls(
            base=PurePosixPath(evidence.task.artifact_roots[0]),
            layers=(Layer(evidence.files_root, evidence.manifest.entries),),
            truncated=evidence.manifest.truncated,
        )

    def below(self, base: str, layer: Layer) -> "FrozenFiles":
        """The same files and a further layer, with relative paths starting at `base`."""
        return FrozenFiles(
            base=PurePosixPath(base), layers=(*self.layers, layer), truncated=self.truncated
        )

    def entries(self) -> tuple[Entry, ...]:
        """Everything that is present, of all layers."""
        return tuple(e for layer in self.layers for e in layer.entries if e.change != "deleted")

    def find(self, pattern: str) -> tuple[Entry, ...]:
        """Present entries at a path, or matching a glob, sorted by path.

        `*` and `?` stay within one name, `**` spans directories. A path that exists as written
        is meant literally.
        """
        wanted = str(self.base / pattern)
        present = self.entries()
        exact = tuple(e for e in present if e.path == wanted)
        if exact or not any(char in wanted for char in "*?["):
            return exact[-1:]
        glob = _compile_glob(wanted)
        return tuple(sorted((e for e in present if glob.match(e.path)), key=lambda e: e.path))

    def readable(self, pattern: str) -> tuple[Entry, ...]:
        """Regular files with bytes at a path or glob.

        Raises:
            Unreadable: there is none, or there are more than a check may look at.
        """
        found = self.find(pattern)
        files = tuple(e for e in found if e.kind == "file" and e.skipped is None)
        if len(files) > MAX_MATCHES:
            raise Unreadable(f"{len(files)} files match {pattern}; at most {MAX_MATCHES} are read")
        if files:
            return files
        raise Unreadable("; ".join(map(why_not, found)) or self._missing(pattern))

    def read(self, entry: Entry, *, max_bytes: int) -> bytes:
        """Bytes of a regular file.

        Raises:
            Unreadable: larger than `max_bytes`, or its bytes are not where they should be.
        """
        path = self.host_path(entry)
        if path.stat().st_size > max_bytes:
            raise Unreadable(f"{entry.path} has {path.stat().st_size} bytes; at most {max_bytes}")
        return path.read_bytes()

    def sha256(self, entry: Entry) -> str:
        """Hash of a regular file's bytes.

        Raises:
            Unreadable: its bytes are not where they should be.
        """
        if entry.sha256 is not None:
            return entry.sha256.lower()
        with self.host_path(entry).open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()

    def host_path(self, entry: Entry) -> Path:
        """Where a regular file's bytes lie on the host.

        Raises:
            Unreadable: nowhere, or only through a link.
        """
        relative = entry.path.lstrip("/")
        if ".." not in PurePosixPath(relative).parts:
            for layer in reversed(self.layers):
                root = layer.root.resolve()
                path = root / relative
                if path.resolve() == path and path.is_file():
                    return path
        raise Unreadable(f"{entry.path}: its bytes were not kept")

    def _missing(self, pattern: str) -> str:
        cut = " (the listing of artifacts was cut at its limit)" if self.truncated else ""
        return f"{pattern} is missing{cut}"


def why_not(entry: Entry) -> str:
    """Why an entry is not a readable file."""
    if entry.kind == "link":
        return f"{entry.path} is a link; links are not followed"
    if entry.kind != "file":
        kind = "directory" if entry.kind == "dir" else "special file"
        return f"{entry.path} is a {kind}, not a file"
    return f"{entry.path} was not copied: {entry.skipped}"


def decode(data: bytes) -> str:
    """Text of any bytes: a byte-order mark decides, else UTF-8 with U+FFFD; CRLF becomes LF."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        text = data.decode("utf-16", "replace")
    else:
        text = data.decode("utf-8-sig", "replace")
    return text.replace("\r\n", "\n").replace("\r", "\n")


@functools.lru_cache(maxsize=512)
def _compile_glob(pattern: str) -> re.Pattern[str]:
    """A glob as an anchored regular expression; a bracket that is not closed is literal."""
    tokens = re.findall(r"/\*\*/|\*\*|\*|\?|\[[^]/]+\]|.", pattern, flags=re.DOTALL)
    translated = {"/**/": "/(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    parts = (
        translated.get(token) or (_bracket(token) if len(token) > 2 else re.escape(token))
        for token in tokens
    )
    return re.compile("".join(parts) + r"\Z", re.DOTALL)


def _bracket(token: str) -> str:
    negated = token[1] in "!^" and len(token) > 3
    inner = token[2 if negated else 1 : -1].replace("\\", "\\\\").replace("[", r"\[")
    translated = f"[^{inner}/]" if negated else f"[{inner}]"
    try:
        re.compile(translated)
    except re.error:  # a range that runs backwards
        return re.escape(token)
    return translated
