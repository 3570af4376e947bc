"""What the conformance checks of environments share: a spec, helpers, the type of a check."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from uniclaw.ports import Environment, EnvironmentFactory, EnvironmentSpec, FreezeLimits
from uniclaw.records import Entry, Manifest

Check = Callable[[EnvironmentFactory], Awaitable[None]]

RESULTS = "/workspace/results"
SPEC = EnvironmentSpec(image="base", writable=(RESULTS, "/workspace/sources"))
LIMITS = FreezeLimits()

_BEAT = "while :; do echo >> {file}; sleep 0.05; done"
_BEATS_S = 0.6


@asynccontextmanager
async def running(
    factory: EnvironmentFactory, spec: EnvironmentSpec = SPEC
) -> AsyncGenerator[Environment, None]:
    """A started environment, closed at the end."""
    environment = await factory.start(spec)
    try:
        yield environment
    finally:
        await environment.close()


def beating(name: str) -> str:
    """A loop that shows it is alive by growing a file of the workspace."""
    return _BEAT.format(file=name)


async def beats(environment: Environment, name: str) -> bool:
    """Whether that loop is alive."""
    count = f"cat {name} 2>/dev/null | wc -c"
    before = await environment.exec(count)
    await asyncio.sleep(_BEATS_S)
    after = await environment.exec(count)
    return before.stdout != after.stdout


async def frozen(
    environment: Environment,
    into: Path,
    *,
    root: str = RESULTS,
    limits: FreezeLimits = LIMITS,
    baseline: Manifest | None = None,
) -> Mapping[str, Entry]:
    """Kill, freeze, and give the entries by path."""
    await environment.kill_all()
    manifest = await environment.freeze([root], into, limits, baseline=baseline)
    return {entry.path: entry for entry in manifest.entries}
