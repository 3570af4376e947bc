"""Counters of a container's control group, versions 1 and 2.

Reading the kernel's files on this machine costs microseconds; where they are out of sight
(remote engine, other cgroup namespace) callers fall back to asking inside. Must not know Docker's
API. The engine's own `OOMKilled` flag is not used: it is late and turns true on our own kills.
"""

import os
import re
from collections.abc import Mapping
from pathlib import Path

V1_MEMORY = "memory/memory.oom_control"
V2_MEMORY = "memory.events"
INSIDE_COMMAND = (
    "cat /sys/fs/cgroup/memory.events 2>/dev/null"
    " || cat /sys/fs/cgroup/memory/memory.oom_control 2>/dev/null"
)
"""Prints the counter file of the container it runs in, whichever version is in force."""

_OOM_KILL = re.compile(r"^oom_kill (\d+)$", re.MULTILINE)


def parse_oom_kills(text: str) -> int | None:
    """`oom_kill` of `memory.oom_control` (v1) or `memory.events` (v2); None when it has none."""
    found = _OOM_KILL.search(text)
    return int(found.group(1)) if found else None


def parse_number(text: str) -> int | None:
    """A file of one number; `max` and nonsense are None."""
    stripped = text.strip()
    return int(stripped) if stripped.isdecimal() else None


def is_v2(mount: Path = Path("/sys/fs/cgroup")) -> bool:
    """Whether the unified hierarchy is in force."""
    return (mount / "cgroup.controllers").is_file()


class Counters:
    """The counter files of one container, found once."""

    def __init__(self, container_id: str, mount: Path = Path("/sys/fs/cgroup")) -> None:
        self._v2 = is_v2(mount)
        groups = (f"docker/{container_id}", f"system.slice/docker-{container_id}.scope")
        memory = mount if self._v2 else mount / "memory"
        self._group = next((g for g in groups if (memory / g).is_dir()), None)
        self._mount = mount

    @property
    def visible(self) -> bool:
        """Whether the kernel's files are readable from here."""
        return self._group is not None

    def oom_kills(self) -> int | None:
        """Processes of the group killed by the kernel for memory; None when not visible."""
        name = "memory.events" if self._v2 else "memory.oom_control"
        text = self._read("memory", name)
        return None if text is None else parse_oom_kills(text)

    def all(self) -> Mapping[str, int]:
        """`oom_kills`, `memory_bytes` and `pids`, as far as they are visible."""
        memory = "memory.current" if self._v2 else "memory.usage_in_bytes"
        found = {
            "oom_kills": self.oom_kills(),
            "memory_bytes": parse_number(self._read("memory", memory) or ""),
            "pids": parse_number(self._read("pids", "pids.current") or ""),
        }
        return {key: value for key, value in found.items() if value is not None}

    def _read(self, controller: str, name: str) -> str | None:
        if self._group is None:
            return None
        base = self._mount if self._v2 else self._mount / controller
        # One system call round: pathlib's read_text would decode and buffer for nothing.
        try:
            handle = os.open(base / self._group / name, os.O_RDONLY)
        except OSError:
            return None
        try:
            return os.read(handle, 4096).decode("ascii", "replace")
        except OSError:
            return None
        finally:
            os.close(handle)
