"""Load a suite in the native format; everything that is wrong is refused with its place.

`<suite>/suite.yaml` names the suite and its rubric root; every other directory with a
`task.yaml` is a task: `task.yaml`, `brief.yaml`, `sources/`, `skills/<name>/`,
`services/<name>/`. The hidden side stands apart, under `<rubrics>/<task_id>/`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from uniclaw.assets import Assets
from uniclaw.errors import UserError
from uniclaw.hidden.load import load_rubric
from uniclaw.hidden.rubric import LoadedRubric
from uniclaw.records import Brief, Budget, Language, Probe, Record, Service, Task, TaskId
from uniclaw.suites.bundle import Finding, Suite, TaskBundle
from uniclaw.suites.files import (
    Tree,
    check_absolute,
    check_id,
    check_relative,
    refuse_unsafe,
    scan_tree,
    subdirectories,
)
from uniclaw.suites.select import select
from uniclaw.suites.services import TaskServices, read_services
from uniclaw.yamlio import parse_record, read_yaml

_TWIN_ENDINGS = ("_en", "_zh", "-en", "-zh")


def _named(value: object) -> object:
    return {"name": value} if isinstance(value, str) else value


class SuiteFile(Record):
    """Contents of `suite.yaml`."""

    name: str = Field(min_length=1)
    description: str = ""
    rubrics: str = Field(min_length=1)
    """Root of the hidden side, relative to `suite.yaml`."""
    tasks: tuple[str, ...] | None = None
    """Ids in order; None takes every directory with a `task.yaml`, by name."""


class TaskFile(Record):
    """Contents of `task.yaml`: the fields of `Task` that an author may set."""

    task_id: str
    instruction: str = Field(min_length=1)
    snapshot_instruction: str | None = None
    language: Language = "en"
    family: str | None = None
    """None takes the id without a trailing `_en`, `_zh`, `-en` or `-zh`."""
    capability: str = "general"
    modality: tuple[str, ...] = ()
    domain: tuple[str, ...] = ()
    environment: str = "base"
    user: Literal["agent", "root"] = "agent"
    workspace: str = "/workspace"
    sources_dir: str | None = None
    """None is `sources` under the workspace."""
    skills_dir: str | None = None
    """None is `skills` under the workspace."""
    artifact_roots: tuple[str, ...] | None = None
    """None is `results` under the workspace."""
    sources: tuple[str, ...] | None = None
    """Listed to be checked: each must exist. The whole directory is copied in any case."""
    skills: tuple[str, ...] | None = None
    """Listed to be checked."""
    services: tuple[Annotated[Service, BeforeValidator(_named)], ...] = ()
    """A name alone stands for the background service of that name."""
    probes: tuple[Probe, ...] = ()
    network: Literal["none", "open"] | tuple[str, ...] = "none"
    recording: Literal["none", "low", "high"] = "none"
    budget: Budget = Budget()


def load_native(
    root: Path, *, uri: str, globs: Sequence[str] = (), assets: Assets | None = None
) -> Suite:
    """Load the suite in the directory `root`.

    Args:
        root: the directory that holds `suite.yaml`.
        uri: as given by the user, for records.
        globs: patterns on task ids; empty takes all tasks.
        assets: where shipped services are; None knows none.

    Raises:
        UserError: anything that is wrong; names file, field, value and what was expected.
    """
    file = root / "suite.yaml"
    if not file.is_file():
        raise UserError("missing; a native suite is a directory with a suite.yaml", file=file)
    suite = parse_record(SuiteFile, read_yaml(file), file=file)
    rubrics = _rubric_root(root, suite, file)
    names = _task_names(root, suite, file)
    search = assets or Assets(roots=())
    tasks = tuple(
        _load_task(root / name, suite=suite.name, rubrics=rubrics, assets=search)
        for name in select(names, globs)
    )
    return Suite(name=suite.name, uri=uri, format="native", root=root, tasks=tasks)


def rubric_root(root: Path) -> Path:
    """Where the suite in the directory `root` keeps its hidden side.

    Raises:
        UserError: `suite.yaml` is missing or broken.
    """
    file = root / "suite.yaml"
    return _rubric_root(root, parse_record(SuiteFile, read_yaml(file), file=file), file)


def _rubric_root(root: Path, suite: SuiteFile, file: Path) -> Path:
    if "\0" in suite.rubrics:
        raise UserError("expected a path", file=file, field="rubrics", value=suite.rubrics)
    rubrics = (root / suite.rubrics).resolve()
    if not rubrics.is_dir():
        raise UserError(
            "expected a directory, relative to suite.yaml",
            file=file,
            field="rubrics",
            value=suite.rubrics,
        )
    return rubrics


def _task_names(root: Path, suite: SuiteFile, file: Path) -> tuple[str, ...]:
    if suite.tasks is None:
        names = tuple(n for n in subdirectories(root) if (root / n / "task.yaml").is_file())
        if not names:
            raise UserError("no task found; expected directories with a task.yaml", file=root)
        return names
    for index, name in enumerate(suite.tasks):
        field = f"tasks[{index}]"
        check_id(name, file=file, field=field)
        if not (root / name / "task.yaml").is_file():
            raise UserError("no such task directory", file=file, field=field, value=name)
    refuse_duplicates(suite.tasks, file=file, field="tasks")
    return suite.tasks


def refuse_duplicates(values: Iterable[str], *, file: object, field: str) -> None:
    """Raise when a value stands twice.

    Raises:
        UserError: names the value.
    """
    seen: set[str] = set()
    for value in values:
        if value in seen:
            raise UserError("stands twice; expected once", file=file, field=field, value=value)
        seen.add(value)


def _load_task(root: Path, *, suite: str, rubrics: Path, assets: Assets) -> TaskBundle:
    if root.is_symlink():
        raise UserError("a link; expected a directory", file=root)
    file = root / "task.yaml"
    author = parse_record(TaskFile, read_yaml(file), file=file)
    check_id(author.task_id, file=file, field="task_id")
    if author.task_id != root.name:
        raise UserError(
            f"expected the name of its directory, {root.name!r}",
            file=file,
            field="task_id",
            value=author.task_id,
        )
    inputs = _read_inputs(root, author, file, assets)
    hidden = rubrics / author.task_id
    rubric_file = hidden / "rubric.yaml"

    @cache
    def rubric() -> LoadedRubric:
        return load_rubric(rubric_file, reference_root=hidden, source="native")

    return TaskBundle(
        task=_task(author, suite, inputs, file),
        root=root,
        sources=inputs.sources.files,
        skills=inputs.skills,
        services=inputs.services.directories,
        sidecars=inputs.services.sidecars,
        brief=_brief(root),
        findings=_findings(root, author, inputs),
        load_rubric=rubric,
        solution=_directory(hidden / "solution"),
        mutants=_directory(hidden / "mutants"),
    )


@dataclass(frozen=True, kw_only=True)
class _Inputs:
    sources: Tree
    skills: dict[str, Path]
    services: TaskServices


def _directory(path: Path) -> Path | None:
    return path if path.is_dir() else None


def _read_inputs(root: Path, author: TaskFile, file: Path, assets: Assets) -> _Inputs:
    for kind in ("sources", "skills", "services"):
        if (root / kind).is_symlink():
            raise UserError("a link; expected a directory", file=root / kind)
    sources = scan_tree(root / "sources")
    refuse_unsafe(sources, root / "sources")
    for index, name in enumerate(author.sources or ()):
        field = f"sources[{index}]"
        check_relative(name, file=file, field=field)
        if not sources.under(name):
            raise UserError("no such file under sources/", file=file, field=field, value=name)
    refuse_duplicates((s.name for s in author.services), file=file, field="services")
    return _Inputs(
        sources=sources,
        skills=_read_skills(root / "skills", author, file),
        services=read_services(root / "services", author.services, assets=assets, file=file),
    )


def _read_skills(root: Path, author: TaskFile, file: Path) -> dict[str, Path]:
    refuse_unsafe(scan_tree(root), root)
    names = subdirectories(root)
    for index, name in enumerate(author.skills or ()):
        check_id(name, file=file, field=f"skills[{index}]")
        if name not in names:
            raise UserError(
                "no such directory under skills/", file=file, field=f"skills[{index}]", value=name
            )
    return {name: root / name for name in names}


def _task(author: TaskFile, suite: str, inputs: _Inputs, file: Path) -> Task:
    check_id(author.environment, file=file, field="environment")
    refuse_duplicates((p.id for p in author.probes), file=file, field="probes")
    if not author.instruction.strip():
        raise UserError("expected text", file=file, field="instruction")
    if author.artifact_roots == ():
        raise UserError("expected at least one directory", file=file, field="artifact_roots")
    workspace = check_absolute(author.workspace, file=file, field="workspace")
    roots = author.artifact_roots or (f"{workspace}/results",)
    return Task(
        task_id=TaskId(author.task_id),
        suite=suite,
        instruction=author.instruction,
        snapshot_instruction=author.snapshot_instruction,
        language=author.language,
        family=author.family or default_family(author.task_id),
        capability=author.capability,
        modality=author.modality,
        domain=author.domain,
        environment=author.environment,
        user=author.user,
        workspace=workspace,
        sources_dir=check_absolute(
            author.sources_dir or f"{workspace}/sources", file=file, field="sources_dir"
        ),
        skills_dir=check_absolute(
            author.skills_dir or f"{workspace}/skills", file=file, field="skills_dir"
        ),
        artifact_roots=tuple(check_absolute(r, file=file, field="artifact_roots") for r in roots),
        sources=tuple(inputs.sources.files),
        skills=tuple(inputs.skills),
        services=author.services,
        probes=author.probes,
        network=author.network,
        recording=author.recording,
        budget=author.budget,
    )


def default_family(task_id: str) -> str:
    """The id without its language ending, so that twins share it."""
    for ending in _TWIN_ENDINGS:
        if task_id.endswith(ending) and len(task_id) > len(ending):
            return task_id.removesuffix(ending)
    return task_id


def _brief(root: Path) -> Brief:
    file = root / "brief.yaml"
    if file.is_symlink():
        raise UserError("a link; expected a regular file", file=file)
    if not file.exists():
        return Brief()
    brief = parse_record(Brief, read_yaml(file) or {}, file=file)
    refuse_duplicates((fact.id for fact in brief.facts), file=file, field="facts")
    return brief


def _findings(root: Path, author: TaskFile, inputs: _Inputs) -> tuple[Finding, ...]:
    found: list[Finding] = []
    if author.sources is not None:
        listed = {f for name in author.sources for f in inputs.sources.under(name)}
        found.extend(
            Finding(author.task_id, "warning", "unlisted-source", f"sources/{name} is not listed")
            for name in inputs.sources.files
            if name not in listed
        )
    used = {(service.path or service.name).split("/")[0] for service in author.services}
    found.extend(
        Finding(author.task_id, "warning", "undeclared-service", f"services/{name} is not declared")
        for name in subdirectories(root / "services")
        if name not in used
    )
    return tuple(found)
