"""The process adapter: a temporary directory and subprocesses, where there is no Docker.

IT IS NO SECURITY BOUNDARY: a command can read and write whatever the runner's user can, reach
the network, and use all memory. It is for the project's own scripted executors and for quick
tests. The inside path `/a/b` lies at `ROOT/a/b`; commands see it only through relative paths.
"""

import asyncio
import os
import secrets
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Literal

from uniclaw.environments import process_files
from uniclaw.environments.frozen_tree import FrozenTree
from uniclaw.environments.labels import this_owner
from uniclaw.environments.output import HeadTail
from uniclaw.environments.paths import inside_path
from uniclaw.environments.process_exec import Done, Group, run
from uniclaw.environments.snapshot_tags import MAX_BYTES, check_tag
from uniclaw.environments.threads import in_thread, in_thread_or_undo
from uniclaw.errors import EngineError, EnvironmentLost, UserError
from uniclaw.ports import Environment, EnvironmentSpec, ExecResult, FreezeLimits
from uniclaw.records import Manifest, ProbeResult

OWNER_FILE = "owner"
RUN_FILE = "run"
EPISODE_FILE = "episode"
_ROOT = "root"
_HOMES: Mapping[str, str] = {"agent": "/home/agent", "root": "/root"}
_TMP = "/tmp"
_PROBE_BYTES = 100_000
_NOT_FOUND = 127


def base_directory() -> Path:
    """Where process environments lie unless told otherwise; only ours can look in."""
    path = Path(tempfile.gettempdir()) / f"uniclaw-{os.getuid()}"
    path.mkdir(mode=0o700, exist_ok=True)
    return path


class ProcessFactory:
    """Makes directories to run commands in."""

    def __init__(self, *, run: str, scratch: Path | None = None) -> None:
        self._run = run
        self._base = scratch

    @property
    def _directory(self) -> Path:
        return self._base or base_directory()

    async def start(self, spec: EnvironmentSpec) -> Environment:
        """Make a new environment; the spec's image, limits and network are not used.

        Raises:
            UserError: a path of the spec is none, or it asks for a neighbour's network.
        """
        if spec.beside is not None:
            raise UserError(
                "services play beside an environment in docker alone",
                field="environment",
                value="process",
            )
        return await in_thread_or_undo(
            lambda: self._start(spec, None), ProcessEnvironment.close_now
        )

    async def fork(self, snapshot: str, spec: EnvironmentSpec) -> Environment:
        """Make an environment from a snapshot."""
        saved = self._snapshot(snapshot)
        return await in_thread_or_undo(
            lambda: self._start(spec, saved), ProcessEnvironment.close_now
        )

    async def remove_snapshot(self, snapshot: str) -> None:
        """Remove a snapshot; one that is gone is fine."""
        await in_thread(process_files.remove_tree, self._snapshot(snapshot))

    def _snapshot(self, snapshot: str) -> Path:
        return self._directory / check_tag(snapshot)

    def _start(self, spec: EnvironmentSpec, snapshot: Path | None) -> "ProcessEnvironment":
        owned = [inside_path(p, field="writable") for p in (spec.workspace, *spec.writable)]
        mounts = {inside_path(p): Path(host) for p, host in spec.read_only_mounts.items()}
        home = new_home(self._directory, self._run, spec.labels.get("uniclaw.episode", ""))
        root = home / _ROOT
        if snapshot is None:
            root.mkdir()
        elif (snapshot / _ROOT).is_dir():
            process_files.copy_tree(snapshot / _ROOT, root)
        else:
            process_files.remove_tree(home)
            raise UserError("no such snapshot", field="snapshot", value=snapshot.name)
        for path in (PurePosixPath(_TMP), PurePosixPath(_HOMES[spec.user]), *owned):
            process_files.make_directory(root, path)
        for path, host in mounts.items():
            process_files.write(root, path, host, None)
        return ProcessEnvironment(home, spec)


HOME_PREFIX = "uniclaw-"
"""Of environments; snapshots are named by their tags."""


def new_home(directory: Path, run: str, episode: str, name: str | None = None) -> Path:
    """A directory that says whose it is, as labels do for containers."""
    home = directory / (name or f"{HOME_PREFIX}{secrets.token_hex(8)}")
    home.mkdir(mode=0o700, parents=True)
    facts = ((OWNER_FILE, str(this_owner())), (RUN_FILE, run), (EPISODE_FILE, episode))
    for file, text in facts:
        (home / file).write_text(text, encoding="utf-8")
    return home


class ProcessEnvironment:
    """A directory and the processes started in it. See `ports.Environment` for the promises."""

    def __init__(self, home: Path, spec: EnvironmentSpec) -> None:
        self._home = home
        self._root = home / _ROOT
        self._spec = spec
        self._groups: set[Group] = set()
        self._lock = threading.Lock()
        self._paused = False
        self._closed = False

    @property
    def name(self) -> str:
        """The directory's name."""
        return self._home.name

    async def exec(
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
        """Run a command; `user` is not used. See the port."""
        del user
        where = inside_path(cwd or self._spec.workspace, field="cwd")
        argv = ["/bin/sh", "-c", command] if isinstance(command, str) else command
        abort = threading.Event()
        try:
            done = await in_thread(
                self._exec, argv, where, env or {}, stdin, timeout_s, max_bytes, abort
            )
        except asyncio.CancelledError:
            abort.set()
            raise
        return ExecResult(
            exit_code=done.exit_code,
            stdout=done.output.bytes_of("stdout"),
            stderr=done.output.bytes_of("stderr"),
            truncated=done.output.truncated,
            total_bytes=done.output.total,
            timed_out=done.timed_out,
            duration_s=done.duration_s,
        )

    def _exec(
        self,
        argv: Sequence[str],
        where: PurePosixPath,
        env: Mapping[str, str],
        stdin: bytes,
        timeout_s: float,
        max_bytes: int,
        abort: threading.Event,
    ) -> Done:
        self._check_alive()
        if self._paused:
            raise EngineError(f"{self.name} is paused: nothing runs in it until `unpause`")
        directory = self._host(where)
        if not directory.is_dir():
            output = HeadTail(max_bytes)
            output.add("stderr", f"{where}: no such directory\n".encode())
            return Done(_NOT_FOUND, output, False, 0.0)
        group = Group(argv, cwd=directory, env=self._variables(env))
        with self._lock:
            self._groups.add(group)
        done = run(group, stdin=stdin, timeout_s=timeout_s, max_bytes=max_bytes, abort=abort)
        self._forget_ended()
        return done

    def _variables(self, env: Mapping[str, str]) -> dict[str, str]:
        """Nothing of the runner's variables but PATH: they may hold keys."""
        return {
            "PATH": os.environ.get("PATH", os.defpath),
            "LANG": "C.UTF-8",
            "HOME": str(self._host(PurePosixPath(_HOMES[self._spec.user]))),
            "TMPDIR": str(self._host(PurePosixPath(_TMP))),
            **self._spec.env,
            **env,
        }

    def _forget_ended(self) -> None:
        with self._lock:
            ended = {group for group in self._groups if not group.alive}
            self._groups -= ended
        for group in ended:
            group.end()

    def _host(self, path: PurePosixPath) -> Path:
        return self._root / str(path).lstrip("/")

    def _check_alive(self) -> None:
        if not self._root.is_dir():
            raise EnvironmentLost(f"{self.name} is gone")

    async def put(self, files: Mapping[str, bytes | Path], *, mode: int | None = None) -> None:
        """Write files; see the port."""
        checked = {inside_path(path): content for path, content in files.items()}
        await in_thread(self._put, checked, mode)

    def _put(self, files: Mapping[PurePosixPath, bytes | Path], mode: int | None) -> None:
        self._check_alive()
        for path, content in files.items():
            process_files.check(content, path)
        for path, content in files.items():
            process_files.write(self._root, path, content, mode)

    async def get(self, path: str, *, max_bytes: int = 10_000_000) -> bytes:
        """Read a file; see the port."""
        self._check_alive()
        return await in_thread(process_files.read_file, self._root, inside_path(path), max_bytes)

    async def freeze(
        self, roots: Sequence[str], into: Path, limits: FreezeLimits, *, baseline: Manifest | None
    ) -> Manifest:
        """Copy artifact trees; see the port. Stop or pause the agent's processes first."""
        checked = [inside_path(root, field="artifact_roots") for root in roots]
        return await in_thread(self._freeze, checked, into, limits, baseline)

    def _freeze(
        self,
        roots: Sequence[PurePosixPath],
        into: Path,
        limits: FreezeLimits,
        baseline: Manifest | None,
    ) -> Manifest:
        self._check_alive()
        tree = FrozenTree(into, limits)
        for root in roots:
            process_files.freeze_root(self._root, root, tree)
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
        """Kill every process that was started here; see the port."""
        self._check_alive()
        await in_thread(self._order, b"K")

    async def pause(self) -> None:
        """Stop every process; see the port."""
        self._check_alive()
        self._paused = True
        await in_thread(self._order, b"S")

    async def unpause(self) -> None:
        """Continue; see the port."""
        self._check_alive()
        await in_thread(self._order, b"C")
        self._paused = False

    def _order(self, letter: bytes) -> None:
        with self._lock:
            groups = [group for group in self._groups if group.alive]
        for group in groups:
            group.order(letter)
        if letter == b"K":
            self._forget_ended()

    async def snapshot(self, tag: str) -> str:
        """Save the directory; see the port."""
        return await in_thread(self._snapshot, check_tag(tag))

    def _snapshot(self, tag: str) -> str:
        self._check_alive()
        size = process_files.real_bytes(self._root)
        if size > MAX_BYTES:
            raise EngineError(f"a snapshot of {size} bytes is larger than {MAX_BYTES}")
        name = f"{tag}.{secrets.token_hex(4)}"
        facts = [(self._home / f).read_text(encoding="utf-8") for f in (RUN_FILE, EPISODE_FILE)]
        home = new_home(self._home.parent, facts[0], facts[1], name)
        process_files.copy_tree(self._root, home / _ROOT)
        return name

    async def resources(self) -> Mapping[str, int]:
        """No counters: processes here are not accounted for."""
        return {}

    async def close(self) -> None:
        """Kill everything and remove the directory; see the port."""
        await in_thread(self.close_now)

    def close_now(self) -> None:
        """`close` for callers outside the event loop."""
        if self._closed:
            return
        self._closed = True
        with self._lock:
            groups, self._groups = self._groups, set()
        for group in groups:
            group.end()
        process_files.remove_tree(self._home)
