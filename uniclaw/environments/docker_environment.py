"""One running container as an environment. See `ports.Environment` for what each method promises.

Must not know tasks, roles or the hidden side.
"""

import asyncio
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Literal, ParamSpec, TypeVar

from docker.errors import APIError, DockerException, NotFound
from requests.exceptions import RequestException

from uniclaw.environments import sidecar, snapshots
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
from uniclaw.environments.docker_freeze import Freezer, archive_of, stat_path, walk
from uniclaw.environments.film import DockerFilm, Scene
from uniclaw.environments.frozen_tree import FrozenTree
from uniclaw.environments.network import Namespace, close_namespace, namespace_of
from uniclaw.environments.packing import pack
from uniclaw.environments.paths import above, inside_path
from uniclaw.environments.session import NO_STAGE, SessionFailed, StageParts, start_session
from uniclaw.environments.stage import FilmQuality
from uniclaw.environments.threads import in_thread
from uniclaw.environments.wire import DockerApi, Json, mapping_of
from uniclaw.errors import EngineError, EnvironmentKilledByAgent, EnvironmentLost
from uniclaw.ports import EnvironmentSpec, ExecResult, FreezeLimits
from uniclaw.records import Manifest, ProbeResult

AGENT_UID = 1000
_UIDS: Mapping[str, int] = {"agent": AGENT_UID, "root": 0}
_HOMES: Mapping[str, str] = {"agent": "/home/agent", "root": "/root"}
_SIGKILL = 128 + 9
_KILL_S = 10.0
_PROBE_BYTES = 100_000
_DYING_S, _DYING_CHECKS = 0.5, 5
NEVER_OWNED = frozenset(
    PurePosixPath(p) for p in ("/", "/tmp", "/var/tmp", "/home", "/root", "/etc", "/opt", "/srv")
)
"""System directories that no one asks to own as a whole: their owner and mode stay."""

P = ParamSpec("P")
R = TypeVar("R")


class DockerEnvironment:
    """A running container. See `ports.Environment` for what each method promises."""

    def __init__(
        self,
        api: DockerApi,
        name: str,
        target: sidecar.Target,
        spec: EnvironmentSpec,
        directories: Sequence[PurePosixPath],
        namespace: Namespace | None = None,
        stage: StageParts = NO_STAGE,
    ) -> None:
        self._api = api
        self._namespace = namespace
        self._stage = stage
        self._name = name
        self._target = target
        self._container = target.container
        self._spec = spec
        self._uid = _UIDS[spec.user]
        self._owned = (PurePosixPath(_HOMES[spec.user]), *directories)
        self._pending = list(directories)
        self._pending_lock = threading.Lock()
        self._existing: set[PurePosixPath] = set(NEVER_OWNED)
        self._running = Running()
        self._counters = Counters(self._container)
        self._oom_seen = self._counters.oom_kills() or 0
        self._paused = False
        self._closed = False

    @property
    def name(self) -> str:
        """The container's name."""
        return self._name

    async def exec(  # noqa: D102 - the port's signature and words
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
            return await in_thread(self._guarded, self._exec, call, abort)
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
        if done.exit_code in {None, _SIGKILL} and not done.timed_out:
            self._check_dying()
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
            _, output = run_plain(self._api, self._container, argv, user="0:0", timeout_s=_KILL_S)
            found = parse_oom_kills(output.bytes_of("stdout").decode("ascii", "replace"))
        self._oom_seen = max(self._oom_seen, found or 0)
        return self._oom_seen

    async def put(self, files: Mapping[str, bytes | Path], *, mode: int | None = None) -> None:
        """Write files; see the port."""
        checked = {inside_path(path): content for path, content in files.items()}
        await in_thread(self._guarded, self._put, checked, mode)

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
        return await in_thread(self._guarded, self._get, inside_path(path), max_bytes)

    def _get(self, path: PurePosixPath, max_bytes: int) -> bytes:
        reached = walk(self._api, self._container, path)
        if reached.stat is None or not reached.stat.is_file:
            self._check_alive()
            raise FileNotFoundError(f"{path}: missing, a link, or not a regular file")
        with archive_of(self._api, self._container, path) as archive:
            member = None if archive is None else archive.next()
            if archive is None or member is None or not member.isreg():
                raise FileNotFoundError(f"{path}: not a regular file")
            data = archive.extractfile(member)
            if member.size > max_bytes or data is None:
                raise ValueError(f"{path}: {member.size} bytes, more than {max_bytes}")
            return data.read()

    async def freeze(
        self, roots: Sequence[str], into: Path, limits: FreezeLimits, *, baseline: Manifest | None
    ) -> Manifest:
        """Copy artifact trees; see the port. Stop or pause the agent's processes first."""
        checked = [inside_path(root, field="artifact_roots") for root in roots]
        return await in_thread(self._guarded, self._freeze, checked, into, limits, baseline)

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
        await in_thread(self._guarded, self._kill_all)

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

    def begin_session(self) -> None:
        """Start the recipe's session, if it has one, and wait until it is ready.

        Raises:
            EngineError: it does not come up.
        """
        if self._stage.session is not None:
            user = f"{self._uid}:{self._uid}"
            start_session(self._api, self._container, self._stage.session, user=user)

    async def revive(self) -> str | None:
        """Start the session again; see `stage`."""
        try:
            await in_thread(self._guarded, self.begin_session)
        except SessionFailed as error:
            return str(error)
        return None

    async def film(self, quality: FilmQuality, *, max_bytes: int) -> DockerFilm | None:
        """Begin to film; see `stage`."""
        film = self._stage.film
        if film is None:
            return None
        joined = self._namespace or namespace_of(self._api, self._container)
        target = self._target
        scene = Scene(self._api, target.image, joined.mode, target.labels)
        return await in_thread(DockerFilm, scene, film, quality, max_bytes)

    async def pause(self) -> None:
        """Suspend everything; see the port."""
        await in_thread(self._guarded, self._pause, True)

    async def unpause(self) -> None:
        """Resume; see the port."""
        await in_thread(self._guarded, self._pause, False)

    def _pause(self, paused: bool) -> None:
        if paused != self._paused:
            (self._api.pause if paused else self._api.unpause)(self._container)
            self._paused = paused

    def _refuse_paused(self) -> None:
        if self._paused:
            raise EngineError(f"{self._name} is paused: nothing runs in it until `unpause`")

    async def snapshot(self, tag: str) -> str:
        """Save the file system; see the port."""
        return await in_thread(self._guarded, self._snapshot, tag)

    def _snapshot(self, tag: str) -> str:
        self._flush()
        if not self._paused:
            argv = ["/bin/sh", "-c", snapshots.IN_MEMORY]
            _, output = run_plain(self._api, self._container, argv, user="0:0", timeout_s=_KILL_S)
            snapshots.refuse_in_memory(output.bytes_of("stdout"))
        was_paused = self._paused
        self._pause(True)
        try:
            return snapshots.commit(self._api, self._target, tag)
        finally:
            if not was_paused:
                self._pause(False)

    async def resources(self) -> Mapping[str, int]:
        """Counters; see the port."""
        return await in_thread(self._guarded, self._resources)

    def _resources(self) -> Mapping[str, int]:
        if self._counters.visible:
            return self._counters.all()
        self._check_alive()
        return {"oom_kills": self._oom_seen if self._paused else self._oom_kills()}

    async def close(self) -> None:
        """Remove the container; see the port."""
        await in_thread(self.close_now)

    def close_now(self) -> None:
        """`close` for callers outside the event loop."""
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
        if self._namespace is not None:
            close_namespace(self._api, self._namespace)
        self._closed = True

    def _guarded(self, call: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run an operation; an engine's refusal becomes the typed error that explains it."""
        try:
            return call(*args, **kwargs)
        except APIError as error:
            self._check_alive()
            raise EngineError(f"{self._name}: the engine refused: {error}") from error
        except (DockerException, RequestException, ConnectionError, TimeoutError) as error:
            raise EngineError(f"{self._name}: the engine does not answer: {error}") from error

    def _check_dying(self) -> None:
        """`_check_alive` for a while: a command ends a moment before the engine knows why.

        Only for commands that were killed; that is rare.
        """
        for _ in range(_DYING_CHECKS):
            self._check_alive()
            time.sleep(_DYING_S / _DYING_CHECKS)

    def _check_alive(self) -> None:
        """Raise what ended the container, if it ended."""
        try:
            state = mapping_of(self._api.inspect_container(self._container).get("State"))
        except NotFound as error:
            raise EnvironmentLost(f"{self._name} is gone") from error
        death = cause_of_death(state)
        if death is not None:
            side = "outside" if death is EnvironmentLost else "inside"
            code = state.get("ExitCode")
            raise death(f"{self._name} was ended from {side} (exit code {code})")


def cause_of_death(
    state: Json,
) -> type[EnvironmentLost] | type[EnvironmentKilledByAgent] | None:
    """Whose doing the end of a container was, from the engine's `State`; None while it runs.

    The agent can neither signal nor trace PID 1. So SIGKILL came from outside, unless the kernel
    sent it for the agent's use of memory; and an init that ended in any other way was brought
    to it from inside.
    """
    if state.get("Running") is True:
        return None
    if state.get("OOMKilled") is True:
        return EnvironmentKilledByAgent
    from_outside = state.get("ExitCode") == _SIGKILL or bool(state.get("Error"))
    return EnvironmentLost if from_outside else EnvironmentKilledByAgent
