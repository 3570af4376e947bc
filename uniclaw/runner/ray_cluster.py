"""Ray, behind the few questions of `ray_nodes.Cluster`; nothing else imports it.

Each attempt is a task pinned to one machine and never retried by Ray: the driver knows of every
attempt, gives it a number of its own, and sends it elsewhere when its machine is lost.
"""

import asyncio
import contextlib
import logging
import os
from collections.abc import Callable
from typing import Any, TypeVar, cast

from uniclaw.errors import InfraError, UserError
from uniclaw.runner.ray_body import inspect, play, sweep
from uniclaw.runner.ray_nodes import Cluster, NodeInfo, NodeLost
from uniclaw.runner.ray_parcel import Delivery, Job, Letter, Ready, Refused, ShopOrder

# Ray's own annotations leave most of it unknown; this module is where they end.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

T = TypeVar("T")
END_S = 30.0
"""How long a cancelled attempt may take to clear up."""


class Mailbox:
    """What nodes tell while they play; lives beside the driver, until the driver takes it."""

    def __init__(self) -> None:
        self._letters: list[Letter] = []

    def put(self, letter: Letter) -> None:
        """From a node."""
        self._letters.append(letter)

    def take(self) -> list[Letter]:
        """To the driver."""
        letters, self._letters = self._letters, []
        return letters


def _play(job: Job, copy: bytes | None, mailbox: Any) -> Delivery | Refused:
    return play(job, copy, lambda letter: mailbox.put.remote(letter))


def connect(address: str | None, *, parallel: int) -> Cluster:
    """Join a cluster, or start one on this machine.

    Args:
        address: of its head; None takes `RAY_ADDRESS`, or starts one.
        parallel: episodes at a time, for a cluster that is started here.

    Raises:
        UserError: Ray is not installed, or no cluster answers there.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    try:
        import ray
        from ray.exceptions import RayError
    except ImportError as error:
        raise UserError(
            "Ray is not installed: pip install 'uniclaw[ray]'", field="engine", value="ray"
        ) from error
    place = address or os.environ.get("RAY_ADDRESS")
    try:
        ray.init(
            address=place or "local",
            num_cpus=None if place else parallel,
            include_dashboard=None if place else False,
            log_to_driver=False,
            logging_level=logging.ERROR,
            ignore_reinit_error=True,
        )
    except (ConnectionError, ValueError, RuntimeError, RayError) as error:
        raise UserError(f"no Ray cluster answers: {error}", field="engine", value=place) from error
    return _RayCluster()


class _RayCluster:
    def __init__(self) -> None:
        import ray
        from ray import exceptions

        self._ray, self._errors = ray, exceptions
        here = ray.get_runtime_context().get_node_id()
        self._mailbox: Any = (
            ray.remote(Mailbox)
            .options(num_cpus=0, scheduling_strategy=self._on(here, soft=False))
            .remote()
        )
        self._offered: Callable[[], bytes] | None = None
        self._copy: Any = None

    def _on(self, node_id: str, *, soft: bool) -> Any:
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        return NodeAffinitySchedulingStrategy(node_id=node_id, soft=soft)

    def nodes(self) -> list[NodeInfo]:
        found: list[NodeInfo] = []
        for row in self._ray.nodes():
            slots = int(row["Resources"].get("CPU", 0))
            if row["Alive"] and slots:
                found.append(NodeInfo(row["NodeID"], row["NodeManagerHostname"], slots))
        return found

    async def inspect(self, node: NodeInfo, order: ShopOrder, *, copy: bool) -> Ready | Refused:
        sent = self._shared() if copy else None
        return await self._ask(node, inspect, order, sent)

    async def play(self, node: NodeInfo, job: Job, *, copy: bool) -> Delivery | Refused:
        sent = self._shared() if copy else None
        return await self._ask(node, _play, job, sent, self._mailbox)

    async def sweep(self, node: NodeInfo, order: ShopOrder) -> str:
        return await self._ask(node, sweep, order)

    async def letters(self) -> list[Letter]:
        try:
            return cast("list[Letter]", await _result(self._mailbox.take.remote()))
        except self._errors.RayError:
            return []  # only news is lost: deliveries hold everything

    def offer(self, copy: Callable[[], bytes]) -> None:
        self._offered = copy

    def _shared(self) -> Any:
        """The copy of the driver's files, put into the cluster once."""
        if self._copy is None and self._offered is not None:
            self._copy = self._ray.put(self._offered())
        return self._copy

    def close(self) -> None:
        self._ray.shutdown()

    async def _ask(self, node: NodeInfo, body: Callable[..., T], *arguments: object) -> T:
        task = self._ray.remote(body).options(
            max_retries=0, num_cpus=1, scheduling_strategy=self._on(node.id, soft=False)
        )
        reference: Any = task.remote(*arguments)
        try:
            return cast("T", await _result(reference))
        except asyncio.CancelledError:
            await self._end(reference)
            raise
        except self._errors.RayTaskError as error:
            raise InfraError(f"node {node.name}: {error}") from error
        except self._errors.RayError as error:
            said = str(error).strip().splitlines()
            first = said[0] if said else type(error).__name__
            raise NodeLost(f"node {node.name} was lost: {type(error).__name__}: {first}") from error

    async def _end(self, reference: Any) -> None:
        """Interrupt an attempt, and wait until it has cleared up."""
        self._ray.cancel(reference, force=False)
        with contextlib.suppress(self._errors.RayError, TimeoutError):
            await asyncio.wait_for(_result(reference), END_S)


def _result(reference: Any) -> "asyncio.Future[Any]":
    return asyncio.wrap_future(reference.future())
