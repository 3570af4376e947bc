"""Named places where a test can kill the process, to prove that a crash there does no harm.

Off unless `UNICLAW_FAILPOINT` is set: `NAME` kills the process with SIGKILL the first time it
is reached, `NAME:N` the N-th time, `*:N` at the N-th of all places together. With
`UNICLAW_FAILPOINT_LOG=FILE` every name that is reached is appended to that file.
"""

import os
import signal
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, get_args

VARIABLE = "UNICLAW_FAILPOINT"
LOG_VARIABLE = "UNICLAW_FAILPOINT_LOG"
_armed: dict[str, str] = {}
"""The two variables as they were when this was imported: a look-up costs more than the place."""

Failpoint = Literal[
    "file.opened",
    "file.written",
    "file.synced",
    "file.renamed",
    "file.durable",
    "run.directory",
    "run.rows",
    "run.published",
    "plan.before",
    "plan.after",
    "attempt.before",
    "attempt.begun",
    "attempt.failed",
    "call.before",
    "call.blob",
    "call.after",
    "episode.assembled",
    "episode.played",
    "settle.before",
    "settle.file",
    "settle.rows",
    "settle.after",
    "node.provision.enter",
    "node.provision.environment",
    "node.provision.leave",
    "node.execute.enter",
    "node.execute.intent",
    "node.execute.turn",
    "node.execute.leave",
    "node.freeze.enter",
    "node.freeze.copied",
    "node.freeze.leave",
    "node.supervise.enter",
    "node.supervise.leave",
    "node.relay.enter",
    "node.relay.leave",
    "node.simulate.enter",
    "node.simulate.leave",
    "node.screen.enter",
    "node.screen.leave",
    "node.settle.enter",
    "node.settle.leave",
]
NAMES: tuple[Failpoint, ...] = get_args(Failpoint)
_reached: Counter[str] = Counter()


def arm(environ: Mapping[str, str]) -> None:
    """Read the two variables again: for processes that are forked with the imports made."""
    _armed.clear()
    _armed.update({name: text for name in (VARIABLE, LOG_VARIABLE) if (text := environ.get(name))})


arm(os.environ)


def phase_of(name: str) -> str:
    """The phase a place belongs to, for tables: `execute` of `node.execute.turn`."""
    parts = name.split(".")
    return parts[1] if parts[0] == "node" else parts[0]


def reach(name: Failpoint) -> None:
    """Say that a place is reached; returns unless this is where the process has to die."""
    if not _armed:
        return
    _reached[name] += 1
    _reached["*"] += 1
    log, wanted = _armed.get(LOG_VARIABLE), _armed.get(VARIABLE)
    if log:
        with Path(log).open("a", encoding="utf-8") as file:
            file.write(f"{name}\n")
    if wanted:
        place, _, number = wanted.partition(":")
        if place in (name, "*") and _reached[place] == int(number or "1"):
            os.kill(os.getpid(), signal.SIGKILL)


def reach_node(node: str, moment: Literal["enter", "leave"]) -> None:
    """Say that a node of the episode graph begins or is about to hand over its result."""
    if not _armed:
        return
    for name in NAMES:
        if name == f"node.{node}.{moment}":
            reach(name)
