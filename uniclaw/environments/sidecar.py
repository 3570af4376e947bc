"""A container of ours that shares another container's processes: the trusted killer and reader.

It runs the recipe's own image, never what the agent may have changed, and holds only the
capabilities of its job. It works on a paused container, and where an exec cannot start
(process limit reached). Must not know who asks.
"""

import secrets
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from uniclaw.environments.build import IDLE
from uniclaw.environments.docker_exec import KILL_ALL
from uniclaw.environments.wire import DockerApi, text_of

READER = ("SYS_PTRACE", "DAC_READ_SEARCH")
"""To read the other's file system under /proc/1/root, whatever its modes."""
KILLER = ("KILL",)

_KILL_S = 30.0


class Target(NamedTuple):
    """The container it stands beside."""

    container: str
    image: str
    """Image of the sidecar: the recipe's own."""
    labels: Mapping[str, str]


@contextmanager
def beside(
    api: DockerApi,
    target: Target,
    capabilities: Sequence[str],
    command: Sequence[str] = IDLE,
) -> Generator[str, None, None]:
    """A running sidecar; removed at the end."""
    made = api.create_container(
        target.image,
        list(command),
        entrypoint=[],
        user="0:0",
        name=f"uniclaw-side-{secrets.token_hex(6)}",
        host_config=api.create_host_config(
            pid_mode=f"container:{target.container}",
            network_mode="none",
            cap_drop=["ALL"],
            cap_add=list(capabilities),
            security_opt=["no-new-privileges"],
        ),
        labels=target.labels,
    )
    container = text_of(made.get("Id"))
    try:
        api.start(container)
        yield container
    finally:
        api.remove_container(container, force=True, v=True)


def kill_all(api: DockerApi, target: Target) -> None:
    """Kill every process of the target but its PID 1."""
    with beside(api, target, KILLER, ("/bin/sh", "-c", KILL_ALL)) as container:
        api.wait(container, timeout=_KILL_S)
