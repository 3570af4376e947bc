"""Projection: from a verdict to what the policy in force releases of it, and to the view.

Nothing but `Progress` carries anything of the verdict across, and every field of it is filled
here and nowhere else.
"""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from uniclaw.firewall.policy import Policy, ScoreRelease
from uniclaw.hidden.verdict import Verdict
from uniclaw.pictures import SUFFIXES, PictureLimits, safe_picture
from uniclaw.records import (
    Brief,
    Count,
    EventKind,
    Language,
    NeutralId,
    Progress,
    Record,
    ReleasedLine,
    ScoreBand,
    Turn,
    UserView,
    VisibleFile,
    VisiblePicture,
    VisibleRound,
)
from uniclaw.supervisor.renditions import place_of, renditions_of
from uniclaw.trajectory import Evidence


class VisibleLimits(Record):
    """Caps on what one round of a view holds."""

    max_files: Count = 50
    max_file_bytes: Count = 20_000
    max_total_bytes: Count = 120_000
    max_event_chars: Count = 4_000
    max_events: Count = 400
    max_pictures: Count = 4
    """Of the last round; earlier rounds are shown without."""
    max_picture_side: Count = 1_024


def score_band(score: float, threshold: float) -> ScoreBand:
    """Below half the threshold, below it, at or above."""
    if score >= threshold:
        return ScoreBand.HIGH
    return ScoreBand.MIDDLE if score >= threshold / 2 else ScoreBand.LOW


def project(
    verdict: Verdict, policy: Policy, *, strip: Callable[[str], str] = lambda text: text
) -> Progress:
    """What the policy releases of a verdict; every other field stays None.

    Args:
        verdict: of the round that just ended.
        policy: the policy in force.
        strip: removes canaries from released text (`CanarySet.strip`).
    """
    release = policy.release
    score = verdict.score
    lines = tuple(
        ReleasedLine(
            description=strip(line.description), value=line.result.value, weight=line.weight
        )
        for line in verdict.lines
    )
    banded = release.score is ScoreRelease.BAND and score is not None
    return Progress(
        decision=verdict.decision if release.decision else None,
        attempt_state=verdict.attempt_state if release.attempt_state else None,
        recoverable=verdict.recoverable if release.recoverable else None,
        score_band=score_band(score, verdict.threshold) if banded and score is not None else None,
        score=score if release.score is ScoreRelease.EXACT else None,
        guidance_tags=verdict.guidance_tags if release.guidance_tags else None,
        missing_artifacts=tuple(map(strip, verdict.missing_artifacts))
        if release.missing_artifacts
        else None,
        rationale=strip(verdict.rationale) if release.rationale else None,
        lines=lines if release.lines else None,
    )


def read_visible_file(path: str, host: Path, max_bytes: int) -> VisibleFile:
    """A frozen regular file as the simulator sees it; binary files have no text."""
    data, size = _read(host, max_bytes)
    text = None if b"\0" in data[:8192] else data.decode("utf-8", "replace")
    return VisibleFile(path=path, text=text, size=size, truncated=size > len(data))


def _read(host: Path, max_bytes: int) -> tuple[bytes, int]:
    """First bytes and size of a frozen file; a link at its place is never followed."""
    descriptor = os.open(host, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(descriptor, "rb") as file:
        return file.read(max_bytes), os.fstat(file.fileno()).st_size


def visible_files(evidence: Evidence, limits: VisibleLimits) -> tuple[VisibleFile, ...]:
    """Result files that the agent added or changed, within the caps, sorted by path."""
    left = limits.max_total_bytes
    files: list[VisibleFile] = []
    for entry in sorted(evidence.manifest.files(), key=lambda e: e.path):
        host = evidence.host_path(entry)
        if entry.change == "same" or host is None or len(files) >= limits.max_files:
            continue
        if not host.resolve().is_relative_to(evidence.files_root.resolve()):
            continue
        try:
            shown = read_visible_file(entry.path, host, min(limits.max_file_bytes, left))
        except OSError:
            continue  # the copy was removed or is no regular file: there is nothing to show
        left -= len((shown.text or "").encode("utf-8"))
        files.append(shown)
    return tuple(files)


def with_pictures(
    files: Sequence[VisibleFile], evidence: Evidence, limits: VisibleLimits
) -> tuple[VisibleFile, ...]:
    """Files with their pictures, and documents with their rendered pages and text."""
    made, bounds = renditions_of(evidence), PictureLimits(max_side=limits.max_picture_side)
    hosts = {entry.path: evidence.host_path(entry) for entry in evidence.manifest.files()}
    found: list[VisibleFile] = []
    left = limits.max_pictures
    for file in files:
        seen, host = made.of(file.path), hosts.get(file.path)
        sources: list[tuple[Path, str]] = []
        if seen is not None:
            sources = [(place_of(evidence) / p.file, p.note) for p in seen.pictures]
        elif file.path.lower().endswith(SUFFIXES) and host is not None:
            sources = [(host, "")]
        pictures: list[VisiblePicture] = []
        for source, note in sources[:left]:
            safe = safe_picture(_read(source, bounds.max_bytes + 1)[0], bounds)
            if safe.data is not None:
                pictures.append(
                    VisiblePicture(
                        media_type=safe.media_type,
                        data_base64=safe.data_base64,
                        note=note or safe.note,
                    )
                )
        left -= len(pictures)
        text = seen.text[: limits.max_file_bytes] if seen and file.text is None else file.text
        found.append(file.model_copy(update={"pictures": tuple(pictures), "text": text or None}))
    return tuple(found)


def visible_round(
    user_message: str,
    turn: Turn,
    evidence: Evidence,
    policy: Policy,
    limits: VisibleLimits | None = None,
    *,
    pictures: bool = False,
) -> VisibleRound:
    """One round as the policy's `visible` setting shows it.

    Args:
        user_message: what the executor was told at the start of the round.
        turn: the executor's turn.
        evidence: what was frozen after it.
        policy: the policy in force.
        limits: caps on files and events.
        pictures: show pictures and rendered documents as they look.
    """
    caps = limits or VisibleLimits()
    files = () if policy.visible == "messages" else visible_files(evidence, caps)
    # The user's own message stands in `user_message`; notes are ours.
    events = [e for e in turn.events if e.kind is not EventKind.NOTE and e.role != "user"]
    shown = tuple(
        event
        if len(event.text) <= caps.max_event_chars
        else event.model_copy(
            update={
                "text": event.text[: caps.max_event_chars],
                "truncated": True,
                "total_bytes": event.total_bytes or len(event.text.encode("utf-8", "replace")),
            }
        )
        for event in events[-caps.max_events :]
    )
    return VisibleRound(
        round=evidence.round,
        user_message=user_message,
        final_message=turn.final_message,
        events=shown if policy.visible == "trajectory" else (),
        files=with_pictures(files, evidence, caps) if pictures else files,
    )


def build_view(
    *,
    task_id: NeutralId,
    episode_id: NeutralId,
    instruction: str,
    language: Language,
    persona: str,
    brief: Brief,
    rounds: Sequence[VisibleRound],
    progress: Progress,
    asked: bool,
    feedback_rounds_left: int,
    reminder: bool = False,
) -> UserView:
    """Assemble the view; its arguments are all that a simulator can ever learn."""
    return UserView(
        task_id=task_id,
        episode_id=episode_id,
        instruction=instruction,
        language=language,
        persona=persona,
        brief=brief,
        rounds=tuple(rounds),
        progress=progress,
        asked=asked,
        feedback_rounds_left=feedback_rounds_left,
        reminder=reminder,
    )


def visible_texts(view: UserView) -> tuple[str, ...]:
    """Every text of the executor's work in a view, for screening."""
    texts: list[str] = []
    for shown in view.rounds:
        texts.extend((shown.user_message, shown.final_message))
        for event in shown.events:
            arguments = "" if event.arguments is None else str(dict(event.arguments))
            texts.append(f"{event.tool or ''} {arguments} {event.text}")
        texts.extend(f"{file.path}\n{file.text or ''}" for file in shown.files)
    return tuple(text for text in texts if text.strip())


def released_texts(progress: Progress) -> tuple[str, ...]:
    """Free text that the policy itself released."""
    texts = list(progress.guidance_tags or ())
    texts.extend(progress.missing_artifacts or ())
    texts.extend(line.description for line in progress.lines or ())
    if progress.rationale is not None:
        texts.append(progress.rationale)
    return tuple(texts)
