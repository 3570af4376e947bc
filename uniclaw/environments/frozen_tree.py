"""Write a frozen artifact tree on the host and describe it: the half of freeze all adapters share.

Only directories and regular files are ever made on the host, always new ones, so no link can
lead out of the target. Must not know where the files come from.
"""

import errno
import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Literal, NamedTuple

from uniclaw.errors import StoreError
from uniclaw.ports import FreezeLimits
from uniclaw.records import Entry, Manifest

_CHUNK_BYTES = 1 << 17
Kind = Literal["file", "dir", "link", "other"]


class Mark(NamedTuple):
    """How far a tree was."""

    entries: int
    copied_bytes: int
    truncated: bool


class FrozenTree:
    """Collects entries and their bytes within limits."""

    def __init__(self, into: Path, limits: FreezeLimits) -> None:
        self._into = into
        self._limits = limits
        self._entries: dict[str, Entry] = {}
        self._copied_bytes = 0
        self.truncated = False

    def full(self, planned: int = 0) -> bool:
        """Whether no more entries are listed; the manifest then says `truncated`.

        `planned` entries are to be added later and count as well.
        """
        if len(self._entries) + planned >= self._limits.max_files:
            self.truncated = True
            return True
        return False

    def mark(self) -> "Mark":
        """A point to go back to."""
        return Mark(len(self._entries), self._copied_bytes, self.truncated)

    def go_back(self, mark: "Mark") -> None:
        """Forget what was added since, here and on the host."""
        while len(self._entries) > mark.entries:
            path, entry = self._entries.popitem()
            if entry.kind == "file" and entry.skipped is None:
                self._host(path).unlink()
        self._copied_bytes, self.truncated = mark.copied_bytes, mark.truncated

    def refusal(self, real_bytes: int, apparent_bytes: int) -> str | None:
        """Why a file of that size is not copied; None when it is.

        Real size counts against the caps. A sparse file whose apparent size is beyond the cap
        for the whole tree is not copied either: every reader would have to read the holes.
        """
        limits = self._limits
        if real_bytes > limits.max_file_bytes:
            return f"larger than {limits.max_file_bytes} bytes"
        if apparent_bytes > limits.max_total_bytes:
            return f"sparse, with an apparent size beyond {limits.max_total_bytes} bytes"
        if self._copied_bytes + real_bytes > limits.max_total_bytes:
            self.truncated = True
            return f"all files together are larger than {limits.max_total_bytes} bytes"
        self._copied_bytes += real_bytes
        return None

    def add(
        self,
        path: str,
        kind: Kind,
        *,
        mode: int,
        size: int = 0,
        target: str | None = None,
        skipped: str | None = None,
    ) -> None:
        """List an entry without bytes; a directory is also made on the host."""
        if kind == "dir":
            try:
                self._host(path).mkdir(parents=True, exist_ok=True)
            except OSError as error:
                skipped = _unkept(error)
        self._put(Entry(path=path, kind=kind, size=size, mode=mode, target=target, skipped=skipped))

    def add_file(self, path: str, data: IO[bytes], *, mode: int, size: int) -> None:
        """Copy a regular file; what the host cannot hold is listed as skipped."""
        if path in self._entries:
            skipped = "another name reads the same after decoding"
            self._put(
                Entry(path=f"{path}\ufffd", kind="file", mode=mode, size=size, skipped=skipped)
            )
            return
        digest = hashlib.sha256()
        written = 0
        host = self._host(path)
        try:
            host.parent.mkdir(parents=True, exist_ok=True)
            with host.open("xb") as out:
                while chunk := data.read(_CHUNK_BYTES):
                    digest.update(chunk)
                    written += len(chunk)
                    _write_sparsely(out, chunk)
                out.truncate(written)
                os.fchmod(out.fileno(), 0o755 if mode & 0o100 else 0o644)
        except OSError as error:
            self.add(path, "file", mode=mode, size=size, skipped=_unkept(error))
            return
        self._put(Entry(path=path, kind="file", mode=mode, size=written, sha256=digest.hexdigest()))

    def copy_again(self, path: str, original: str, *, mode: int) -> None:
        """A hard link to a file that was copied before: a regular file of its own."""
        known = self._entries.get(original)
        if known is None or known.skipped is not None or known.kind != "file":
            reason = known.skipped if known else "its other name was not copied"
            self.add(path, "file", mode=mode, size=known.size if known else 0, skipped=reason)
            return
        refusal = self.refusal(known.size, known.size)
        if refusal is not None:
            self.add(path, "file", mode=mode, size=known.size, skipped=refusal)
            return
        with self._host(original).open("rb") as data:
            self.add_file(path, data, mode=mode, size=known.size)

    def manifest(self, baseline: Manifest | None) -> Manifest:
        """Everything listed, with changes against the baseline."""
        entries = sorted(self._entries.values(), key=lambda e: e.path)
        if baseline is None:
            return Manifest(entries=tuple(entries), truncated=self.truncated)
        before = {e.path: e for e in baseline.entries if e.change != "deleted"}
        now = [e.model_copy(update={"change": _change(before, e)}) for e in entries]
        gone = [
            e.model_copy(update={"change": "deleted"})
            for path, e in before.items()
            # A cut listing proves nothing about what it does not hold.
            if path not in self._entries and not self.truncated
        ]
        ordered = sorted([*now, *gone], key=lambda e: e.path)
        return Manifest(entries=tuple(ordered), truncated=self.truncated)

    def _put(self, entry: Entry) -> None:
        self._entries[entry.path] = entry.model_copy(update={"mode": entry.mode & 0o7777})

    def _host(self, path: str) -> Path:
        return self._into / path.lstrip("/")


_NAME_FAULTS = frozenset(
    {errno.ENAMETOOLONG, errno.EEXIST, errno.ENOTDIR, errno.EISDIR, errno.EINVAL, errno.EILSEQ}
)


def _unkept(error: OSError) -> str:
    """Why one entry cannot be kept here; trouble of the whole disk is an error instead."""
    if error.errno not in _NAME_FAULTS:
        raise StoreError(f"cannot write evidence: {error}") from error
    return f"cannot be kept here: {error.strerror}"


def _write_sparsely(out: IO[bytes], chunk: bytes) -> None:
    if chunk.strip(b"\0"):
        out.write(chunk)
    else:
        out.seek(len(chunk), os.SEEK_CUR)


def _change(before: Mapping[str, Entry], entry: Entry) -> Literal["added", "changed", "same"]:
    old = before.get(entry.path)
    if old is None:
        return "added"
    if old.kind != entry.kind or old.target != entry.target:
        return "changed"
    if entry.kind != "file":
        return "same"
    # Without bytes on either side nothing shows that it is the same.
    same = entry.sha256 is not None and entry.sha256 == old.sha256 and entry.mode == old.mode
    return "same" if same else "changed"


def readable(name: str) -> str:
    """A file name as records hold it: bytes that are no UTF-8 become U+FFFD."""
    return os.fsencode(name).decode("utf-8", "replace")
