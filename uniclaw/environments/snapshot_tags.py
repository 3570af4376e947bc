"""What may name a snapshot, and how large one may be; the same for all adapters."""

import re

from uniclaw.errors import UserError

MAX_BYTES = 4_000_000_000
"""Largest snapshot; where holes of sparse files are written as zeros they count in full."""

_TAG = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}\Z")


def check_tag(tag: str) -> str:
    """A tag that can name a snapshot.

    Raises:
        UserError: it cannot.
    """
    if not _TAG.match(tag):
        raise UserError(
            "a snapshot's tag is letters, digits, `.`, `_`, `-`", field="tag", value=tag
        )
    return tag
