"""How the tests of a repository are run: what `tests` checks share, as a file of the hidden side.

The suite writes it beside the rubric; the supervisor reads it.
"""

import hashlib
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, ValidationError

from uniclaw.errors import UserError
from uniclaw.hidden.rubric import Rubric
from uniclaw.hidden.tests_check import TestsCheck
from uniclaw.records import Record

PLAN = "plan.json"
TEST_PATCH = "test.patch"

Runner = Literal["pytest", "node", "junit", "exit"]
PatchSource = Literal["repository", "model"]

DEFAULT_COMMANDS: dict[Runner, str | None] = {
    "pytest": "python3 -m pytest -q -p no:cacheprovider -o junit_family=xunit1"
    " --junitxml={report} {files}",
    "node": "node --test --test-reporter=tap --test-reporter-destination={report} {files}",
    "junit": None,
    "exit": "{test}",
}
"""`{report}`: file that the runner writes; `{files}`: files of the tests; `{test}`: one test."""


class TestsPlan(Record):
    """Everything about one instance that running its tests needs."""

    base_commit: str
    repository: str | None
    """Host path of a bundle, archive or directory; None: the image holds it."""
    repository_sha256: str | None = None
    runner: Runner
    """`pytest`, `node`: their own report files; `junit`: any command that writes JUnit XML;
    `exit`: one command per test, whose exit code decides."""
    command: str
    setup: str = ""
    """Command before the tests, such as a build; its exit code says nothing."""
    timeout_s: Annotated[float, Field(gt=0, le=7200)] = 900.0
    test_files: tuple[str, ...] = ()
    """Paths that the test patch touches; changes of the agent's to them are dropped."""
    test_patch_sha256: str
    patch_source: PatchSource = "repository"


def sha256_of(plan: TestsPlan) -> str:
    """Hash of a plan, wherever its repository lies."""
    text = plan.model_dump_json(exclude={"repository"})
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def read_plan(root: Path) -> TestsPlan:
    """Read the plan of a rubric's directory.

    Raises:
        UserError: it is missing or damaged.
    """
    file = root / PLAN
    try:
        return TestsPlan.model_validate_json(file.read_bytes())
    except OSError as error:
        raise UserError(f"cannot be read: {error.strerror}", file=file) from error
    except ValidationError as error:
        raise UserError(str(error.errors()[0]["msg"]), file=file) from error


def all_tests(rubric: Rubric) -> tuple[str, ...]:
    """Every test that a rubric names, once."""
    checks = (c.check for c in rubric.checkpoints)
    named = (test for c in checks if isinstance(c, TestsCheck) for test in c.tests)
    return tuple(dict.fromkeys(named))
