"""The network of an episode: a namespace without a way out, but for one socket of the host.

A sidecar owns an empty network namespace; the agent and its services join it. A forwarder in the
sidecar listens on a loopback port there and carries bytes to the unix socket that the gateway made
for the episode. The socket's directory is mounted in the sidecar alone, so no one else can open it.
Must not know what is spoken over it.
"""

import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from docker.errors import APIError, DockerException, NotFound
from requests.exceptions import RequestException

from uniclaw.environments.docker_exec import run_plain
from uniclaw.environments.wire import DockerApi, mapping_of, text_of
from uniclaw.errors import EngineError, UserError

RELAY = "relay"
"""Recipe of the sidecar's image."""
DOOR_PORT = 8377
"""Loopback port, inside the namespace, that leads to the gateway."""
DOOR_URL = f"http://127.0.0.1:{DOOR_PORT}"
SOCKET_NAME = "gateway.sock"
"""Name of the gateway's socket in the directory that a spec names."""
PROXY_PORT = 8378
"""Loopback port that leads to the recording proxy, where the task has one."""
PROXY_URL = f"http://127.0.0.1:{PROXY_PORT}"
PROXY_SOCKET_NAME = "proxy.sock"
HOSTNAME = "workspace"

_JOINED = "container:"
_MOUNT = "/run/uniclaw"
_READY = "/dev/shm/ready"
_READY_S = 30.0
_MEMORY_BYTES = 128_000_000
_PIDS = 16
_WAIT = f"i=0; until [ -e {_READY} ]; do i=$((i+1)); [ $i -lt 1000 ] || exit 1; sleep 0.02; done"


class Namespace(NamedTuple):
    """A running sidecar."""

    container: str
    """Its id."""

    @property
    def mode(self) -> str:
        """`network_mode` of a container that joins it."""
        return f"{_JOINED}{self.container}"


def open_namespace(
    api: DockerApi, image: str, door: str, labels: Mapping[str, str], *, proxy: bool = False
) -> Namespace:
    """Start the sidecar, and return when its forwarder listens.

    Args:
        api: The engine.
        image: Tag of the recipe `relay`.
        door: Host directory with the gateway's socket, `gateway.sock`.
        labels: Those of the episode's other containers.
        proxy: Whether the directory also holds a recording proxy's socket.

    Raises:
        UserError: there is no such directory.
        EngineError: the sidecar does not come up.
    """
    directory = Path(door)
    if not directory.is_absolute() or not directory.is_dir():
        raise UserError("no such directory", field="door", value=door)
    # The gateway's directory lets only its owner in.
    owner = directory.stat()
    user = f"{owner.st_uid}:{owner.st_gid}"
    try:
        made = api.create_container(
            image,
            _command(proxy=proxy),
            entrypoint=[],
            user=user,
            hostname=HOSTNAME,
            name=f"uniclaw-net-{secrets.token_hex(6)}",
            host_config=api.create_host_config(
                network_mode="none",
                cap_drop=["ALL"],
                security_opt=["no-new-privileges"],
                read_only=True,
                binds=[f"{directory}:{_MOUNT}:ro"],
                mem_limit=_MEMORY_BYTES,
                memswap_limit=_MEMORY_BYTES,
                pids_limit=_PIDS,
            ),
            labels=labels,
        )
    except (DockerException, RequestException) as error:
        raise EngineError(f"cannot create the network sidecar of {image}: {error}") from error
    namespace = Namespace(text_of(made.get("Id")))
    try:
        api.start(namespace.container)
        argv = ["/bin/sh", "-c", _WAIT]
        code, _ = run_plain(api, namespace.container, argv, user=user, timeout_s=_READY_S)
    except (DockerException, RequestException) as error:
        close_namespace(api, namespace)
        raise EngineError(f"the network sidecar does not start: {error}") from error
    if code != 0:
        close_namespace(api, namespace)
        raise EngineError("the network sidecar's forwarder does not listen")
    return namespace


def namespace_of(api: DockerApi, container: str) -> Namespace:
    """The namespace that a running container is in: its own, or that of a sidecar.

    Raises:
        EngineError: there is no such container, or it shares more than a closed namespace.
    """
    try:
        found = api.inspect_container(container)
    except (DockerException, RequestException) as error:
        raise EngineError(f"cannot join the network of {container}: {error}") from error
    mode = mapping_of(found.get("HostConfig")).get("NetworkMode")
    if mode == "none":
        return Namespace(text_of(found.get("Id")))
    if isinstance(mode, str) and mode.startswith(_JOINED):
        return Namespace(mode.removeprefix(_JOINED))
    raise EngineError(f"cannot join the network of {container}: its mode is {mode!r}")


def _command(*, proxy: bool) -> list[str]:
    ways = [(DOOR_PORT, SOCKET_NAME)]
    if proxy:
        ways.append((PROXY_PORT, PROXY_SOCKET_NAME))
    options = ["--ready", _READY]
    for port, name in ways:
        options += ["--port", str(port), "--target", f"{_MOUNT}/{name}"]
    return ["python3", "-I", "/usr/local/lib/uniclaw/forward.py", *options]


def close_namespace(api: DockerApi, namespace: Namespace) -> None:
    """Remove the sidecar; one that is gone is fine.

    Raises:
        EngineError: the engine refused.
    """
    try:
        api.remove_container(namespace.container, force=True, v=True)
    except NotFound:
        pass
    except APIError as error:
        if "already in progress" not in str(error.explanation):
            raise EngineError(f"cannot remove the network sidecar: {error}") from error
    except (DockerException, RequestException) as error:
        raise EngineError(f"cannot remove the network sidecar: {error}") from error
