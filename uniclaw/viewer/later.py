"""What takes longer than a page may: computed once by one thread, and kept until the run changes.

A page waits a moment for it; where it is not ready the page says so, and its poll asks again.
"""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from threading import Lock
from typing import TypeVar, cast

T = TypeVar("T")
Key = tuple[object, ...]
KEPT = 64

_pool = ThreadPoolExecutor(1, thread_name_prefix="viewer-later")
_known: dict[Key, Future[object]] = {}
_lock = Lock()


def later(key: Key, make: Callable[[], T]) -> Future[T]:
    """The computation of a key; it is begun where it is not known.

    Args:
        key: what it is, with the stamp of the run; nothing else may decide the answer.
        make: computes it; what it raises is raised by `result`.
    """
    with _lock:
        found = _known.pop(key, None)
        if found is None:
            found = cast("Future[object]", _pool.submit(make))
        _known[key] = found
        while len(_known) > KEPT:
            _known.pop(next(iter(_known)))
    return cast("Future[T]", found)


def within(found: Future[T], wait_s: float | None) -> T | None:
    """What was computed, or None where it takes longer; None waits to the end."""
    try:
        return found.result(wait_s)
    except NotYet:
        return None
