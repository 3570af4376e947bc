"""Threads for the blocking work of environments.

Own ones: commands that run for minutes would starve everybody else of asyncio's few.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

_POOL = ThreadPoolExecutor(max_workers=256, thread_name_prefix="uniclaw-environment")


async def in_thread(call: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Run a blocking call; cancelling the caller does not stop it."""
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(_POOL, lambda: call(*args, **kwargs))


async def in_thread_or_undo(call: Callable[[], R], undo: Callable[[R], object]) -> R:
    """Run a blocking call that makes something; undo it when the caller was cancelled meanwhile.

    The interpreter waits for the threads at its end, so nothing is left behind.
    """
    future = _POOL.submit(call)
    try:
        return await asyncio.wrap_future(future)
    except asyncio.CancelledError:
        future.add_done_callback(lambda done: _undo(done, undo))
        raise


def _undo(done: "Future[R]", undo: Callable[[R], object]) -> None:
    if not done.cancelled() and done.exception() is None:
        undo(done.result())
