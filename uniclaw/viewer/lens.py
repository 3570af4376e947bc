"""Who is looking: which parts of an episode each lens may hold.

A page is built from `Parts`; what its lens does not allow is never read into it, so that no
template can show it by mistake.
"""

from enum import StrEnum
from typing import NamedTuple

from uniclaw.viewer.access import NoSuchPage


class Lens(StrEnum):
    """A way to look at an episode."""

    FULL = "full"
    """Everything, for the person who ran it."""
    EXECUTOR = "executor"
    SIMULATOR = "simulator"
    SUPERVISOR = "supervisor"
    REFEREE = "referee"
    PUBLIC = "public"
    """What may be published: the conversation and how it ended, nothing of the hidden side."""


class Parts(NamedTuple):
    """What a lens holds."""

    outcome: bool
    """Outcome, scores and decisions."""
    conversation: bool
    """Messages, events and files of the turns."""
    view: bool
    """What the user simulator was given."""
    verdict: bool
    """Checkpoints, caps, reasons, rationale; the reason of the outcome."""
    drafts: bool
    """Drafts that were held back, and what screening matched."""
    release: bool
    """The verdict beside what the policy released of it."""
    spending: bool
    """Time and money of all roles."""
    exchanges: tuple[str, ...]
    """Roles whose model exchanges may be read."""


ROLES = ("executor", "user_simulator", "judge", "auditor")
_PARTS = {
    Lens.FULL: Parts(True, True, False, True, True, False, True, ("*",)),
    Lens.EXECUTOR: Parts(False, True, False, False, False, False, False, ("executor",)),
    Lens.SIMULATOR: Parts(False, False, True, False, False, False, False, ("user_simulator",)),
    Lens.SUPERVISOR: Parts(True, True, False, True, False, False, False, ("judge", "supervisor")),
    Lens.REFEREE: Parts(True, False, True, True, True, True, False, ("auditor",)),
    Lens.PUBLIC: Parts(True, True, False, False, False, False, True, ()),
}


def parts_of(lens: Lens) -> Parts:
    """What a lens holds."""
    return _PARTS[lens]


def offered(*, static: bool, hidden: bool) -> tuple[Lens, ...]:
    """Lenses that can be chosen; the first is the default.

    Files for a static host hold nothing of the hidden side unless asked for.
    """
    if static and not hidden:
        return (Lens.PUBLIC, Lens.EXECUTOR, Lens.SIMULATOR)
    return (Lens.FULL, Lens.EXECUTOR, Lens.SIMULATOR, Lens.SUPERVISOR, Lens.REFEREE)


def lens_of(text: str, *, static: bool, hidden: bool) -> Lens:
    """A lens by name; an empty name is the default.

    Raises:
        NoSuchPage: unknown, or not offered.
    """
    known = offered(static=static, hidden=hidden)
    if not text:
        return known[0]
    for lens in known:
        if lens.value == text:
            return lens
    raise NoSuchPage("error.no_lens", text)


def may_read(lens: Lens, role: str) -> bool:
    """Whether a lens may show a role's model exchanges."""
    allowed = parts_of(lens).exchanges
    return "*" in allowed or role in allowed
