"""What travels between the driver of a run and the nodes that play its episodes.

A node writes nothing of the run: it gets a job, plays one attempt in a scratch directory, and
hands back all that the attempt left. The driver alone writes, so a delivery that comes twice,
or from a node that was given up, harms nothing.
"""

import io
import tarfile
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from uniclaw.config import RunSettings
from uniclaw.episode.graph import Ending
from uniclaw.errors import StoreError
from uniclaw.store.atomic import sync_directory, write_bytes
from uniclaw.store.attempts import AttemptRow
from uniclaw.store.run_store import CallRow


class ShopOrder(NamedTuple):
    """What a node needs to load a run as the driver loaded it."""

    run: str
    settings: RunSettings
    salt: str
    shaping: str
    """The driver's hashes of tasks, hidden sides and assets, and its versions, as JSON."""
    directory: str
    """The driver's working directory; relative paths start there."""
    roots: tuple[str, ...]
    """The driver's asset trees."""


class Call(NamedTuple):
    """One model exchange with the bytes it was stored as."""

    row: CallRow
    exchange: bytes


class Phase(NamedTuple):
    """An episode entered a phase."""

    episode_id: str
    """Of the attempt."""
    phase: str
    round: int


Letter = Call | Phase
"""What a node tells while it plays."""


class Earlier(NamedTuple):
    """An earlier attempt at the same episode, with the answers that were stored."""

    attempt: AttemptRow
    calls: tuple[Call, ...]


class Job(NamedTuple):
    """One attempt to play."""

    shop: ShopOrder
    base_id: str
    attempt: int
    earlier: tuple[Earlier, ...] = ()


class Delivery(NamedTuple):
    """All that an attempt left."""

    base_id: str
    attempt: int
    ending: Ending
    record: str
    """The `EpisodeRecord` as JSON."""
    files: bytes
    """The attempt's directory, as a tar."""
    calls: tuple[Call, ...]
    blobs: tuple[bytes, ...]
    """Further stored bytes, such as captures of a proxy."""


class Refused(NamedTuple):
    """A node that cannot play this run, and why."""

    reason: str
    missing_files: bool = False
    """The driver's files are not there, or others are; a copy of them would help."""


class Ready(NamedTuple):
    """A node that can play this run."""

    images: Mapping[str, str]
    """Recipe name -> tag and content id on this node."""


def pack(root: Path, places: Iterable[Path]) -> bytes:
    """The regular files at and below some places under a root, as a tar.

    Links and devices stay behind. Names in the tar are relative to the root.
    """
    found: dict[str, Path] = {}
    for place in places:
        for path in [place, *place.rglob("*")]:
            if path.is_file() and not path.is_symlink():
                found[path.relative_to(root).as_posix()] = path
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for name, path in sorted(found.items()):
            tar.add(path, arcname=name, recursive=False)
    return buffer.getvalue()


def unpack(data: bytes, directory: Path) -> None:
    """Write the files of a tar below a directory that did not exist, durably.

    Raises:
        StoreError: the tar is broken, or holds anything but plain files below its root.
    """
    directory.mkdir(parents=True)
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r") as tar:
            for member in tar:
                file = tar.extractfile(member) if member.isreg() else None
                if file is None:
                    raise StoreError(f"a delivery holds {member.name!r}, which is no plain file")
                write_bytes(directory / _inside(member.name), file.read())
    except (tarfile.TarError, EOFError) as error:
        raise StoreError(f"a delivery cannot be read: {error}") from error
    sync_directory(directory)


def _inside(name: str) -> PurePosixPath:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or "\0" in name or not path.parts:
        raise StoreError(f"a delivery holds {name!r}, which leaves its directory")
    return path
