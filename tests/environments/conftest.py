"""Factories for the environment tests; Docker ones leave nothing behind, or fail."""

import os
import secrets
from collections.abc import Generator
from pathlib import Path

import pytest

from uniclaw.assets import Assets, default_roots
from uniclaw.environments.docker import DockerFactory
from uniclaw.environments.engine import answering, connect
from uniclaw.environments.images import Images
from uniclaw.environments.labels import RUN
from uniclaw.environments.process import ProcessFactory
from uniclaw.environments.wire import DockerApi

REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def docker_api() -> Generator[DockerApi, None, None]:
    """A client; without an engine the test fails where Docker is required, else is skipped."""
    if answering() is None:
        if os.environ.get("UNICLAW_REQUIRE_DOCKER") == "1":
            pytest.fail("no Docker engine answers and UNICLAW_REQUIRE_DOCKER=1")
        pytest.skip("no Docker engine answers")
    api = connect()
    yield api
    api.close()


@pytest.fixture(scope="session")
def assets() -> Assets:
    return Assets(default_roots(None, environ={}, cwd=REPOSITORY))


@pytest.fixture(scope="session")
def images(docker_api: DockerApi, assets: Assets) -> Images:
    """The recipes of the checkout, with `base` built."""
    found = Images(assets, docker_api)
    found.build("base")
    return found


@pytest.fixture
def run_label() -> str:
    return f"test-{secrets.token_hex(6)}"


@pytest.fixture
def docker_factory(
    images: Images, docker_api: DockerApi, run_label: str
) -> Generator[DockerFactory, None, None]:
    """A factory whose run has left no container and no image at the end of the test."""
    yield DockerFactory(images, run=run_label)
    label = {"label": f"{RUN}={run_label}"}
    assert not docker_api.containers(all=True, filters=label)
    assert not docker_api.images(filters=label)


@pytest.fixture
def process_factory(tmp_path: Path, run_label: str) -> Generator[ProcessFactory, None, None]:
    """A factory whose directories are gone at the end of the test."""
    scratch = tmp_path / "environments"
    scratch.mkdir()
    yield ProcessFactory(run=run_label, scratch=scratch)
    assert not list(scratch.iterdir())
