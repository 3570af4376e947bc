"""Snapshots of containers: images that are measured before they are made.

A commit writes holes of sparse files as zeros and cannot be cancelled, so what is too large is
refused before. Must not know episodes.
"""

import secrets

from docker.errors import APIError, ImageNotFound

from uniclaw.environments import sidecar
from uniclaw.environments.docker_exec import run_plain
from uniclaw.environments.labels import SNAPSHOT
from uniclaw.environments.snapshot_tags import MAX_BYTES, check_tag
from uniclaw.environments.wire import DockerApi
from uniclaw.errors import EngineError, UserError

REPOSITORY = "uniclaw/snapshot"
_MEASURE_S = 300.0
HOLES = (
    "find /proc/1/root/ -xdev -type f -printf '%s %b %i\\n' |"
    " awk '{ hole = $1 - 512 * $2; if (hole > 0) holes += hole } END { printf \"%.0f\", holes }'"
)
"""Bytes in holes, over all files; an image's own files have none."""


def commit(api: DockerApi, target: sidecar.Target, tag: str) -> str:
    """Save a paused container as an image of its own name; returns that name.

    Raises:
        EngineError: it is larger than `MAX_BYTES`.
    """
    name = f"{check_tag(tag)}.{secrets.token_hex(4)}"
    size = measure(api, target)
    if size > MAX_BYTES:
        raise EngineError(f"a snapshot of {size} bytes is larger than {MAX_BYTES}")
    conf = {"Labels": {**target.labels, SNAPSHOT: "1"}}
    api.commit(target.container, repository=REPOSITORY, tag=name, pause=False, conf=conf)
    return f"{REPOSITORY}:{name}"


def measure(api: DockerApi, target: sidecar.Target) -> int:
    """What a commit would write.

    The classic storage drivers count a changed layer by apparent sizes, which is that. The
    containerd store counts blocks, so there the holes are added.
    """
    filters = {"id": target.container}
    rows = api.containers(all=True, size=True, filters=filters)
    found = rows[0].get("SizeRw") if rows else None
    size = found if isinstance(found, int) else 0
    if "io.containerd" not in str(api.info().get("DriverStatus")):
        return size
    with sidecar.beside(api, target, sidecar.READER) as side:
        argv = ["/bin/sh", "-c", HOLES]
        code, output = run_plain(api, side, argv, user="0:0", timeout_s=_MEASURE_S)
    text = output.bytes_of("stdout").decode("ascii", "replace")
    if code != 0 or not text.isdecimal():
        raise EngineError(f"cannot measure a container before its snapshot: {text!r}")
    return int(text) + size


def remove(api: DockerApi, snapshot: str) -> None:
    """Remove a snapshot's image; one that is gone is fine."""
    if not snapshot.startswith(f"{REPOSITORY}:"):
        raise UserError("not a snapshot", field="snapshot", value=snapshot)
    try:
        api.remove_image(snapshot, force=True)
    except ImageNotFound:
        return
    except APIError as error:
        raise EngineError(f"cannot remove {snapshot}: {error}") from error
