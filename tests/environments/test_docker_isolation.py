"""What a container gives its agent, and what it withholds."""

from pathlib import Path

import pytest

from uniclaw.environments.docker import DockerFactory
from uniclaw.environments.labels import EPISODE, MARK, OWNER, RUN, this_owner
from uniclaw.environments.wire import DockerApi, mapping_of
from uniclaw.errors import UserError
from uniclaw.ports import EnvironmentSpec, Limits
from uniclaw.testing.environment_basis import SPEC, frozen, running

pytestmark = pytest.mark.docker


async def test_the_agent_is_no_root_and_has_no_capabilities(docker_factory: DockerFactory) -> None:
    async with running(docker_factory) as env:
        done = await env.exec("id -u; grep -E '^(CapEff|CapBnd|NoNewPrivs)' /proc/self/status")
        text = done.stdout.decode()
        assert text.startswith("1000\n")
        assert "CapEff:\t0000000000000000" in text
        assert "CapBnd:\t0000000000000000" in text
        assert "NoNewPrivs:\t1" in text
        assert (await env.exec("kill -9 1; kill -TERM 1; touch /etc/x")).exit_code != 0
        assert (await env.exec("echo alive")).stdout == b"alive\n"


async def test_there_is_no_network(docker_factory: DockerFactory) -> None:
    async with running(docker_factory) as env:
        done = await env.exec("ls /sys/class/net; curl -sm 3 http://1.1.1.1; echo $?")
        assert done.stdout.split() == [b"lo", b"7"]


async def test_limits_are_in_force(docker_factory: DockerFactory) -> None:
    limits = Limits(memory_bytes=100_000_000, cpus=0.5, pids=40)
    async with running(docker_factory, SPEC.model_copy(update={"limits": limits})) as env:
        done = await env.exec(
            "cat /sys/fs/cgroup/memory/memory.limit_in_bytes /sys/fs/cgroup/memory.max 2>/dev/null"
        )
        assert abs(int(done.stdout) - 100_000_000) < 10_000
        bomb = "for i in $(seq 100); do sleep 30 & done; wait"
        done = await env.exec(bomb, timeout_s=3)
        assert b"fork" in done.stderr.lower()
        await env.kill_all()
        assert (await env.exec("echo ok")).stdout == b"ok\n"


async def test_a_root_task_owns_root_but_has_no_privileges(docker_factory: DockerFactory) -> None:
    spec = EnvironmentSpec(
        image="base",
        user="root",
        workspace="/tmp_workspace",
        writable=("/tmp_workspace/clawbench/sources", "/root/skills"),
    )
    async with running(docker_factory, spec) as env:
        await env.put({"/root/skills/s/SKILL.md": b"x", "/tmp_workspace/clawbench/sources/a": b"y"})
        script = (
            "set -e; id -u; pwd; echo $HOME; cat /root/skills/s/SKILL.md clawbench/sources/a;"
            " touch clawbench/b /root/c; grep CapEff /proc/self/status"
        )
        done = await env.exec(script)
        assert done.exit_code == 0, done
        assert done.stdout.decode().splitlines()[:3] == ["0", "/tmp_workspace", "/root"]
        assert b"xyCapEff:\t0000000000000000" in done.stdout
        loop = "while :; do echo >> beat; sleep 0.05; done"
        done = await env.exec(f"trap '' TERM; (setsid sh -c '{loop}' &) ; sleep 60", timeout_s=1)
        assert done.timed_out
        assert done.exit_code == 137
        await env.exec(f"({loop}) >/dev/null 2>&1 & rm /bin/sh; sleep 0.2")
        await env.kill_all()
        first = await env.get("/tmp_workspace/beat")
        assert await env.get("/tmp_workspace/beat") == first


async def test_nothing_of_the_host_is_visible(docker_factory: DockerFactory) -> None:
    async with running(docker_factory) as env:
        done = await env.exec("hostname; env; cat /proc/1/cmdline; ls /run /mnt /tmp")
        text = done.stdout.decode()
        assert text.startswith("workspace\n")
        assert env.name not in text
        assert "docker.sock" not in text


async def test_everything_is_labelled(
    docker_factory: DockerFactory, docker_api: DockerApi, run_label: str
) -> None:
    spec = SPEC.model_copy(update={"labels": {EPISODE: "e1"}})
    async with running(docker_factory, spec) as env:
        labels = mapping_of(
            mapping_of(docker_api.inspect_container(env.name).get("Config")).get("Labels")
        )
        assert labels[MARK] == "1"
        assert labels[RUN] == run_label
        assert labels[EPISODE] == "e1"
        assert labels[OWNER] == str(this_owner())
        snapshot = await env.snapshot("x")
        image = mapping_of(docker_api.inspect_image(snapshot).get("Config"))
        assert mapping_of(image.get("Labels"))[RUN] == run_label
        await docker_factory.remove_snapshot(snapshot)
        await docker_factory.remove_snapshot(snapshot)


async def test_variables_of_the_spec_are_not_baked_into_snapshots(
    docker_factory: DockerFactory, docker_api: DockerApi
) -> None:
    spec = SPEC.model_copy(update={"env": {"TOKEN": "secret-1"}})
    async with running(docker_factory, spec) as env:
        assert (await env.exec('printf %s "$TOKEN"', env={"OTHER": "secret-2"})).stdout
        snapshot = await env.snapshot("env")
        seen = str(docker_api.inspect_image(snapshot))
        await docker_factory.remove_snapshot(snapshot)
        assert "secret-" not in seen


async def test_a_snapshot_that_is_too_large_is_refused_before(
    docker_factory: DockerFactory,
) -> None:
    async with running(docker_factory) as env:
        await env.exec("truncate -s 200G results/huge; mkdir -m 000 results/shut")
        with pytest.raises(Exception, match="larger than"):
            await env.snapshot("huge")
        assert (await env.exec("echo goes on")).stdout == b"goes on\n"


async def test_grader_mounts_are_read_only(docker_factory: DockerFactory, tmp_path: Path) -> None:
    host = tmp_path / "evidence"
    host.mkdir()
    (host / "a").write_bytes(b"seen")
    spec = SPEC.model_copy(update={"read_only_mounts": {"/evidence": str(host)}})
    async with running(docker_factory, spec) as env:
        done = await env.exec("cat /evidence/a; touch /evidence/b")
        assert done.stdout == b"seen"
        assert done.exit_code != 0
        assert not (host / "b").exists()


async def test_an_image_that_is_not_built_is_the_users_mistake(
    docker_factory: DockerFactory,
) -> None:
    with pytest.raises(UserError, match="no-such-recipe"):
        await docker_factory.start(SPEC.model_copy(update={"image": "no-such-recipe"}))


async def test_files_on_memory_file_systems_are_frozen(
    docker_factory: DockerFactory, tmp_path: Path
) -> None:
    async with running(docker_factory) as env:
        await env.exec(
            "mkdir /dev/shm/out; echo x > /dev/shm/out/f; mkdir -m 700 results/d;"
            " echo y > results/d/f; chmod 000 results/d/f results/d"
        )
        found = await frozen(env, tmp_path / "a", root="/dev/shm/out")
        assert [e.sha256 is not None for e in found.values() if e.kind == "file"] == [True]
        found = await frozen(env, tmp_path / "b")
        assert [e.skipped for e in found.values()] == [None, None, None]
