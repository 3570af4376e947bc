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
from uniclaw.environments.wire import DockerApi, text_of
from uniclaw.errors import EngineError, UserError

RELAY = "relay"
"""Recipe of the sidecar's image."""
DOOR_PORT = 8377
"""Loopback port, inside the namespace, that leads to the gateway."""
DOOR_URL = f"http://127.0.0.1:{DOOR_PORT}"
SOCKET_NAME = "gateway.sock"
"""Name of the gateway's socket in the directory that a spec names."""
HOSTNAME = "workspace"

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
        return f"container:{self.container}"


def open_namespace(api: DockerApi, image: str, door: str, labels: Mapping[str, str]) -> Namespace:
    """Start the sidecar, and return when its forwarder listens.

    Args:
        api: The engine.
        image: Tag of the recipe `relay`.
        door: Host directory with the gateway's socket, `gateway.sock`.
        labels: Those of the episode's other containers.

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
            _command(),
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


def _command() -> list[str]:
    program = "/usr/local/lib/uniclaw/forward.py"
    target = f"{_MOUNT}/{SOCKET_NAME}"
    options = ["--port", str(DOOR_PORT), "--target", target, "--ready", _READY]
    return ["python3", "-I", program, *options]


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
