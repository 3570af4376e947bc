"""Files of a process environment, reached without following any link.

Every step of a path is opened by descriptor with O_NOFOLLOW, so a link that the agent planted
leads nowhere. Must not know commands.
"""

import os
import shutil
import stat
import subprocess
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from uniclaw.environments.frozen_tree import FrozenTree, readable
from uniclaw.environments.packing import DIRECTORY_MODE, FILE_MODE, host_tree
from uniclaw.errors import EngineError

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_MAX_PATH = 4000
_BLOCK_BYTES = 512


@contextmanager
def opened_directory(root: Path, path: PurePosixPath) -> Generator[int, None, None]:
    """Descriptor of an inside directory.

    Raises:
        OSError: a part is missing, a link, or no directory.
    """
    current = os.open(root, _DIRECTORY)
    try:
        for part in path.parts[1:]:
            below = os.open(part, _DIRECTORY, dir_fd=current)
            os.close(current)
            current = below
        yield current
    finally:
        os.close(current)


def make_directory(root: Path, path: PurePosixPath) -> None:
    """Make a directory and its parents; what stands in the way and is no directory gives way."""
    current = os.open(root, _DIRECTORY)
    try:
        for part in path.parts[1:]:
            try:
                below = os.open(part, _DIRECTORY, dir_fd=current)
            except FileNotFoundError:
                os.mkdir(part, DIRECTORY_MODE, dir_fd=current)
                below = os.open(part, _DIRECTORY, dir_fd=current)
            except OSError:
                os.unlink(part, dir_fd=current)
                os.mkdir(part, DIRECTORY_MODE, dir_fd=current)
                below = os.open(part, _DIRECTORY, dir_fd=current)
            os.close(current)
            current = below
    finally:
        os.close(current)


def write_file(root: Path, path: PurePosixPath, data: bytes, mode: int) -> None:
    """Write one file anew."""
    make_directory(root, path.parent)
    with opened_directory(root, path.parent) as directory:
        _remove(path.name, directory)
        with os.fdopen(os.open(path.name, _WRITE, mode, dir_fd=directory), "wb") as out:
            out.write(data)
            os.fchmod(out.fileno(), mode)


def _remove(name: str, directory: int) -> None:
    try:
        found = os.stat(name, dir_fd=directory, follow_symlinks=False)
    except FileNotFoundError:
        return
    if stat.S_ISDIR(found.st_mode):
        shutil.rmtree(name, dir_fd=directory)
    else:
        os.unlink(name, dir_fd=directory)


def write_host(root: Path, source: Path, target: PurePosixPath, mode: int | None) -> None:
    """Copy a host file or tree; links are refused."""
    for path, inside, own_mode in host_tree(source, target):
        if path.is_dir():
            make_directory(root, inside)
            continue
        with os.fdopen(os.open(path, _READ), "rb") as data:
            write_file(root, inside, data.read(), own_mode | 0o400 if mode is None else mode)


def check(content: bytes | Path, target: PurePosixPath) -> None:
    """Refuse what cannot be copied, before anything is written.

    Raises:
        UserError: a host tree holds a link or a special file.
    """
    if isinstance(content, Path):
        for _ in host_tree(content, target):
            pass


def write(root: Path, path: PurePosixPath, content: bytes | Path, mode: int | None) -> None:
    """Write bytes, or a host file or tree."""
    if isinstance(content, bytes):
        write_file(root, path, content, FILE_MODE if mode is None else mode)
    else:
        write_host(root, content, path, mode)


def read_file(root: Path, path: PurePosixPath, max_bytes: int) -> bytes:
    """Read one regular file.

    Raises:
        FileNotFoundError: missing, no regular file, or reached through a link.
        ValueError: larger than `max_bytes`.
    """
    try:
        with opened_directory(root, path.parent) as directory:
            handle = os.open(path.name, _READ, dir_fd=directory)
    except OSError as error:
        raise FileNotFoundError(f"{path}: missing, or reached through a link") from error
    found = os.fstat(handle)
    if not stat.S_ISREG(found.st_mode):
        os.close(handle)
        raise FileNotFoundError(f"{path}: not a regular file")
    with os.fdopen(handle, "rb") as data:
        if found.st_size > max_bytes:
            raise ValueError(f"{path}: {found.st_size} bytes, more than {max_bytes}")
        return data.read(max_bytes)


def freeze_root(root: Path, start: PurePosixPath, tree: FrozenTree) -> None:
    """Copy the tree at `start`; a link on the way is listed in its place."""
    for step in (*reversed(start.parents), start):
        if step.name and not _enter(root, step, tree, start):
            return
    waiting = [start]
    while waiting and not tree.full():
        directory = waiting.pop()
        below = list(_copy_directory(root, directory, tree))
        waiting.extend(reversed(below))


def _enter(root: Path, step: PurePosixPath, tree: FrozenTree, start: PurePosixPath) -> bool:
    try:
        with opened_directory(root, step.parent) as parent:
            found = os.stat(step.name, dir_fd=parent, follow_symlinks=False)
            if stat.S_ISLNK(found.st_mode):
                target = os.readlink(step.name, dir_fd=parent)
                tree.add(str(step), "link", mode=found.st_mode, target=readable(target))
                return False
            if step == start:
                return _copy_entry(parent, step, found, tree)
            return stat.S_ISDIR(found.st_mode)
    except OSError:
        return False


def _copy_directory(
    root: Path, directory: PurePosixPath, tree: FrozenTree
) -> Iterator[PurePosixPath]:
    """Copy what lies in a directory; the directories in it."""
    try:
        with opened_directory(root, directory) as handle:
            with os.scandir(handle) as entries:
                names = sorted(entry.name for entry in entries)
            for name in names:
                if tree.full():
                    return
                path = directory / name
                if len(str(path)) > _MAX_PATH:
                    tree.truncated = True
                    continue
                found = os.stat(name, dir_fd=handle, follow_symlinks=False)
                if _copy_entry(handle, path, found, tree):
                    yield path
    except OSError:
        tree.truncated = True


def _copy_entry(parent: int, path: PurePosixPath, found: os.stat_result, tree: FrozenTree) -> bool:
    """List or copy one entry; whether it is a directory to go into."""
    name = readable(str(path))
    mode = stat.S_IMODE(found.st_mode)
    if stat.S_ISDIR(found.st_mode):
        tree.add(name, "dir", mode=mode)
        return True
    if stat.S_ISLNK(found.st_mode):
        tree.add(name, "link", mode=mode, target=readable(os.readlink(path.name, dir_fd=parent)))
    elif stat.S_ISREG(found.st_mode):
        _copy_file(parent, path.name, name, found, tree)
    else:
        tree.add(name, "other", mode=mode)
    return False


def _copy_file(parent: int, name: str, path: str, found: os.stat_result, tree: FrozenTree) -> None:
    mode, size = stat.S_IMODE(found.st_mode), found.st_size
    refusal = tree.refusal(min(size, found.st_blocks * _BLOCK_BYTES), size)
    if refusal is not None:
        tree.add(path, "file", mode=mode, size=size, skipped=refusal)
        return
    try:
        handle = os.open(name, _READ, dir_fd=parent)
    except OSError as error:
        reason = f"could not be read: {error.strerror}"
        tree.add(path, "file", mode=mode, size=size, skipped=reason)
        return
    with os.fdopen(handle, "rb") as data:
        tree.add_file(path, data, mode=mode, size=size)


def copy_tree(source: Path, target: Path) -> None:
    """Copy a whole environment with links, modes and holes kept."""
    command = ["cp", "-a", "--reflink=auto", "--sparse=always", f"{source}/.", str(target)]
    target.mkdir(parents=True)
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace")[-500:]
        raise EngineError(f"cannot copy {source}: {said}")


def remove_tree(path: Path) -> None:
    """Remove a tree, also where the agent took its own permissions away."""
    if not path.exists():
        return
    for directory, names, _ in os.walk(path):
        for name in names:
            child = Path(directory) / name
            if not child.is_symlink():
                child.chmod(0o700)
    shutil.rmtree(path)


def real_bytes(path: Path) -> int:
    """Bytes that a tree takes, holes not counted."""
    total = 0
    for directory, _, names in os.walk(path):
        for name in names:
            total += (Path(directory) / name).lstat().st_blocks * _BLOCK_BYTES
    return total
