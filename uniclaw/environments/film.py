"""Film a turn: a recipe's recorder in a container beside the agent's.

It shares the agent's network namespace, where displays (abstract sockets) and debugging ports are,
and nothing else: the agent can neither end nor starve it. A film that fails is a remark, never an
error. Must not know turns or episodes.
"""

import secrets
import shutil
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from docker.errors import DockerException
from requests.exceptions import RequestException

from uniclaw.environments.docker_freeze import archive_of
from uniclaw.environments.recipe import Film
from uniclaw.environments.stage import FilmQuality, FilmResult
from uniclaw.environments.threads import in_thread
from uniclaw.environments.wire import DockerApi, text_of
from uniclaw.errors import EngineError

_USER = "65534:65534"
_OUTPUT = PurePosixPath("/tmp/turn")
_MEMORY_BYTES = 1_000_000_000
_PIDS = 128
_CPUS = 1.0
_END_S = 60
_TROUBLE = (DockerException, RequestException, EngineError, OSError)


class Scene(NamedTuple):
    """Where a film is made."""

    api: DockerApi
    image: str
    """The recipe's own, never what the agent changed."""
    network: str
    """`network_mode` that joins the agent's namespace."""
    labels: Mapping[str, str]


class DockerFilm:
    """A film that is being made. See `stage.FilmInProgress`."""

    def __init__(self, scene: Scene, film: Film, quality: FilmQuality, max_bytes: int) -> None:
        self._scene = scene
        self._film = film
        self._max_bytes = max_bytes
        self._path = _OUTPUT.with_suffix(film.suffix)
        self._container: str | None = None
        self._problem: str | None = None
        try:
            self._container = self._begin(quality)
        except _TROUBLE as error:
            self._problem = f"the recorder does not start: {error}"

    def _begin(self, quality: FilmQuality) -> str:
        api = self._scene.api
        made = api.create_container(
            self._scene.image,
            ["/bin/sh", "-c", self._film.command],
            entrypoint=[],
            user=_USER,
            name=f"uniclaw-film-{secrets.token_hex(6)}",
            environment={
                "HOME": "/tmp",
                "RECORD_FILE": str(self._path),
                "RECORD_FPS": f"{self._film.fps[quality]:g}",
                "RECORD_MAX_BYTES": str(self._max_bytes),
            },
            host_config=api.create_host_config(
                network_mode=self._scene.network,
                cap_drop=["ALL"],
                security_opt=["no-new-privileges"],
                mem_limit=_MEMORY_BYTES,
                memswap_limit=_MEMORY_BYTES,
                pids_limit=_PIDS,
                nano_cpus=int(_CPUS * 1e9),
            ),
            labels=self._scene.labels,
        )
        container = text_of(made.get("Id"))
        try:
            api.start(container)
        except (DockerException, RequestException):
            api.remove_container(container, force=True, v=True)
            raise
        return container

    async def end(self, into: Path) -> FilmResult:
        """Stop and copy; see the protocol."""
        return await in_thread(self._end, into.with_suffix(self._film.suffix))

    def _end(self, into: Path) -> FilmResult:
        container, self._container = self._container, None
        if container is None:
            return FilmResult(None, self._problem or "it ended before")
        try:
            self._stop(container)
            size = self._copy(container, into)
        except _TROUBLE as error:
            into.unlink(missing_ok=True)
            return FilmResult(None, f"the film is lost: {error}")
        finally:
            self._remove(container)
        if not size:
            into.unlink(missing_ok=True)
            return FilmResult(None, "there was nothing to film")
        return FilmResult(into, None)

    def _stop(self, container: str) -> None:
        api = self._scene.api
        try:
            api.kill(container, signal="SIGINT")
        except DockerException:
            return  # it ended by itself, at the cap or in trouble: what it wrote still counts
        api.wait(container, timeout=_END_S)

    def _copy(self, container: str, into: Path) -> int:
        with archive_of(self._scene.api, container, self._path) as archive:
            member = None if archive is None else archive.next()
            if archive is None or member is None or not member.isreg():
                return 0
            data = archive.extractfile(member)
            if data is None or member.size > 2 * self._max_bytes:
                raise EngineError(f"{member.size} bytes, more than {self._max_bytes}")
            into.parent.mkdir(parents=True, exist_ok=True)
            with into.open("wb") as out:
                shutil.copyfileobj(data, out)
            return member.size

    def _remove(self, container: str) -> None:
        try:
            self._scene.api.remove_container(container, force=True, v=True)
        except _TROUBLE:
            # `clean` sweeps it by its labels; the turn's result must not wait for it.
            return
