"""What dead runners leave is swept; nothing else is."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from uniclaw.environments.clean import clean
from uniclaw.environments.docker import DockerFactory
from uniclaw.environments.images import Images
from uniclaw.environments.labels import EPISODE
from uniclaw.environments.wire import DockerApi
from uniclaw.testing.environment_basis import SPEC, running

_RUNNER = """
import asyncio, sys, time
from uniclaw.assets import Assets, default_roots
from uniclaw.environments import create_factory
from uniclaw.ports import EnvironmentSpec

async def main():
    kind, run, episode = sys.argv[1:]
    factory = create_factory(kind, assets=Assets(default_roots(None)), run=run)
    spec = EnvironmentSpec(image="base", labels={"uniclaw.episode": episode})
    env = await factory.start(spec)
    snapshot = await env.snapshot("s")
    await env.exec("(while :; do echo >> beat; sleep 0.05; done) >/dev/null 2>&1 &")
    print(env.name, snapshot, flush=True)
    time.sleep(120)

asyncio.run(main())
"""
REPOSITORY = Path(__file__).resolve().parents[2]


def _dead_runner(kind: str, run: str, episode: str, temporary: Path) -> tuple[str, str]:
    """Start a runner with one environment and a snapshot, and kill it hard."""
    with subprocess.Popen(
        [sys.executable, "-c", _RUNNER, kind, run, episode],
        stdout=subprocess.PIPE,
        cwd=REPOSITORY,
        env={**os.environ, "TMPDIR": str(temporary)},
    ) as process:
        assert process.stdout is not None
        line = process.stdout.readline().decode()
        process.send_signal(signal.SIGKILL)
    name, snapshot = line.split()
    return name, snapshot


@pytest.mark.docker
async def test_fault_13_a_killed_runners_things_are_swept_by_run(
    docker_factory: DockerFactory,
    docker_api: DockerApi,
    images: Images,
    run_label: str,
    tmp_path: Path,
) -> None:
    name, snapshot = await asyncio.to_thread(_dead_runner, "docker", run_label, "e1", tmp_path)
    spec = SPEC.model_copy(update={"labels": {EPISODE: "e2"}})
    async with running(docker_factory, spec) as alive:
        other = clean(run="another-run", directory=tmp_path)
        assert not other.containers
        assert not clean(run=run_label, episode="e2", directory=tmp_path).containers
        removed = clean(run=run_label, directory=tmp_path)
        assert removed.containers == (name,)
        assert removed.images == (snapshot,)
        assert "1 containers" in removed.sentence()
        assert (await alive.exec("echo alive")).stdout == b"alive\n"
        assert clean(run=run_label, directory=tmp_path).sentence() == "nothing to remove"
    assert images.is_built("base")


@pytest.mark.docker
async def test_fault_14_ending_one_episode_leaves_the_shared_image(
    docker_factory: DockerFactory, images: Images
) -> None:
    async with running(docker_factory) as one:
        async with running(docker_factory) as two:
            await two.exec("true")
        clean(run="none-such")
        assert images.is_built("base")
        assert (await one.exec("echo ok")).stdout == b"ok\n"
    assert images.is_built("base")


@pytest.mark.docker
async def test_networks_and_volumes_of_dead_owners_go_too(
    docker_api: DockerApi, run_label: str
) -> None:
    labels = {
        "uniclaw": "1",
        "uniclaw.run": run_label,
        "uniclaw.owner": _dead_owner(),
    }
    docker_api.create_network(f"net-{run_label}", labels=labels, internal=True)
    docker_api.create_volume(f"vol-{run_label}", labels=labels)
    removed = clean(run=run_label)
    assert removed.networks == (f"net-{run_label}",)
    assert removed.volumes == (f"vol-{run_label}",)


def _dead_owner() -> str:
    from uniclaw.environments.labels import this_owner

    return str(this_owner()._replace(boot="an-earlier-boot"))


def test_a_killed_runners_process_environments_are_swept(run_label: str, tmp_path: Path) -> None:
    name, snapshot = _dead_runner("process", run_label, "e1", tmp_path)
    base = tmp_path / f"uniclaw-{os.getuid()}"
    beat = base / name / "root" / "workspace" / "beat"
    # The runner's death ends its commands by itself.
    deadline = time.monotonic() + 10
    sizes = [-1, -2]
    while sizes[-1] != sizes[-2] and time.monotonic() < deadline:
        time.sleep(0.3)
        sizes.append(beat.stat().st_size if beat.exists() else 0)
    assert sizes[-1] == sizes[-2]
    removed = clean(run=run_label, docker=False, directory=base)
    assert sorted(removed.directories) == sorted((name, snapshot))
    assert not list(base.iterdir())
