"""Copy artifact trees out of a container that is stopped or paused.

The engine's own archive is the fast way: it follows no link, needs nothing inside, and reads
whatever the modes. It sends sparse files in full and does not see memory file systems, so what
is too large for the caps, or lies on one, is read by a sidecar. Must not know episodes.
"""

import base64
import json
import tarfile
import time
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from pathlib import PurePosixPath
from typing import IO, NamedTuple, cast

from uniclaw.environments import sidecar
from uniclaw.environments.docker_exec import run_plain
from uniclaw.environments.frozen_tree import FrozenTree, Kind, readable
from uniclaw.environments.paths import above
from uniclaw.environments.wire import Connection, DockerApi, Frames, text_of
from uniclaw.errors import EngineError
from uniclaw.ports import FreezeLimits

_STAT_HEADER = "X-Docker-Container-Path-Stat"
_GO_DIR = 1 << 31
_GO_TYPE = _GO_DIR | 1 << 27 | 1 << 26 | 1 << 25 | 1 << 24 | 1 << 21 | 1 << 19
_GO_LINK = 1 << 27
_STAT_S = 30.0
_LIST_S = 300.0
_COPY_S = 1800.0
_MEMORY_ROOTS = ("/dev", "/proc", "/sys", "/run")
_CHUNK_BYTES = 1 << 18
_LIST = r"""
for step; do [ -L "/proc/1/root$step" ] && exit 3; done
cd "/proc/1/root$step" 2>/dev/null || exit 3
exec find . -xdev -printf '%y %s %b %m\0%P\0%l\0'
"""
"""Arguments: every step of the way to the root, itself last; a link on it is not followed."""
_OK, _NOT_FOUND = 200, 404


class PathStat(NamedTuple):
    """What the engine says of one path; nothing is followed at its end."""

    size: int
    mode: int

    @property
    def is_link(self) -> bool:
        """Whether it is a symbolic link."""
        return bool(self.mode & _GO_LINK)

    @property
    def is_file(self) -> bool:
        """Whether it is a regular file."""
        return not self.mode & _GO_TYPE

    @property
    def is_dir(self) -> bool:
        """Whether it is a directory."""
        return bool(self.mode & _GO_DIR)


def _archive_url(api: DockerApi, container: str) -> str:
    return f"{api.base_url}/v{api.api_version}/containers/{container}/archive"


def stat_path(api: DockerApi, container: str, path: PurePosixPath) -> PathStat | None:
    """Look at a path; None when there is none (or no such container)."""
    url = _archive_url(api, container)
    answer = api.head(url, params={"path": str(path)}, timeout=_STAT_S)
    if answer.status_code == _NOT_FOUND:
        return None
    header = answer.headers.get(_STAT_HEADER)
    if header is None:
        raise EngineError(f"cannot look at {path} in a container: {answer.status_code}")
    data = cast("Mapping[str, object]", json.loads(base64.b64decode(header)))
    size, mode = data.get("size"), data.get("mode")
    return PathStat(
        size if isinstance(size, int) else 0,
        mode if isinstance(mode, int) else 0,
    )


class Reached(NamedTuple):
    """Where a walk along a path ended."""

    path: PurePosixPath
    stat: PathStat | None
    """None: there is nothing, or something that is no directory is in the way."""


def walk(api: DockerApi, container: str, path: PurePosixPath) -> Reached:
    """Go along a path without following links: to its end, a link, or where it breaks off."""
    reached = Reached(path, None)
    for step in (*above(path), path):
        reached = Reached(step, stat_path(api, container, step))
        if reached.stat is None or reached.stat.is_link:
            return reached
        if step != path and not reached.stat.is_dir:
            return Reached(step, None)
    return reached


class _TooLarge(Exception):
    """The fast way would carry too much."""


class Freezer:
    """One freeze of one container."""

    def __init__(
        self, api: DockerApi, target: sidecar.Target, tree: FrozenTree, limits: FreezeLimits
    ) -> None:
        self._api = api
        self._target = target
        self._tree = tree
        self._limits = limits

    def copy(self, root: PurePosixPath) -> bool:
        """Copy one root the fast way; False when the careful way is needed."""
        if str(root).startswith(_MEMORY_ROOTS):
            return False
        reached = walk(self._api, self._target.container, root)
        if reached.stat is None:
            return True
        if reached.stat.is_link:
            self._copy_link(reached.path)
            return True
        mark = self._tree.mark()
        try:
            with archive_of(self._api, self._target.container, root) as archive:
                if archive is not None:
                    self._copy_archive(archive, root.parent)
        except (_TooLarge, tarfile.TarError):
            # A tar that breaks off is a file that changed while it was read.
            self._tree.go_back(mark)
            return False
        return True

    def _copy_link(self, path: PurePosixPath) -> None:
        # The engine's stat resolves the target; its archive has it as it was written.
        with archive_of(self._api, self._target.container, path) as archive:
            member = archive.next() if archive is not None else None
            if member is not None and member.issym():
                target = readable(member.linkname)
                self._tree.add(str(path), "link", mode=member.mode, target=target)

    def _copy_archive(self, archive: tarfile.TarFile, base: PurePosixPath) -> None:
        total = 0
        for count, member in enumerate(archive):
            total += member.size
            if (
                member.size > self._limits.max_file_bytes
                or total > self._limits.max_total_bytes
                or count >= self._limits.max_files
            ):
                raise _TooLarge
            path = str(base / readable(member.name.rstrip("/")))
            if member.isreg() or member.issparse():
                self._copy_member(archive, member, path)
            elif member.islnk():
                original = str(base / readable(member.linkname))
                self._tree.copy_again(path, original, mode=member.mode)
            else:
                self._tree.add(
                    path,
                    _kind_of(member),
                    mode=member.mode,
                    target=readable(member.linkname) if member.issym() else None,
                )

    def _copy_member(self, archive: tarfile.TarFile, member: tarfile.TarInfo, path: str) -> None:
        refusal = self._tree.refusal(member.size, member.size)
        data = archive.extractfile(member)
        if refusal is not None or data is None:
            self._tree.add(path, "file", mode=member.mode, size=member.size, skipped=refusal)
            return
        self._tree.add_file(path, data, mode=member.mode, size=member.size)

    def copy_carefully(self, roots: list[PurePosixPath]) -> None:
        """List first, then copy what the caps allow, holes as holes."""
        with sidecar.beside(self._api, self._target, sidecar.READER) as side:
            for root in roots:
                wanted = self._list(side, root)
                if wanted:
                    self._fetch(side, wanted)

    def _list(self, side: str, root: PurePosixPath) -> dict[str, "_Listed"]:
        """List a root into the tree; the files to copy, by name under `/`."""
        steps = [str(step) for step in (*above(root), root)]
        argv = ["/bin/sh", "-c", _LIST, "sh", *steps]
        # A million names are refused by the cap on entries; this only bounds our memory.
        most = self._limits.max_files * 1000 + 1_000_000
        _, output = run_plain(self._api, side, argv, user="0:0", timeout_s=_LIST_S, max_bytes=most)
        wanted: dict[str, _Listed] = {}
        for listed in sorted(_parse_listing(output.bytes_of("stdout"))):
            if self._tree.full(len(wanted)):
                break
            path = root / readable(listed.name) if listed.name else root
            if listed.kind == "file":
                refusal = self._tree.refusal(listed.real_bytes, listed.size)
                if refusal is None:
                    wanted[str(root / listed.name).lstrip("/")] = listed
                    continue
                self._tree.add(
                    str(path), "file", mode=listed.mode, size=listed.size, skipped=refusal
                )
                continue
            target = readable(listed.target) if listed.kind == "link" else None
            self._tree.add(str(path), listed.kind, mode=listed.mode, target=target)
        if output.truncated:
            self._tree.truncated = True
        return wanted

    def _fetch(self, side: str, wanted: Mapping[str, "_Listed"]) -> None:
        names = b"\0".join(name.encode("utf-8", "surrogateescape") for name in wanted)
        command = (
            "exec tar --create --file=- --directory=/proc/1/root --null --no-recursion"
            " --files-from=- --sparse --hard-dereference --ignore-failed-read --format=gnu"
        )
        left = dict(wanted)
        with _exec_archive(self._api, side, command, names) as archive:
            for member in archive:
                listed = left.pop(member.name, None)
                data = archive.extractfile(member)
                if listed is None or data is None:
                    continue
                path = f"/{readable(member.name)}"
                self._tree.add_file(path, data, mode=member.mode, size=member.size)
        for name, listed in left.items():
            self._tree.add(
                f"/{readable(name)}",
                "file",
                mode=listed.mode,
                size=listed.size,
                skipped="could not be read",
            )


class _Listed(NamedTuple):
    name: str
    """Under the root, with bytes that are no UTF-8 as lone surrogates; empty for the root."""
    kind: Kind
    size: int
    real_bytes: int
    mode: int
    target: str


_FIND_KINDS: Mapping[str, Kind] = {"f": "file", "d": "dir", "l": "link"}
_BLOCK_BYTES = 512


def _parse_listing(data: bytes) -> Iterator[_Listed]:
    r"""Entries of `find -printf '%y %s %b %m\0%P\0%l\0'`; a cut last one is dropped."""
    fields = data.decode("utf-8", "surrogateescape").split("\0")
    for facts, name, target in zip(fields[0::3], fields[1::3], fields[2::3], strict=False):
        parts = facts.split(" ")
        if len(parts) != 4 or not (parts[1].isdecimal() and parts[2].isdecimal()):
            continue
        size = int(parts[1])
        real = min(size, int(parts[2]) * _BLOCK_BYTES)
        kind = _FIND_KINDS.get(parts[0], "other")
        yield _Listed(name, kind, size, real, int(parts[3], 8), target)


def _kind_of(member: tarfile.TarInfo) -> Kind:
    if member.isdir():
        return "dir"
    return "link" if member.issym() else "other"


class _Reader:
    """A file to read from, over chunks that come."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._rest = b""

    def read(self, size: int) -> bytes:
        """Up to `size` bytes, fewer only at the end."""
        parts = [self._rest]
        have = len(self._rest)
        while have < size:
            chunk = next(self._chunks, b"")
            if not chunk:
                break
            parts.append(chunk)
            have += len(chunk)
        data = b"".join(parts)
        self._rest = data[size:]
        return data[:size]


@contextmanager
def _tar_stream(chunks: Iterator[bytes]) -> Generator[tarfile.TarFile, None, None]:
    reader = cast("IO[bytes]", _Reader(chunks))
    with tarfile.open(fileobj=reader, mode="r|", encoding="utf-8") as archive:
        yield archive


@contextmanager
def archive_of(
    api: DockerApi, container: str, path: PurePosixPath
) -> Generator[tarfile.TarFile | None, None, None]:
    """The engine's archive of a path, as it comes; None when there is no such path."""
    url = _archive_url(api, container)
    answer = api.get(url, params={"path": str(path)}, timeout=_COPY_S, stream=True)
    try:
        if answer.status_code == _NOT_FOUND:
            yield None
            return
        if answer.status_code != _OK:
            raise EngineError(f"cannot copy {path} out of a container: {answer.status_code}")
        with _tar_stream(answer.iter_content(_CHUNK_BYTES)) as archive:
            yield archive
    finally:
        answer.close()


@contextmanager
def _exec_archive(
    api: DockerApi, container: str, command: str, stdin: bytes
) -> Generator[tarfile.TarFile, None, None]:
    """The tar that a command in a sidecar writes, as it comes."""
    made = api.exec_create(container, ["/bin/sh", "-c", command], stdin=True, user="0:0")
    connection = Connection(api.exec_start(text_of(made.get("Id")), socket=True))

    def stdout() -> Iterator[bytes]:
        frames = Frames()
        for data in connection.receive(stdin, deadline=time.monotonic() + _COPY_S):
            for stream, piece in frames.feed(data):
                if stream == "stdout":
                    yield piece

    try:
        with _tar_stream(stdout()) as archive:
            yield archive
    finally:
        connection.close()
