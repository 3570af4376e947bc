"""What runs on a node: one attempt at one episode, in a scratch directory of its own.

Starting twice is harmless: each start has its own directory and containers, ids of the attempt
are labels only, and nothing reaches the run but what the driver takes.
"""

import asyncio
import gzip
import json
import os
import socket
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from uniclaw.config import RunSettings
from uniclaw.environments.clean import clean
from uniclaw.episode.graph import Ending, EpisodeGraph
from uniclaw.errors import EngineError, UserError
from uniclaw.experiment import Planned
from uniclaw.runner.local import LocalRunner, key_of
from uniclaw.runner.ray_files import Shop, load
from uniclaw.runner.ray_parcel import (
    Call,
    Delivery,
    Earlier,
    Job,
    Letter,
    Phase,
    Ready,
    Refused,
    ShopOrder,
    pack,
)
from uniclaw.runner.seats import Workshop
from uniclaw.store.atomic import to_json, write_bytes
from uniclaw.store.records import EpisodeRecord
from uniclaw.store.run_store import CallRow, RunStore

NODE_FILE = "node.json"
"""In an episode's directory: where it was played."""
Post = Callable[[Letter], None]


@dataclass
class _Loaded:
    order: ShopOrder
    shop: Shop


_loaded: list[_Loaded] = []
"""The run that this process plays for; its workers are processes of one thread."""


def open_shop(order: ShopOrder, copy: bytes | None) -> Shop | Refused:
    """Load a run once per process, and build the images that this node's engine lacks.

    Args:
        order: what the driver loaded.
        copy: of the driver's files, if it was sent.
    """
    if _loaded and _loaded[0].order == order:
        os.chdir(_loaded[0].shop.directory)
        return _loaded[0].shop
    shop = load(order, copy)
    if isinstance(shop, Refused):
        return shop
    workshop = shop.prepared.workshop
    try:
        # What earlier processes of this node left when they were killed.
        clean(run=order.run, docker=workshop.settings.environment == "docker", snapshots=False)
        workshop.prepare_images()
    except (EngineError, UserError) as error:
        return Refused(f"{type(error).__name__}: {error}")
    _loaded[:] = [_Loaded(order, shop)]
    return shop


def inspect(order: ShopOrder, copy: bytes | None) -> Ready | Refused:
    """Whether this node can play a run."""
    shop = open_shop(order, copy)
    return shop if isinstance(shop, Refused) else Ready(dict(shop.prepared.workshop.images))


def sweep(order: ShopOrder) -> str:
    """Remove what killed processes of this node left of a run."""
    docker = order.settings.environment == "docker"
    return clean(run=order.run, docker=docker, snapshots=False).sentence()


def play(job: Job, copy: bytes | None, post: Post) -> Delivery | Refused:
    """Play one attempt.

    Args:
        job: which one.
        copy: of the driver's files, if it was sent.
        post: takes what is told while it plays; may lose it.
    """
    shop = open_shop(job.shop, copy)
    if isinstance(shop, Refused):
        return shop
    base = next(p for p in shop.prepared.planned if p.episode_id == job.base_id)
    planned = base._replace(attempt=job.attempt)
    with (
        tempfile.TemporaryDirectory(prefix="uniclaw-node-") as scratch,
        ScratchStore.create(Path(scratch), job.shop.run, None) as store,
    ):
        store.enter(planned, job.earlier)
        store.post = post
        ending, record = asyncio.run(_attempt(store, shop.prepared.workshop, planned, post))
        return _delivery(store, job, planned, ending, record)


async def _attempt(
    store: "ScratchStore", shared: Workshop, planned: Planned, post: Post
) -> tuple[Ending, EpisodeRecord]:
    # Gates and gateways belong to an event loop, and each attempt has its own.
    workshop = replace(shared, store=store, settings=_of_one(shared.settings))
    try:
        return await _Body(store, workshop, _Teller(planned, post)).attempt(planned)
    finally:
        await workshop.close()


def _of_one(settings: RunSettings) -> RunSettings:
    """A run's limits on its providers, shared evenly by the episodes that play at a time."""
    shares = {k: max(1, n // settings.parallel) for k, n in settings.parallel_models.items()}
    return settings.model_copy(update={"parallel_models": shares})


class _Body(LocalRunner):
    """Plays one attempt as the local runner does, and settles nothing."""

    def __init__(self, store: RunStore, workshop: Workshop, teller: "_Teller") -> None:
        super().__init__(store=store, assemble=workshop.assemble, watcher=teller, parallel=1)

    async def attempt(self, planned: Planned) -> tuple[Ending, EpisodeRecord]:
        async with EpisodeGraph(self._seats, self._store.root / "checkpoints.sqlite") as graph:
            return await self._play(graph, planned)


class _Teller:
    """Tells the driver of an episode's phases."""

    def __init__(self, planned: Planned, post: Post) -> None:
        self._id, self._post = planned.attempt_id, post

    def started(self, planned: Planned) -> None:
        """The driver knows."""

    def phase(self, planned: Planned, phase: str, round_number: int) -> None:
        """An episode enters a phase."""
        self._post(Phase(self._id, phase, round_number))

    def settled(self, planned: Planned, record: EpisodeRecord) -> None:
        """Only the driver settles."""


class ScratchStore(RunStore):
    """A store for one attempt, which tells of each exchange as it is stored."""

    post: Post | None = None

    def enter(self, planned: Planned, earlier: tuple[Earlier, ...]) -> None:
        """Begin an attempt, with the answers that earlier ones stored."""
        self.plan([(key_of(planned), planned.episode_id)])
        now = datetime.now(UTC).isoformat()
        for attempt, calls in earlier:
            self.attempts.begin(planned.episode_id, attempt.attempt, now)
            if attempt.state == "failed":
                outcome, reason = attempt.outcome or "", attempt.reason
                self.attempts.fail(attempt.episode_id, outcome, reason, None)
            else:
                self.attempts.cut(attempt.episode_id)
            for row, exchange in calls:
                self.put_blob(exchange)
                self.add_call(row)
        self.attempts.begin(planned.episode_id, planned.attempt, now)

    def add_call(self, row: CallRow) -> None:
        """Record one model exchange, and tell of it."""
        super().add_call(row)
        if self.post is not None:
            self.post(Call(row, self.get_blob(row.blob)))


def _delivery(
    store: ScratchStore, job: Job, planned: Planned, ending: Ending, record: EpisodeRecord
) -> Delivery:
    directory = store.episode_dir(planned.attempt_id)
    where = json.dumps({"host": socket.gethostname(), "pid": os.getpid()})
    write_bytes(directory / NODE_FILE, where.encode())
    calls = tuple(Call(r, store.get_blob(r.blob)) for r in store.calls(planned.attempt_id))
    known = {call.row.blob for call in calls}
    known |= {call.row.blob for earlier in job.earlier for call in earlier.calls}
    others = (p for p in sorted((store.root / "blobs").rglob("*.gz")) if p.stem not in known)
    return Delivery(
        job.base_id,
        job.attempt,
        ending,
        to_json(record),
        pack(directory, [directory]),
        calls,
        tuple(gzip.decompress(p.read_bytes()) for p in others),
    )
