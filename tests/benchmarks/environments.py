"""How long until an environment can be worked in, per image, against a bare `docker run` of it.

    python -m tests.benchmarks.environments [--rounds N] [IMAGE ...]

Both are measured in turn, round by round, so that the machine's load is the same for both: the
floor is `docker run -d` of the same image and the first command in it; ours is a start by the
adapter and the first command. `ready_s` has the recipe's session in it, where there is one;
the ratio leaves it out, as `docker run` has none. Ends with one JSON line.
"""

import argparse
import asyncio
import json
import secrets
import statistics
import subprocess
import time
from collections.abc import Sequence

from uniclaw.assets import Assets, default_roots
from uniclaw.environments.docker import DockerFactory
from uniclaw.environments.images import Images
from uniclaw.ports import EnvironmentSpec

IMAGES = ("base", "office", "browser", "desktop", "dev")
LIMIT = 1.3


def bare(tag: str) -> float:
    """`docker run` and one command; seconds."""
    name = f"uniclaw-bench-{secrets.token_hex(4)}"
    start = time.monotonic()
    run = ["docker", "run", "-d", "--name", name, "--network", "none", "-u", "1000", tag]
    subprocess.run([*run, "sleep", "600"], check=True, capture_output=True)
    try:
        subprocess.run(["docker", "exec", name, "true"], check=True, capture_output=True)
        return time.monotonic() - start
    finally:
        subprocess.run(["docker", "rm", "-f", name], check=True, capture_output=True)


async def ours(factory: DockerFactory, image: str, *, session: bool) -> float:
    """Start to the first command; seconds."""
    start = time.monotonic()
    environment = await factory.start(EnvironmentSpec(image=image, session=session))
    try:
        await environment.exec("true")
        return time.monotonic() - start
    finally:
        await environment.close()


async def measure(names: Sequence[str], rounds: int) -> list[dict[str, object]]:
    """One row an image."""
    images = Images(Assets(default_roots(None)))
    factory = DockerFactory(images, run=f"bench-{secrets.token_hex(4)}")
    rows: list[dict[str, object]] = []
    for name in names:
        images.build(name)
        tag = images.resolve(name).tag
        bare(tag)
        floors: list[float] = []
        readies: list[float] = []
        plains: list[float] = []
        for _ in range(rounds):
            floors.append(bare(tag))
            plains.append(await ours(factory, name, session=False))
            if images.stage(name).session is not None:
                readies.append(await ours(factory, name, session=True))
        floor, plain = statistics.median(floors), statistics.median(plains)
        ready = statistics.median(readies or plains)
        rows.append(
            {
                "image": name,
                "size_mb": round((images.size_bytes(name) or 0) / 1e6),
                "docker_run_s": round(floor, 3),
                "ready_s": round(ready, 3),
                "session_s": round(ready - plain, 3),
                "ratio": round(plain / floor, 2),
            }
        )
    return rows


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("images", nargs="*", default=IMAGES)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    rows = asyncio.run(measure(arguments.images, arguments.rounds))
    for row in rows:
        print("  ".join(f"{key} {value}" for key, value in row.items()))
    worst = max(float(str(row["ratio"])) for row in rows)
    print(json.dumps({"rows": rows, "worst_ratio": worst, "limit": LIMIT, "ok": worst <= LIMIT}))


if __name__ == "__main__":
    main()
