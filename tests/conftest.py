"""Shared fixtures: where Docker and the reference data are, and names that are unique per test."""

import os
import secrets
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent


def _engine_answers() -> bool:
    import docker
    from docker.errors import DockerException

    try:
        docker.from_env().close()
    except DockerException:
        return False
    return True


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests that cannot run here; where Docker is required they run, and fail."""
    needs_docker = [i for i in items if i.get_closest_marker("docker")]
    required = os.environ.get("UNICLAW_REQUIRE_DOCKER") == "1"
    if needs_docker and not required and not _engine_answers():
        skip = pytest.mark.skip(reason="no Docker engine answers (make engine)")
        for item in needs_docker:
            item.add_marker(skip)
    if not os.environ.get("UNICLAW_REFERENCE_DATA"):
        skip = pytest.mark.skip(reason="UNICLAW_REFERENCE_DATA is not set")
        for item in items:
            if item.get_closest_marker("reference"):
                item.add_marker(skip)


@pytest.fixture
def reference_data() -> Path:
    """Root of the reference material; tests that use it are marked `reference`."""
    return Path(os.environ["UNICLAW_REFERENCE_DATA"])


@pytest.fixture
def repository() -> Path:
    """Root of the checkout."""
    return REPOSITORY


@pytest.fixture
def unique() -> str:
    """A name no other test has."""
    return f"t{secrets.token_hex(5)}"
