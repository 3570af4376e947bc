"""Events of an episode, read by offset, so that a huge trajectory costs no more than its page."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from pydantic import ValidationError

from uniclaw.records import Event, EventKind, Turn
from uniclaw.viewer.access import Folder, NoSuchPage
from uniclaw.viewer.episode import Episode

FILE = "trajectory.jsonl"
LINE_BYTES = 4_000_000
"""Of a longer line nothing is parsed; its size is said."""
_HEAD = re.compile(rb'^\{"id": ?"([^"\\]{1,60})", ?"round": ?(\d{1,4}),')


class Line(NamedTuple):
    """Where one event lies in its file."""

    id: str
    round: int
    offset: int
    length: int


class Read(NamedTuple):
    """An event as far as it can be read."""

    line: Line
    event: Event | None
    problem: str = ""
    """Label of what is wrong where `event` is None."""


class Trajectory:
    """The events of one episode."""

    def __init__(self, folder: Folder, lines: Sequence[Line], turns: Sequence[Turn] = ()) -> None:
        self._folder = folder
        self._turns = {event.id: event for turn in turns for event in turn.events}
        self.lines = lines

    def of_round(self, number: int) -> list[Line]:
        """Its lines, in order."""
        return [line for line in self.lines if line.round == number]

    def read(self, lines: Sequence[Line]) -> Iterator[Read]:
        """Events of some lines."""
        if self._turns:
            yield from (Read(line, self._turns.get(line.id)) for line in lines)
            return
        if not lines:
            return
        with self._folder.open(FILE) as file:
            for line in lines:
                if line.length > LINE_BYTES:
                    yield Read(line, None, "problem.large")
                    continue
                file.seek(line.offset)
                try:
                    event = Event.model_validate_json(file.read(line.length))
                except ValidationError:
                    yield Read(line, None, "problem.damaged")
                else:
                    yield Read(line, event)

    def find(self, event_id: str) -> Line | None:
        """Where an event lies."""
        return next((line for line in self.lines if line.id == event_id), None)

    def raw(self, line: Line, limit: int) -> bytes:
        """The stored bytes of an event."""
        if self._turns:
            event = self._turns.get(line.id)
            return b"" if event is None else event.model_dump_json(indent=1).encode()[:limit]
        with self._folder.open(FILE) as file:
            file.seek(line.offset)
            return file.read(min(line.length, limit))


def trajectory_of(episode: Episode) -> Trajectory:
    """Events of a settled episode from its file, of another from its turns."""
    size = episode.folder.size(FILE)
    if size is not None:
        state = (episode.folder.root / FILE).lstat()
        lines = _index(str(episode.folder.root), state.st_mtime_ns, size)
        return Trajectory(episode.folder, lines)
    turns: list[Turn] = []
    for item in episode.rounds:
        turn = episode.document(item.round, "turn", Turn)
        if turn is not None:
            turns.append(turn)
    lines = [Line(e.id, e.round, 0, 0) for turn in turns for e in turn.events]
    return Trajectory(episode.folder, lines, turns)


@lru_cache(maxsize=16)
def _index(root: str, changed: int, size: int) -> tuple[Line, ...]:
    """Offsets of all whole lines; a torn last one is left out. `changed` is part of the key."""
    from pathlib import Path

    found: list[Line] = []
    offset = 0
    try:
        with Folder(Path(root)).open(FILE) as file:
            for data in file:
                if data.endswith(b"\n"):
                    found.append(_line(data, len(found), found[-1].round if found else 0, offset))
                offset += len(data)
    except NoSuchPage:
        return ()
    return tuple(found)


def _line(data: bytes, number: int, before: int, offset: int) -> Line:
    head = _HEAD.match(data)
    if head is None:
        return Line(f"line{number}", before, offset, len(data))
    return Line(head[1].decode("utf-8", "replace"), int(head[2]), offset, len(data))


class Cut(NamedTuple):
    """A text, possibly cut at its end."""

    text: str
    omitted: int = 0
    """Characters left out."""


class Allowance:
    """Bytes that a page may still spend on texts of its episode."""

    def __init__(self, left: int) -> None:
        self.left = left

    @property
    def used_up(self) -> bool:
        """Whether nothing more should be shown on this page."""
        return self.left <= 0

    def take(self, text: str, most: int) -> Cut:
        """The beginning of a text, counted as it will stand in the page."""
        kept = text[:most]
        weight = len(kept.encode("utf-8", "replace"))
        weight += 4 * sum(kept.count(c) for c in "&<>'\"")
        room = max(self.left, 400)
        if weight > room:
            kept = kept[: max(200, len(kept) * room // weight)]
            weight = room
        self.left -= weight
        return Cut(kept, len(text) - len(kept))


class Step(NamedTuple):
    """One event, or a tool call with its result."""

    kind: str
    """message, reasoning, call, result, note or problem."""
    id: str
    role: str
    text: Cut
    tool: str = ""
    arguments: tuple[tuple[str, Cut], ...] = ()
    result_id: str = ""
    result: Cut | None = None
    exit_code: int | None = None
    truncated: int | None = None
    """Bytes before the harness cut the output."""
    images: tuple[tuple[str, int], ...] = ()
    """Event and number of each image."""
    at_s: float | None = None
    took_s: float | None = None
    problem: str = ""


TEXT = 6_000
OUTPUT = 2_500
ARGUMENT = 2_000


def steps(reads: Sequence[Read], allowance: Allowance) -> list[Step]:
    """Events as steps; a result joins its call."""
    results = _pairs(reads)
    joined = {id(read) for read in results.values()}
    return [
        _step(read, results.get(read.line.id), allowance)
        for read in reads
        if id(read) not in joined
    ]


def _pairs(reads: Sequence[Read]) -> dict[str, Read]:
    """Call's event id -> its result, by call id and by order."""
    waiting: dict[str, list[str]] = {}
    found: dict[str, Read] = {}
    for read in reads:
        event = read.event
        if event is None:
            continue
        key = event.call_id or ""
        if event.kind is EventKind.TOOL_CALL:
            waiting.setdefault(key, []).append(event.id)
        elif event.kind is EventKind.TOOL_RESULT and waiting.get(key):
            found[waiting[key].pop(0)] = read
    return found


def _step(read: Read, result: Read | None, allowance: Allowance) -> Step:
    event = read.event
    if event is None:
        size = str(read.line.length)
        return Step("problem", read.line.id, "", Cut(size), problem=read.problem)
    answer = result.event if result else None
    kinds = {EventKind.TOOL_CALL: "call", EventKind.TOOL_RESULT: "result"}
    images = [(e.id, n) for e in (event, answer) if e for n in range(len(e.images))]
    last = answer or event
    took = None
    if answer is not None and answer.at_s is not None and event.at_s is not None:
        took = max(0.0, answer.at_s - event.at_s)
    return Step(
        kind=kinds.get(event.kind, event.kind.value),
        id=event.id,
        role=event.role,
        text=allowance.take(event.text, OUTPUT if event.kind is EventKind.TOOL_RESULT else TEXT),
        tool=event.tool or "",
        arguments=tuple(
            (key, allowance.take(value if isinstance(value, str) else _json(value), ARGUMENT))
            for key, value in list((event.arguments or {}).items())[:20]
        ),
        result_id=answer.id if answer else "",
        result=allowance.take(answer.text, OUTPUT) if answer else None,
        exit_code=last.exit_code,
        truncated=last.total_bytes if last.truncated else None,
        images=tuple(images[:8]),
        at_s=event.at_s,
        took_s=took,
    )


def _json(value: object) -> str:
    import json

    return json.dumps(value, ensure_ascii=False)
