"""Opens the recording proxy of an episode whose task asks for a network."""

import shutil
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from uniclaw.environments.network import PROXY_SOCKET_NAME
from uniclaw.errors import UserError
from uniclaw.gateway.proxy.certificates import Authority
from uniclaw.gateway.proxy.proxy import RecordingProxy
from uniclaw.gateway.proxy.rules import Rules, parse_pattern
from uniclaw.records import Task


class WayOut(NamedTuple):
    """An open proxy."""

    proxy: RecordingProxy
    socket_dir: Path
    """What the network sidecar mounts."""
    close: Callable[[], Awaitable[None]]


class WaysOut:
    """Opens proxies; one certificate authority for all episodes of the run."""

    def __init__(self, private_hosts: Sequence[str]) -> None:
        """Bind.

        Args:
            private_hosts: `HOST:PORT` of servers on this machine or its network that tasks
                which ask for them may reach.

        Raises:
            UserError: one of them is none.
        """
        self._private = frozenset(map(_private, private_hosts))
        self._authority: Authority | None = None

    async def open(
        self,
        task: Task,
        socket_dir: Path | None,
        keep: Callable[[bytes], str],
        watch: Callable[[str, str], None],
    ) -> WayOut | None:
        """The way out of a task; None for a task without a network.

        Args:
            task: names what it wants to reach.
            socket_dir: where the gateway's socket of the episode is; None makes a directory.
            keep: stores a body and returns its sha256.
            watch: raises `FirewallBreach` for hidden text.

        Raises:
            UserError: an entry of the task's allow-list is no host.
        """
        if task.network == "none":
            return None
        self._authority = self._authority or Authority()
        rules = Rules.of(task.network, self._private)
        made = Path(tempfile.mkdtemp(prefix="uniclaw-way-")) if socket_dir is None else None
        directory = made or socket_dir
        assert directory is not None
        proxy = RecordingProxy(
            directory / PROXY_SOCKET_NAME, rules, self._authority, keep=keep, watch=watch
        )
        await proxy.open()

        async def close() -> None:
            await proxy.close()
            if made is not None:
                shutil.rmtree(made, ignore_errors=True)

        return WayOut(proxy, directory, close)


def _private(entry: str) -> tuple[str, int]:
    pattern = parse_pattern(entry)
    if pattern.below or pattern.port is None:
        raise UserError("expected HOST:PORT", field="private_hosts", value=entry)
    return pattern.host, pattern.port
