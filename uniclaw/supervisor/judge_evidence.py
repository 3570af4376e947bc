"""Evidence as a judge reads it: fenced, cut at event edges, with ids that it may cite.

Whatever an agent wrote stands inside a fence; ids and counts outside it are ours.
"""

import itertools
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from uniclaw.prompts import untrusted
from uniclaw.records import Entry, Event
from uniclaw.trajectory import Evidence


class EvidenceLimits(NamedTuple):
    """How much of the evidence goes into the prompt."""

    max_bytes: int = 160_000
    """All events together."""
    max_event_bytes: int = 12_000
    """One event; more is cut out of its middle."""
    max_files: int = 400
    """Paths in the listing."""
    max_reference_bytes: int = 60_000
    """All reference texts together."""


class Shown(NamedTuple):
    """One event, or a gap where events were left out."""

    text: str
    """Empty for a gap."""
    event: Event | None
    omitted: int = 0
    omitted_bytes: int = 0


class Cut(NamedTuple):
    """A text, and how much of it is missing."""

    text: str
    omitted_bytes: int = 0


def utf8(text: str) -> int:
    """Size in bytes."""
    return len(text.encode("utf-8", "replace"))


def cut_middle(text: str, max_bytes: int) -> Cut:
    """Head and tail of a text within a byte limit, cut at characters."""
    data = text.encode("utf-8", "replace")
    if len(data) <= max_bytes:
        return Cut(text)
    half = max_bytes // 2
    head = data[:half].decode("utf-8", "ignore")
    tail = data[len(data) - half :].decode("utf-8", "ignore")
    dropped = len(data) - utf8(head) - utf8(tail)
    return Cut(f"{head}\n[... {dropped} bytes left out ...]\n{tail}", dropped)


def event_text(event: Event, max_bytes: int) -> str:
    """An event in words: everything in it that the agent or its tools wrote."""
    lines: list[str] = []
    if event.tool is not None:
        lines.append(f"tool: {event.tool}")
    if event.arguments is not None:
        lines.append(f"arguments: {json.dumps(dict(event.arguments), ensure_ascii=False)}")
    if event.exit_code is not None:
        lines.append(f"exit code: {event.exit_code}")
    if event.truncated:
        size = "unknown" if event.total_bytes is None else event.total_bytes
        lines.append(f"truncated output, {size} bytes in all")
    if event.text:
        lines.append(event.text)
    return cut_middle("\n".join(lines), max_bytes).text


def show_events(events: Sequence[Event], nonce: str, limits: EvidenceLimits) -> list[Shown]:
    """All events, or the first and the last ones around a gap when they are too many.

    The end weighs more than the beginning: it is what the attempt came to.
    """
    shown = [
        Shown(untrusted(event_text(e, limits.max_event_bytes), nonce=nonce, label=e.id), e)
        for e in events
    ]
    sizes = [utf8(s.text) for s in shown]
    if sum(sizes) <= limits.max_bytes:
        return shown
    tail = _fitting(reversed(sizes), limits.max_bytes * 7 // 10)
    spent = sum(sizes[len(sizes) - tail :])
    head = _fitting(sizes[: len(sizes) - tail], limits.max_bytes - spent)
    gap = sizes[head : len(sizes) - tail]
    middle = Shown("", None, omitted=len(gap), omitted_bytes=sum(gap))
    return [*shown[:head], middle, *shown[len(shown) - tail :]]


def _fitting(sizes: Iterable[int], max_bytes: int) -> int:
    """How many leading sizes fit."""
    return sum(total <= max_bytes for total in itertools.accumulate(sizes))


def entry_line(entry: Entry) -> str:
    """One path in a listing; as JSON, so that a name cannot hold a line break."""
    name = json.dumps(entry.path, ensure_ascii=False)
    extra = f", {entry.skipped}" if entry.skipped else ""
    target = f" -> {json.dumps(entry.target, ensure_ascii=False)}" if entry.target else ""
    return f"{name}{target} ({entry.kind}, {entry.size} bytes, {entry.change}{extra})"


def list_entries(entries: Sequence[Entry], offset: int, count: int) -> Cut:
    """Some lines of the listing; what follows is counted in entries."""
    part = entries[offset : offset + count]
    return Cut(
        "\n".join(entry_line(e) for e in part) or "(no files)",
        max(0, len(entries) - offset - len(part)),
    )


class Reference(NamedTuple):
    """A hidden text that the judge may see."""

    label: str
    text: str
    omitted_bytes: int


def cut_references(
    references: Mapping[str, str], mark: Callable[[str, str], str], max_bytes: int
) -> list[Reference]:
    """Reference texts within one budget, shared evenly, each marked after it was cut."""
    share = max_bytes // max(1, len(references))
    shown: list[Reference] = []
    for label, text in references.items():
        cut = cut_middle(text, share)
        shown.append(Reference(label, mark(f"reference:{label}", cut.text), cut.omitted_bytes))
    return shown


class KnownIds:
    """What may be cited: event ids, paths, `probe:<id>`."""

    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence
        self._known = {
            *(event.id for event in evidence.events),
            *(entry.path for entry in evidence.manifest.entries),
            *(f"probe:{probe.id}" for probe in evidence.probes),
        }

    def resolve(self, cited: str) -> str | None:
        """The id as records hold it; a path may be relative to the first root."""
        if cited in self._known:
            return cited
        path = str(self._evidence.absolute(cited)) if cited and "\0" not in cited else cited
        return path if path in self._known else None
