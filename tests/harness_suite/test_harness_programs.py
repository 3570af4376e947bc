"""The conformance suite on every real harness program, in containers, without a network."""

import secrets
from collections.abc import Generator

import pytest
from conftest import REPOSITORY
from harness_suite.gateway_door import gateway_door

from uniclaw.assets import Assets, default_roots
from uniclaw.environments.docker import DockerFactory
from uniclaw.environments.images import Images
from uniclaw.environments.labels import RUN
from uniclaw.environments.layers import build_layer
from uniclaw.harnesses import harness_kind
from uniclaw.testing.harnesses import CHECKS, Check, Rig

pytestmark = [pytest.mark.docker, pytest.mark.slow, pytest.mark.timeout(900)]

HARNESSES = ("codex", "claude-code", "nanobot", "opencode", "hermes", "mini-swe-agent")
HANG_S = {"codex": 12.0, "claude-code": 15.0}


@pytest.fixture(scope="session")
def images() -> Images:
    return Images(Assets(default_roots(None, environ={}, cwd=REPOSITORY)))


@pytest.fixture
def rig(request: pytest.FixtureRequest, images: Images) -> Generator[Rig, None, None]:
    name: str = request.param
    layer = harness_kind(name).layer
    assert layer is not None
    image = build_layer(images, "base", layer, lambda line: None)
    run = f"test-{secrets.token_hex(6)}"
    yield Rig(
        name=name,
        factory=DockerFactory(images, run=run),
        image=image,
        open_door=gateway_door,
        assets=images.assets,
        hang_s=HANG_S.get(name, 30.0),
    )
    assert not images.api.containers(all=True, filters={"label": f"{RUN}={run}"})


@pytest.mark.parametrize("check", CHECKS, ids=lambda c: c.__name__)
@pytest.mark.parametrize("rig", HARNESSES, indirect=True)
async def test_harness_conforms(check: Check, rig: Rig) -> None:
    await check(rig)
