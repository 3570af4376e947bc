"""`uniclaw ablate`: what a stored nested run says, and what it needs before it is played."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from uniclaw.config import POLICIES
from uniclaw.errors import UserError
from uniclaw.store.records import EpisodeRecord
from uniclaw.store.run_store import RunStore

SINGLE = ("executor", "supervisor", "user_simulator")


class Message(NamedTuple):
    """A delivered message and what screening said of it."""

    policy: str
    user_simulator: str
    family: str
    capability: str
    leak: bool


def nested_settings(given: Mapping[str, object], against: str) -> dict[str, object]:
    """What the command line gave, for a nested run.

    Raises:
        UserError: more than one executor, supervisor or simulator; or no arm to compare with.
    """
    found = {**given, "nested": True}
    if found.get("firewall") is None:
        found["firewall"] = ",".join(POLICIES)
    for name in SINGLE:
        value = found.get(name)
        if isinstance(value, str) and "," in value:
            raise UserError("an ablation compares policies: expected one", field=name, value=value)
    policies = [name.strip() for name in str(found["firewall"]).split(",")]
    if against not in policies:
        raise UserError(
            f"every policy is compared with {against}: name it too, or another by --against",
            field="firewall",
            value=found["firewall"],
        )
    return found


def messages(root: Path) -> tuple[Message, ...]:
    """All delivered messages of a run.

    Raises:
        UserError: no such run.
    """
    with RunStore.open(root) as store:
        return tuple(m for record in store.episodes() for m in _of(record))


def _of(record: EpisodeRecord) -> Iterator[Message]:
    for item in record.rounds:
        for draft in item.drafts:
            if draft.delivered:
                yield Message(
                    record.axes.policy,
                    record.axes.user_simulator,
                    record.family,
                    record.capability,
                    draft.decision == "leak",
                )
