"""A cluster that is ready to play one run: connected, its machines inspected."""

import asyncio
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

from uniclaw.config import RunSettings
from uniclaw.errors import UserError
from uniclaw.experiment import Planned
from uniclaw.runner.ledger import Ledger
from uniclaw.runner.local import Watcher
from uniclaw.runner.ray_files import copy_of
from uniclaw.runner.ray_nodes import Cluster, NoNode, Pool
from uniclaw.runner.ray_parcel import ShopOrder
from uniclaw.runner.ray_runner import RayRunner, order_of
from uniclaw.runner.retry_policy import AttemptPolicy
from uniclaw.runner.seats import Workshop
from uniclaw.store.run_store import RunStore


@dataclass
class Fleet:
    """The machines of a cluster, for one run."""

    workshop: Workshop
    cluster: Cluster
    pool: Pool
    order: ShopOrder
    loop: asyncio.Runner

    def play(
        self,
        store: RunStore,
        waiting: Sequence[Planned],
        *,
        watcher: Watcher,
        ledger: Ledger,
        policy: AttemptPolicy,
    ) -> bool:
        """Play and settle episodes; whether the user asked to stop."""
        runner = RayRunner(
            store=store,
            workshop=self.workshop,
            cluster=self.cluster,
            pool=self.pool,
            order=self.order,
            watcher=watcher,
            ledger=ledger,
            policy=policy,
        )
        self.loop.run(runner.run(waiting))
        return runner.interrupted


@contextmanager
def fleet(
    workshop: Workshop,
    connect: Callable[[], Cluster],
    notify: Callable[[str], None],
) -> Generator[Fleet]:
    """Connect, inspect every machine, and note the images that the run uses.

    Args:
        workshop: of the run; nothing was built on this machine.
        connect: joins the cluster.
        notify: says what goes on.

    Raises:
        UserError: no cluster answers, none of its machines can play the run, or the run asks
            for what only one machine can keep.
    """
    _refuse(workshop.settings)
    # Ray prints its notices to stdout, which is the place of results.
    with redirect_stdout(sys.stderr), _joined(workshop, connect, notify) as found:
        yield found


@contextmanager
def _joined(
    workshop: Workshop, connect: Callable[[], Cluster], notify: Callable[[str], None]
) -> Generator[Fleet]:
    directory = Path.cwd().resolve()
    order = order_of(workshop, directory)
    cluster = connect()
    try:
        cluster.offer(lambda: copy_of(workshop, directory))
        pool = Pool(cluster, order, notify)
        with asyncio.Runner() as loop:
            try:
                loop.run(pool.open())
            except NoNode as error:
                raise UserError(f"no node can play this run: {error}", field="engine") from error
            workshop.images.update(pool.images)
            names = ", ".join(f"{node.name} x{node.slots}" for node in pool.usable)
            notify(f"playing on {names}")
            try:
                yield Fleet(workshop, cluster, pool, order, loop)
            finally:
                loop.run(pool.close())
    finally:
        cluster.close()


def _refuse(settings: RunSettings) -> None:
    for name, asked in (("nested", settings.nested), ("snapshots", settings.snapshots)):
        if asked:
            raise UserError(
                "snapshots lie in the engine of one machine; use --engine local",
                field=name,
                value=asked,
            )
