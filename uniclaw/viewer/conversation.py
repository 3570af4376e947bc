"""The rounds of an episode as one lens may show them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pydantic import JsonValue

from uniclaw.hidden.verdict import LineResult, Verdict
from uniclaw.records import Entry, Event, Progress, UserView, VisibleRound
from uniclaw.store.records import DraftRecord, RoundRecord
from uniclaw.viewer.episode import Episode
from uniclaw.viewer.events import Allowance, Cut, Line, Read, Step, Trajectory, steps
from uniclaw.viewer.films import Film, film_of
from uniclaw.viewer.lens import Lens, parts_of

ROUND_EVENTS = 60
"""Steps of one round on the episode's page; the rest has pages of its own."""
PAGE_BYTES = 130_000
"""Texts of an episode on one page."""
MESSAGE = 12_000
REASON = 1_500
ROUND_FILES = 40
_EVENT = re.compile(r"r(\d+)\.e\d+")


class Gap(NamedTuple):
    """A place where the firewall held something back; never what it was."""

    key: str
    """Label: verdict, drafts, unseen or released."""
    number: int = 0
    names: tuple[str, ...] = ()
    """Which fields of the verdict were not released."""


class Evidence(NamedTuple):
    """Something a line rests on."""

    text: str
    event: str = ""
    path: str = ""


class LinePage(NamedTuple):
    """One checkpoint, cap or requirement."""

    line: LineResult
    reason: Cut
    evidence: tuple[Evidence, ...]


class VerdictPage(NamedTuple):
    """What the supervisor found."""

    verdict: Verdict
    lines: tuple[LinePage, ...]
    rationale: Cut


class DraftPage(NamedTuple):
    """A draft and what screening said of it."""

    text: Cut
    decision: str
    delivered: bool
    hits: tuple[dict[str, str], ...]


class Released(NamedTuple):
    """One field of a verdict beside what was released of it."""

    field: str
    hidden: str
    released: str | None
    """None: held back."""


class VisiblePage(NamedTuple):
    """One round as the user simulator saw it."""

    round: int
    message: Cut
    steps: list[Step]
    final: Cut
    files: tuple[tuple[str, int, Cut | None], ...]


class ViewPage(NamedTuple):
    """What the user simulator was given."""

    ref: str
    view: UserView
    persona: Cut
    released: tuple[tuple[str, str], ...]
    rounds: tuple[VisiblePage, ...]
    redraws: int


class FilePage(NamedTuple):
    """A frozen file."""

    entry: Entry
    path: str
    """Relative to the round's evidence."""
    image: bool
    readable: bool


@dataclass(kw_only=True)
class RoundPage:
    """One round; None is what the lens does not hold, or what does not exist."""

    number: int
    message: Cut | None = None
    steps: tuple[Step, ...] = ()
    more: int = 0
    """Events that are not on this page."""
    final: Cut | None = None
    stop: str = ""
    stop_detail: str | None = None
    executor_s: float | None = None
    waited_s: float = 0.0
    verdict: VerdictPage | None = None
    release: tuple[Released, ...] = ()
    drafts: tuple[DraftPage, ...] = ()
    feedback_source: str = ""
    view: ViewPage | None = None
    film: Film | None = None
    files: tuple[FilePage, ...] = ()
    files_total: int = 0
    probes: tuple[tuple[str, int | None, Cut], ...] = ()
    gaps: tuple[Gap, ...] = ()
    decision: str = ""
    score: float | None = None


def rounds_of(episode: Episode, trajectory: Trajectory, lens: Lens) -> list[RoundPage]:
    """Every round for one lens."""
    allowance = Allowance(PAGE_BYTES)
    return [_round(episode, trajectory, item, lens, allowance) for item in episode.rounds]


def _round(
    episode: Episode, trajectory: Trajectory, item: RoundRecord, lens: Lens, allowance: Allowance
) -> RoundPage:
    parts = parts_of(lens)
    page = RoundPage(number=item.round)
    if parts.outcome and item.verdict is not None:
        page.decision = item.verdict.decision.value
        page.score = item.verdict.score
    if parts.conversation:
        _conversation(page, trajectory, item, allowance)
        _files(page, episode, item, allowance)
        page.film = film_of(episode, item.round)
    if parts.verdict and item.verdict is not None:
        page.verdict = verdict_page(item.verdict, allowance)
    if parts.release and item.verdict is not None and item.progress is not None:
        page.release = release_of(item.verdict, item.progress)
    if parts.drafts:
        page.drafts = tuple(_draft(draft, allowance) for draft in item.drafts)
        page.feedback_source = item.feedback.source if item.feedback else ""
    elif parts.view and item.feedback is not None:
        page.final = allowance.take(item.feedback.text, MESSAGE)
        page.feedback_source = item.feedback.source
    if parts.view:
        page.view = _view(episode, item.round, allowance)
    page.gaps = _gaps(page, item, lens)
    return page


def _conversation(
    page: RoundPage, trajectory: Trajectory, item: RoundRecord, allowance: Allowance
) -> None:
    page.message = allowance.take(item.message, MESSAGE)
    lines = trajectory.of_round(item.round)
    shown, page.more = window(trajectory, lines, allowance)
    said = item.message.strip()
    page.steps = tuple(
        step
        for step in shown
        if not (
            step.kind == "message"
            and step.role == "user"
            and said.startswith(step.text.text[:200].strip())
        )
    )
    last = page.steps[-1] if page.steps else None
    repeated = last is not None and last.kind == "message" and last.role == "assistant"
    if item.final_message.strip() and not (repeated and not page.more):
        page.final = allowance.take(item.final_message, MESSAGE)
    page.stop, page.stop_detail = item.stop.value, item.stop_detail
    page.executor_s, page.waited_s = item.executor_s, item.waited_s


def window(
    trajectory: Trajectory, lines: Sequence[Line], allowance: Allowance
) -> tuple[list[Step], int]:
    """Steps of the first lines that the allowance has room for, and how many lines are left."""
    shown: list[Read] = []
    room = allowance.left
    for read in trajectory.read(lines[:ROUND_EVENTS]):
        weight = min(read.line.length, 12_000) if read.event else 100
        if shown and room - weight < 0:
            break
        room -= weight
        shown.append(read)
    return steps(shown, allowance), len(lines) - len(shown)


def _files(page: RoundPage, episode: Episode, item: RoundRecord, allowance: Allowance) -> None:
    frozen = episode.frozen(item.round)
    if frozen is None:
        return
    files = [e for e in frozen.manifest.entries if e.kind != "dir"]
    files.sort(key=lambda e: (e.change == "same", e.path))
    page.files_total = len(files)
    page.files = tuple(file_page(entry) for entry in files[:ROUND_FILES])
    page.probes = tuple(
        (probe.id, probe.exit_code, allowance.take(probe.stdout, REASON))
        for probe in frozen.probes[:20]
    )


IMAGES = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".webp": "image/webp",
}
"""Types that are shown as pictures; they hold no script."""


_SIGNS = (
    (b"\x89PNG", "image/png"),
    (b"\xff\xd8", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"RIFF", "image/webp"),
)


def picture_type(data: bytes) -> str | None:
    """Type of a picture by its first bytes; None when it is none."""
    return next((kind for start, kind in _SIGNS if data.startswith(start)), None)


def file_page(entry: Entry) -> FilePage:
    """A frozen file as the page lists it."""
    ending = "." + entry.path.rpartition(".")[2].lower()
    readable = entry.kind == "file" and entry.skipped is None and entry.change != "deleted"
    return FilePage(entry, entry.path.lstrip("/"), readable and ending in IMAGES, readable)


def verdict_page(verdict: Verdict, allowance: Allowance) -> VerdictPage:
    """A verdict with its lines."""
    return VerdictPage(
        verdict,
        tuple(
            LinePage(
                line,
                allowance.take(line.result.reason, REASON),
                tuple(_evidence(text) for text in line.result.evidence[:12]),
            )
            for line in verdict.lines
        ),
        allowance.take(verdict.rationale, REASON),
    )


def _evidence(text: str) -> Evidence:
    if _EVENT.fullmatch(text):
        return Evidence(text, event=text)
    if text.startswith("/"):
        return Evidence(text, path=text.lstrip("/"))
    return Evidence(text)


def _draft(draft: DraftRecord, allowance: Allowance) -> DraftPage:
    hits = tuple(
        {str(key): _text(value)[:400] for key, value in hit.items()} for hit in draft.hits[:20]
    )
    return DraftPage(allowance.take(draft.text, MESSAGE), draft.decision, draft.delivered, hits)


def _text(value: JsonValue) -> str:
    return value if isinstance(value, str) else repr(value)


FIELDS = (
    "decision",
    "attempt_state",
    "recoverable",
    "score",
    "guidance_tags",
    "missing_artifacts",
    "rationale",
    "lines",
)
"""Of a verdict, what a policy can release."""


def release_of(verdict: Verdict, progress: Progress) -> tuple[Released, ...]:
    """Field by field, the verdict and what left."""
    hidden = {
        "decision": verdict.decision.value,
        "attempt_state": verdict.attempt_state.value,
        "recoverable": str(verdict.recoverable).lower(),
        "score": "" if verdict.score is None else f"{verdict.score:.3f}",
        "guidance_tags": ", ".join(verdict.guidance_tags),
        "missing_artifacts": ", ".join(verdict.missing_artifacts),
        "rationale": verdict.rationale[:REASON],
        "lines": str(len(verdict.lines)),
    }
    released = dict(released_of(progress))
    return tuple(Released(name, hidden[name], released.get(name)) for name in FIELDS)


def released_of(progress: Progress) -> tuple[tuple[str, str], ...]:
    """What the simulator was told of the verdict; fields that were held back are left out."""
    found: list[tuple[str, str]] = []
    for name in FIELDS:
        text = _released(progress, name)
        if text is not None:
            found.append((name, text))
    return tuple(found)


def _released(progress: Progress, name: str) -> str | None:
    if name == "score" and progress.score is None:
        return None if progress.score_band is None else progress.score_band.value
    if name == "lines":
        if progress.lines is None:
            return None
        return "\n".join(
            f"{line.description} ({line.weight:g}): {'?' if line.value is None else line.value}"
            for line in progress.lines
        )
    value: object = getattr(progress, name)
    if value is None:
        return None
    if isinstance(value, tuple):
        entries: tuple[object, ...] = value  # pyright: ignore[reportUnknownVariableType] -- narrowed tuple
        return ", ".join(map(str, entries)) or "–"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _view(episode: Episode, number: int, allowance: Allowance) -> ViewPage | None:
    views = list(episode.views(number))
    if not views:
        return None
    ref, view = views[0]
    return ViewPage(
        ref,
        view,
        allowance.take(view.persona, 3_000),
        released_of(view.progress),
        tuple(_visible(item, allowance) for item in view.rounds[-1:]),
        len(views) - 1,
    )


def _visible(item: VisibleRound, allowance: Allowance) -> VisiblePage:
    return VisiblePage(
        item.round,
        allowance.take(item.user_message, MESSAGE),
        steps([_as_read(event) for event in item.events[:ROUND_EVENTS]], allowance),
        allowance.take(item.final_message, MESSAGE),
        tuple(
            (f.path, f.size, None if f.text is None else allowance.take(f.text, 4_000))
            for f in item.files[:ROUND_FILES]
        ),
    )


def _as_read(event: Event) -> Read:
    # Pictures of an event are reached through the conversation, not through a view.
    return Read(Line(event.id, event.round, 0, 0), event.model_copy(update={"images": ()}))


def _gaps(page: RoundPage, item: RoundRecord, lens: Lens) -> tuple[Gap, ...]:
    """Where something was held back, for the two roles that must not know what."""
    blocked = sum(not draft.delivered for draft in item.drafts)
    gaps: list[Gap] = []
    if lens is Lens.EXECUTOR and item.verdict is not None:
        gaps.append(Gap("verdict"))
    if lens is Lens.SIMULATOR:
        if page.view is None:
            return (Gap("unseen"),)
        told = {name for name, _ in page.view.released}
        held = tuple(name for name in FIELDS if name not in told)
        if held:
            gaps.append(Gap("released", len(held), held))
    if lens in (Lens.EXECUTOR, Lens.SIMULATOR, Lens.PUBLIC) and blocked:
        gaps.append(Gap("drafts", blocked))
    return tuple(gaps)
