"""Plays episodes on the machines of a cluster; one writer, here, settles each in the store."""

import asyncio
import itertools
import shutil
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from pydantic import ValidationError

from uniclaw.episode.graph import Ending
from uniclaw.errors import StoreError
from uniclaw.experiment import Planned, budget_of
from uniclaw.records import Outcome
from uniclaw.runner.history import with_history
from uniclaw.runner.interrupts import on_interrupt
from uniclaw.runner.ledger import Ledger
from uniclaw.runner.local import FAILED_FILE, Watcher, key_of
from uniclaw.runner.ray_files import shaping
from uniclaw.runner.ray_leases import Lease, Leases
from uniclaw.runner.ray_nodes import Cluster, NodeInfo, NodeLost, NoNode, Pool
from uniclaw.runner.ray_parcel import (
    Call,
    Delivery,
    Earlier,
    Job,
    Letter,
    Refused,
    ShopOrder,
    unpack,
)
from uniclaw.runner.retry_policy import AttemptPolicy
from uniclaw.runner.seats import Workshop
from uniclaw.store.atomic import sync_directory, write_json
from uniclaw.store.records import EpisodeRecord
from uniclaw.store.run_store import RunStore
from uniclaw.suites import neutral_id, neutral_task

LETTERS_S = 0.5
MAX_LOST = 5
"""Machines that an episode may lose before it stays without a score: it may be what kills them."""
INCOMING = "incoming"
"""Directory of a run where deliveries lie until they are whole."""
ELSEWHERE = frozenset({Outcome.INFRA_ERROR, Outcome.ENVIRONMENT_LOST})
"""After these another attempt is better made on another machine."""


def order_of(workshop: Workshop, directory: Path) -> ShopOrder:
    """What a node needs to load the run of a workshop.

    Args:
        workshop: of the run.
        directory: where relative paths of its settings start.
    """
    return ShopOrder(
        run=workshop.run,
        settings=workshop.settings,
        salt=workshop.salt,
        shaping=shaping(workshop),
        directory=str(directory),
        roots=tuple(str(root) for root in workshop.assets.roots),
    )


class RayRunner:
    """Sends each attempt to a machine, at most `parallel` at a time; see `LocalRunner`."""

    def __init__(
        self,
        *,
        store: RunStore,
        workshop: Workshop,
        cluster: Cluster,
        pool: Pool,
        order: ShopOrder,
        watcher: Watcher,
        ledger: Ledger,
        policy: AttemptPolicy,
    ) -> None:
        """Bind the store, the cluster and an open pool of its machines."""
        self._store, self._workshop = store, workshop
        self._cluster, self._pool, self._order = cluster, pool, order
        self._watcher, self._ledger, self._policy = watcher, ledger, policy
        self._parallel = workshop.settings.parallel
        self._stopping = False
        self._tasks: set[asyncio.Task[None]] = set()
        self._playing: dict[str, tuple[Planned, Lease]] = {}
        self._stored: set[tuple[str, int, int]] = set()

    @property
    def interrupted(self) -> bool:
        """Whether the user asked to stop."""
        return self._stopping

    def stop(self) -> None:
        """First call: start no more. Second call: cancel what runs."""
        if self._stopping:
            for task in self._tasks:
                task.cancel()
        self._stopping = True

    async def run(self, planned: Sequence[Planned]) -> None:
        """Play and settle all of them; returns when the last has its row."""
        self._store.plan([(key_of(p), p.episode_id) for p in planned])
        shutil.rmtree(self._store.root / INCOMING, ignore_errors=True)
        leases = Leases(self._ledger, self._parallel)
        gate = asyncio.Semaphore(self._parallel)
        post = asyncio.create_task(self._read_letters())
        try:
            with on_interrupt(self.stop):
                self._tasks = {
                    asyncio.create_task(self._one(gate, leases, p), name=p.episode_id)
                    for p in planned
                }
                results = await asyncio.gather(*self._tasks, return_exceptions=True)
        finally:
            post.cancel()
            await asyncio.gather(post, return_exceptions=True)
            shutil.rmtree(self._store.root / INCOMING, ignore_errors=True)
        for result in results:
            if isinstance(result, BaseException) and not isinstance(result, asyncio.CancelledError):
                raise result

    async def _one(self, gate: asyncio.Semaphore, leases: Leases, planned: Planned) -> None:
        async with gate:
            if self._stopping or (lease := await leases.take(planned.axes.cell)) is None:
                return
            record: EpisodeRecord | None = None
            try:
                record = await self._settled(planned, lease)
            except NoNode as error:
                self._ledger.stopped.setdefault("run", f"no node is left: {error}")
                self._stopping = True
            finally:
                await asyncio.shield(leases.settle(lease, record))
            if record is not None:
                self._watcher.settled(planned, record)

    async def _settled(self, planned: Planned, lease: Lease) -> EpisodeRecord | None:
        if self._stopping:  # while it waited for its share
            return None
        self._watcher.started(planned)
        self._playing[planned.episode_id] = planned, lease
        try:
            record = with_history(self._store, planned, await self._attempts(planned))
        finally:
            del self._playing[planned.episode_id]
        self._store.settle(record)
        return record

    async def _attempts(self, planned: Planned) -> EpisodeRecord:
        """Attempts until one is the result; those whose machine was lost are cut off."""
        log = self._store.attempts
        known = log.of(planned.episode_id)
        failed = sum(1 for a in known if a.state == "failed")
        if known and known[-1].state == "started":
            log.cut(known[-1].episode_id)
        avoid: set[str] = set()
        lost: list[str] = []
        for number in itertools.count(len(known) + 1):
            current = planned._replace(attempt=number)
            async with self._pool.place(avoid) as node:
                log.begin(planned.episode_id, number, datetime.now(UTC).isoformat())
                try:
                    ending, record = await self._play(node, current)
                except NodeLost as error:
                    log.cut(current.attempt_id)
                    lost.append(str(error))
                    avoid.add(node.id)
                    if len(lost) < MAX_LOST:
                        continue
                    return self._bare(current, Outcome.ENVIRONMENT_LOST, "; ".join(lost))
                except asyncio.CancelledError:
                    return self._bare(current, Outcome.CANCELLED, "stopped by the user")
            failed += 1
            if self._stopping or not self._policy.again(ending, failed):
                return record
            if ending.outcome in ELSEWHERE:
                avoid.add(node.id)
            write_json(self._store.episode_dir(current.attempt_id) / FAILED_FILE, record)
            wall_s = record.seconds.get("wall")
            log.fail(current.attempt_id, ending.outcome.value, ending.reason, wall_s)
        raise AssertionError("the loop has no end of its own")

    async def _play(self, node: NodeInfo, planned: Planned) -> tuple[Ending, EpisodeRecord]:
        job = Job(self._order, planned.episode_id, planned.attempt, self._earlier(planned))
        found = await self._cluster.play(node, job, copy=self._pool.copied(node))
        if isinstance(found, Refused):
            # It could play when it was inspected: its engine is gone, or its files changed.
            self._pool.refuse(node, found.reason)
            ending = Ending(Outcome.INFRA_ERROR, f"node {node.name} refused: {found.reason}", True)
            return ending, self._bare(planned, ending.outcome, ending.reason)
        ending, record = found.ending, self.take(found)
        if ending.outcome in ELSEWHERE:
            reason = f"{record.reason} (node {node.name})"
            record = record.model_copy(update={"reason": reason})
        return ending, record

    def _earlier(self, planned: Planned) -> tuple[Earlier, ...]:
        """Attempts before this one, with their stored answers, so that none is paid twice."""
        rows = self._store.attempts.of(planned.episode_id)
        return tuple(
            Earlier(row, tuple(self._calls(row.episode_id)))
            for row in rows
            if row.attempt < planned.attempt
        )

    def _calls(self, attempt_id: str) -> list[Call]:
        rows = self._store.calls(attempt_id)
        return [Call(row, self._store.get_blob(row.blob)) for row in rows]

    # --- what nodes hand back ------------------------------------------------------------

    def take(self, delivery: Delivery) -> EpisodeRecord:
        """Enter all that an attempt left; the same delivery twice changes nothing.

        Its row is not written here: `settle` makes an attempt count.

        Raises:
            StoreError: the delivery is broken.
        """
        try:
            record = EpisodeRecord.model_validate_json(delivery.record)
        except ValidationError as error:
            raise StoreError(f"a delivery's record does not fit: {error}") from error
        for call in delivery.calls:
            self._store_call(call)
        for blob in delivery.blobs:
            self._store.put_blob(blob)
        place = self._store.episode_dir(record.episode_id)
        if not place.exists():
            incoming = self._store.root / INCOMING / record.episode_id
            shutil.rmtree(incoming, ignore_errors=True)
            unpack(delivery.files, incoming)
            place.parent.mkdir(exist_ok=True)
            incoming.rename(place)
            sync_directory(place.parent)
        return record

    def _store_call(self, call: Call) -> bool:
        """Store an exchange once, whether it comes by letter, in a delivery or both."""
        row = call.row
        key = (row.episode_id, row.attempt, row.seq)
        if key not in self._stored:
            known = self._store.calls(row.episode_id)
            self._stored |= {(k.episode_id, k.attempt, k.seq) for k in known}
        if key in self._stored:
            return False
        if self._store.put_blob(call.exchange) != row.blob:
            raise StoreError(f"exchange {row.seq} of {row.episode_id} is not what its name says")
        self._store.add_call(row)
        self._stored.add(key)
        return True

    async def _read_letters(self) -> None:
        while True:
            for letter in await self._cluster.letters():
                self.hear(letter)
            await asyncio.sleep(LETTERS_S)

    def hear(self, letter: Letter) -> None:
        """What a node tells while it plays: phases, and exchanges as they are stored."""
        attempt_id = letter.row.episode_id if isinstance(letter, Call) else letter.episode_id
        base, _, _ = attempt_id.partition("-a")
        playing = self._playing.get(base)
        if playing is None:
            return
        planned, lease = playing
        if not isinstance(letter, Call):
            self._watcher.phase(planned, letter.phase, letter.round)
        elif self._store_call(letter) and not letter.row.reused:
            lease.spend(letter.row.spent)

    def _bare(self, planned: Planned, outcome: Outcome, reason: str | None) -> EpisodeRecord:
        """The record of an attempt of which nothing came back."""
        shop, task, axes = self._workshop, planned.bundle.task, planned.axes
        neutral = neutral_task(task, shop.salt)
        now = datetime.now(UTC).isoformat()
        key = f"{shop.salt}\0{'|'.join(map(str, key_of(planned)))}"
        return EpisodeRecord(
            run=shop.run,
            episode_id=planned.attempt_id,
            attempt=planned.attempt,
            task_id=task.task_id,
            suite=task.suite,
            family=task.family,
            capability=task.capability,
            language=task.language,
            modality=task.modality,
            domain=task.domain,
            neutral_task_id=neutral.task_id,
            neutral_episode_id=neutral_id(key, "episode"),
            axes=axes,
            cell=axes.cell,
            trial=planned.trial,
            seed=planned.seed,
            budget=budget_of(shop.settings, task, axes),
            outcome=outcome,
            reason=reason,
            threshold=None,
            rounds=(),
            final_score=None,
            final_round=None,
            best_score=None,
            best_round=None,
            usage=self._store.spent(planned.attempt_id, reused=True),
            seconds={},
            started_at=now,
            ended_at=now,
            environment=shop.settings.environment,
            images=dict(shop.images),
        )
