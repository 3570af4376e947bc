"""Read below one directory: no link is followed, no path leaves it, every read has a limit."""

import errno
import os
import re
import stat
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
"""Names of runs and ids of episodes."""


class NoSuchPage(LookupError):
    """What was asked for is not there, or cannot be shown; becomes a clear page.

    `key` names the label of the page's sentence, `status` is the HTTP status.
    """

    def __init__(self, key: str, detail: str = "", *, status: int = 404) -> None:
        super().__init__(f"{key}: {detail}")
        self.key = key
        self.detail = detail
        self.status = status


class Piece(NamedTuple):
    """Bytes of a file, possibly cut."""

    data: bytes
    size: int

    @property
    def cut(self) -> bool:
        """Whether bytes are missing at the end."""
        return len(self.data) < self.size

    @property
    def text(self) -> str:
        """Decoded; what is no UTF-8 is replaced."""
        return self.data.decode("utf-8", "replace")


def parts_of(relative: str) -> tuple[str, ...]:
    """Segments of a relative path.

    Raises:
        NoSuchPage: the path is absolute, empty, climbs, or holds a NUL.
    """
    parts = tuple(relative.split("/"))
    if not relative or "\0" in relative or any(part in ("", ".", "..") for part in parts):
        raise NoSuchPage("error.path", relative)
    return parts


class Folder:
    """A directory whose content nobody vouches for."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def child(self, *names: str) -> "Folder":
        """A directory below; whether it is there shows when it is read."""
        return Folder(self.root.joinpath(*(part for name in names for part in parts_of(name))))

    @contextmanager
    def open(self, relative: str) -> Generator[BinaryIO]:
        """A regular file below, for reading.

        Raises:
            NoSuchPage: missing, a link on the way, or not a regular file.
        """
        with os.fdopen(self._descriptor(relative), "rb") as file:
            yield file

    def _descriptor(self, relative: str) -> int:
        *above, last = parts_of(relative)
        try:
            at = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                for part in above:
                    deeper = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=at)
                    os.close(at)
                    at = deeper
                # Without O_NONBLOCK, opening a named pipe would wait for its writer.
                found = os.open(last, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=at)
            finally:
                os.close(at)
        except (OSError, ValueError) as error:
            raise _as_page(error, relative) from error
        if not stat.S_ISREG(os.fstat(found).st_mode):
            os.close(found)
            raise NoSuchPage("error.not_file", relative)
        return found

    def read(self, relative: str, limit: int) -> Piece:
        """At most `limit` bytes of a file.

        Raises:
            NoSuchPage: as `open` says.
        """
        with self.open(relative) as file:
            size = os.fstat(file.fileno()).st_size
            return Piece(file.read(limit), size)

    def size(self, relative: str) -> int | None:
        """Bytes of a regular file, None when there is none."""
        try:
            with self.open(relative) as file:
                return os.fstat(file.fileno()).st_size
        except NoSuchPage:
            return None

    def names(self, relative: str | None = None) -> list[str]:
        """Names in a directory, sorted; none when it is missing or a link."""
        place = self.root if relative is None else self.root.joinpath(*parts_of(relative))
        try:
            if place.is_symlink():
                return []
            return sorted(entry.name for entry in place.iterdir())
        except (OSError, ValueError):
            return []


def _as_page(error: OSError | ValueError, relative: str) -> NoSuchPage:
    if isinstance(error, OSError):
        if error.errno in (errno.ELOOP, errno.EMLINK):
            return NoSuchPage("error.link", relative)
        if error.errno in (errno.EACCES, errno.EPERM):
            return NoSuchPage("error.unreadable", relative, status=403)
        if error.errno == errno.ENOTDIR and Path(relative).name != relative:
            return NoSuchPage("error.link", relative)
    return NoSuchPage("error.gone", relative)


def run_folder(runs: Path, name: str) -> Folder:
    """The directory of a run.

    Raises:
        NoSuchPage: no such run inside, or a link.
    """
    root = runs / name
    if not NAME.fullmatch(name) or root.is_symlink() or not root.is_dir():
        raise NoSuchPage("error.no_run", name)
    return Folder(root)


def run_names(runs: Path) -> list[str]:
    """Names of run directories, newest first; links and unfinished ones are left out."""
    found: list[tuple[float, str]] = []
    for name in Folder(runs).names():
        root = runs / name
        if not NAME.fullmatch(name) or root.is_symlink():
            continue
        for file in (root / "run.sqlite", root / "rows.jsonl"):
            try:
                state = file.lstat()
            except OSError:
                continue
            if stat.S_ISREG(state.st_mode):
                found.append((state.st_mtime, name))
                break
    return [name for _, name in sorted(found, reverse=True)]
