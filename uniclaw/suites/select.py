"""Choose tasks by globs on their ids."""

from collections.abc import Sequence
from fnmatch import fnmatchcase

from uniclaw.errors import UserError


def select(names: Sequence[str], globs: Sequence[str]) -> tuple[str, ...]:
    """Names that match at least one glob, in their order; all of them without globs.

    Raises:
        UserError: a glob matches nothing.
    """
    wanted = [glob.strip() for glob in globs if glob.strip()]
    if not wanted:
        return tuple(names)
    for glob in wanted:
        if not any(fnmatchcase(name, glob) for name in names):
            shown = ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")
            raise UserError(
                f"matches no task of the suite; its ids are {shown}", field="tasks", value=glob
            )
    return tuple(name for name in names if any(fnmatchcase(name, glob) for glob in wanted))
