"""Stored answers for episodes that are played again: after a cut, after a failure, on replay."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Protocol

from pydantic import ValidationError

from uniclaw.errors import StoreError
from uniclaw.experiment import Planned
from uniclaw.models.cassette import CassetteModel, Recorded, Tape
from uniclaw.models.metering import Exchange
from uniclaw.ports import ChatModel
from uniclaw.records import Outcome
from uniclaw.runner.wire_tape import WireTape, is_wire, wire_exchanges
from uniclaw.store.attempts import AttemptRow
from uniclaw.store.run_store import CallRow, RunStore

_FAILED_ROLE: Mapping[str, str] = {
    Outcome.JUDGE_ERROR.value: "judge",
    Outcome.SIMULATOR_ERROR.value: "user_simulator",
}
"""After these outcomes that role is asked anew; the answers of the others are kept."""


class Marker(Protocol):
    """What counts exchanges apart that were answered from the store."""

    def mark_reused(self, reused: bool) -> None:
        """Whether the exchanges that follow are such."""
        ...


class Through(Protocol):
    """Puts stored answers before a model."""

    def __call__(self, spec: str, make: Callable[[], ChatModel]) -> ChatModel:
        """The model to ask; `make` makes the real one."""
        ...


def exchanges(store: RunStore, rows: Iterable[CallRow]) -> Iterator[Recorded]:
    """Stored exchanges of the roles with the keys of their requests; not those of the gateway.

    Raises:
        StoreError: one is missing or damaged.
    """
    for row in rows:
        data = store.get_blob(row.blob)
        if is_wire(data):
            continue
        try:
            exchange = Exchange.model_validate_json(data)
        except ValidationError as error:
            raise StoreError(f"exchange {row.blob} of {row.episode_id}: {error}") from error
        yield Recorded(row.request, exchange)


def _known(attempts: Iterable[AttemptRow], store: RunStore) -> list[CallRow]:
    rows: list[CallRow] = []
    for attempt in attempts:
        rows += [row for row in store.calls(attempt.episode_id) if row.ok and not row.reused]
        if attempt.state == "failed":
            failed = _FAILED_ROLE.get(attempt.outcome or "")
            rows = [] if failed is None else [row for row in rows if row.role != failed]
    return rows


def earlier_answers(store: RunStore, planned: Planned) -> Tape:
    """Answers of earlier attempts that need not be paid again.

    A cut-off attempt gives all of them; one that failed by its judge or user simulator gives
    those of the other roles; one that failed otherwise gives none, and is played afresh. An
    attempt that goes on after its runner died finds its own.
    """
    if planned.attempt == 1 and not store.next_call(planned.attempt_id):
        return Tape((), failures=False)
    earlier = [a for a in store.attempts.of(planned.episode_id) if a.attempt <= planned.attempt]
    return Tape(exchanges(store, _known(earlier, store)), failures=False)


def earlier_wires(store: RunStore, planned: Planned) -> WireTape:
    """Answers to a harness inside that earlier attempts have paid; see `earlier_answers`."""
    earlier = [a for a in store.attempts.of(planned.episode_id) if a.attempt < planned.attempt]
    return WireTape(wire_exchanges(store, _known(earlier, store)), lambda said: None)


def taped(tape: Tape, marker: Marker, drawn: Mapping[str, str], *, offline: bool) -> Through:
    """Models that answer from a tape first.

    Args:
        tape: stored answers.
        marker: told which exchanges come from the store.
        drawn: texts drawn for this episode.
        offline: never ask a provider.
    """

    def through(spec: str, make: Callable[[], ChatModel]) -> ChatModel:
        if not offline and tape.empty:
            return make()
        return CassetteModel(
            spec,
            tape,
            inner=None if offline else make(),
            drawn=drawn,
            mark_reused=marker.mark_reused,
        )

    return through


def only(specs: Collection[str]) -> Through:
    """The named models alone; any other refuses."""

    def through(spec: str, make: Callable[[], ChatModel]) -> ChatModel:
        if spec in specs:
            return make()
        return CassetteModel(spec, Tape((), failures=False), inner=None, drawn={})

    return through
