"""Background services beside a container: they share its network, and nothing else of it."""

import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from service_maker import DESCRIPTION, PORT, PROGRAM, write_service

from uniclaw.environments.docker import DockerFactory
from uniclaw.environments.process import ProcessFactory
from uniclaw.environments.services import Services
from uniclaw.environments.wire import DockerApi, mapping_of
from uniclaw.errors import EnvironmentLost, UserError
from uniclaw.ports import Environment, EnvironmentFactory, EnvironmentSpec, ServiceSpec
from uniclaw.records import ProbeResult
from uniclaw.suites.services import service_spec

docker = pytest.mark.docker
URL = f"http://localhost:{PORT}"


def notes(tmp_path: Path, **changes: object) -> ServiceSpec:
    home = write_service(tmp_path / "notes", **changes)  # type: ignore[arg-type]
    return service_spec("notes", program_home=home, seed=home)


@asynccontextmanager
async def playing(
    factory: EnvironmentFactory, *specs: ServiceSpec, **more: object
) -> AsyncGenerator[tuple[Environment, Services], None]:
    spec = EnvironmentSpec.model_validate({"image": "base", **more})
    environment = await factory.start(spec)
    services = Services(factory, specs, {"uniclaw.episode": "e1"})
    try:
        await services.start(environment)
        yield environment, services
    finally:
        await services.close()
        await environment.close()


def document(result: ProbeResult) -> Mapping[str, object]:
    return json.loads(result.stdout)


@docker
async def test_the_agent_reaches_it_and_sees_nothing_of_it(
    docker_factory: DockerFactory, docker_api: DockerApi, run_label: str, tmp_path: Path
) -> None:
    async with playing(docker_factory, notes(tmp_path)) as (environment, services):
        await services.begin_round(0)
        done = await environment.exec(f"curl -sS {URL}/notes; curl -sS -d hello {URL}/notes")
        assert done.stdout == b'["first"]{"ok": true}', done.stderr
        look = "ls /service; ps -ef; grep -rl notes.list / --include=*.py 2>/dev/null; true"
        seen = (await environment.exec(look)).stdout.decode()
        assert "main.py" not in seen
        assert "seed" not in seen
        (result,) = await services.results()
        said = document(result)
        assert (result.id, result.exit_code, result.truncated) == ("service:notes", 0, False)
        assert said["state"] == {"notes": ["first", "hello"], "applied": 0}
        assert said["audit"] == [
            {"n": 1, "round": 0, "action": "notes.list"},
            {"n": 2, "round": 0, "action": "notes.add", "text": "hello"},
        ]
        label = {"label": [f"uniclaw.run={run_label}", "uniclaw.role=service"]}
        (found,) = docker_api.containers(all=True, filters=label)
        host = mapping_of(docker_api.inspect_container(str(found["Id"])).get("HostConfig"))
        assert host["CapDrop"] == ["ALL"]
        assert host["SecurityOpt"] == ["no-new-privileges"]
        assert host["PidsLimit"] == 256
        assert host["Memory"] == 384_000_000
        assert host["Binds"] is None
        who = await services.running[0].environment.exec("ps -o user= -C python3")
        assert who.stdout.split() == [b"agent"]


@docker
async def test_it_joins_the_network_of_an_environment_with_a_door(
    docker_factory: DockerFactory, tmp_path: Path
) -> None:
    door = tmp_path / "door"
    door.mkdir()
    async with playing(docker_factory, notes(tmp_path), door=str(door)) as (environment, _):
        done = await environment.exec(f"curl -sS {URL}/notes; cat /proc/net/dev")
        assert done.stdout.startswith(b'["first"]')
        assert b"eth0" not in done.stdout


@docker
async def test_a_round_brings_the_seeds_changes_once(
    docker_factory: DockerFactory, tmp_path: Path
) -> None:
    async with playing(docker_factory, notes(tmp_path)) as (environment, services):
        for number in (0, 1, 1):
            await services.begin_round(number)
            done = await environment.exec(f"curl -sS {URL}/notes")
        assert json.loads(done.stdout) == ["first", "came later"]


@docker
async def test_a_service_that_ends_is_recorded_with_its_log(
    docker_factory: DockerFactory, tmp_path: Path
) -> None:
    async with playing(docker_factory, notes(tmp_path)) as (environment, services):
        await environment.exec(f"curl -sS {URL}/die")
        (result,) = await services.results()
        assert result.exit_code == 7
        said = document(result)
        assert said["ended"] == {"exit_code": 7, "log": "told to die"}
        assert said["audit"] == [{"n": 1, "round": 0, "action": "die"}]
        await services.begin_round(1)


@docker
@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("raise SystemExit('no seed here')", "ended with 1.*no seed here"),
        ("import time; print('waiting', flush=True); time.sleep(60)", "refused.*waiting"),
        (PROGRAM.replace("send_response(200)", "send_response(500)"), "answers 500"),
    ],
    ids=["ends", "silent", "errors"],
)
async def test_a_service_that_does_not_get_ready_is_lost_with_its_log(
    docker_factory: DockerFactory, tmp_path: Path, program: str, said: str
) -> None:
    spec = notes(tmp_path, program=program, description={**DESCRIPTION, "ready": {"timeout_s": 1}})
    with pytest.raises(EnvironmentLost, match=f"(?s)'notes' does not get ready.*{said}"):
        async with playing(docker_factory, spec):
            pass


@docker
async def test_a_state_can_be_set_back(docker_factory: DockerFactory, tmp_path: Path) -> None:
    async with playing(docker_factory, notes(tmp_path)) as (environment, services):
        await services.keep("fresh")
        await environment.exec(f"curl -sS -d hello {URL}/notes")
        await services.keep("solved")
        (solved,) = await services.results()
        await services.back_to("fresh")
        (fresh,) = await services.results()
        assert document(fresh) == {"audit": [], "state": {"notes": ["first"], "applied": 0}}
        await services.back_to("solved")
        (again,) = await services.results()
        assert again == solved
        done = await environment.exec(f"curl -sS {URL}/notes")
        assert json.loads(done.stdout) == ["first", "hello"]


@docker
async def test_services_start_again_from_snapshots(
    docker_factory: DockerFactory, tmp_path: Path, run_label: str
) -> None:
    spec = notes(tmp_path)
    async with playing(docker_factory, spec) as (environment, services):
        await environment.exec(f"curl -sS -d hello {URL}/notes")
        saved = await services.snapshot(run_label)
    environment = await docker_factory.start(EnvironmentSpec(image="base"))
    services = Services(docker_factory, (spec,), {})
    try:
        await services.start(environment, saved)
        done = await environment.exec(f"curl -sS {URL}/notes")
        assert json.loads(done.stdout) == ["first", "hello"]
    finally:
        await services.close()
        await environment.close()
        for snapshot in saved.values():
            await docker_factory.remove_snapshot(snapshot)


@docker
async def test_a_service_without_a_port_is_ready_when_something_new_listens(
    docker_factory: DockerFactory, tmp_path: Path
) -> None:
    named = notes(tmp_path)
    silent = named.model_copy(update={"name": "other", "port": None, "env": {"NOTES_PORT": "8098"}})
    async with playing(docker_factory, named, silent) as (environment, services):
        done = await environment.exec("curl -sS http://localhost:8098/notes")
        assert json.loads(done.stdout) == ["first"]
        assert [r.id for r in await services.results()] == ["service:notes", "service:other"]


async def test_the_process_adapter_refuses_services(
    process_factory: ProcessFactory, tmp_path: Path
) -> None:
    with pytest.raises(UserError, match="docker alone"):
        async with playing(process_factory, notes(tmp_path)):
            pass
