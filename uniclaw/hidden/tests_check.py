"""The check that runs a repository's tests on the change that an agent left."""

from typing import Literal

from uniclaw.hidden.check_base import CheckBase


class TestsCheck(CheckBase):
    """Named tests of a repository, run on the change that the agent left in it.

    The value is the share that passes. How they are run stands in the plan beside the rubric
    (`hidden.tests_plan`).
    """

    kind: Literal["tests"] = "tests"
    tests: tuple[str, ...]
    needs_any: tuple[str, ...] = ()
    """Earns nothing while none of these passes: a repository left as it was is no merit."""
    sha256: str
    """Of the plan."""
