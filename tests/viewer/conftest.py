"""One stored run for all tests of the viewer."""

from pathlib import Path

import pytest
from stage import build


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory of runs; not to be changed."""
    return build(tmp_path_factory.mktemp("viewer"))
