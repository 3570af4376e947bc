"""What was filmed of a turn, where a task asked for it."""

from typing import NamedTuple

from uniclaw.episode.staging import REF, Recording
from uniclaw.viewer.access import NoSuchPage
from uniclaw.viewer.episode import Episode

FILM_BYTES = 200_000_000
TYPES = {"mp4": "video/mp4", "webm": "video/webm"}


class Film(NamedTuple):
    """A film, or why there is none."""

    bytes: int
    problem: str | None
    kind: str
    """Media type; empty where there is no film."""


def film_of(shown: Episode, number: int) -> Film | None:
    """The film of a round; None where none was asked for."""
    found = shown.load(f"rounds/{number}/{REF}.json", Recording)
    if found is None or (found.file is None and found.problem is None):
        return None
    return Film(found.bytes, found.problem, _type(found.file or ""))


def film_bytes(shown: Episode, number: int) -> bytes:
    """The film itself.

    Raises:
        NoSuchPage: there is none.
    """
    found = shown.load(f"rounds/{number}/{REF}.json", Recording)
    name = "" if found is None or found.file is None else found.file.rpartition("/")[2]
    if not _type(name):
        raise NoSuchPage("error.gone", f"{REF} {number}")
    # The name alone is taken from the record: the place is the round's own.
    data = shown.folder.read(f"rounds/{number}/{name}", FILM_BYTES).data
    if not film_type(data):
        raise NoSuchPage("error.not_file", name)
    return data


def film_type(data: bytes) -> str:
    """Media type by the bytes; empty for anything else than a film."""
    if data[4:8] == b"ftyp":
        return "video/mp4"
    return "video/webm" if data.startswith(b"\x1aE\xdf\xa3") else ""


def _type(name: str) -> str:
    return TYPES.get(name.rpartition(".")[2].lower(), "")
