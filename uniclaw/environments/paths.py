"""Inside paths: checked once, at the edge. Must not know any adapter."""

from collections.abc import Iterator
from pathlib import PurePosixPath

from uniclaw.errors import UserError

_MAX_PATH = 4095
_MAX_NAME = 255


def inside_path(path: str, *, field: str = "path") -> PurePosixPath:
    """An absolute POSIX path inside an environment, in normal form.

    Raises:
        UserError: it is relative, has a `..`, a NUL, a lone surrogate, or is too long.
    """
    pure = PurePosixPath(path)
    problem = None
    if not path.startswith("/") or path.startswith("//"):
        problem = "an inside path is absolute"
    elif ".." in pure.parts:
        problem = "an inside path has no `..`"
    elif "\0" in path:
        problem = "an inside path has no NUL"
    elif not _encodable(path):
        problem = "an inside path is UTF-8"
    elif len(path.encode()) > _MAX_PATH or any(len(p.encode()) > _MAX_NAME for p in pure.parts):
        problem = "an inside path has at most 4095 bytes, and 255 in each part"
    if problem is not None:
        raise UserError(problem, field=field, value=path[:200])
    return pure


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def above(path: PurePosixPath) -> Iterator[PurePosixPath]:
    """Directories on the way to `path`, outermost first, without `/` and `path` itself."""
    yield from list(reversed(path.parents))[1:]
