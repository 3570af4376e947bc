"""Budgets over many machines: shares are leased from the writer, and grow with what is told."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

import pytest
from player import only, run
from suite_builder import RIGHT, write_task

from uniclaw.config import Budgets, Spend
from uniclaw.records import RoleUsage, Usage
from uniclaw.runner.ledger import Ledger
from uniclaw.runner.ray_leases import Lease, Leases
from uniclaw.store.records import EpisodeRecord

CELL = "c"


def spent(usd: float, tokens: int = 0) -> RoleUsage:
    return RoleUsage(calls=1, usage=Usage(input=tokens), cost_usd=usd)


def leases(parallel: int, **limits: float) -> Leases:
    budgets = Budgets(run=Spend.model_validate(limits))
    return Leases(Ledger(budgets, clock=lambda: 0.0), parallel)


async def soon(leases: Leases) -> Lease | None:
    return await asyncio.wait_for(leases.take(CELL), 0.05)


@pytest.fixture
def record(tmp_path: Path) -> EpisodeRecord:
    found = only(run(write_task(tmp_path, rounds=(RIGHT,)), tmp_path / "runs"))
    return found.model_copy(update={"cell": CELL})


def costing(record: EpisodeRecord, usd: float) -> EpisodeRecord:
    usage: Mapping[str, RoleUsage] = {"executor": spent(usd)}
    return record.model_copy(update={"usage": usage})


async def test_while_nothing_is_known_the_budget_is_shared_evenly() -> None:
    shares = leases(4, usd=2.0)
    for _ in range(4):
        lease = await soon(shares)
        assert lease is not None
        assert lease.usd == 0.5
    with pytest.raises(TimeoutError):
        await soon(shares)


async def test_a_share_that_was_exceeded_counts_with_what_was_told() -> None:
    shares = leases(4, usd=2.0)
    first = await soon(shares)
    assert first is not None
    first.spend(spent(1.2))
    assert await soon(shares) is not None
    with pytest.raises(TimeoutError):
        await soon(shares)
    await shares.settle(first, None)
    assert await soon(shares) is not None


async def test_shares_follow_what_episodes_cost(record: EpisodeRecord) -> None:
    shares = leases(2, usd=1.0)
    first = await soon(shares)
    assert first is not None
    await shares.settle(first, costing(record, 0.25))
    three = [await soon(shares) for _ in range(3)]
    assert [lease.usd for lease in three if lease] == [0.25, 0.25, 0.25]
    with pytest.raises(TimeoutError):
        await soon(shares)


async def test_a_used_up_budget_gives_no_lease(record: EpisodeRecord) -> None:
    shares = leases(2, usd=1.0)
    first = await soon(shares)
    assert first is not None
    waiting = [asyncio.create_task(shares.take(CELL)) for _ in range(2)]
    await asyncio.sleep(0.01)
    await shares.settle(first, costing(record, 3.0))
    assert None in [await task for task in waiting]
    assert await soon(shares) is None


async def test_tokens_are_leased_too() -> None:
    shares = leases(2, tokens=100)
    first = await soon(shares)
    assert first is not None
    first.spend(spent(0.0, 90))
    with pytest.raises(TimeoutError):
        await soon(shares)


async def test_without_a_budget_all_begin() -> None:
    shares = leases(1)
    assert all([await soon(shares) for _ in range(20)])
