"""Run a recipe's steps in a container of its parent and commit it; run its self-test.

Each RUN is an exec with the host's settings in its variables and on a memory file system;
neither is part of what is committed. Must not know how images are named or found.
"""

import io
import re
import tarfile
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Protocol

from docker.errors import APIError, DockerException
from requests.exceptions import RequestException

from uniclaw.environments.bootstrap import Progress
from uniclaw.environments.host_settings import MOUNT, HostSettings, gather
from uniclaw.environments.labels import KEEP, MARK, OWNER, this_owner
from uniclaw.environments.recipe import Recipe, Session, Step, Trial, expand
from uniclaw.environments.session import SessionFailed, start_session
from uniclaw.environments.wire import Connection, DockerApi, Frames, Json, mapping_of, text_of
from uniclaw.errors import EngineError, UserError

IDLE = ("/bin/sh", "-c", "while :; do sleep 2147483647 & wait $!; done")
"""PID 1 of our containers: a shell reaps orphans and outlives the killing of its `sleep`."""

_STEP_S = 3600.0
_TEST_S = 300.0
_TAIL_BYTES = 4000
_TIDY = (
    "rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin /var/cache/apt/archives/*.deb"
    " /var/cache/debconf/*-old /var/cache/ldconfig/* /var/log/* /var/tmp/* /tmp/*"
    " /root/.cache /root/.npm /root/.local/share/uv"
)


class Named(Protocol):
    """Where a built image goes."""

    @property
    def repository(self) -> str:
        """Name without tag."""
        ...

    @property
    def hash(self) -> str:
        """Tag."""
        ...


class _Config:
    """What the Dockerfile has set so far."""

    def __init__(self, parent: Json) -> None:
        config = mapping_of(parent.get("Config"))
        raw = config.get("Env")
        pairs = [text_of(e) for e in raw] if isinstance(raw, list) else []
        self.env = {k: v for k, _, v in (p.partition("=") for p in pairs)}
        self.env.setdefault("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
        self.user = str(config.get("User") or "")
        self.workdir = str(config.get("WorkingDir") or "/")

    def commit_conf(self, labels: Mapping[str, str]) -> dict[str, object]:
        return {
            "Env": [f"{k}={v}" for k, v in self.env.items()],
            "User": self.user,
            "WorkingDir": self.workdir,
            "Cmd": ["/bin/sh"],
            "Labels": dict(labels),
        }


def build_image(
    api: DockerApi, recipe: Recipe, parent: str, target: Named, progress: Progress
) -> None:
    """Build one recipe on an image that exists.

    Raises:
        EngineError: a step failed, with the end of its output.
    """
    settings = gather()
    config = _Config(_inspect(api, parent))
    labels = {MARK: "1", KEEP: "1", OWNER: "", "uniclaw.recipe": recipe.name}
    with _container(api, parent, network="host") as container:
        _load_settings(api, container, settings)
        for step in recipe.steps:
            _play(api, container, step, recipe, config, settings, progress)
        tidy = Step(word="RUN", arguments=("/bin/sh", "-c", _TIDY), line=0)
        _run(api, container, tidy, _Config({}), settings, progress)
        progress("committing")
        try:
            api.commit(
                container,
                repository=target.repository,
                tag=target.hash,
                conf=config.commit_conf(labels),
            )
        except (DockerException, RequestException) as error:
            raise EngineError(f"cannot commit {target.repository}: {error}") from error


def run_self_test(
    api: DockerApi, image: str, trials: Sequence[Trial], session: Session | None = None
) -> Sequence[str]:
    """Run commands as the agent in a fresh container without network; the failures."""
    failures: list[str] = []
    with _container(api, image, network="none") as container:
        if session is not None:
            try:
                start_session(api, container, session, user="1000:1000")
            except SessionFailed as error:
                return [str(error)]
        for trial in trials:
            argv = ["/bin/sh", "-c", trial.run]
            code, tail = _exec(api, container, argv, user="1000", timeout_s=_TEST_S)
            text = tail.decode("utf-8", "replace").strip()
            if code != trial.exit:
                failures.append(f"`{trial.run}` exited {code}, not {trial.exit}: {text}")
            elif trial.output is not None and not re.search(trial.output, text, re.MULTILINE):
                failures.append(f"`{trial.run}` said nothing like {trial.output!r}: {text}")
    return failures


@contextmanager
def _container(api: DockerApi, image: str, *, network: str) -> Generator[str, None, None]:
    try:
        made = api.create_container(
            image,
            list(IDLE),
            entrypoint=[],
            user="0",
            hostname="uniclaw-build",
            host_config=api.create_host_config(network_mode=network, tmpfs={MOUNT: "mode=755"}),
            labels={MARK: "1", OWNER: str(this_owner())},
        )
    except (DockerException, RequestException) as error:
        raise EngineError(f"cannot start a build on {image}: {error}") from error
    container = text_of(made.get("Id"))
    try:
        api.start(container)
        yield container
    except (DockerException, RequestException) as error:
        raise EngineError(f"the engine failed in a build on {image}: {error}") from error
    finally:
        api.remove_container(container, force=True, v=True)


def _inspect(api: DockerApi, image: str) -> Json:
    try:
        return api.inspect_image(image)
    except (DockerException, RequestException) as error:
        raise EngineError(f"cannot look up image {image}: {error}") from error


def _load_settings(api: DockerApi, container: str, settings: HostSettings) -> None:
    """Unpack the settings on the memory file system, where copying by the engine cannot reach."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, data in settings.files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            member.mode = 0o644
            archive.addfile(member, io.BytesIO(data))
    code, tail = _exec(
        api, container, ["tar", "-x", "-C", MOUNT], stdin=buffer.getvalue(), timeout_s=60
    )
    if code != 0:
        raise EngineError(f"cannot bring settings into a build: {tail!r}")


def _play(
    api: DockerApi,
    container: str,
    step: Step,
    recipe: Recipe,
    config: _Config,
    settings: HostSettings,
    progress: Progress,
) -> None:
    match step.word:
        case "RUN":
            _run(api, container, step, config, settings, progress)
        case "COPY":
            _copy(api, container, step, recipe, config)
        case "ENV":
            for pair in step.arguments:
                key, _, value = pair.partition("=")
                config.env[key] = expand(value, config.env)
        case "WORKDIR":
            path = PurePosixPath(config.workdir) / expand(step.arguments[0], config.env)
            config.workdir = str(path)
            made = Step(word="RUN", arguments=("mkdir", "-p", str(path)), line=step.line)
            _run(api, container, made, _Config({}), settings, progress)
        case "USER":
            config.user = step.arguments[0]
        case "ARG" | "FROM":
            pass


def _run(
    api: DockerApi,
    container: str,
    step: Step,
    config: _Config,
    settings: HostSettings,
    progress: Progress,
) -> None:
    code, tail = _exec(
        api,
        container,
        step.arguments,
        environment={**config.env, **settings.variables},
        user=config.user or "0",
        workdir=config.workdir,
        timeout_s=_STEP_S,
        progress=progress,
    )
    if code != 0:
        text = tail.decode("utf-8", "replace")
        raise EngineError(f"line {step.line} of the Dockerfile failed with {code}: {text}")


def _copy(api: DockerApi, container: str, step: Step, recipe: Recipe, config: _Config) -> None:
    uid, _, gid = (step.owner or "0:0").partition(":")
    target = expand(step.arguments[-1], config.env)
    absolute = PurePosixPath(config.workdir) / target
    sources = [recipe.directory / s for s in step.arguments[:-1]]
    into_directory = target.endswith("/") or len(sources) > 1
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for source in sources:
            if not source.exists():
                raise UserError(
                    f"line {step.line}: COPY finds nothing",
                    file=recipe.directory / "Dockerfile",
                    value=source.name,
                )
            base = absolute / source.name if into_directory and source.is_file() else absolute
            for path, name in _tree(source, base):
                _add(archive, path, name, int(uid), int(gid))
    api.put_archive(container, "/", buffer.getvalue())


def _tree(source: Path, base: PurePosixPath) -> Iterator[tuple[Path, str]]:
    yield source, str(base)
    if source.is_dir():
        for path in sorted(source.rglob("*")):
            yield path, str(base / path.relative_to(source).as_posix())


def _add(archive: tarfile.TarFile, path: Path, name: str, uid: int, gid: int) -> None:
    member = archive.gettarinfo(path, arcname=name.lstrip("/"))
    member.uid, member.gid, member.uname, member.gname = uid, gid, "", ""
    member.mtime = 0
    if member.isfile():
        with path.open("rb") as data:
            archive.addfile(member, data)
    else:
        archive.addfile(member)


def _exec(
    api: DockerApi,
    container: str,
    command: Sequence[str],
    *,
    timeout_s: float,
    stdin: bytes = b"",
    environment: Mapping[str, str] | None = None,
    user: str = "0",
    workdir: str | None = None,
    progress: Progress | None = None,
) -> tuple[int | None, bytes]:
    """Run a command to its end: exit code (None past the time) and the end of its output."""
    made = api.exec_create(
        container,
        list(command),
        stdin=bool(stdin),
        user=user,
        environment=environment,
        workdir=workdir,
    )
    exec_id = text_of(made.get("Id"))
    frames = Frames()
    tail = bytearray()
    lines = _Lines(progress)

    def receive(data: bytes) -> None:
        for _, piece in frames.feed(data):
            tail.extend(piece)
            del tail[:-_TAIL_BYTES]
            lines.feed(piece)

    connection = Connection(api.exec_start(exec_id, socket=True))
    deadline = time.monotonic() + timeout_s
    try:
        ended = connection.pump(stdin, receive, lambda: False, deadline=deadline)
    finally:
        connection.close()
    if ended != "eof":
        return None, bytes(tail)
    try:
        code = api.exec_inspect(exec_id).get("ExitCode")
    except APIError as error:
        raise EngineError(f"a build step vanished: {error}") from error
    return code if isinstance(code, int) else None, bytes(tail)


class _Lines:
    """Hands whole lines of output to a progress callback."""

    def __init__(self, progress: Progress | None) -> None:
        self._progress = progress
        self._rest = b""

    def feed(self, data: bytes) -> None:
        if self._progress is None:
            return
        *whole, rest = (self._rest + data).split(b"\n")
        self._rest = rest[-_TAIL_BYTES:]
        for line in whole:
            self._progress(line.decode("utf-8", "replace").rstrip())
