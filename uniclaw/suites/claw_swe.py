"""Loader of Claw-SWE-Bench: SWE-bench rows with a repository or an image per instance.

The hidden side of an instance (tests, test patch, reference patch) is written to a private
directory of this process, where rubrics are read like any other; it goes when the process ends.
"""

import atexit
import base64
import functools
import hashlib
import shutil
import tempfile
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from uniclaw.assets import Assets
from uniclaw.errors import TaskRefused
from uniclaw.hidden.rubric import Checkpoint, LoadedRubric, PassRequires, Rubric
from uniclaw.hidden.tests_check import TestsCheck
from uniclaw.hidden.tests_plan import PLAN, TEST_PATCH, PatchSource, TestsPlan, sha256_of
from uniclaw.ports import Environment
from uniclaw.prompts import render
from uniclaw.records import Brief, Budget, Record, Task, TaskId
from uniclaw.suites.bundle import Finding, Suite, TaskBundle
from uniclaw.suites.claw_swe_repository import (
    TESTBED,
    History,
    Repository,
    material_files,
    prepare_repository,
)
from uniclaw.suites.claw_swe_rows import ReadRow, Row, read_rows
from uniclaw.suites.files import is_lfs_pointer
from uniclaw.suites.select import select

PromptShape = Literal["phases", "short"]
TURN_S = 1800.0
F2P_WEIGHT = 0.8
_PROMPTS = "roles/claw_swe"


class SweOptions(Record):
    """What the benchmark's protocol leaves open."""

    prompt: PromptShape = "phases"
    """`phases`: the long shape, eight steps; `short`: where, two rules, the issue."""
    history: History = "clean"
    """`keep` leaves the repository's whole history to the agent (an ablation)."""
    patch_source: PatchSource = "repository"
    """`model` takes the diff that the last message shows (an ablation)."""


def load_claw_swe(
    file: Path, *, uri: str, assets: Assets, globs: Sequence[str], options: SweOptions
) -> Suite:
    """Load the instances of a file of rows.

    Args:
        file: JSON lines, or a JSON array.
        uri: as given by the user.
        assets: where the prompts are.
        globs: patterns on instance ids; empty takes all.
        options: of the protocol.

    Raises:
        UserError: the file as a whole cannot be used.
    """
    rows = {row.instance_id: row for row in read_rows(file)}
    prompt = f"{_PROMPTS}/{options.prompt}.en.md"
    parts = [assets.read_text(prompt)]
    if options.patch_source == "model":
        parts.append(assets.read_text(f"{_PROMPTS}/model_patch.en.md"))
    loader = _Loader(
        file=file, hidden=hidden_root(), prompt="\n\n".join(parts), name=prompt, options=options
    )
    return Suite(
        name="claw-swe",
        uri=uri,
        format="claw-swe",
        root=file.parent,
        tasks=tuple(loader.bundle(rows[name]) for name in select(list(rows), globs)),
    )


@functools.cache
def hidden_root() -> Path:
    """The private directory of this process for hidden sides that no file of a suite holds."""
    root = Path(tempfile.mkdtemp(prefix="uniclaw-swe-"))
    atexit.register(shutil.rmtree, root, ignore_errors=True)
    return root


@dataclass(frozen=True, kw_only=True)
class _Loader:
    file: Path
    hidden: Path
    prompt: str
    name: str
    options: SweOptions

    def bundle(self, read: ReadRow) -> TaskBundle:
        """One instance; a refused one refuses again when it is played."""
        material = None if read.row is None else self._material(read.row)
        refusal = read.refusal or (self._refusal(material) if material is not None else None)
        if read.row is None or refusal is not None:
            return self._refused(read.instance_id, refusal or "no row")
        row = read.row
        root = self._stage(row, material)
        repository = Repository(base_commit=row.base_commit, material=material)
        return TaskBundle(
            task=self._task(row),
            root=self.file.parent,
            brief=Brief(),
            findings=tuple(self._findings(row)),
            load_rubric=functools.partial(_rubric, row, root),
            solution=root / "solution" if row.patch.strip() else None,
            prepare=_preparation(repository, self.options.history),
        )

    def _material(self, row: Row) -> Path | None:
        return None if row.repository is None else self.file.parent / row.repository

    def _refusal(self, material: Path) -> str | None:
        if not material.exists():
            return f"repository: no such file or directory: {material}"
        if material.is_file() and is_lfs_pointer(material):
            return f"repository: an unresolved Git LFS pointer: {material}"
        return None

    def _findings(self, row: Row) -> Iterator[Finding]:
        if not row.patch.strip():
            yield Finding(row.instance_id, "note", "no-solution", "the row has no reference patch")
        if not row.test_patch.strip():
            message = "no test patch: its tests must already stand at the base commit"
            yield Finding(row.instance_id, "warning", "no-test-patch", message)
        if self.options.history == "keep":
            message = "the history after the base commit stays in the repository"
            yield Finding(row.instance_id, "warning", "history-kept", message)

    def _task(self, row: Row) -> Task:
        plain = row.user or ("root" if row.repository is None else "agent")
        return Task(
            task_id=TaskId(row.instance_id),
            suite="claw-swe",
            instruction=render(
                self.prompt,
                file=self.name,
                repo=row.repo,
                workspace=TESTBED,
                base_commit=row.base_commit,
                problem_statement=row.problem_statement.strip(),
            ),
            family=row.repo,
            capability="software_engineering",
            domain=(row.language.lower(),),
            environment=row.image,
            user=plain,
            workspace=TESTBED,
            artifact_roots=(TESTBED,),
            budget=Budget(turn_s=TURN_S),
        )

    def _stage(self, row: Row, material: Path | None) -> Path:
        """Write the hidden side of one instance."""
        runner, command = row.how
        plan = TestsPlan(
            base_commit=row.base_commit,
            repository=None if material is None else str(material.resolve()),
            repository_sha256=None if material is None else _hash(material),
            runner=runner,
            command=command,
            setup=row.setup_command,
            timeout_s=row.test_timeout_s,
            test_files=row.test_files,
            test_patch_sha256=_sha256(row.test_patch),
            patch_source=self.options.patch_source,
        )
        root = self.hidden / f"{row.instance_id}-{sha256_of(plan)[:12]}"
        for directory in (root / "references", root / "solution"):
            directory.mkdir(parents=True, exist_ok=True)
        _write(root / PLAN, plan.model_dump_json())
        _write(root / TEST_PATCH, row.test_patch)
        _write(root / "references/solution.txt", _added(row.patch))
        _write(root / "references/tests.txt", _added(row.test_patch))
        if row.patch.strip():
            _write(root / "solution/round-0.sh", _solution(row.patch, self.options.patch_source))
        return root

    def _refused(self, instance: str, why: str) -> TaskBundle:
        async def refuse(environment: Environment) -> None:
            del environment
            raise TaskRefused(why)

        root = self.hidden / f"{instance}-refused"
        (root / "solution").mkdir(parents=True, exist_ok=True)
        return TaskBundle(
            task=Task(
                task_id=TaskId(instance),
                suite="claw-swe",
                instruction="(refused)",
                family=instance,
                capability="software_engineering",
                workspace=TESTBED,
                artifact_roots=(TESTBED,),
            ),
            root=self.file.parent,
            brief=Brief(),
            findings=(Finding(instance, "error", "refused", why),),
            load_rubric=functools.partial(_no_rubric, root),
            solution=root / "solution",
            prepare=refuse,
        )


def _preparation(
    repository: Repository, history: History
) -> Callable[[Environment], Awaitable[None]]:
    async def prepare(environment: Environment) -> None:
        await prepare_repository(environment, repository, history=history)

    return prepare


def _rubric(row: Row, root: Path) -> LoadedRubric:
    """Share of the failing tests that pass now; nothing broken; a pass needs both whole."""
    plan = TestsPlan.model_validate_json((root / PLAN).read_bytes())
    digest = sha256_of(plan)
    fixed = Checkpoint(
        id="fail_to_pass",
        weight=F2P_WEIGHT if row.pass_to_pass else 1.0,
        description="The tests that show the issue pass.",
        check=TestsCheck(tests=row.fail_to_pass, sha256=digest),
    )
    kept = Checkpoint(
        id="pass_to_pass",
        weight=1.0 - F2P_WEIGHT,
        description="The tests that passed before still pass.",
        check=TestsCheck(tests=row.pass_to_pass, needs_any=row.fail_to_pass, sha256=digest),
    )
    lines = (fixed, kept) if row.pass_to_pass else (fixed,)
    return LoadedRubric(
        rubric=Rubric(
            threshold=1.0,
            checkpoints=lines,
            pass_requires=PassRequires(checkpoints=tuple(line.id for line in lines)),
            references=("references/solution.txt", "references/tests.txt"),
        ),
        root=root,
        source="imported",
        reference_root=root,
    )


def _no_rubric(root: Path) -> LoadedRubric:
    check = TestsCheck(tests=("refused",), sha256="0" * 64)
    line = Checkpoint(id="refused", weight=1.0, description="Never decided.", check=check)
    rubric = Rubric(threshold=1.0, checkpoints=(line,))
    return LoadedRubric(rubric=rubric, root=root, source="imported", reference_root=root)


def _solution(patch: str, source: PatchSource) -> str:
    """A script that applies the reference patch, or shows it in the last message."""
    if source == "model":
        shown = "\n".join(f"#: {line}" for line in ("```diff", *patch.splitlines(), "```"))
        return f"true\n{shown}\n"
    # As base64: a script is read line by line, and a patch may hold any character.
    body = base64.encodebytes(patch.encode("utf-8", "replace")).decode("ascii")
    apply = "base64 -d <<'END_OF_PATCH' | git apply --whitespace=nowarn -"
    return f"{apply}\n{body}END_OF_PATCH\n#: The issue is fixed.\n"


def _added(patch: str) -> str:
    """Lines that a patch adds: what of it stands nowhere in the repository."""
    lines = (line for line in patch.splitlines() if line.startswith("+"))
    return "".join(f"{line[1:]}\n" for line in lines if not line.startswith("+++ "))


def _write(path: Path, text: str) -> None:
    path.write_bytes(text.encode("utf-8", "replace"))


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def _hash(material: Path) -> str:
    digest = hashlib.sha256()
    for file in material_files(material):
        with file.open("rb") as stream:
            digest.update(hashlib.file_digest(stream, "sha256").digest())
    return digest.hexdigest()
