"""Grades a change to a repository: take the patch, run the tests on it, read the results.

Two clean environments, each with the repository at its base commit and nothing of its future:

- in the first, the frozen files that differ are laid over the base commit and git writes the
  difference. Nothing of the agent's is executed, and nothing of its `.git` is there: no
  configuration, hook, replaced ref, worktree or attribute file of its own decides anything.
- in the second, the filtered patch and the test patch are applied and the tests are run. It is
  the one place where code of the agent's runs; it holds no references but the test files.

What the runner wrote to its report file, or the exit code of each test's own command, is read
here. What the code under test prints decides nothing. As in every evaluation of this kind, that
code shares its process with the runner, so that a patch written against the runner itself is
beyond what results can tell.
"""

import asyncio
import contextlib
import secrets
import shlex
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from uniclaw.errors import EnvironmentKilledByAgent, InfraError, TaskRefused, UserError
from uniclaw.hidden.rubric import LoadedRubric
from uniclaw.hidden.tests_plan import TEST_PATCH, TestsPlan, all_tests, read_plan, sha256_of
from uniclaw.ports import Environment, ExecResult
from uniclaw.store.atomic import write_json
from uniclaw.suites.claw_swe_repository import Repository, prepare_repository
from uniclaw.supervisor.grader import Grader
from uniclaw.supervisor.swe_overlay import Overlay, overlay_of
from uniclaw.supervisor.swe_patch import (
    MAX_PATCH_BYTES,
    Patch,
    TestsRun,
    filter_patch,
    patch_of_message,
)
from uniclaw.supervisor.swe_results import parse_junit, parse_tap
from uniclaw.trajectory import Evidence

MAX_REPORT_BYTES = 50_000_000
_GIT_S = 300.0
_ONE_TEST_S = 120.0
_ENV = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_ATTR_NOSYSTEM": "1",
    "LC_ALL": "C.UTF-8",
}
_RUN_ENV = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONNOUSERSITE": "1", "NO_COLOR": "1"}
_DIFF = """
mkdir -p .git/info
printf '* !filter !diff !ident !working-tree-encoding\\n' > .git/info/attributes
git -c core.protectNTFS=false -c core.protectHFS=false -c core.excludesFile=/dev/null \\
    add -A --ignore-errors . >&2 || true
exec git -c core.quotePath=false diff --cached --no-color --no-ext-diff --no-textconv \\
    --no-renames --src-prefix=a/ --dst-prefix=b/ "$1"
"""


async def run_tests(grader: Grader, loaded: LoadedRubric, evidence: Evidence) -> TestsRun:
    """Grade one round; the patch is kept beside its evidence.

    Args:
        grader: starts clean environments.
        loaded: the hidden side, with the plan and the test patch beside the rubric.
        evidence: of the round.

    Raises:
        TaskRefused: the test patch does not apply to the base commit.
        UserError: the plan is not the one that the rubric was made with.
    """
    grading = _Grading(grader, loaded, evidence, _checked_plan(loaded))
    try:
        run = await grading.run()
    except TaskRefused:
        raise
    except InfraError as error:
        source = grading.plan.patch_source
        run = TestsRun(patch=Patch(source=source), problem=f"{type(error).__name__}: {error}")
    if run.problem is None:
        tests = {t: "passed" if t in run.passed else "not passed" for t in grading.tests}
        write_json(patch_file(evidence), run.patch.model_copy(update={"tests": tests}))
    return run


def patch_file(evidence: Evidence) -> Path:
    """Where a round's patch is kept."""
    return evidence.files_root.with_name(f"{evidence.files_root.name}.patch.json")


def _checked_plan(loaded: LoadedRubric) -> TestsPlan:
    plan = read_plan(loaded.root)
    for line in loaded.rubric.checkpoints:
        digest = getattr(line.check, "sha256", None)
        if line.check.kind == "tests" and digest != sha256_of(plan):
            raise UserError("the plan of the tests was changed", file=loaded.root, value=line.id)
    return plan


@dataclass
class _Grading:
    grader: Grader
    loaded: LoadedRubric
    evidence: Evidence
    plan: TestsPlan

    def __post_init__(self) -> None:
        self.tests = all_tests(self.loaded.rubric)
        self.workspace = self.evidence.task.workspace

    async def run(self) -> TestsRun:
        patch = await self._take()
        if patch.problem is not None:
            return TestsRun(patch=patch)
        lost = ""
        for _ in range(2):
            async with self._clean() as environment:
                try:
                    return await self._test(environment, patch)
                except TaskRefused:
                    raise
                except (InfraError, EnvironmentKilledByAgent) as error:
                    lost = str(error)
        told = patch.model_copy(update={"problem": f"the tests ended their environment: {lost}"})
        return TestsRun(patch=told)

    @contextlib.asynccontextmanager
    async def _clean(self) -> AsyncGenerator[Environment]:
        """A fresh environment with the repository at its base commit."""
        environment = await self.grader.clean_environment(self.evidence.task)
        try:
            material = None if self.plan.repository is None else Path(self.plan.repository)
            repository = Repository(base_commit=self.plan.base_commit, material=material)
            await prepare_repository(environment, repository, workspace=self.workspace)
            yield environment
        finally:
            await environment.close()

    # --- the patch -----------------------------------------------------------------------

    async def _take(self) -> Patch:
        plan = self.plan
        if plan.patch_source == "model":
            raw = patch_of_message(self.evidence.turn.final_message)
            return await asyncio.to_thread(
                filter_patch, raw, source="model", test_files=plan.test_files
            )
        if self.evidence.manifest.truncated:
            problem = "the repository grew beyond what is frozen"
            return Patch(source="repository", problem=problem)
        overlay = overlay_of(self.evidence, self.workspace)
        raw = b""
        if not overlay.empty:
            async with self._clean() as environment:
                result = await self._difference(environment, overlay)
            if result.truncated:
                problem = f"the change has {result.total_bytes} bytes; at most {MAX_PATCH_BYTES}"
                return Patch(source="repository", dropped=overlay.dropped, problem=problem)
            raw = result.stdout
        return await asyncio.to_thread(
            filter_patch,
            raw,
            source="repository",
            test_files=plan.test_files,
            dropped=overlay.dropped,
        )

    async def _difference(self, environment: Environment, overlay: Overlay) -> ExecResult:
        """Lay the frozen changes over the base commit, and let git write the difference."""
        await self._list(environment, "rm -rf --", overlay.gone)
        await self._list(
            environment,
            'sh -c \'for p; do [ -d "$p" ] && [ ! -L "$p" ] || rm -f -- "$p"; done\' sh',
            overlay.directories,
        )
        if overlay.files:
            await environment.put({f"{self.workspace}/{n}": p for n, p in overlay.files.items()})
        await self._list(
            environment,
            '-n 2 sh -c \'mkdir -p "$(dirname "$2")" && ln -sfn -- "$1" "$2"\' sh',
            [part for name, target in overlay.links.items() for part in (target, f"./{name}")],
            plain=True,
        )
        await self._list(environment, "chmod 755 --", overlay.executable)
        await self._list(environment, "chmod 644 --", overlay.ordinary)
        result = await environment.exec(
            ["sh", "-c", _DIFF, "diff", self.plan.base_commit],
            cwd=self.workspace,
            env=_ENV,
            timeout_s=_GIT_S,
            max_bytes=2 * MAX_PATCH_BYTES,
        )
        if result.exit_code != 0 or result.timed_out:
            told = result.stderr.decode("utf-8", "replace")[-500:]
            raise InfraError(f"the difference could not be taken: {told}")
        return result

    async def _list(
        self,
        environment: Environment,
        command: str,
        names: Sequence[str],
        *,
        plain: bool = False,
    ) -> None:
        """Run a command over names that may hold anything but NUL."""
        if not names:
            return
        listed = "\0".join(name if plain else f"./{name}" for name in names)
        await environment.exec(
            f"xargs -0 -r {command}",
            stdin=listed.encode("utf-8", "surrogateescape"),
            cwd=self.workspace,
            timeout_s=_GIT_S,
        )

    # --- the tests -----------------------------------------------------------------------

    async def _test(self, environment: Environment, patch: Patch) -> TestsRun:
        # The tests first: what does not apply to the base commit is the task's fault, and what
        # does not apply after that is the agent's, whose patch touches none of the tests' files.
        tests = (self.loaded.root / TEST_PATCH).read_bytes()
        said = await self._apply(environment, tests) if tests.strip() else None
        if said is not None:
            raise TaskRefused(f"the test patch {said}")
        if patch.text:
            said = await self._apply(environment, patch.text.encode())
            if said is not None:
                told = patch.model_copy(update={"applies": False, "problem": f"the patch {said}"})
                return TestsRun(patch=told)
            patch = patch.model_copy(update={"applies": True})
        home = await self._home(environment)
        env = {**_RUN_ENV, "HOME": home}
        if self.plan.setup:
            await environment.exec(
                self.plan.setup, cwd=self.workspace, env=env, timeout_s=self.plan.timeout_s
            )
        passed = await self._results(environment, env)
        return TestsRun(patch=patch, passed=frozenset(passed) & frozenset(self.tests))

    async def _home(self, environment: Environment) -> str:
        made = await environment.exec(["mktemp", "-d"], cwd=self.workspace, timeout_s=_GIT_S)
        return made.stdout.decode("utf-8", "replace").strip()

    async def _apply(self, environment: Environment, patch: bytes) -> str | None:
        """Apply a patch to the working tree; why not, if it does not apply."""
        result = await environment.exec(
            ["git", "apply", "--whitespace=nowarn", "-"],
            stdin=patch,
            cwd=self.workspace,
            env=_ENV,
            timeout_s=_GIT_S,
        )
        if result.exit_code == 0:
            return None
        return "does not apply: " + result.stderr.decode("utf-8", "replace").strip()[:400]

    async def _results(self, environment: Environment, env: Mapping[str, str]) -> set[str]:
        if self.plan.runner == "exit":
            return await self._one_by_one(environment, env)
        report = f"{self.workspace}/.git/{secrets.token_hex(8)}.report"
        inside = f".git/{PurePosixPath(report).name}"
        files = " ".join(map(shlex.quote, self._test_files()))
        command = self.plan.command.replace("{report}", inside).replace("{files}", files)
        await environment.exec(command, cwd=self.workspace, env=env, timeout_s=self.plan.timeout_s)
        await environment.kill_all()
        try:
            data = await environment.get(report, max_bytes=MAX_REPORT_BYTES)
        except (FileNotFoundError, ValueError):
            return set()
        return await asyncio.to_thread(self._read, data)

    def _read(self, data: bytes) -> set[str]:
        if self.plan.runner == "node":
            text = data.decode("utf-8", "replace")
            results = parse_tap(text, workspace=self.workspace)
        else:
            try:
                results = parse_junit(data)
            except ValueError:  # a runner that was cut off wrote half a file: nothing passed
                return set()
        return {test for test, status in results.items() if status == "passed"}

    async def _one_by_one(self, environment: Environment, env: Mapping[str, str]) -> set[str]:
        """Each test by its own command, whose exit code decides."""
        passed: set[str] = set()
        limit = min(_ONE_TEST_S, self.plan.timeout_s)
        for test in self.tests:
            result = await environment.exec(
                self.plan.command.replace("{test}", test),
                cwd=self.workspace,
                env=env,
                timeout_s=limit,
            )
            if result.exit_code == 0 and not result.timed_out:
                passed.add(test)
        return passed

    def _test_files(self) -> tuple[str, ...]:
        """Files of the tests: as pytest names them, else those that the test patch touches."""
        if self.plan.runner == "pytest":
            return tuple(dict.fromkeys(t.split("::", 1)[0] for t in self.tests))
        return self.plan.test_files
