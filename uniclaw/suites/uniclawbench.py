"""Load a checkout of the reference benchmark: `tasks/<category>/*.yaml` and `injection/`.

The task files are read strictly (types, ranges, paths); keys that the format does not know are
reported, and so is every resource that a task declares and the checkout does not hold. The
hidden side is our overlay rubric where we have one, else the imported rule, parsed.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Literal, cast

from pydantic import Field, JsonValue

from uniclaw.assets import Assets
from uniclaw.errors import UserError
from uniclaw.hidden.load import load_rubric
from uniclaw.hidden.rubric import LoadedRubric
from uniclaw.records import Brief, Budget, Language, Record, Service, Task, TaskId
from uniclaw.suites.bundle import Finding, Suite, TaskBundle
from uniclaw.suites.eval_rule import RuleReport, parse_rule
from uniclaw.suites.files import (
    check_id,
    check_relative,
    is_lfs_pointer,
    read_text,
    subdirectories,
)
from uniclaw.suites.native import refuse_duplicates
from uniclaw.suites.select import select
from uniclaw.suites.uniclawbench_resources import NOTHING, RULE, Given, Resources, read_resources
from uniclaw.yamlio import parse_record, read_yaml

NAME = "uniclawbench"
WORKSPACE = "/tmp_workspace"
RESULTS_DIR = f"{WORKSPACE}/results"
SOURCES_DIR = f"{WORKSPACE}/clawbench/sources"
SKILLS_DIR = "/root/skills"
OVERLAYS = "rubrics/uniclawbench"
_IGNORED_CATEGORIES = re.compile(r"0\d\d_")
"""The template and the smoke tests of the checkout are no tasks of the benchmark."""
_CATEGORY = re.compile(r"[12](0\d)_([a-z_]+?)(_zh)?")
_PUBLIC_ADDRESS = re.compile(
    r"https?://(?!localhost|127\.|0\.0\.0\.0|example\.|[\w.-]*\.local\b)[\w.-]+", re.IGNORECASE
)
_OUTPUT = re.compile(rf"{re.escape(RESULTS_DIR)}/([\w./-]*[\w-])")


class CodexKeys(Record):
    """The `codex` mapping; what configures their roles is read and not used."""

    max_user_followups: int = Field(default=2, ge=0)
    supervisor: Mapping[str, JsonValue] | None = None
    user_simulator: Mapping[str, JsonValue] | None = None


class ServiceKeys(Record):
    """One entry of `services`."""

    name: str
    path: str | None = None
    """None is the name."""
    start: str = Field(min_length=1)
    oneshot: bool = False


class TaskKeys(Record):
    """Keys of a task file. What chooses their executor is read and not used."""

    task_id: str
    category: str
    agent_sys: str = "openclaw"
    agent_id: str = "main"
    model: str = ""
    image_model: str | None = None
    timeout_seconds: int = Field(default=1200, ge=0)
    max_total_seconds: int = Field(default=1800, ge=0)
    success_threshold: float = Field(default=1.0, ge=0, le=1)
    task: str = Field(min_length=1)
    task_snapshot: str = ""
    references: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    skills: tuple[str, ...] = ()
    services: tuple[ServiceKeys, ...] = ()
    pre_exec: tuple[str, ...] = ()
    pre_exec_parallel_safe: bool = False
    recording: Literal["none", "low", "high"] = "none"
    headed: str | bool = "auto"
    codex: CodexKeys = CodexKeys()


@dataclass(frozen=True, kw_only=True)
class _Loader:
    root: Path
    assets: Assets
    given: Given


def load_uniclawbench(
    root: Path,
    *,
    uri: str,
    assets: Assets,
    globs: Sequence[str] = (),
    given: Given = NOTHING,
) -> Suite:
    """Load the checkout in `root`.

    Args:
        root: the directory that holds `tasks/` and `injection/`.
        uri: as given by the user, for records.
        assets: where overlay rubrics are looked for.
        globs: patterns on task ids; empty takes all tasks.
        given: which private variables have a value, and whether frozen copies stand for live
            services.

    Raises:
        UserError: no such layout, or a task file with broken YAML, wrong types or ranges.
    """
    if not (root / "tasks").is_dir():
        raise UserError("expected a checkout with tasks/ and injection/", file=root)
    files = {
        file.stem: file
        for category in subdirectories(root / "tasks")
        if not _IGNORED_CATEGORIES.match(category)
        for file in sorted((root / "tasks" / category).glob("*.yaml"))
    }
    if not files:
        raise UserError("no task files found; expected tasks/<category>/*.yaml", file=root)
    loader = _Loader(root=root, assets=assets, given=given)
    names = select(sorted(files), globs)
    return Suite(
        name=NAME,
        uri=uri,
        format="uniclawbench",
        root=root,
        tasks=tuple(_load_task(loader, files[name]) for name in names),
    )


def _load_task(loader: _Loader, file: Path) -> TaskBundle:
    keys, unknown = _read_keys(file)
    _check_keys(keys, file)
    directory = loader.root / "injection" / keys.category / keys.task_id
    overlay = _overlay(loader.assets, keys.task_id)
    resources = read_resources(
        directory,
        task_id=keys.task_id,
        references=keys.references,
        sources=keys.sources,
        skills=keys.skills,
        services=_services(keys),
        pre_exec=keys.pre_exec,
        given=loader.given,
        overlay=overlay is not None,
    )
    rule = _read_rule(keys, directory)
    return TaskBundle(
        task=_task(keys, resources, loader.given),
        root=directory,
        sources=resources.sources,
        skills=resources.skills,
        services=resources.services,
        sidecars=resources.sidecars,
        variables=resources.variables,
        env=resources.env,
        setup=resources.setup,
        brief=Brief(),
        findings=(
            *unknown,
            *resources.findings,
            *_rule_findings(keys, rule, overlay=overlay is not None),
        ),
        load_rubric=_rubric_loader(keys, directory, overlay, rule),
        solution=_part(overlay, "solution"),
        mutants=_part(overlay, "mutants"),
    )


def _part(overlay: Path | None, name: str) -> Path | None:
    return overlay / name if overlay and (overlay / name).is_dir() else None


def _overlay(assets: Assets, task_id: str) -> Path | None:
    """Directory of our rubric for the task, if there is one."""
    relative = f"{OVERLAYS}/{task_id}/rubric.yaml"
    return assets.find(relative).parent if assets.exists(relative) else None


def _read_keys(file: Path) -> tuple[TaskKeys, tuple[Finding, ...]]:
    """The keys of a task file; those that the format does not know are set apart."""
    data = read_yaml(file)
    if not isinstance(data, dict):
        raise UserError("expected a mapping of keys", file=file)
    if "privacy" in data:
        raise UserError(
            "not allowed in a task file; names of variables stand in .privacy",
            file=file,
            field="privacy",
        )
    known, unknown = _split(data, TaskKeys, "")
    codex = known.get("codex")
    if isinstance(codex, dict):
        known["codex"], more = _split(codex, CodexKeys, "codex.")
        unknown += more
    services = known.get("services")
    if isinstance(services, list):
        kept: list[JsonValue] = []
        for index, service in enumerate(services):
            part, more = (
                _split(service, ServiceKeys, f"services[{index}].")
                if isinstance(service, dict)
                else (service, [])
            )
            kept.append(cast("JsonValue", part))
            unknown += more
        known["services"] = kept
    keys = parse_record(TaskKeys, known, file=file)
    findings = (Finding(keys.task_id, "warning", "unknown-key", f"{f}: not used") for f in unknown)
    return keys, tuple(findings)


def _split(
    data: Mapping[str, JsonValue], model: type[Record], prefix: str
) -> tuple[dict[str, JsonValue], list[str]]:
    known = {key: value for key, value in data.items() if key in model.model_fields}
    return known, [f"{prefix}{key}" for key in data if key not in model.model_fields]


def _check_keys(keys: TaskKeys, file: Path) -> None:
    check_id(keys.task_id, file=file, field="task_id")
    check_id(keys.category, file=file, field="category")
    for field, value, expected in (
        ("task_id", keys.task_id, file.stem),
        ("category", keys.category, file.parent.name),
    ):
        if value != expected:
            raise UserError(
                f"expected {expected!r}, from the place of the file",
                file=file,
                field=field,
                value=value,
            )
    if not keys.task.strip():
        raise UserError("expected text", file=file, field="task")
    for field, values in (
        ("references", keys.references),
        ("sources", keys.sources),
        ("pre_exec", keys.pre_exec),
    ):
        for index, value in enumerate(values):
            check_relative(value, file=file, field=f"{field}[{index}]")
    for index, name in enumerate(keys.skills):
        check_id(name, file=file, field=f"skills[{index}]")
    for index, service in enumerate(keys.services):
        check_id(service.name, file=file, field=f"services[{index}].name")
        path = service.path or service.name
        check_relative(path, file=file, field=f"services[{index}].path")
    refuse_duplicates((s.name for s in keys.services), file=file, field="services")


def _services(keys: TaskKeys) -> tuple[Service, ...]:
    return tuple(
        Service(name=s.name, path=s.path or s.name, start=s.start, oneshot=s.oneshot)
        for s in keys.services
    )


def _task(keys: TaskKeys, resources: Resources, given: Given) -> Task:
    capability, language = facets(keys.category)
    played = (keys.task_snapshot if given.snapshot else "") or keys.task
    return Task(
        task_id=TaskId(keys.task_id),
        suite=NAME,
        instruction=keys.task,
        snapshot_instruction=keys.task_snapshot or None,
        language=language,
        family=family_of(keys.task_id),
        capability=capability,
        environment="office",
        user="root",
        workspace=WORKSPACE,
        sources_dir=SOURCES_DIR,
        skills_dir=SKILLS_DIR,
        artifact_roots=(RESULTS_DIR,),
        sources=tuple(resources.sources),
        skills=tuple(resources.skills),
        services=_services(keys),
        network="open" if resources.needs_network or names_address(played) else "none",
        recording=keys.recording,
        budget=Budget(
            turn_s=keys.timeout_seconds,
            executor_s=keys.max_total_seconds,
            feedback_rounds=keys.codex.max_user_followups,
        ),
    )


def facets(category: str) -> tuple[str, Language]:
    """Capability and language that a category such as `201_skill_usage_zh` stands for."""
    match = _CATEGORY.fullmatch(category)
    if not match:
        return category, "en"
    return match.group(2), "zh" if match.group(3) else "en"


def family_of(task_id: str) -> str:
    """Twins are `task_1NN_...` and `task_2NN_...` of one name."""
    match = re.fullmatch(r"task_[12](\d\d_.+)", task_id)
    return match.group(1) if match else task_id


def names_address(instruction: str) -> bool:
    """Whether an instruction sends the reader to a public address."""
    return _PUBLIC_ADDRESS.search(instruction) is not None


def outputs_of(instruction: str) -> tuple[str, ...]:
    """Result files that an imported instruction names, relative to the results directory."""
    names = (name.rstrip(".") for name in _OUTPUT.findall(instruction))
    return tuple(dict.fromkeys(name for name in names if "." in name.rsplit("/", 1)[-1]))


def _rubric_loader(
    keys: TaskKeys, directory: Path, overlay: Path | None, rule: "_Rule | None"
) -> Callable[[], LoadedRubric]:
    texts = () if rule is None else (rule.text,)

    @cache
    def load() -> LoadedRubric:
        if overlay is not None:
            file = overlay / "rubric.yaml"
            loaded = load_rubric(file, reference_root=directory, source="overlay")
            return replace(loaded, raw_texts=(*loaded.raw_texts, *texts))
        if rule is None:
            raise UserError("missing rule; nothing to judge by", file=directory / RULE)
        rubric = rule.report.rubric(keys.success_threshold, file=directory / RULE)
        present = tuple(r.rstrip("/") for r in keys.references if (directory / r).exists())
        return LoadedRubric(
            rubric=rubric.model_copy(update={"references": present}),
            root=directory,
            source="imported",
            reference_root=directory,
            raw_texts=texts,
        )

    return load


@dataclass(frozen=True, kw_only=True)
class _Rule:
    """The imported rule of one task."""

    text: str
    report: RuleReport


def _read_rule(keys: TaskKeys, directory: Path) -> _Rule | None:
    file = directory / RULE
    if not file.is_file() or file.is_symlink() or is_lfs_pointer(file):
        return None
    text = read_text(file)
    return _Rule(text=text, report=parse_rule(text, outputs=outputs_of(keys.task)))


def _rule_findings(keys: TaskKeys, rule: _Rule | None, *, overlay: bool) -> tuple[Finding, ...]:
    if rule is None:
        return ()
    found: list[Finding] = []
    reason = rule.report.reason
    if reason is not None:
        severity = "note" if overlay else "error"
        found.append(Finding(keys.task_id, severity, "unparsed-rubric", f"{RULE}: {reason}"))
    stated = rule.report.stated_threshold
    if stated is not None and abs(stated - keys.success_threshold) > 1e-9:
        message = (
            f"{RULE} names {stated:g} as the threshold, the task file "
            f"{keys.success_threshold:g}; the task file's holds"
        )
        found.append(Finding(keys.task_id, "note", "threshold-differs", message))
    return tuple(found)
