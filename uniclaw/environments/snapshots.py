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
from uniclaw.environments.wire import DockerApi, mapping_of
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
        EngineError: it is larger than `MAX_BYTES`, or has state that a commit does not hold.
    """
    name = f"{check_tag(tag)}.{secrets.token_hex(4)}"
    refuse_state_elsewhere(api, target)
    size = measure(api, target)
    if size > MAX_BYTES:
        raise EngineError(f"a snapshot of {size} bytes is larger than {MAX_BYTES}")
    conf = {"Labels": {**target.labels, SNAPSHOT: "1"}}
    api.commit(target.container, repository=REPOSITORY, tag=name, pause=False, conf=conf)
    return f"{REPOSITORY}:{name}"


def refuse_state_elsewhere(api: DockerApi, target: sidecar.Target) -> None:
    """Refuse what a commit would lose in silence: volumes, and file systems in memory.

    Raises:
        EngineError: names the place.
    """
    found = api.inspect_container(target.container)
    mounts = found.get("Mounts")
    for mount in mounts if isinstance(mounts, list) else []:
        row = mapping_of(mount)
        if row.get("Type") in {"volume", "tmpfs"} or row.get("RW") is True:
            place, kind = row.get("Destination"), row.get("Type")
            raise EngineError(f"no snapshot: {place} is a {kind}, which a commit does not hold")
    tmpfs = mapping_of(mapping_of(found.get("HostConfig")).get("Tmpfs"))
    if tmpfs:
        raise EngineError(f"no snapshot: {', '.join(sorted(tmpfs))} lies in memory (tmpfs)")


IN_MEMORY = (
    "find /dev/shm -xdev -type f -size +0 ! -name '.org.chromium.*' ! -name '.com.google.*'"
    " 2>/dev/null | head -n 1"
)
"""A file in shared memory; what browsers leave there is nothing without their processes."""


def refuse_in_memory(found: bytes) -> None:
    """Refuse a container that keeps files in shared memory.

    Raises:
        EngineError: names one.
    """
    if found.strip():
        name = found.decode("utf-8", "replace").strip()
        raise EngineError(f"no snapshot: {name!r} lies in memory, which a commit does not hold")


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
