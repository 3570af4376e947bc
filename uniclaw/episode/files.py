"""Files of one episode: what each step left, written once, found again after a crash."""

import hashlib
import json
import os
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from uniclaw.errors import StoreError
from uniclaw.records import Record, Turn
from uniclaw.store.atomic import read_json, to_json, write_bytes, write_mark

R = TypeVar("R", bound=Record)

_PICTURES = ((b"\x89PNG", "png"), (b"\xff\xd8\xff", "jpg"), (b"GIF8", "gif"), (b"RIFF", "webp"))


class TextFile(Record):
    """A message as it was delivered."""

    text: str


class EpisodeFiles:
    """The directory of one episode. References are paths relative to it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._read: dict[str, Record] = {}
        """Records as they were read back: each is written once, and read by several steps."""
        self._written: dict[str, str] = {}
        """Text of records that nobody has read back yet."""

    def ref(self, round_number: int, name: str) -> str:
        """Reference of a round's file."""
        return f"rounds/{round_number}/{name}.json"

    def has(self, ref: str) -> bool:
        """Whether the step that writes it came to its end."""
        known = ref in self._read or ref in self._written
        return known or os.path.isfile(f"{self.root}/{ref}")  # noqa: PTH113 - asked very often

    def save(self, ref: str, record: Record) -> str:
        """Write a record once; returns its reference."""
        text = to_json(record)
        self._read.pop(ref, None)
        write_bytes(f"{self.root}/{ref}", f"{text}\n".encode())
        self._written[ref] = text
        return ref

    def load(self, ref: str, kind: type[R]) -> R:
        """Read a record back.

        Raises:
            StoreError: missing, damaged or of another shape.
        """
        known = self._read.get(ref)
        if isinstance(known, kind):
            return known
        text = self._written.get(ref)
        try:
            data = read_json(self.root / ref) if text is None else json.loads(text)
            record = kind.model_validate(data)
        except ValidationError as error:
            raise StoreError(f"{self.root / ref}: {error}") from error
        self._read[ref] = record
        self._written.pop(ref, None)
        return record

    def load_if(self, ref: str, kind: type[R]) -> R | None:
        """Read a record back if it is there."""
        return self.load(ref, kind) if self.has(ref) else None

    def intend(self, round_number: int, name: str) -> bool:
        """Record that a side effect is about to begin; False when it had begun before."""
        return write_mark(f"{self.root}/rounds/{round_number}/{name}.intent")

    def evidence_root(self, round_number: int) -> Path:
        """Where a round's frozen files lie."""
        return self.root / "evidence" / str(round_number)

    def keep_picture(self, data: bytes) -> str | None:
        """Keep a picture of an event under its own hash; None when it is none."""
        kind = next((kind for head, kind in _PICTURES if data.startswith(head)), None)
        if kind is None or (kind == "webp" and data[8:12] != b"WEBP"):
            return None
        ref = f"pictures/{hashlib.sha256(data).hexdigest()[:32]}.{kind}"
        if not (self.root / ref).is_file():
            write_bytes(self.root / ref, data)
        return ref

    def write_trajectory(self, turns: tuple[Turn, ...]) -> None:
        """All events, one JSON line each."""
        lines = [to_json(event) for turn in turns for event in turn.events]
        write_bytes(self.root / "trajectory.jsonl", "".join(f"{x}\n" for x in lines).encode())
