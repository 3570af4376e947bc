"""An environment factory that remembers what was asked of it, and can be told to fail."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from uniclaw.errors import EnvironmentLost
from uniclaw.ports import (
    Environment,
    EnvironmentFactory,
    EnvironmentSpec,
    ExecResult,
    FreezeLimits,
)
from uniclaw.records import Manifest, ProbeResult


class RecordedEnvironment:
    """Hands everything on to a real environment."""

    def __init__(self, inner: Environment, spec: EnvironmentSpec, *, lose: bool) -> None:
        self.inner = inner
        self.spec = spec
        self.closed = False
        self.execs: list[Sequence[str] | str] = []
        self.puts: list[Mapping[str, bytes | Path]] = []
        self._lose = lose

    @property
    def name(self) -> str:
        return self.inner.name

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
        self.execs.append(command)
        if self._lose:
            raise EnvironmentLost("it vanished")
        return await self.inner.exec(
            command,
            stdin=stdin,
            cwd=cwd,
            env=env,
            user=user,
            timeout_s=timeout_s,
            max_bytes=max_bytes,
        )

    async def put(self, files: Mapping[str, bytes | Path], *, mode: int | None = None) -> None:
        self.puts.append(files)
        await self.inner.put(files, mode=mode)

    async def get(self, path: str, *, max_bytes: int = 10_000_000) -> bytes:
        return await self.inner.get(path, max_bytes=max_bytes)

    async def freeze(
        self, roots: Sequence[str], into: Path, limits: FreezeLimits, *, baseline: Manifest | None
    ) -> Manifest:
        return await self.inner.freeze(roots, into, limits, baseline=baseline)

    async def probe(self, probe_id: str, command: str, *, timeout_s: float = 20.0) -> ProbeResult:
        return await self.inner.probe(probe_id, command, timeout_s=timeout_s)

    async def kill_all(self) -> None:
        await self.inner.kill_all()

    async def pause(self) -> None:
        await self.inner.pause()

    async def unpause(self) -> None:
        await self.inner.unpause()

    async def snapshot(self, tag: str) -> str:
        return await self.inner.snapshot(tag)

    async def resources(self) -> Mapping[str, int]:
        return await self.inner.resources()

    async def close(self) -> None:
        self.closed = True
        await self.inner.close()


class RecordingFactory:
    """Starts environments of another factory."""

    def __init__(self, inner: EnvironmentFactory) -> None:
        self.inner = inner
        self.started: list[RecordedEnvironment] = []
        self.lose = 0
        """How many environments are lost at their first command from now on."""
        self.refuse = 0
        """How many starts fail from now on."""

    async def start(self, spec: EnvironmentSpec) -> Environment:
        if self.refuse > 0:
            self.refuse -= 1
            raise EnvironmentLost("it does not start")
        inner = await self.inner.start(spec)
        environment = RecordedEnvironment(inner, spec, lose=self.lose > 0)
        self.lose = max(0, self.lose - 1)
        self.started.append(environment)
        return environment

    async def fork(self, snapshot: str, spec: EnvironmentSpec) -> Environment:
        return await self.inner.fork(snapshot, spec)
