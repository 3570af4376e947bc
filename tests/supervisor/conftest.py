"""Fixtures: a workshop whose graders are process environments on this machine."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from recording import RecordingFactory
from workshop import Workshop

from uniclaw.environments.process import ProcessFactory


@pytest.fixture
def factory(tmp_path: Path) -> RecordingFactory:
    return RecordingFactory(ProcessFactory(run="test", scratch=tmp_path / "environments"))


@pytest.fixture
async def shop(tmp_path: Path, factory: RecordingFactory) -> AsyncIterator[Workshop]:
    workshop = Workshop(tmp_path, factory)
    yield workshop
    for grader in workshop.graders:
        await grader.close()
    assert all(environment.closed for environment in factory.started)
