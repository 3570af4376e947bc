"""The machines of a cluster: which may play a run, and where the next attempt goes."""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Collection, Mapping
from contextlib import asynccontextmanager
from typing import NamedTuple, Protocol

from uniclaw.errors import InfraError
from uniclaw.runner.ray_files import tags
from uniclaw.runner.ray_parcel import Delivery, Job, Letter, Ready, Refused, ShopOrder

REFRESH_S = 1.0
PATIENCE_S = 120.0
"""How long a run waits for a machine when none is left."""


class NodeInfo(NamedTuple):
    """One live machine of a cluster."""

    id: str
    host: str
    slots: int
    """Episodes at a time."""

    @property
    def name(self) -> str:
        """For people."""
        return f"{self.host} ({self.id[:12]})"


class NodeLost(InfraError):
    """A machine went away, or its process died, while it played."""


class NoNode(InfraError):
    """No machine of the cluster can play the run."""


class Cluster(Protocol):
    """What the driver asks of a cluster; `ray_cluster` asks it of Ray."""

    def nodes(self) -> list[NodeInfo]:
        """Live machines that may play."""
        ...

    async def inspect(self, node: NodeInfo, order: ShopOrder, *, copy: bool) -> Ready | Refused:
        """Whether a machine can play a run; raises `NodeLost`."""
        ...

    async def play(self, node: NodeInfo, job: Job, *, copy: bool) -> Delivery | Refused:
        """Play one attempt there; raises `NodeLost`. A cancelled call ends the attempt."""
        ...

    async def sweep(self, node: NodeInfo, order: ShopOrder) -> str:
        """Remove what killed processes left there; raises `NodeLost`."""
        ...

    async def letters(self) -> list[Letter]:
        """What nodes told since the last call."""
        ...

    def offer(self, copy: Callable[[], bytes]) -> None:
        """How to make the copy of the driver's files, should a node need it."""
        ...

    def close(self) -> None:
        """Leave the cluster, and end it if it was started here."""
        ...


class Pool:
    """Machines that may play, with what plays on each."""

    def __init__(
        self,
        cluster: Cluster,
        order: ShopOrder,
        notify: Callable[[str], None],
        *,
        patience_s: float = PATIENCE_S,
    ) -> None:
        """Nothing is asked yet."""
        self._cluster, self._order, self._notify = cluster, order, notify
        self._patience_s = patience_s
        self._live: dict[str, NodeInfo] = {}
        self._admitted: set[str] = set()
        self._copied: set[str] = set()
        """Machines that play from a copy of the driver's files."""
        self._busy: Counter[str] = Counter()
        self._admitting: dict[str, asyncio.Task[None]] = {}
        self._changed = asyncio.Condition()
        self.refused: dict[str, str] = {}
        """Machine -> why it plays nothing of this run."""
        self.images: dict[str, str] = {}
        """Recipe -> tag; the same on every machine that was admitted."""

    async def open(self) -> None:
        """Inspect all machines that are there now.

        Raises:
            NoNode: none of them can play the run.
        """
        self._look()
        await asyncio.gather(*self._admitting.values())
        if not self.usable:
            raise NoNode(said(self.refused) or "no node of the cluster has a free CPU")

    async def close(self) -> None:
        """Sweep every machine that is left."""
        for task in self._admitting.values():
            task.cancel()
        await asyncio.gather(*self._admitting.values(), return_exceptions=True)
        self._look(admit=False)
        swept = [self._cluster.sweep(node, self._order) for node in self.usable]
        for found in await asyncio.gather(*swept, return_exceptions=True):
            if isinstance(found, BaseException) and not isinstance(found, InfraError):
                raise found

    def _look(self, *, admit: bool = True) -> None:
        """Look at the cluster, and begin to inspect machines that are new."""
        self._live = {node.id: node for node in self._cluster.nodes()}
        for node in self._live.values() if admit else ():
            if node.id not in self._admitting:
                self._admitting[node.id] = asyncio.create_task(self._admit(node))

    async def _admit(self, node: NodeInfo) -> None:
        try:
            found = await self._cluster.inspect(node, self._order, copy=False)
            if isinstance(found, Refused) and found.missing_files:
                found = await self._cluster.inspect(node, self._order, copy=True)
                self._copied.add(node.id)
        except NodeLost as error:
            found = Refused(str(error))
        if isinstance(found, Ready):
            mine = tags(found.images)
            self.images = self.images or mine
            if mine == self.images:
                self._admitted.add(node.id)
                return
            found = Refused(f"its image recipes differ: {mine} instead of {self.images}")
        self.refuse(node, found.reason)

    def refuse(self, node: NodeInfo, reason: str) -> None:
        """Play nothing more on a machine."""
        self._admitted.discard(node.id)
        if node.id not in self.refused:
            self.refused[node.id] = f"node {node.name}: {reason}"
            self._notify(f"refused: {self.refused[node.id]}")

    @property
    def usable(self) -> list[NodeInfo]:
        """Live machines that may play."""
        return [node for node in self._live.values() if node.id in self._admitted]

    def copied(self, node: NodeInfo) -> bool:
        """Whether a machine plays from a copy."""
        return node.id in self._copied

    @asynccontextmanager
    async def place(self, avoid: Collection[str]) -> AsyncGenerator[NodeInfo]:
        """A free slot: on the least busy machine, if possible none of those to avoid.

        Raises:
            NoNode: no machine was left for long.
        """
        node = await self._take(avoid)
        try:
            yield node
        finally:
            self._busy[node.id] -= 1
            async with self._changed:
                self._changed.notify_all()

    async def _take(self, avoid: Collection[str]) -> NodeInfo:
        alone_s = 0.0
        async with self._changed:
            while True:
                self._look()
                free = [n for n in self.usable if self._busy[n.id] < n.slots]
                better = [n for n in free if n.id not in avoid]
                # A machine to avoid is better than none, and no better than waiting for another.
                if not better and all(n.id in avoid for n in self.usable):
                    better = free
                if better:
                    node = min(better, key=lambda n: self._busy[n.id] / n.slots)
                    self._busy[node.id] += 1
                    return node
                waiting = any(not task.done() for task in self._admitting.values())
                if not self.usable and not waiting and alone_s >= self._patience_s:
                    raise NoNode(said(self.refused) or "no node of the cluster is alive")
                try:
                    await asyncio.wait_for(self._changed.wait(), REFRESH_S)
                except TimeoutError:
                    alone_s = 0.0 if self.usable else alone_s + REFRESH_S


def said(refused: Mapping[str, str]) -> str:
    """Why machines play nothing, for people."""
    return "; ".join(refused.values())
