"""Looks up what a fork continues: a recorded episode, and what was kept at a round's end."""

from uniclaw.episode.boundary import REF, Boundary, Origin
from uniclaw.episode.files import EpisodeFiles
from uniclaw.errors import InfraError, UserError
from uniclaw.experiment import ROUND_0, Planned, base_of
from uniclaw.records import Decision
from uniclaw.store.records import EpisodeRecord
from uniclaw.store.run_store import Key, RunStore


def nested_origin(store: RunStore, planned: Planned) -> Origin | None:
    """Round 0 that a cell of an ablation continues; None for round 0 itself.

    Raises:
        InfraError: it has no result.
    """
    if planned.axes.user_simulator == ROUND_0:
        return None
    key = Key(planned.bundle.task_id, base_of(planned.axes).cell, planned.trial)
    found = store.settled_by_key().get(key)
    if found is None:
        raise InfraError("round 0 of this task and trial was not played")
    record = store.episode(found)
    files = EpisodeFiles(store.episode_dir(found))
    name = f"{store.name}/{found}"
    boundary = files.load_if(files.ref(0, REF), Boundary)
    if boundary is not None:
        return Origin(files=files, name=name, round=0, boundary=boundary)
    ended = (record.outcome, record.reason) if record.rounds else None
    problem = f"its round 0 ended as {record.outcome.value}: {record.reason}"
    return Origin(files=files, name=name, round=0, boundary=Boundary(problem=problem), ended=ended)


def fork_origin(store: RunStore, record: EpisodeRecord, number: int) -> Origin:
    """The end of a recorded round.

    Raises:
        UserError: there is no such round, the episode ended there, or nothing was kept.
    """
    name = f"{store.name}/{record.episode_id}"
    if not 0 <= number < len(record.rounds):
        raise UserError(
            f"{name} has rounds 0 to {len(record.rounds) - 1}", field="round", value=number
        )
    verdict = record.rounds[number].verdict
    if verdict is None or verdict.decision is not Decision.CONTINUE:
        said = "has no verdict" if verdict is None else f"ended by {verdict.decision.value}"
        raise UserError(
            f"{name} {said} at that round: no feedback follows", field="round", value=number
        )
    files = EpisodeFiles(store.episode_dir(record.episode_id))
    boundary = files.load_if(files.ref(number, REF), Boundary)
    if boundary is None:
        raise UserError(
            f"{name} kept nothing at that round; play it with --snapshots",
            field="round",
            value=number,
        )
    if boundary.environment is None:
        raise UserError(
            f"{name} cannot be continued there: {boundary.problem}", field="round", value=number
        )
    return Origin(files=files, name=name, round=number, boundary=boundary)
