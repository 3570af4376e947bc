"""Tar streams of files for an environment: one owner, checked names, no links.

Must not know where the tar goes.
"""

import os
import stat
import tarfile
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import IO

from uniclaw.errors import UserError

_IN_MEMORY_BYTES = 16_000_000
DIRECTORY_MODE = 0o755
FILE_MODE = 0o644


def host_tree(source: Path, target: PurePosixPath) -> Iterator[tuple[Path, PurePosixPath, int]]:
    """All regular files and directories of a host path: host path, inside path, mode.

    Raises:
        UserError: something is a link or a special file, or `source` is missing.
    """
    try:
        mode = source.lstat().st_mode
    except OSError as error:
        raise UserError("cannot be read", file=source, value=error.strerror) from error
    if stat.S_ISLNK(mode):
        raise UserError("links are not copied into an environment", file=source)
    if not (stat.S_ISDIR(mode) or stat.S_ISREG(mode)):
        raise UserError("only regular files are copied into an environment", file=source)
    yield source, target, stat.S_IMODE(mode) & 0o777
    if stat.S_ISDIR(mode):
        for child in sorted(source.iterdir()):
            yield from host_tree(child, target / child.name)


class Packer:
    """Writes one tar, everything owned by one user."""

    def __init__(self, uid: int) -> None:
        self._uid = uid
        self._now = int(datetime.now(UTC).timestamp())
        # Both are closed later: the tar by `finish`, the file by whoever sends it.
        self.file: IO[bytes] = tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY_BYTES)  # noqa: SIM115
        self._tar = tarfile.open(  # noqa: SIM115
            fileobj=self.file, mode="w", format=tarfile.PAX_FORMAT
        )

    def add_directories(self, paths: Iterable[PurePosixPath]) -> None:
        """Directories, made or taken over."""
        for path in paths:
            self._tar.addfile(self._member(path, tarfile.DIRTYPE, DIRECTORY_MODE))

    def add_bytes(self, path: PurePosixPath, data: bytes, mode: int) -> None:
        """One file."""
        member = self._member(path, tarfile.REGTYPE, mode)
        member.size = len(data)
        self._tar.addfile(member, BytesIO(data))

    def add_host(self, source: Path, target: PurePosixPath, mode: int | None) -> None:
        """A host file or tree; modes are kept unless one is given for the files."""
        for path, inside, own_mode in host_tree(source, target):
            if path.is_dir():
                self._tar.addfile(self._member(inside, tarfile.DIRTYPE, own_mode | 0o700))
                continue
            # The link check again, at the opening: the tree may change under us.
            handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
            with os.fdopen(handle, "rb") as data:
                member = self._member(inside, tarfile.REGTYPE, mode or own_mode | 0o400)
                member.size = os.fstat(data.fileno()).st_size
                self._tar.addfile(member, data)

    def finish(self) -> IO[bytes]:
        """The finished tar, at its beginning."""
        self._tar.close()
        self.file.seek(0)
        return self.file

    def _member(self, path: PurePosixPath, kind: bytes, mode: int) -> tarfile.TarInfo:
        member = tarfile.TarInfo(str(path).lstrip("/"))
        member.type, member.mode = kind, mode
        member.uid = member.gid = self._uid
        member.mtime = self._now
        return member


def pack(
    files: Mapping[PurePosixPath, bytes | Path],
    directories: Iterable[PurePosixPath],
    *,
    uid: int,
    mode: int | None,
) -> IO[bytes]:
    """A tar of `directories` and then `files`."""
    packer = Packer(uid)
    try:
        packer.add_directories(directories)
        for target, content in files.items():
            if isinstance(content, bytes):
                packer.add_bytes(target, content, FILE_MODE if mode is None else mode)
            else:
                packer.add_host(content, target, mode)
        return packer.finish()
    except BaseException:
        packer.file.close()
        raise
