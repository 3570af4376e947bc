"""Builds an episode's record from what its steps left on disk."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import NamedTuple

from uniclaw.environments.services import PREFIX
from uniclaw.episode.files import EpisodeFiles, TextFile
from uniclaw.episode.nodes import Frozen
from uniclaw.episode.referee import Draft
from uniclaw.episode.seat import Seat
from uniclaw.hidden.verdict import Verdict
from uniclaw.records import Feedback, NeutralId, Outcome, Turn, UserView
from uniclaw.store.records import DraftRecord, EpisodeRecord, RoundRecord


class Provenance(NamedTuple):
    """What an episode was made from, for its record."""

    images: dict[str, str]
    rubric_source: str | None
    rubric_sha256: str | None
    neutral_episode_id: NeutralId
    flags: tuple[str, ...] = ()
    parent: str | None = None
    """`RUN/EPISODE` that it was made from."""
    parent_round: int | None = None
    """Last round that a fork took over."""


def rounds_of(files: EpisodeFiles, seconds: dict[int, dict[str, float]]) -> tuple[RoundRecord, ...]:
    """Every round that has a turn, in order."""
    found: list[RoundRecord] = []
    while (turn := files.load_if(files.ref(len(found), "turn"), Turn)) is not None:
        found.append(_round(files, len(found), turn, seconds.get(len(found), {})))
    return tuple(found)


def _round(files: EpisodeFiles, number: int, turn: Turn, seconds: dict[str, float]) -> RoundRecord:
    frozen = files.load_if(files.ref(number, "frozen"), Frozen)
    view = files.load_if(files.ref(number, "view-0"), UserView)
    return RoundRecord(
        round=number,
        message=files.load(files.ref(number, "message"), TextFile).text,
        stop=turn.stop,
        stop_detail=turn.detail,
        final_message=turn.final_message,
        executor_s=turn.executor_s,
        waited_s=turn.waited_s,
        files=len(frozen.manifest.files()) if frozen else 0,
        verdict=files.load_if(files.ref(number, "verdict"), Verdict),
        progress=view.progress if view else None,
        drafts=tuple(_drafts(files, number)),
        feedback=files.load_if(files.ref(number, "feedback"), Feedback),
        seconds={name: round(value, 6) for name, value in seconds.items()},
    )


def _drafts(files: EpisodeFiles, number: int) -> Iterator[DraftRecord]:
    visit = 0
    while (draft := files.load_if(files.ref(number, f"screen-{visit}"), Draft)) is not None:
        yield from draft.records
        visit += 1


def _ended_services(files: EpisodeFiles, rounds: int) -> tuple[str, ...]:
    """One remark per service that ended by itself."""
    frozen = (files.load_if(files.ref(number, "frozen"), Frozen) for number in range(rounds))
    probes = (probe for one in frozen if one for probe in one.probes)
    ended = [p.id.removeprefix(PREFIX) for p in probes if p.id.startswith(PREFIX) and p.exit_code]
    return tuple(f"service-ended:{name}" for name in dict.fromkeys(ended))


class Scores(NamedTuple):
    """Final and best score with their rounds."""

    final: float | None
    final_round: int | None
    best: float | None
    best_round: int | None


def scores(rounds: tuple[RoundRecord, ...], outcome: Outcome) -> Scores:
    """The last round's score, and the maximum over rounds (the earliest on ties).

    An outcome that is nobody's score has neither.
    """
    scored = [
        (r.round, r.verdict.score) for r in rounds if r.verdict and r.verdict.score is not None
    ]
    if not scored or not outcome.scored:
        return Scores(None, None, None, None)
    last_round, last = scored[-1]
    best_round, best = max(scored, key=lambda item: (item[1], -item[0]))
    return Scores(last, last_round, best, best_round)


def build_record(
    seat: Seat,
    *,
    outcome: Outcome,
    reason: str | None,
    started: datetime,
    wall_s: float,
    provenance: Provenance,
) -> EpisodeRecord:
    """The whole record of an episode that came to its end.

    Args:
        seat: of the episode; its files are read back.
        outcome: how it ended.
        reason: why, for every outcome that is not `pass`.
        started: UTC stamp of its start.
        wall_s: seconds from start to end by the monotonic clock.
        provenance: images, rubric and ids.
    """
    spec, files = seat.spec, seat.files
    task = spec.bundle.task
    rounds = rounds_of(files, seat.seconds)
    files.write_trajectory(tuple(files.load(files.ref(r.round, "turn"), Turn) for r in rounds))
    final = scores(rounds, outcome)
    last_verdict = next((r.verdict for r in reversed(rounds) if r.verdict), None)
    totals: dict[str, float] = {"wall": round(wall_s, 6)}
    for phases in seat.seconds.values():
        for name, value in phases.items():
            totals[name] = round(totals.get(name, 0.0) + value, 6)
    record = EpisodeRecord(
        run=spec.run,
        episode_id=spec.episode_id,
        attempt=spec.attempt,
        task_id=task.task_id,
        suite=task.suite,
        family=task.family,
        capability=task.capability,
        language=task.language,
        modality=task.modality,
        domain=task.domain,
        neutral_task_id=spec.task.task_id,
        neutral_episode_id=provenance.neutral_episode_id,
        axes=spec.axes,
        cell=spec.axes.cell,
        trial=spec.trial,
        seed=spec.seed,
        budget=spec.budget,
        outcome=outcome,
        reason=reason,
        threshold=last_verdict.threshold if last_verdict else None,
        rounds=rounds,
        final_score=final.final,
        final_round=final.final_round,
        best_score=final.best,
        best_round=final.best_round,
        usage={role: spent() for role, spent in seat.spent.items()},
        seconds=totals,
        started_at=started.isoformat(),
        ended_at=datetime.now(UTC).isoformat(),
        environment=spec.environment_kind,
        container=seat.container,
        images=provenance.images,
        assets=dict(seat.assets.used),
        rubric_source=provenance.rubric_source,
        rubric_sha256=provenance.rubric_sha256,
        parent=provenance.parent,
        parent_round=provenance.parent_round,
        flags=(
            *provenance.flags,
            *_ended_services(files, len(rounds)),
            *(last_verdict.flags if last_verdict else ()),
        ),
    )
    return spec.secrets.redact_record(record)
