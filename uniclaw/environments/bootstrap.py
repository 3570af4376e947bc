"""The bare Debian under all recipes: pulled where a registry answers, else bootstrapped.

A bootstrapped tree is kept as a tar in the cache, so it is made once a machine.
Must not know recipes or environments.
"""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from docker.errors import DockerException
from requests.exceptions import RequestException

from uniclaw.environments.engine import cache_dir, connect
from uniclaw.environments.host_settings import (
    DEBIAN_MIRROR,
    DEBIAN_SECURITY,
    DEBIAN_SUITE,
    HostSettings,
    debian_sources,
    gather,
)
from uniclaw.environments.labels import KEEP, MARK
from uniclaw.environments.wire import DockerApi
from uniclaw.errors import EngineError

BOOTSTRAP_VERSION = "1"
"""Part of every image's hash; raise it when the tree made here changes."""

_PULLED = ("debian", f"{DEBIAN_SUITE}-slim")
_PULL_SILENCE_S = 20
_TAIL_BYTES = 2000
_DROPPED = (
    "var/cache/apt",
    "var/lib/apt/lists",
    "var/log",
    "usr/share/doc",
    "usr/share/info",
    "usr/share/lintian",
    "usr/share/locale",
    "usr/share/man",
)
_HOST_FILES = ("etc/resolv.conf", "etc/hostname", "etc/machine-id", "etc/timezone")
"""What the bootstrap tools copy from the host or make for it."""

Progress = Callable[[str], None]


def import_bare(api: DockerApi, repository: str, tag: str, progress: Progress) -> None:
    """Make the image `repository:tag`.

    Raises:
        EngineError: no registry answers and nothing can bootstrap here.
    """
    if _pull(repository, tag, progress):
        return
    archive = cache_dir() / f"debian-{DEBIAN_SUITE}-{_architecture(api)}-{BOOTSTRAP_VERSION}.tar"
    if not archive.exists():
        _bootstrap(archive, progress)
    progress(f"importing {archive.name}")
    changes = [f"LABEL {MARK}=1 {KEEP}=1 uniclaw.source=bootstrapped", 'CMD ["/bin/sh"]']
    try:
        api.import_image(str(archive), repository=repository, tag=tag, changes=changes)
    except (DockerException, RequestException) as error:
        raise EngineError(f"cannot import {archive}: {error}") from error


def _architecture(api: DockerApi) -> str:
    return str(api.version().get("Arch", "unknown"))


def _pull(repository: str, tag: str, progress: Progress) -> bool:
    """Try a registry; a silent one counts as none."""
    name, version = _PULLED
    progress(f"asking a registry for {name}:{version}")
    api = connect(timeout_s=_PULL_SILENCE_S)
    try:
        for _ in api.pull(name, tag=version, stream=True):
            pass
        api.tag(f"{name}:{version}", repository, tag)
    except (DockerException, RequestException):
        progress("no registry answers")
        return False
    finally:
        api.close()
    return True


def _bootstrap(archive: Path, progress: Progress) -> None:
    settings = gather()
    with tempfile.TemporaryDirectory(prefix="uniclaw-bootstrap-", dir=archive.parent) as scratch:
        tree = Path(scratch) / "root"
        progress(f"bootstrapping Debian {DEBIAN_SUITE} from {settings.mirror}")
        _run(_command(tree, settings), progress)
        _clean(tree)
        partial = Path(scratch) / "root.tar"
        _run(["tar", "--numeric-owner", "-C", str(tree), "-cf", str(partial), "."], progress)
        partial.replace(archive)


def _command(tree: Path, settings: HostSettings) -> list[str]:
    """The bootstrap tool that is here, or that root can install."""
    mirror = settings.mirror
    if os.geteuid() == 0:
        if shutil.which("debootstrap") is None and shutil.which("apt-get"):
            env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
            for command in (
                ["update"],
                ["install", "-y", "--no-install-recommends", "debootstrap"],
            ):
                subprocess.run(["apt-get", *command], env=env, capture_output=True, check=False)
        if shutil.which("debootstrap"):
            return [
                "debootstrap",
                "--variant=minbase",
                "--include=ca-certificates",
                DEBIAN_SUITE,
                str(tree),
                mirror,
            ]
    if shutil.which("mmdebstrap"):
        return [
            "mmdebstrap",
            "--variant=minbase",
            "--include=ca-certificates",
            DEBIAN_SUITE,
            str(tree),
            mirror,
        ]
    raise EngineError(
        "no image registry answers, and neither `debootstrap` (as root) nor `mmdebstrap` is "
        "installed to bootstrap Debian from packages: install one of them"
    )


def _run(command: Sequence[str], progress: Progress) -> None:
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as process:
        tail = b""
        for line in process.stdout or ():
            tail = (tail + line)[-_TAIL_BYTES:]
            progress(line.decode("utf-8", "replace").rstrip())
    if process.returncode != 0:
        text = tail.decode("utf-8", "replace")
        raise EngineError(f"`{command[0]}` failed with {process.returncode}: {text}")


def _clean(tree: Path) -> None:
    """Take out what belongs to this host or is of no use in an image."""
    for name in _DROPPED:
        directory = tree / name
        for child in directory.iterdir() if directory.is_dir() else ():
            if child.is_dir() and not child.is_symlink():
                shutil.rmtree(child)
            else:
                child.unlink()
    for name in ("var/cache/apt/archives/partial", "var/lib/apt/lists/partial"):
        (tree / name).mkdir(parents=True, exist_ok=True)
    for name in _HOST_FILES:
        if (tree / name).exists() or (tree / name).is_symlink():
            (tree / name).unlink()
            (tree / name).touch()
    for path in (tree / "etc/apt/sources.list.d").glob("*"):
        path.unlink()
    sources = debian_sources(DEBIAN_MIRROR, DEBIAN_SECURITY)
    (tree / "etc/apt/sources.list").write_text(sources, encoding="utf-8")
    for path in (tree / "etc/apt/apt.conf.d").glob("*mmdebstrap*"):
        path.unlink()
