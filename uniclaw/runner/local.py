"""Plays episodes on this machine, several at a time, and settles each in the store."""

import asyncio
import itertools
import time
import traceback
from collections.abc import Awaitable, Callable, Iterator, Sequence
from datetime import UTC, datetime
from typing import NamedTuple, Protocol

import structlog

from uniclaw.config import Budgets
from uniclaw.episode.graph import Ending, EpisodeGraph
from uniclaw.episode.nodes import tear_down
from uniclaw.episode.seat import Seat
from uniclaw.experiment import Planned
from uniclaw.failpoints import reach
from uniclaw.records import Outcome
from uniclaw.runner.history import with_history
from uniclaw.runner.interrupts import on_interrupt
from uniclaw.runner.ledger import Ledger
from uniclaw.runner.record import Provenance, build_record
from uniclaw.runner.retry_policy import AttemptPolicy
from uniclaw.store.atomic import write_json
from uniclaw.store.records import EpisodeRecord
from uniclaw.store.run_store import Key, RunStore

FAILED_FILE = "attempt.json"
"""Record of an attempt that failed and was followed by another."""
log = structlog.get_logger(__name__)


class Assembled(NamedTuple):
    """A seat with what its record needs beside it."""

    seat: Seat
    provenance: Provenance
    close: Callable[[], Awaitable[None]]


class Watcher(Protocol):
    """Hears of progress; used by the terminal."""

    def started(self, planned: Planned) -> None:
        """An episode begins."""
        ...

    def phase(self, planned: Planned, phase: str, round_number: int) -> None:
        """An episode enters a phase."""
        ...

    def settled(self, planned: Planned, record: EpisodeRecord) -> None:
        """An episode has its row."""
        ...


Watch = Callable[[Sequence[Planned]], Watcher]
"""Makes the watcher of the episodes that are to be played."""


class LocalRunner:
    """An asyncio runner: `parallel` players, each with one episode at a time.

    The first interrupt lets running episodes finish and starts no more; the second
    cancels them. Either way nothing is left behind.
    """

    def __init__(
        self,
        *,
        store: RunStore,
        assemble: Callable[[Planned], Awaitable[Assembled]],
        watcher: Watcher,
        parallel: int,
        policy: AttemptPolicy | None = None,
        ledger: Ledger | None = None,
    ) -> None:
        """Bind the store and the assembly of seats."""
        self._ledger = ledger or Ledger(Budgets())
        self._policy = policy or AttemptPolicy()
        self._store = store
        self._assemble = assemble
        self._watcher = watcher
        self._parallel = parallel
        self._seats: dict[str, Seat] = {}
        self._stopping = False
        self._broken = False
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def interrupted(self) -> bool:
        """Whether the user asked to stop."""
        return self._stopping

    async def run(self, planned: Sequence[Planned]) -> None:
        """Play and settle all of them; returns when the last has its row."""
        self._store.plan([(key_of(p), p.episode_id) for p in planned])
        path = self._store.root / "checkpoints.sqlite"
        waiting = iter(planned)
        async with EpisodeGraph(self._seats, path) as graph:
            with on_interrupt(self.stop):
                self._tasks = {
                    asyncio.create_task(self._work(graph, waiting), name=f"player {number}")
                    for number in range(min(self._parallel, len(planned)))
                }
                results = await asyncio.gather(*self._tasks, return_exceptions=True)
        for result in results:
            if isinstance(result, BaseException) and not isinstance(result, asyncio.CancelledError):
                raise result

    def stop(self) -> None:
        """First call: start no more. Second call: cancel what runs."""
        if self._stopping:
            for task in self._tasks:
                task.cancel()
        self._stopping = True

    async def _work(self, graph: EpisodeGraph, waiting: Iterator[Planned]) -> None:
        """Play one after the other of what is left; all players take from the same."""
        whole = False
        try:
            for planned in waiting:
                if self._stopping or self._broken:
                    break
                if self._ledger.refuses(planned.axes.cell) is None:
                    await self._one(graph, planned)
            whole = True
        finally:
            # What cannot be settled now (a full disk) cannot be for the others either.
            self._broken = self._broken or not whole

    async def _one(self, graph: EpisodeGraph, planned: Planned) -> None:
        self._watcher.started(planned)
        record = with_history(self._store, planned, await self._attempts(graph, planned))
        self._store.settle(record)
        self._ledger.note(record)
        self._watcher.settled(planned, record)

    async def _attempts(self, graph: EpisodeGraph, planned: Planned) -> EpisodeRecord:
        """Attempts until one is the result; an attempt that a dead runner left is ended first."""
        log = self._store.attempts
        known = log.of(planned.episode_id)
        failed = sum(1 for a in known if a.state == "failed")
        if known and known[-1].state == "started":
            left = planned._replace(attempt=known[-1].attempt)
            if (record := await self._end_of(graph, left)) is not None:
                return record
            log.cut(left.attempt_id)
        for number in itertools.count(len(known) + 1):
            current = planned._replace(attempt=number)
            log.begin(planned.episode_id, number, datetime.now(UTC).isoformat())
            ending, record = await self._play(graph, current)
            failed += 1
            if self._stopping or not self._policy.again(ending, failed):
                return record
            write_json(self._store.episode_dir(current.attempt_id) / FAILED_FILE, record)
            wall_s = record.seconds.get("wall")
            log.fail(current.attempt_id, ending.outcome.value, ending.reason, wall_s)
        raise AssertionError("the loop has no end of its own")

    async def _end_of(self, graph: EpisodeGraph, planned: Planned) -> EpisodeRecord | None:
        """The record of an attempt whose runner died when all that counts had happened."""
        position = await graph.position(planned.attempt_id)
        if position is None or not set(position) <= {"supervise", "settle"}:
            return None
        ending, record = await self._play(graph, planned)
        if self._policy.again(ending, 0):
            return None  # the environment is gone, so it could not go on
        usage = {**record.usage, **self._store.spent(planned.attempt_id, reused=True)}
        return record.model_copy(update={"usage": usage})

    async def _play(self, graph: EpisodeGraph, planned: Planned) -> tuple[Ending, EpisodeRecord]:
        started, clock = datetime.now(UTC), time.monotonic()
        seat, provenance, close = await self._assemble(planned)
        reach("episode.assembled")
        seat.on_phase = lambda phase, number: self._watcher.phase(planned, phase, number)
        self._seats[planned.attempt_id] = seat
        try:
            ending = await self._invoke(graph, planned)
        finally:
            self._seats.pop(planned.attempt_id, None)
            await asyncio.shield(_close_all(seat, close))
        reach("episode.played")
        record = build_record(
            seat,
            outcome=ending.outcome,
            reason=ending.reason,
            started=started,
            wall_s=time.monotonic() - clock,
            provenance=provenance,
        )
        return ending, record

    async def _invoke(self, graph: EpisodeGraph, planned: Planned) -> Ending:
        try:
            return await graph.play(planned.attempt_id)
        except asyncio.CancelledError:
            return Ending(Outcome.CANCELLED, "stopped by the user")
        except Exception as error:
            log.error("episode failed", episode=planned.episode_id, error=repr(error))
            text = "".join(traceback.format_exception(error))
            return Ending(Outcome.INFRA_ERROR, text[-4000:])


async def _close_all(seat: Seat, close: Callable[[], Awaitable[None]]) -> None:
    try:
        await tear_down(seat)
    finally:
        await close()


def key_of(planned: Planned) -> Key:
    """What makes an episode's row unique in its run."""
    return Key(planned.bundle.task_id, planned.axes.cell, planned.trial)
