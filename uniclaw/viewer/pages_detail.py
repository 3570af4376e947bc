"""Pages beside an episode: its events, frozen files, views and model exchanges."""

import json

from uniclaw.records import UserView
from uniclaw.viewer.access import NoSuchPage
from uniclaw.viewer.conversation import FilePage, file_page, picture_type
from uniclaw.viewer.episode import Episode
from uniclaw.viewer.events import Allowance, steps, trajectory_of
from uniclaw.viewer.exchanges import RAW_BYTES, read_exchange
from uniclaw.viewer.films import film_bytes
from uniclaw.viewer.lens import Lens, may_read, parts_of
from uniclaw.viewer.pages_episode import EVENTS, Opened, here_of, opened
from uniclaw.viewer.render import Ask, Page, pager, render
from uniclaw.viewer.rows import open_rows

EVENTS_BYTES = 200_000
FILES = 200
PREVIEW_BYTES = 180_000
CALLS = 200


def events(ask: Ask) -> Page:
    """All events of one round, a page at a time."""
    found = _with_conversation(ask)
    trajectory = trajectory_of(found.episode)
    number = ask.number("round")
    lines = trajectory.of_round(number)
    if not lines:
        raise NoSuchPage("error.no_round", str(number))
    at = pager(ask.number("page", 1), len(lines), EVENTS)
    wanted = ask.text("at")
    if wanted:
        place = next((n for n, line in enumerate(lines) if line.id == wanted), 0)
        at = pager(place // EVENTS + 1, len(lines), EVENTS)
    shown = steps(list(trajectory.read(lines[at.first : at.last])), Allowance(EVENTS_BYTES))
    return render(
        "events.html",
        ask,
        here=here_of(
            "events", ask, found.episode, found.lens, round=str(number), page=str(at.page)
        ),
        run=found.episode.run,
        episode=found.episode,
        lens=found.lens.value,
        number=number,
        shown=shown,
        at=at,
    )


def _with_conversation(ask: Ask) -> Opened:
    """The episode, where its lens holds the conversation."""
    found = opened(ask)
    if not parts_of(found.lens).conversation:
        raise NoSuchPage("error.not_in_lens", found.lens.value, status=403)
    return found


def raw_event(ask: Ask) -> bytes:
    """One event as it is stored."""
    trajectory = trajectory_of(_with_conversation(ask).episode)
    line = trajectory.find(ask.text("event"))
    if line is None:
        raise NoSuchPage("error.no_event", ask.text("event"))
    return trajectory.raw(line, RAW_BYTES)


def event_image(ask: Ask) -> bytes:
    """A picture of an event."""
    shown = opened(ask).episode
    trajectory = trajectory_of(shown)
    line = trajectory.find(ask.text("event"))
    read = next(iter(trajectory.read([line])), None) if line else None
    number = ask.number("n")
    if read is None or read.event is None or number >= len(read.event.images):
        raise NoSuchPage("error.no_event", ask.text("event"))
    data = shown.folder.read(read.event.images[number], RAW_BYTES).data
    # A reference to anything but a picture would open the rest of the episode to every lens.
    if picture_type(data) is None:
        raise NoSuchPage("error.not_file", ask.text("event"))
    return data


def files(ask: Ask) -> Page:
    """All frozen files of a round."""
    found = _with_conversation(ask)
    number = ask.number("round")
    frozen = found.episode.frozen(number)
    if frozen is None:
        raise NoSuchPage("error.no_round", str(number))
    entries = [e for e in frozen.manifest.entries if e.kind != "dir"]
    at = pager(ask.number("page", 1), len(entries), FILES)
    return render(
        "files.html",
        ask,
        here=here_of("files", ask, found.episode, found.lens, round=str(number)),
        run=found.episode.run,
        episode=found.episode,
        lens=found.lens.value,
        number=number,
        shown=[file_page(entry) for entry in entries[at.first : at.last]],
        at=at,
        cut=frozen.manifest.truncated,
    )


def preview(ask: Ask) -> Page:
    """One frozen file."""
    found = opened(ask)
    number, path = ask.number("round"), ask.params.get("path", "")
    entry = _entry(found.episode, number, path)
    piece = found.episode.folder.read(f"evidence/{number}/{path}", PREVIEW_BYTES)
    binary = b"\0" in piece.data[:8_000]
    return render(
        "preview.html",
        ask,
        here=here_of("preview", ask, found.episode, found.lens, round=str(number), path=path),
        run=found.episode.run,
        episode=found.episode,
        lens=found.lens.value,
        number=number,
        file=entry,
        path=path,
        piece=piece,
        binary=binary,
        dump=_dump(piece.data[:512]) if binary else "",
    )


def _entry(shown: Episode, number: int, path: str) -> FilePage | None:
    frozen = shown.frozen(number)
    entries = frozen.manifest.entries if frozen else ()
    found = next((e for e in entries if e.path.lstrip("/") == path), None)
    return None if found is None else file_page(found)


def _dump(data: bytes) -> str:
    return "\n".join(
        f"{at:06x}  {data[at : at + 16].hex(' '):<47}  "
        + "".join(chr(b) if 32 <= b < 127 else "." for b in data[at : at + 16])
        for at in range(0, len(data), 16)
    )


def raw_file(ask: Ask) -> bytes:
    """Bytes of a frozen file."""
    shown = opened(ask).episode
    path = f"evidence/{ask.number('round')}/{ask.params.get('path', '')}"
    return shown.folder.read(path, RAW_BYTES).data


def film(ask: Ask) -> bytes:
    """What was filmed of a round."""
    return film_bytes(_with_conversation(ask).episode, ask.number("round"))


def raw_view(ask: Ask) -> bytes:
    """A view as the user simulator had it, byte for byte."""
    found = opened(ask)
    parts = parts_of(found.lens)
    if not (parts.view or found.lens is Lens.FULL):
        raise NoSuchPage("error.not_in_lens", found.lens.value, status=403)
    number = ask.number("round")
    ref = f"rounds/{number}/view-{ask.number('visit')}.json"
    if found.episode.load(ref, UserView) is None:
        raise NoSuchPage("error.gone", ref)
    return found.episode.folder.read(ref, RAW_BYTES).data


def exchanges(ask: Ask) -> Page:
    """Model exchanges of the roles that a lens may read."""
    found = opened(ask)
    with open_rows(ask.run()) as rows:
        calls = [c for c in rows.calls(found.episode.id, 5_000) if may_read(found.lens, c.role)]
    at = pager(ask.number("page", 1), len(calls), CALLS)
    return render(
        "exchanges.html",
        ask,
        here=here_of("exchanges", ask, found.episode, found.lens),
        run=found.episode.run,
        episode=found.episode,
        lens=found.lens.value,
        calls=calls[at.first : at.last],
        at=at,
    )


def exchange(ask: Ask) -> Page:
    """One model exchange: what was asked and, where the lens may know it, what was answered."""
    found = opened(ask)
    number = ask.number("seq")
    with open_rows(ask.run()) as rows:
        call = next((c for c in rows.calls(found.episode.id, 5_000) if c.seq == number), None)
    if call is None:
        raise NoSuchPage("error.no_exchange", str(number))
    if not may_read(found.lens, call.role):
        raise NoSuchPage("error.not_in_lens", found.lens.value, status=403)
    data = dict(read_exchange(ask.run(), call.blob))
    # A draft that screening blocked stands in the simulator's answer.
    held = found.lens is Lens.SIMULATOR
    if held:
        data = {key: data[key] for key in ("model", "purpose", "request") if key in data}
    text = json.dumps(data, ensure_ascii=False, indent=1)
    return render(
        "exchange.html",
        ask,
        here=here_of("exchange", ask, found.episode, found.lens, seq=str(number)),
        run=found.episode.run,
        episode=found.episode,
        lens=found.lens.value,
        call=call,
        held=held,
        text=Allowance(EVENTS_BYTES).take(text, EVENTS_BYTES),
    )
