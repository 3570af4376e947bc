"""Names, paths and trees of a suite: what is safe to take, and what is not.

Everything here reads the host's disk without following a link. A loader decides whether what
is wrong is refused (native) or reported (imported).
"""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from uniclaw.errors import UserError

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_LFS_HEAD = b"version https://git-lfs.github.com/spec/"
_LFS_MAX_BYTES = 1024
MAX_TREE_FILES = 50_000
_MAX_PATH = 1000


@dataclass(frozen=True, kw_only=True)
class Tree:
    """What a directory tree holds; paths are relative to it, in POSIX form, sorted."""

    files: dict[str, Path]
    links: tuple[str, ...] = ()
    """Symbolic links, whatever they point to."""
    special: tuple[str, ...] = ()
    """Devices, sockets, pipes."""
    pointers: tuple[str, ...] = ()
    """Files that are Git LFS pointers instead of their content."""

    def under(self, path: str) -> tuple[str, ...]:
        """The file `path`, or the files below the directory `path`."""
        name = path.rstrip("/")
        return tuple(f for f in self.files if f == name or f.startswith(name + "/"))


def check_id(value: str, *, file: object, field: str) -> str:
    """An id that can be a directory name.

    Raises:
        UserError: it is empty, too long, or has other characters than letters, digits, `._-`.
    """
    if not _ID.fullmatch(value) or ".." in value:
        shown = value if len(value) <= 80 else value[:80] + "…"
        raise UserError(
            "expected 1 to 128 letters, digits, `.`, `_` or `-`, beginning with a letter or digit",
            file=file,
            field=field,
            value=shown,
        )
    return value


def check_relative(value: str, *, file: object, field: str) -> str:
    """A relative POSIX path that stays inside its directory, without a trailing slash.

    Raises:
        UserError: absolute, with `..`, backslash, drive, NUL, or empty.
    """
    path = PurePosixPath(value)
    bad = (
        not value.strip("/.")
        or len(value) > _MAX_PATH
        or path.is_absolute()
        or ".." in path.parts
        or "\\" in value
        or re.match(r"[A-Za-z]:", value) is not None
        or any(ord(char) < 32 for char in value)
    )
    if bad:
        raise UserError(
            "expected a relative path that stays inside its directory",
            file=file,
            field=field,
            value=value[:120],
        )
    return str(path)


def check_absolute(value: str, *, file: object, field: str) -> str:
    """An absolute POSIX path inside an environment, normalised.

    Raises:
        UserError: relative, the root itself, or with `..`, backslash or NUL.
    """
    path = PurePosixPath(value)
    bad = (
        not path.is_absolute()
        or len(path.parts) < 2
        or ".." in path.parts
        or "\\" in value
        or len(value) > _MAX_PATH
        or any(ord(char) < 32 for char in value)
    )
    if bad:
        raise UserError(
            "expected an absolute path inside the environment",
            file=file,
            field=field,
            value=value[:120],
        )
    return str(path)


def is_lfs_pointer(path: Path) -> bool:
    """Whether a regular file holds a Git LFS pointer instead of its content."""
    try:
        if path.stat(follow_symlinks=False).st_size > _LFS_MAX_BYTES:
            return False
        with path.open("rb") as stream:
            return stream.read(len(_LFS_HEAD)) == _LFS_HEAD
    except OSError:
        return False


def scan_tree(root: Path) -> Tree:
    """List a directory without following links; an absent directory is an empty tree.

    Raises:
        UserError: more than `MAX_TREE_FILES` files, or a directory that cannot be read.
    """
    if root.is_symlink():
        return Tree(files={}, links=(".",))
    files: dict[str, Path] = {}
    links: list[str] = []
    special: list[str] = []
    for relative, entry in _walk(root, ""):
        if entry.is_symlink():
            links.append(relative)
        elif entry.is_file(follow_symlinks=False):
            files[relative] = Path(entry.path)
        else:
            special.append(relative)
        if len(files) > MAX_TREE_FILES:
            raise UserError(f"more than {MAX_TREE_FILES} files", file=root)
    ordered = dict(sorted(files.items()))
    return Tree(
        files=ordered,
        links=tuple(sorted(links)),
        special=tuple(sorted(special)),
        pointers=tuple(name for name, path in ordered.items() if is_lfs_pointer(path)),
    )


def _walk(directory: Path, prefix: str) -> Iterator[tuple[str, os.DirEntry[str]]]:
    try:
        entries = sorted(os.scandir(directory), key=lambda entry: entry.name)
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        raise UserError(f"cannot be read: {error.strerror}", file=directory) from error
    for entry in entries:
        relative = prefix + entry.name
        if entry.is_dir(follow_symlinks=False):
            yield from _walk(Path(entry.path), relative + "/")
        elif entry.name != ".gitkeep":
            yield relative, entry


def refuse_unsafe(tree: Tree, root: Path) -> None:
    """Refuse links, special files and LFS pointers.

    Raises:
        UserError: names the first of them.
    """
    if tree.links:
        raise UserError("links are not allowed here; expected a copy", file=root / tree.links[0])
    if tree.special:
        raise UserError("expected regular files only", file=root / tree.special[0])
    if tree.pointers:
        raise UserError(
            "an unresolved Git LFS pointer; expected the file itself (git lfs pull)",
            file=root / tree.pointers[0],
        )


def subdirectories(root: Path) -> tuple[str, ...]:
    """Names of the directories directly under `root` (links left out), sorted."""
    try:
        with os.scandir(root) as entries:
            return tuple(sorted(e.name for e in entries if e.is_dir(follow_symlinks=False)))
    except OSError:
        return ()


def read_text(path: Path, *, max_bytes: int = 2_000_000) -> str:
    """Text of a regular file, bad bytes replaced.

    Raises:
        UserError: missing, a link, too large, unreadable, or an LFS pointer.
    """
    if path.is_symlink():
        raise UserError("a link; expected a regular file", file=path)
    if is_lfs_pointer(path):
        raise UserError("an unresolved Git LFS pointer (git lfs pull)", file=path)
    try:
        with path.open("rb") as stream:
            data = stream.read(max_bytes + 1)
    except OSError as error:
        raise UserError(f"cannot be read: {error.strerror}", file=path) from error
    if len(data) > max_bytes:
        raise UserError(f"larger than {max_bytes} bytes", file=path)
    return data.decode("utf-8", "replace")
