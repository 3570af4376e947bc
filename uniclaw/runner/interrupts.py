"""Ctrl-C and SIGTERM while episodes play."""

import asyncio
import signal
from collections.abc import Callable, Generator
from contextlib import contextmanager


@contextmanager
def on_interrupt(stop: Callable[[], None]) -> Generator[None]:
    """Call `stop` at every SIGINT and SIGTERM, in the running event loop."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop)
    try:
        yield
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
