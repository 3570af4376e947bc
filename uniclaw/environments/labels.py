"""Labels on everything we make in the engine, and whether their owner still lives.

`uniclaw.owner` is `host:boot:pidns:pid:start`. Only an owner that is certainly dead lets its
things be swept: same host with another boot, or same boot and pid namespace without a process
of that number and start time.
"""

import os
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

MARK = "uniclaw"
RUN = "uniclaw.run"
EPISODE = "uniclaw.episode"
OWNER = "uniclaw.owner"
KEEP = "uniclaw.keep"
"""On content-addressed images: shared by all runs, never swept."""
SNAPSHOT = "uniclaw.snapshot"


_START = 22 - 3
"""Index of `starttime`, field 22 of proc(5), after the last ")" (which ends field 2)."""
_OWNER_FIELDS = 5


class Owner(NamedTuple):
    """A process, named so that its number cannot be mistaken for a later one's."""

    host: str
    boot: str
    pidns: str
    pid: int
    start: str

    def __str__(self) -> str:
        return f"{self.host}:{self.boot}:{self.pidns}:{self.pid}:{self.start}"


def parse_owner(text: str) -> Owner | None:
    """The owner a label names; None when it is no such label."""
    parts = text.rsplit(":", 4)
    if len(parts) != _OWNER_FIELDS or not parts[3].isdecimal():
        return None
    return Owner(parts[0], parts[1], parts[2], int(parts[3]), parts[4])


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8").strip()
    except OSError:
        return ""


def start_time(pid: int) -> str:
    """Start of a live process in clock ticks since boot; empty when there is none."""
    fields = _read(f"/proc/{pid}/stat").rpartition(")")[2].split()
    if len(fields) <= _START or fields[0] == "Z":
        return ""
    return fields[_START]


def this_owner() -> Owner:
    """The running process."""
    try:
        pidns = str(Path("/proc/self/ns/pid").stat().st_ino)
    except OSError:
        pidns = "0"
    pid = os.getpid()
    boot = _read("/proc/sys/kernel/random/boot_id")
    return Owner(socket.gethostname(), boot, pidns, pid, start_time(pid))


def certainly_dead(owner: Owner, here: Owner) -> bool:
    """Whether `owner` can no longer come for its things, judged from the process `here`."""
    if owner.host != here.host or not here.boot:
        return False
    if owner.boot != here.boot:
        return True
    return owner.pidns == here.pidns and start_time(owner.pid) != owner.start


def labels_for(run: str, extra: Mapping[str, str]) -> dict[str, str]:
    """All labels of a new object.

    A container inherits its image's labels, so the image's `KEEP` is taken back here.
    """
    return {**extra, MARK: "1", KEEP: "0", RUN: run, OWNER: str(this_owner())}
