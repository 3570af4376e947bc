"""Find the Docker engine, or bring one up on a Debian machine where we are root.

`python -m uniclaw.environments.engine` makes sure that an engine answers and says which.
Must not know recipes, environments or episodes.
"""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, cast

import docker
from docker.errors import DockerException
from requests.exceptions import RequestException

from uniclaw.environments.wire import DockerApi
from uniclaw.errors import EngineError

DEFAULT_SOCKET = "/var/run/docker.sock"
_START_S = 60.0
_POLL_S = 0.2
_LOG_TAIL_BYTES = 2000


class EngineInfo(NamedTuple):
    """The engine that answers."""

    url: str
    version: str
    started_by_us: bool


def cache_dir(environ: Mapping[str, str] = os.environ) -> Path:
    """`UNICLAW_CACHE`, or `~/.cache/uniclaw`; created."""
    given = environ.get("UNICLAW_CACHE")
    path = Path(given) if given else Path.home() / ".cache" / "uniclaw"
    path.mkdir(parents=True, exist_ok=True)
    return path


def engine_url(environ: Mapping[str, str] = os.environ) -> str:
    """`DOCKER_HOST`, the rootless socket when it is the only one, or the default socket."""
    if environ.get("DOCKER_HOST"):
        return environ["DOCKER_HOST"]
    rootless = Path(environ.get("XDG_RUNTIME_DIR") or "/nonexistent") / "docker.sock"
    if rootless.exists() and not Path(DEFAULT_SOCKET).exists():
        return f"unix://{rootless}"
    return f"unix://{DEFAULT_SOCKET}"


def connect(url: str | None = None, *, timeout_s: float = 60.0) -> DockerApi:
    """A client of the engine; safe to use from several threads.

    Raises:
        EngineError: nothing answers there.
    """
    where = url or engine_url()
    _refuse_silent_socket(where)
    try:
        if where.startswith("tcp") and os.environ.get("DOCKER_TLS_VERIFY"):
            tls = docker.tls.TLSConfig(  # paths as the docker CLI has them
                ca_cert=str(_tls_file("ca.pem")),
                client_cert=(str(_tls_file("cert.pem")), str(_tls_file("key.pem"))),
                verify=True,
            )
            client: object = docker.APIClient(base_url=where, timeout=int(timeout_s), tls=tls)
        else:
            client = docker.APIClient(base_url=where, timeout=int(timeout_s), max_pool_size=64)
    except (DockerException, RequestException, OSError) as error:
        raise EngineError(f"no Docker engine answers at {where}: {error}") from error
    return cast("DockerApi", client)


def _refuse_silent_socket(url: str) -> None:
    """Look before the SDK does: it leaks a socket that cannot connect."""
    if not url.startswith("unix://"):
        return
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        try:
            probe.connect(url.removeprefix("unix://"))
        except OSError as error:
            raise EngineError(f"no Docker engine answers at {url}: {error.strerror}") from error


def _tls_file(name: str) -> Path:
    return Path(os.environ.get("DOCKER_CERT_PATH") or Path.home() / ".docker") / name


def answering(url: str | None = None) -> EngineInfo | None:
    """The engine at `url` when it answers."""
    where = url or engine_url()
    try:
        api = connect(where, timeout_s=10)
    except EngineError:
        return None
    try:
        version = api.version().get("Version")
    except (DockerException, RequestException):
        return None
    finally:
        api.close()
    return EngineInfo(where, str(version), _started_by_us(where))


def ensure_engine() -> EngineInfo:
    """An engine that answers: the one that runs, or a new one where we may start it.

    Raises:
        EngineError: none answers and none may be started; the message says what to do.
    """
    found = answering()
    if found is not None:
        return found
    if os.environ.get("DOCKER_HOST"):
        raise EngineError(
            f"no Docker engine answers at DOCKER_HOST={os.environ['DOCKER_HOST']!r}: "
            "start it, or unset DOCKER_HOST to use a local one"
        )
    _may_start()
    if shutil.which("dockerd") is None:
        _install()
    return _start()


def _may_start() -> None:
    if not sys.platform.startswith("linux") or os.geteuid() != 0:
        raise EngineError(
            "no Docker engine answers, and only root on Linux can start one: start Docker "
            "(for example `sudo systemctl start docker`, or Docker Desktop) and give your user "
            "access to its socket, or use `--environment process`"
        )
    if shutil.which("dockerd") is None and shutil.which("apt-get") is None:
        raise EngineError(
            "no Docker engine is installed, and this is no Debian machine: install Docker, "
            "or use `--environment process`"
        )


def _install() -> None:
    sys.stderr.write("installing Debian's docker.io ...\n")
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    install = ["apt-get", "install", "-y", "--no-install-recommends", "docker.io", "iptables"]
    for command in (["apt-get", "update"], install):
        done = subprocess.run(command, env=env, capture_output=True, check=False)
        if done.returncode != 0:
            tail = (done.stdout + done.stderr)[-_LOG_TAIL_BYTES:].decode("utf-8", "replace")
            raise EngineError(f"`{' '.join(command)}` failed: {tail}")
    # The package may have started its service already, where there is a service manager.


def _start() -> EngineInfo:
    """Start dockerd in the background, with less where the kernel lacks something."""
    log = cache_dir() / "dockerd.log"
    options: list[str] = []
    fallbacks = {
        "iptables": ["--iptables=false", "--ip6tables=false"],
        "graphdriver": ["--storage-driver=vfs"],
        "overlay": ["--storage-driver=vfs"],
    }
    while True:
        found = answering()
        if found is not None:
            return found
        process = _spawn(options, log)
        info = _wait_for(process)
        if info is not None:
            _remember(process.pid, info.url)
            # It outlives us by intent; a collected `Popen` would complain that it still runs.
            process.returncode = 0
            return info._replace(started_by_us=True)
        text = _tail(log)
        more = next((v for k, v in fallbacks.items() if k in text and v[0] not in options), None)
        if more is None:
            raise EngineError(f"dockerd did not come up, see {log}: {text}")
        options += more


def _spawn(options: Sequence[str], log: Path) -> "subprocess.Popen[bytes]":
    with log.open("wb") as out:
        return subprocess.Popen(
            ["dockerd", *options],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            cwd="/",
        )


def _wait_for(process: "subprocess.Popen[bytes]") -> EngineInfo | None:
    deadline = time.monotonic() + _START_S
    while time.monotonic() < deadline:
        found = answering() if Path(DEFAULT_SOCKET).exists() else None
        if found is not None:
            return found
        if process.poll() is not None:
            return None
        time.sleep(_POLL_S)
    process.send_signal(signal.SIGTERM)
    process.wait()
    return None


def _tail(log: Path) -> str:
    return log.read_bytes()[-_LOG_TAIL_BYTES:].decode("utf-8", "replace")


def _state_file() -> Path:
    return cache_dir() / "engine.json"


def _remember(pid: int, url: str) -> None:
    """Write down that this engine is ours; the process itself outlives us."""
    temporary = _state_file().with_suffix(".tmp")
    temporary.write_text(json.dumps({"pid": pid, "url": url}), encoding="utf-8")
    temporary.replace(_state_file())


def _started_by_us(url: str) -> bool:
    try:
        state = json.loads(_state_file().read_text(encoding="utf-8"))
        name = Path(f"/proc/{int(state['pid'])}/comm").read_text(encoding="utf-8").strip()
    except (OSError, ValueError, KeyError, TypeError):
        return False
    return state.get("url") == url and name == "dockerd"


def main() -> int:
    """Entry of `python -m uniclaw.environments.engine`: 0 when an engine answers, else 1."""
    try:
        info = ensure_engine()
    except EngineError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    ours = ", started by uniclaw" if info.started_by_us else ""
    sys.stdout.write(f"Docker engine {info.version} at {info.url}{ours}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
