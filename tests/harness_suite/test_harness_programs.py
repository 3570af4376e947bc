"""The conformance suite on every real harness program, in containers, without a network.

Images that are missing are built first. One harness: `pytest tests/harness_suite -k codex-check`.
"""

import secrets
from collections.abc import Generator

import pytest
from conftest import REPOSITORY
from harness_suite.gateway_door import gateway_door
from harness_suite.rosters import HEAVY, QUICK, image_with

from uniclaw.assets import Assets, default_roots
from uniclaw.environments.docker import DockerFactory
from uniclaw.environments.images import Images
from uniclaw.environments.labels import RUN
from uniclaw.testing.harnesses import CHECKS, Check, Rig

pytestmark = [pytest.mark.docker, pytest.mark.timeout(900)]

HARNESSES = (*QUICK, *(pytest.param(name, marks=pytest.mark.slow) for name in HEAVY))
HANG_S = {"codex": 12.0, "claude-code": 15.0, "nanobot": 20.0, "openclaw-once": 90.0}
"""What a program needs to have begun its command, on a quiet machine."""


@pytest.fixture(scope="session")
def images() -> Images:
    return Images(Assets(default_roots(None, environ={}, cwd=REPOSITORY)))


@pytest.fixture
def rig(request: pytest.FixtureRequest, images: Images) -> Generator[Rig, None, None]:
    name: str = request.param
    run = f"test-{secrets.token_hex(6)}"
    yield Rig(
        name=name,
        factory=DockerFactory(images, run=run),
        image=image_with(name, images),
        open_door=gateway_door,
        assets=images.assets,
        hang_s=HANG_S.get(name, 30.0),
    )
    assert not images.api.containers(all=True, filters={"label": f"{RUN}={run}"})


@pytest.mark.parametrize("check", CHECKS, ids=lambda c: c.__name__)
@pytest.mark.parametrize("rig", HARNESSES, indirect=True)
async def test_harness_conforms(check: Check, rig: Rig) -> None:
    await check(rig)
