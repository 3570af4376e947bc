"""The Docker adapter: one container an environment, through the official SDK.

Containers have no network, no capabilities, limits on memory, CPU and processes, and an init
that the agent cannot end. Must not know tasks, roles or the hidden side.
"""

import asyncio
import secrets
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path, PurePosixPath
from typing import Literal, ParamSpec, TypeVar

from docker.errors import APIError, DockerException, ImageNotFound, NotFound
from requests.exceptions import RequestException

from uniclaw.environments import sidecar, snapshots
from uniclaw.environments.build import IDLE
from uniclaw.environments.cgroups import INSIDE_COMMAND, Counters, parse_oom_kills
from uniclaw.environments.docker_exec import (
    KILL_ALL,
    NOT_EXECUTABLE,
    NOT_FOUND,
    Call,
    Done,
    Execution,
    Running,
    run_plain,
)
from uniclaw.environments.docker_freeze import Freezer, archive_of, first_link, stat_path
from uniclaw.environments.engine import connect
from uniclaw.environments.frozen_tree import FrozenTree
from uniclaw.environments.images import Images
from uniclaw.environments.labels import labels_for
from uniclaw.environments.packing import pack
from uniclaw.environments.paths import above, inside_path
from uniclaw.environments.wire import DockerApi, mapping_of, text_of
from uniclaw.errors import EngineError, EnvironmentKilledByAgent, EnvironmentLost, UserError
from uniclaw.ports import Environment, EnvironmentSpec, ExecResult, FreezeLimits
from uniclaw.records import Manifest, ProbeResult

AGENT_UID = 1000
_UIDS: Mapping[str, int] = {"agent": AGENT_UID, "root": 0}
_HOMES: Mapping[str, str] = {"agent": "/home/agent", "root": "/root"}
_SIGKILL = 128 + 9
_KILL_S = 10.0
_PROBE_BYTES = 100_000
_NEVER_OWNED = frozenset(
    PurePosixPath(p) for p in ("/", "/tmp", "/var/tmp", "/home", "/root", "/etc", "/opt", "/srv")
)
"""System directories that no one asks to own as a whole: their owner and mode stay."""

# Own threads: a command that runs for minutes would starve everyone else of asyncio's few.
_THREADS = ThreadPoolExecutor(max_workers=256, thread_name_prefix="uniclaw-docker")

P = ParamSpec("P")
R = TypeVar("R")


async def _in_thread(call: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    return await asyncio.get_running_loop().run_in_executor(
        _THREADS, lambda: call(*args, **kwargs)
    )


class DockerFactory:
    """Starts containers of built recipes."""

    def __init__(self, images: Images, *, run: str) -> None:
        self._images = images
        self._api = images.api
        self._run = run
        self._disk_option = True

    async def start(self, spec: EnvironmentSpec) -> Environment:
        """Start a container of the recipe `spec.image`.

        Raises:
            UserError: there is no such recipe, it is not built, or a path is none.
            EngineError: the engine refused.
        """
        return await _in_thread(self._start, self._recipe_image(spec), spec)

    async def fork(self, snapshot: str, spec: EnvironmentSpec) -> Environment:
        """Start from a snapshot; the same spec gives the same limits and paths."""
        return await _in_thread(self._start, snapshot, spec)

    async def remove_snapshot(self, snapshot: str) -> None:
        """Remove a snapshot's image; one that is gone is fine."""
        await _in_thread(snapshots.remove, self._api, snapshot)

    def _recipe_image(self, spec: EnvironmentSpec) -> str:
        return self._images.resolve(spec.image).tag

    def _start(self, image: str, spec: EnvironmentSpec) -> Environment:
        directories = _directories(spec)
        labels = labels_for(self._run, spec.labels)
        name = f"uniclaw-{secrets.token_hex(8)}"
        container = self._create(image, spec, name, labels)
        try:
            self._api.start(container)
        except (DockerException, RequestException) as error:
            self._api.remove_container(container, force=True, v=True)
            raise EngineError(f"cannot start a container of {image}: {error}") from error
        target = sidecar.Target(container, self._recipe_image(spec), labels)
        return DockerEnvironment(self._api, name, target, spec, directories)

    def _create(
        self, image: str, spec: EnvironmentSpec, name: str, labels: Mapping[str, str]
    ) -> str:
        try:
            made = self._api.create_container(
                image,
                list(IDLE),
                entrypoint=[],
                user="0:0",
                hostname="workspace",
                name=name,
                host_config=self._host_config(spec),
                labels=labels,
            )
        except ImageNotFound as error:
            raise UserError(
                f"image {image} is not built: run `uniclaw env build {spec.image}`",
                field="environment",
                value=spec.image,
            ) from error
        except APIError as error:
            if self._disk_option and "storage-opt" in str(error.explanation):
                self._disk_option = False
                return self._create(image, spec, name, labels)
            raise EngineError(f"cannot create a container of {image}: {error}") from error
        except (DockerException, RequestException) as error:
            raise EngineError(f"cannot create a container of {image}: {error}") from error
        return text_of(made.get("Id"))

    def _host_config(self, spec: EnvironmentSpec) -> Mapping[str, object]:
        limits = spec.limits
        options: dict[str, object] = {
            "network_mode": spec.network,
            "cap_drop": ["ALL"],
            "security_opt": ["no-new-privileges"],
            "pids_limit": limits.pids,
        }
        if limits.memory_bytes is not None:
            options |= {"mem_limit": limits.memory_bytes, "memswap_limit": limits.memory_bytes}
        if limits.cpus is not None:
            options["nano_cpus"] = int(limits.cpus * 1e9)
        if limits.disk_bytes is not None:
            # The whole layer where the storage driver can; each file at least.
            options["ulimits"] = [
                {"Name": "fsize", "Soft": limits.disk_bytes, "Hard": limits.disk_bytes}
            ]
            if self._disk_option:
                options["storage_opt"] = {"size": str(limits.disk_bytes)}
        if spec.read_only_mounts:
            options["binds"] = [
                f"{host}:{inside_path(inside)}:ro" for inside, host in spec.read_only_mounts.items()
            ]
        return self._api.create_host_config(**options)


def _directories(spec: EnvironmentSpec) -> list[PurePosixPath]:
    """The workspace and what else the user owns, with parents below the workspace."""
    owned = [inside_path(p, field="writable") for p in (spec.workspace, *spec.writable)]
    found: dict[PurePosixPath, None] = {}
    for path in owned:
        below = [p for p in above(path) if owned[0] in p.parents]
        found |= dict.fromkeys(p for p in (*below, path) if p not in _NEVER_OWNED)
    return list(found)


class DockerEnvironment:
    """A running container. See `ports.Environment` for what each method promises."""

    def __init__(
        self,
        api: DockerApi,
        name: str,
        target: sidecar.Target,
        spec: EnvironmentSpec,
        directories: Sequence[PurePosixPath],
    ) -> None:
        self._api = api
        self._name = name
        self._target = target
        self._container = target.container
        self._spec = spec
        self._uid = _UIDS[spec.user]
        self._owned = (PurePosixPath(_HOMES[spec.user]), *directories)
        self._pending = list(directories)
        self._pending_lock = threading.Lock()
        self._existing: set[PurePosixPath] = set(_NEVER_OWNED)
        self._running = Running()
        self._counters = Counters(self._container)
        self._oom_seen = self._counters.oom_kills() or 0
        self._paused = False
        self._closed = False

    @property
    def name(self) -> str:
        """The container's name."""
        return self._name

    async def exec(  # noqa: D102, PLR0913 - the port's signature and words
        self,
        command: Sequence[str] | str,
        *,
        stdin: bytes = b"",
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        user: Literal["agent", "root"] | None = None,
        timeout_s: float = 60.0,
        max_bytes: int = 1_000_000,
    ) -> ExecResult:
        uid = _UIDS[user or self._spec.user]
        call = Call(
            argv=["/bin/sh", "-c", command] if isinstance(command, str) else command,
            user=f"{uid}:{uid}",
            stdin=stdin,
            cwd=str(inside_path(cwd, field="cwd")) if cwd else self._spec.workspace,
            env={**self._spec.env, **(env or {})},
            timeout_s=timeout_s,
            max_bytes=max_bytes,
        )
        abort = threading.Event()
        try:
            return await _in_thread(self._guarded, self._exec, call, abort)
        except asyncio.CancelledError:
            abort.set()
            raise

    def _exec(self, call: Call, abort: threading.Event) -> ExecResult:
        self._flush()
        self._refuse_paused()
        before = self._oom_kills() if self._counters.visible else self._oom_seen
        done = Execution(self._api, self._container, self._running, abort).run(call)
        if done.still_there:
            sidecar.kill_all(self._api, self._target)
        if done.exit_code in {None, _SIGKILL}:
            self._check_alive()
        return ExecResult(
            exit_code=done.exit_code,
            stdout=done.output.bytes_of("stdout"),
            stderr=done.output.bytes_of("stderr"),
            truncated=done.output.truncated,
            total_bytes=done.output.total,
            timed_out=done.timed_out,
            duration_s=done.duration_s,
            oom_killed=self._oom_after(done) > before,
        )

    def _oom_after(self, done: Done) -> int:
        # Asking inside costs an exec, so only a command that failed is worth it.
        if self._counters.visible or done.exit_code != 0:
            return self._oom_kills()
        return self._oom_seen

    def _oom_kills(self) -> int:
        if self._counters.visible:
            found = self._counters.oom_kills()
        else:
            argv = ["/bin/sh", "-c", INSIDE_COMMAND]
            _, output = run_plain(
                self._api, self._container, argv, user="0:0", timeout_s=_KILL_S
            )
            found = parse_oom_kills(output.bytes_of("stdout").decode("ascii", "replace"))
        self._oom_seen = max(self._oom_seen, found or 0)
        return self._oom_seen

    async def put(self, files: Mapping[str, bytes | Path], *, mode: int | None = None) -> None:
        """Write files; see the port."""
        checked = {inside_path(path): content for path, content in files.items()}
        await _in_thread(self._guarded, self._put, checked, mode)

    def _put(self, files: Mapping[PurePosixPath, bytes | Path], mode: int | None) -> None:
        with self._pending_lock:
            directories = [*self._pending, *self._missing_parents(files)]
            with pack(files, dict.fromkeys(directories), uid=self._uid, mode=mode) as archive:
                self._api.put_archive(self._container, "/", archive)
            self._pending.clear()

    def _missing_parents(self, files: Mapping[PurePosixPath, bytes | Path]) -> list[PurePosixPath]:
        """Parents to make: those below what the user owns, and what is not there elsewhere."""
        parents = sorted({p for path in files for p in above(path)})
        missing: list[PurePosixPath] = []
        for path in parents:
            if any(owned in path.parents for owned in self._owned):
                missing.append(path)
            elif path not in self._owned and path not in self._existing:
                if stat_path(self._api, self._container, path) is None:
                    missing.append(path)
                self._existing.add(path)
        return missing

    def _flush(self) -> None:
        """Make the directories of the spec, unless an earlier `put` did."""
        if self._pending:
            self._put({}, None)

    async def get(self, path: str, *, max_bytes: int = 10_000_000) -> bytes:
        """Read a file; see the port."""
        return await _in_thread(self._guarded, self._get, inside_path(path), max_bytes)

    def _get(self, path: PurePosixPath, max_bytes: int) -> bytes:
        if first_link(self._api, self._container, path) is not None:
            raise FileNotFoundError(f"{path}: reached through a link")
        with archive_of(self._api, self._container, path) as archive:
            if archive is None:
                self._check_alive()
                raise FileNotFoundError(f"{path}: missing")
            member = archive.next()
            data = None if member is None or not member.isreg() else archive.extractfile(member)
            if member is None or data is None:
                raise FileNotFoundError(f"{path}: not a regular file")
            if member.size > max_bytes:
                raise ValueError(f"{path}: {member.size} bytes, more than {max_bytes}")
            return data.read()

    async def freeze(
        self, roots: Sequence[str], into: Path, limits: FreezeLimits, *, baseline: Manifest | None
    ) -> Manifest:
        """Copy artifact trees; see the port. Stop or pause the agent's processes first."""
        checked = [inside_path(root, field="artifact_roots") for root in roots]
        return await _in_thread(self._guarded, self._freeze, checked, into, limits, baseline)

    def _freeze(
        self,
        roots: Sequence[PurePosixPath],
        into: Path,
        limits: FreezeLimits,
        baseline: Manifest | None,
    ) -> Manifest:
        self._flush()
        self._check_alive()
        tree = FrozenTree(into, limits)
        freezer = Freezer(self._api, self._target, tree, limits)
        careful = [root for root in roots if not freezer.copy(root)]
        if careful:
            freezer.copy_carefully(careful)
        return tree.manifest(baseline)

    async def probe(self, probe_id: str, command: str, *, timeout_s: float = 20.0) -> ProbeResult:
        """Run a state probe; see the port."""
        done = await self.exec(command, timeout_s=timeout_s, max_bytes=_PROBE_BYTES)
        return ProbeResult(
            id=probe_id,
            exit_code=None if done.timed_out else done.exit_code,
            stdout=done.stdout.decode("utf-8", "replace"),
            truncated=done.truncated,
        )

    async def kill_all(self) -> None:
        """Kill the user's processes; see the port."""
        await _in_thread(self._guarded, self._kill_all)

    def _kill_all(self) -> None:
        if self._uid != 0 and not self._paused:
            user = f"{self._uid}:{self._uid}"
            argv = ["/bin/sh", "-c", KILL_ALL]
            code, _ = run_plain(self._api, self._container, argv, user=user, timeout_s=_KILL_S)
            if code in {0, 1}:
                return
            if code not in {None, _SIGKILL, NOT_FOUND, NOT_EXECUTABLE}:
                raise EngineError(f"the killer ended with {code}")
        # Root may have replaced the shell, and at a process limit nothing can be started inside.
        sidecar.kill_all(self._api, self._target)
        self._check_alive()

    async def pause(self) -> None:
        """Suspend everything; see the port."""
        await _in_thread(self._guarded, self._pause, True)

    async def unpause(self) -> None:
        """Resume; see the port."""
        await _in_thread(self._guarded, self._pause, False)

    def _pause(self, paused: bool) -> None:
        if paused != self._paused:
            (self._api.pause if paused else self._api.unpause)(self._container)
            self._paused = paused

    def _refuse_paused(self) -> None:
        if self._paused:
            raise EngineError(f"{self._name} is paused: nothing runs in it until `unpause`")

    async def snapshot(self, tag: str) -> str:
        """Save the file system; see the port."""
        return await _in_thread(self._guarded, self._snapshot, tag)

    def _snapshot(self, tag: str) -> str:
        self._flush()
        was_paused = self._paused
        self._pause(True)
        try:
            return snapshots.commit(self._api, self._target, tag)
        finally:
            if not was_paused:
                self._pause(False)

    async def resources(self) -> Mapping[str, int]:
        """Counters; see the port."""
        return await _in_thread(self._guarded, self._resources)

    def _resources(self) -> Mapping[str, int]:
        if self._counters.visible:
            return self._counters.all()
        self._check_alive()
        return {"oom_kills": self._oom_seen if self._paused else self._oom_kills()}

    async def close(self) -> None:
        """Remove the container; see the port."""
        await _in_thread(self._close)

    def _close(self) -> None:
        if self._closed:
            return
        try:
            self._api.remove_container(self._container, force=True, v=True)
        except NotFound:
            pass
        except APIError as error:
            if "already in progress" not in str(error.explanation):
                raise EngineError(f"cannot remove {self._name}: {error}") from error
        except (DockerException, RequestException) as error:
            raise EngineError(f"cannot remove {self._name}: {error}") from error
        self._closed = True

    def _guarded(self, call: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run an operation; an engine's refusal becomes the typed error that explains it."""
        try:
            return call(*args, **kwargs)
        except APIError as error:
            self._check_alive()
            raise EngineError(f"{self._name}: the engine refused: {error}") from error
        except (DockerException, RequestException, OSError) as error:
            if isinstance(error, FileNotFoundError):
                raise
            raise EngineError(f"{self._name}: the engine does not answer: {error}") from error

    def _check_alive(self) -> None:
        """Raise what ended the container, if it ended.

        From inside, PID 1 cannot be killed by SIGKILL; so a death by that signal came from
        outside, unless the kernel killed it for memory. Any other end is the agent's work.
        """
        try:
            state = mapping_of(self._api.inspect_container(self._container).get("State"))
        except NotFound as error:
            raise EnvironmentLost(f"{self._name} is gone") from error
        if state.get("Running") is True:
            return
        code = state.get("ExitCode")
        if state.get("OOMKilled") is True:
            raise EnvironmentKilledByAgent(f"{self._name} ran out of memory as a whole")
        if code == _SIGKILL or state.get("Error"):
            raise EnvironmentLost(f"{self._name} was stopped from outside (exit code {code})")
        raise EnvironmentKilledByAgent(f"{self._name}: its init was ended from inside ({code})")


def default_images_api() -> DockerApi:
    """A client with room for many episodes' connections."""
    return connect()
