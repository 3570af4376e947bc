"""Settled records as they lie on disk: read one by one, for runs too large to hold in memory."""

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import overload

from pydantic import ValidationError

from uniclaw.errors import StoreError
from uniclaw.store.atomic import read_json
from uniclaw.store.records import EpisodeRecord

FILE = "episode.json"
_ENDS = (b"{", b"}\n")
"""How a record's file begins and ends; one that was torn does not."""


def read_record(directory: Path) -> EpisodeRecord:
    """The record in an episode's directory.

    Raises:
        StoreError: missing, damaged or of another schema; names the file.
    """
    path = directory / FILE
    data = read_json(path)
    try:
        return EpisodeRecord.model_validate(data)
    except ValidationError as error:
        raise StoreError(f"{path}: {error.error_count()} fields do not fit: {error}") from error


class Settled(Sequence[EpisodeRecord]):
    """The settled records of a run, in planning order; each is read when it is asked for.

    An index raises `StoreError` for a record that cannot be read. A `for` loop leaves it out
    and notes it in `damaged`.
    """

    def __init__(self, episodes: Path, ids: Sequence[str]) -> None:
        """Of the directory that holds a run's episodes; `ids` are those with a row."""
        self._episodes = episodes
        self._ids = ids
        self.damaged: dict[str, str] = {}
        """Episode -> what is wrong with its record, as far as it was read."""

    def __len__(self) -> int:
        return len(self._ids)

    @overload
    def __getitem__(self, index: int) -> EpisodeRecord: ...
    @overload
    def __getitem__(self, index: slice) -> "Settled": ...
    def __getitem__(self, index: int | slice) -> "EpisodeRecord | Settled":
        if isinstance(index, slice):
            return Settled(self._episodes, self._ids[index])
        return read_record(self._episodes / self._ids[index])

    def __iter__(self) -> Iterator[EpisodeRecord]:
        for episode_id in self._ids:
            try:
                yield read_record(self._episodes / episode_id)
            except StoreError as error:
                self.damaged[episode_id] = str(error)


def torn(episodes: Path, ids: Iterable[str]) -> Iterator[str]:
    """Records that are missing or cut off, by their first and last bytes alone: names the files.

    Reading every record of a large run takes minutes; this takes a moment.
    """
    for episode_id in ids:
        path = f"{episodes}/{episode_id}/{FILE}"
        try:
            handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError as error:
            yield f"cannot read {path}: {error}"
            continue
        try:
            size = os.fstat(handle).st_size
            found = os.pread(handle, 1, 0), os.pread(handle, 2, max(0, size - 2))
        finally:
            os.close(handle)
        if found != _ENDS:
            yield f"cannot read {path}: it is cut off at {size} bytes"
