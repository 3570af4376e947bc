"""What ended a command or a container, and whose doing it was."""

import asyncio
import gc
import json
from pathlib import Path
from typing import cast

import docker
import pytest

from uniclaw.environments.docker import DockerFactory
from uniclaw.environments.docker_environment import DockerEnvironment, cause_of_death
from uniclaw.environments.wire import DockerApi
from uniclaw.errors import EngineError, EnvironmentKilledByAgent, EnvironmentLost
from uniclaw.ports import Limits
from uniclaw.testing.environment_basis import SPEC, beating, beats, running

pytestmark = pytest.mark.docker

SMALL = SPEC.model_copy(update={"limits": Limits(memory_bytes=64 * 2**20, pids=64)})
EAT = "python3 -c 'x = bytearray(200 * 2**20)'"


async def test_fault_16_out_of_memory_is_told_from_other_kills(
    docker_factory: DockerFactory,
) -> None:
    async with running(docker_factory, SMALL) as env:
        killed = await env.exec("kill -9 $$")
        assert (killed.exit_code, killed.oom_killed, killed.timed_out) == (137, False, False)
        eaten = await env.exec(EAT)
        assert (eaten.exit_code, eaten.oom_killed) == (137, True)
        hidden = await env.exec(f"{EAT}; true")
        assert (hidden.exit_code, hidden.oom_killed) == (0, True)
        after = await env.exec("echo fine")
        assert (after.stdout, after.oom_killed) == (b"fine\n", False)
        assert (await env.resources())["oom_kills"] == 2


async def test_out_of_memory_is_seen_without_the_kernels_files(
    docker_factory: DockerFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As with a remote engine: the counter is asked for inside."""
    monkeypatch.setattr("uniclaw.environments.cgroups.Counters.visible", property(lambda _: False))
    async with running(docker_factory, SMALL) as env:
        assert not (await env.exec("kill -9 $$")).oom_killed
        assert (await env.exec(EAT)).oom_killed
        assert not (await env.exec("false")).oom_killed


async def test_fault_10_a_timed_out_command_leaves_nothing(docker_factory: DockerFactory) -> None:
    """Also fault U7."""
    async with running(docker_factory) as env:
        done = await env.exec("trap '' TERM; sleep 300 & sleep 300", timeout_s=1)
        assert (done.timed_out, done.exit_code) == (True, 137)
        assert done.duration_s < 3
        assert b"sleep 300" not in (await env.exec("ps -eo args")).stdout


async def test_a_fork_bomb_is_ended(docker_factory: DockerFactory) -> None:
    async with running(docker_factory, SMALL) as env:
        done = await env.exec("f() { f & f & echo >> beat; }; f; sleep 60", timeout_s=3)
        assert done.exit_code is not None
        await env.kill_all()
        assert not await beats(env, "beat")
        assert (await env.exec("echo ok")).stdout == b"ok\n"


async def test_at_the_process_limit_a_sidecar_kills(docker_factory: DockerFactory) -> None:
    spec = SPEC.model_copy(update={"limits": Limits(pids=12)})
    async with running(docker_factory, spec) as env:
        await env.exec(
            "for i in $(seq 30); do (setsid sleep 100 >/dev/null 2>&1 &); done", timeout_s=5
        )
        await env.kill_all()
        assert b"sleep 100" not in (await env.exec("ps -eo args")).stdout


async def test_stopped_from_outside_is_lost(
    docker_factory: DockerFactory, docker_api: DockerApi
) -> None:
    async with running(docker_factory) as env:
        running_call = asyncio.create_task(env.exec("sleep 60"))
        await asyncio.sleep(0.5)
        docker_api.remove_container(env.name, force=True)
        with pytest.raises(EnvironmentLost):
            await running_call
        with pytest.raises(EnvironmentLost):
            await env.exec("true")
    async with running(docker_factory) as env:
        assert isinstance(env, DockerEnvironment)
        docker_api.kill(env.name)
        with pytest.raises(EnvironmentLost, match="from outside"):
            await env.exec("true")
        with pytest.raises(EnvironmentLost):
            await env.get("/workspace/x")


async def test_the_agent_cannot_end_its_init(docker_factory: DockerFactory) -> None:
    """Neither by signals, nor by tracing it, nor by offering it to the kernel; not as root."""
    script = (
        "kill -9 1; kill -TERM 1; echo 1000 > /proc/1/oom_score_adj;"
        " python3 -c 'import ctypes; print(ctypes.CDLL(None).ptrace(16, 1, 0, 0))'"
    )
    for user in ("agent", "root"):
        spec = SMALL.model_copy(update={"user": user})
        async with running(docker_factory, spec) as env:
            done = await env.exec(script)
            assert done.stdout == b"-1\n"
            await env.exec(EAT)
            assert (await env.exec("echo ok")).stdout == b"ok\n"


@pytest.mark.parametrize(
    ("state", "cause"),
    [
        ({"Running": True, "OOMKilled": True}, None),
        ({"Running": False, "ExitCode": 137, "OOMKilled": False}, EnvironmentLost),
        ({"Running": False, "ExitCode": 0, "Error": "no space left"}, EnvironmentLost),
        ({"Running": False, "ExitCode": 137, "OOMKilled": True}, EnvironmentKilledByAgent),
        ({"Running": False, "ExitCode": 0, "OOMKilled": False}, EnvironmentKilledByAgent),
        ({"Running": False, "ExitCode": 139, "OOMKilled": False}, EnvironmentKilledByAgent),
    ],
)
def test_a_death_is_attributed(state: dict[str, object], cause: type[Exception] | None) -> None:
    assert cause_of_death(state) is cause  # pyright: ignore[reportArgumentType] - JSON


def test_what_the_agent_broke_counts_and_is_not_played_again() -> None:
    error = EnvironmentKilledByAgent
    assert (error.counts, error.judge, error.retry) == (True, True, False)
    assert error.outcome == "executor_incomplete"


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
async def test_an_engine_that_does_not_answer_is_an_engine_error(
    docker_factory: DockerFactory, tmp_path: Path
) -> None:
    dead = docker.APIClient(base_url=f"unix://{tmp_path}/none.sock", version="1.41")
    async with running(docker_factory) as env:
        assert isinstance(env, DockerEnvironment)
        api = env._api  # pyright: ignore[reportPrivateUsage] - to take the engine away
        env._api = cast("DockerApi", dead)  # pyright: ignore[reportPrivateUsage]
        with pytest.raises(EngineError, match="does not answer"):
            await env.exec("true")
        env._api = api  # pyright: ignore[reportPrivateUsage]
    dead.close()
    # The SDK does not close a socket that failed to connect; have that said here.
    gc.collect()


async def test_fault_U4_output_that_is_no_utf8_does_no_harm(docker_factory: DockerFactory) -> None:
    """Also fault 22."""
    async with running(docker_factory) as env:
        done = await env.exec("printf '\\377\\376'; printf '\\344\\270'; printf '\\000'")
        assert done.stdout == b"\xff\xfe\xe4\xb8\x00"
        probe = await env.probe("p", 'printf \'{"a": "\\355\\240\\200"}\'')
        assert json.loads(probe.stdout)["a"].startswith("\ufffd")


async def test_an_environment_left_by_cancel_is_removed(
    docker_factory: DockerFactory, docker_api: DockerApi, run_label: str
) -> None:
    """Fault 13: a start that nobody waits for any more leaves no container."""
    start = asyncio.create_task(docker_factory.start(SPEC))
    await asyncio.sleep(0.02)
    start.cancel()
    with pytest.raises(asyncio.CancelledError):
        await start
    for _ in range(50):
        await asyncio.sleep(0.1)
    assert not docker_api.containers(all=True, filters={"label": f"uniclaw.run={run_label}"})


async def test_many_commands_at_once(docker_factory: DockerFactory) -> None:
    async with running(docker_factory) as env:
        calls = [env.exec(f"sleep 0.3; echo {i}") for i in range(12)]
        done = await asyncio.gather(*calls)
        assert [d.stdout for d in done] == [b"%d\n" % i for i in range(12)]
        await env.exec(f"({beating('beat')}) >/dev/null 2>&1 &")
        assert await beats(env, "beat")
