"""Both adapters keep the port's promises."""

import pytest

from uniclaw.environments.docker import DockerFactory
from uniclaw.environments.process import ProcessFactory
from uniclaw.testing.environment_basis import Check
from uniclaw.testing.environments import CHECKS


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
async def test_process_adapter(check: Check, process_factory: ProcessFactory) -> None:
    await check(process_factory)


@pytest.mark.docker
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
async def test_docker_adapter(check: Check, docker_factory: DockerFactory) -> None:
    await check(docker_factory)
