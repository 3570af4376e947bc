"""What a fork costs beside Docker's own commit, create and start.

    python -m tests.benchmarks.fork [--rounds N]

Both take the same container, in turn and in the same run; ends with one line of JSON.
"""

import argparse
import asyncio
import json
import secrets
import statistics
import time
from collections.abc import Awaitable, Callable

from uniclaw.assets import Assets, default_roots
from uniclaw.environments import create_factory
from uniclaw.environments.docker import DockerFactory
from uniclaw.environments.engine import connect
from uniclaw.environments.images import Images
from uniclaw.ports import Environment, EnvironmentSpec

LIMIT = 1.5
"""A fork costs at most so many times Docker's own commands."""
FILL = "for i in $(seq 200); do head -c 50000 /dev/urandom > /workspace/f$i; done"


async def _ours(factory: DockerFactory, environment: Environment, spec: EnvironmentSpec) -> None:
    saved = await environment.snapshot("bench")
    try:
        fork = await factory.fork(saved, spec)
        await fork.close()
    finally:
        await factory.remove_snapshot(saved)


async def _dockers(factory: DockerFactory, environment: Environment, spec: EnvironmentSpec) -> None:
    """The same without us: pause, commit, create, start; and the clean-up, as above."""
    await asyncio.to_thread(_plain, environment.name)


def _plain(container: str) -> None:
    api = connect()
    tag = f"bench-{secrets.token_hex(4)}"
    try:
        api.commit(container, repository="uniclaw/bench", tag=tag)
        made = api.create_container(
            f"uniclaw/bench:{tag}",
            ["sleep", "60"],
            entrypoint=[],
            host_config=api.create_host_config(network_mode="none"),
        )
        api.start(str(made["Id"]))
        api.remove_container(str(made["Id"]), force=True)
    finally:
        api.remove_image(f"uniclaw/bench:{tag}", force=True)
        api.close()


async def _timed(step: Callable[[], Awaitable[None]]) -> float:
    began = time.perf_counter()
    await step()
    return time.perf_counter() - began


async def _measure(rounds: int) -> dict[str, float]:
    assets = Assets(default_roots(None))
    Images(assets).build("base", lambda _: None)
    factory = create_factory("docker", assets=assets, run=f"bench-{secrets.token_hex(3)}")
    assert isinstance(factory, DockerFactory)
    spec = EnvironmentSpec(image="base")
    environment = await factory.start(spec)
    try:
        await environment.exec(FILL)
        ours: list[float] = []
        plain: list[float] = []
        for _ in range(rounds + 1):
            plain.append(await _timed(lambda: _dockers(factory, environment, spec)))
            ours.append(await _timed(lambda: _ours(factory, environment, spec)))
    finally:
        await environment.close()
    # The first of each warms up.
    fork, floor = statistics.median(ours[1:]), statistics.median(plain[1:])
    return {"fork_s": round(fork, 3), "docker_s": round(floor, 3), "ratio": round(fork / floor, 2)}


def measure_fork(rounds: int = 5) -> dict[str, object]:
    """Median seconds of a fork and of Docker's own commands, and whether the limit is met."""
    found = asyncio.run(_measure(rounds))
    return {**found, "limit": LIMIT, "met": found["ratio"] <= LIMIT}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    found = measure_fork(parser.parse_args().rounds)
    print(f"fork {found['fork_s']} s, docker {found['docker_s']} s, x{found['ratio']}")
    print(json.dumps({"benchmark": "fork", **found}))


if __name__ == "__main__":
    main()
