"""A recipe's session is there before the agent, comes back after a freeze, and is never a sleep."""

from pathlib import Path

import pytest

from uniclaw.assets import Assets
from uniclaw.environments.docker import DockerFactory
from uniclaw.environments.images import Images
from uniclaw.environments.recipe import load_recipe
from uniclaw.environments.stage import Stage
from uniclaw.environments.wire import DockerApi
from uniclaw.errors import EngineError, UserError
from uniclaw.ports import EnvironmentSpec
from uniclaw.testing.environment_basis import running

HEAD = "from: base\ndescription: x\n"
SESSION = """session:
  command: echo up > /tmp/ready; echo $$ > /tmp/pid; exec sleep 1000
  ready: test -s /tmp/pid && kill -0 "$(cat /tmp/pid)"
  timeout_s: 5
"""
FILM = """recording:
  command: exec cat /proc/net/unix > "$RECORD_FILE"
  suffix: .txt
"""


def _recipe(root: Path, head: str) -> None:
    directory = root / "environments" / "staged"
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "recipe.yaml").write_text(head, encoding="utf-8")
    (directory / "Dockerfile").write_text("ARG BASE\nFROM ${BASE}\n", encoding="utf-8")


@pytest.mark.parametrize(
    ("head", "field"),
    [
        (f"{HEAD}session: {{command: x}}\n", "session.ready"),
        (f"{HEAD}session: {{command: x, ready: y, timeout_s: 0}}\n", "session.timeout_s"),
        (f"{HEAD}recording: {{command: x, suffix: ../x}}\n", "recording.suffix"),
        (f"{HEAD}self_test: [{{run: x, output: '('}}]\n", "self_test"),
    ],
)
def test_broken_sessions_are_refused(tmp_path: Path, head: str, field: str) -> None:
    _recipe(tmp_path, head)
    with pytest.raises(UserError) as caught:
        load_recipe("staged", tmp_path / "environments" / "staged")
    assert field in str(caught.value)


def _factory(tmp_path: Path, assets: Assets, api: DockerApi, run: str, head: str) -> DockerFactory:
    _recipe(tmp_path, head)
    images = Images(Assets((tmp_path, *assets.roots)), api)
    images.build("staged")
    return DockerFactory(images, run=run)


def _remove(tmp_path: Path, assets: Assets, api: DockerApi) -> None:
    images = Images(Assets((tmp_path, *assets.roots)), api)
    api.remove_image(images.resolve("staged").tag, force=True)


SPEC = EnvironmentSpec(image="staged", session=True)
ALIVE = 'kill -0 "$(cat /tmp/pid)"'


@pytest.mark.docker
async def test_a_session_runs_comes_back_and_is_filmed(
    tmp_path: Path, assets: Assets, docker_api: DockerApi, run_label: str
) -> None:
    factory = _factory(tmp_path, assets, docker_api, run_label, HEAD + SESSION + FILM)
    try:
        async with running(factory, SPEC) as environment:
            assert isinstance(environment, Stage)
            assert (await environment.exec(ALIVE)).exit_code == 0
            assert (await environment.exec("kill -0 $(cat /tmp/pid); id -un")).stdout == b"agent\n"
            before = (await environment.exec("cat /tmp/pid")).stdout
            assert await environment.revive() is None
            assert (await environment.exec("cat /tmp/pid")).stdout == before
            film = await environment.film("low", max_bytes=1_000_000)
            await environment.kill_all()
            assert (await environment.exec(ALIVE)).exit_code != 0
            assert await environment.revive() is None
            assert (await environment.exec(ALIVE)).exit_code == 0
            assert film is not None
            result = await film.end(tmp_path / "film")
            assert result.problem is None
            assert result.path == tmp_path / "film.txt"
            assert (tmp_path / "film.txt").read_bytes().startswith(b"Num")
        async with running(factory, SPEC.model_copy(update={"session": False})) as environment:
            assert (await environment.exec("test -e /tmp/pid")).exit_code == 1
    finally:
        _remove(tmp_path, assets, docker_api)


@pytest.mark.docker
async def test_a_session_that_does_not_come_up_is_said_and_leaves_nothing(
    tmp_path: Path, assets: Assets, docker_api: DockerApi, run_label: str
) -> None:
    head = f"{HEAD}session: {{command: 'echo no display; exit 3', ready: 'false', timeout_s: 5}}\n"
    factory = _factory(tmp_path, assets, docker_api, run_label, head)
    try:
        with pytest.raises(EngineError, match="no display"):
            await factory.start(SPEC)
        label = {"label": f"uniclaw.run={run_label}"}
        assert not docker_api.containers(all=True, filters=label)
    finally:
        _remove(tmp_path, assets, docker_api)


@pytest.mark.docker
async def test_a_film_that_fails_is_a_remark(
    tmp_path: Path, assets: Assets, docker_api: DockerApi, run_label: str
) -> None:
    head = f"{HEAD}recording: {{command: 'exit 1'}}\n"
    factory = _factory(tmp_path, assets, docker_api, run_label, head)
    try:
        async with running(factory, SPEC) as environment:
            assert isinstance(environment, Stage)
            film = await environment.film("high", max_bytes=1_000_000)
            assert film is not None
            result = await film.end(tmp_path / "film")
            assert result.path is None
            assert result.problem == "there was nothing to film"
    finally:
        _remove(tmp_path, assets, docker_api)
