"""Load a checkout of WildClawBench: `tasks/<category>/*task_*.md`, `workspace/`, `skills/`.

Of a task file only the prompt is public. The workspace directory of a task holds `exec/` (copied
to `/tmp_workspace`), `tmp/` (to `/tmp_workspace/tmp`) and `gt/`, which only graders see. Two
additions of ours: `services/<name>/` beside them seeds one of our services, and
`solutions/<task id>/` in the checkout holds staged reference solutions for the oracle.
"""

import hashlib
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Literal

from uniclaw.assets import Assets
from uniclaw.errors import UserError
from uniclaw.hidden.program import OVERALL, GraderProgram
from uniclaw.hidden.rubric import Checkpoint, GraderCheck, LoadedRubric, Rubric
from uniclaw.ports import ServiceSpec
from uniclaw.records import Brief, Budget, Language, Service, Task, TaskId
from uniclaw.suites.bundle import Finding, Suite, TaskBundle
from uniclaw.suites.files import Tree, scan_tree, subdirectories
from uniclaw.suites.native import refuse_duplicates
from uniclaw.suites.select import select
from uniclaw.suites.services import TaskServices, read_services
from uniclaw.suites.uniclawbench_resources import NOTHING, Given
from uniclaw.suites.wildclawbench_format import TaskFile, parse_task
from uniclaw.suites.wildclawbench_grader import (
    JUDGE_VARIABLES,
    Inspection,
    inspect_grader,
    kind_of_warmup,
)
from uniclaw.suites.wildclawbench_warmup import preparation

WORKSPACE = "/tmp_workspace"
SKILLS_DIR = "/root/skills"
THRESHOLD = 0.9
"""Overall score from which an attempt passes, where the task file names none."""
REFUSED = "refused"
"""Code of a finding that ends the task's episodes at once, and nobody else's."""
_GLOB = "*task_*.md"
_OUTPUT = re.compile(rf"{re.escape(WORKSPACE)}/([\w./-]*[\w-]\.\w+)")
_CATEGORY = re.compile(r"\d+_(.+)")
_CJK = re.compile(r"[\u4e00-\u9fff]")
_CJK_SHARE = 0.1
_PREAMBLE: Mapping[Language, str] = {
    "en": (
        f"You work in a container of your own; your files are in {WORKSPACE}. Nobody watches while"
        " you work, so do not wait for an answer. Run commands in the foreground and finish"
        " within {seconds} seconds."
    ),
    "zh": (
        f"你在一个独立的容器中工作，文件位于 {WORKSPACE}。工作期间无人值守，请不要等待回复。"
        "命令请在前台运行，并在 {seconds} 秒之内完成。"
    ),
}


@dataclass
class _Notes:
    task_id: str
    found: list[Finding] = field(default_factory=list[Finding])

    def add(self, severity: Literal["error", "warning", "note"], code: str, message: str) -> None:
        self.found.append(Finding(self.task_id, severity, code, message))


@dataclass(frozen=True, kw_only=True)
class _Loader:
    root: Path
    assets: Assets
    given: Given


@dataclass(frozen=True, kw_only=True)
class _Parts:
    """What a task's directories hold."""

    place: Path
    sources: Mapping[str, Path]
    hidden: Mapping[str, Path]
    skills: Mapping[str, Path]
    services: Mapping[str, Path]
    sidecars: tuple[ServiceSpec, ...]
    refused: str | None
    """Why its episodes end at once."""


def load_wildclawbench(
    root: Path, *, uri: str, assets: Assets, globs: Sequence[str] = (), given: Given = NOTHING
) -> Suite:
    """Load the checkout in `root`.

    Args:
        root: the directory that holds `tasks/`, `workspace/` and `skills/`.
        uri: as given by the user, for records.
        assets: where shipped services are.
        globs: patterns on task ids; empty takes all tasks.
        given: which private variables have a value.

    Raises:
        UserError: no such layout, or a selected task file that cannot be read as one.
    """
    if not (root / "tasks").is_dir():
        raise UserError("expected a checkout with tasks/ and workspace/", file=root)
    files = [
        file
        for category in subdirectories(root / "tasks")
        for file in sorted((root / "tasks" / category).glob(_GLOB))
        if not file.is_symlink()
    ]
    if not files:
        raise UserError(f"no task files found; expected tasks/<category>/{_GLOB}", file=root)
    parsed = [_parsed(file) for file in files]
    refuse_duplicates((name for name, _ in parsed), file=root, field="id")
    found = dict(parsed)
    loader = _Loader(root=root, assets=assets, given=given)
    return Suite(
        name="wildclawbench",
        uri=uri,
        format="wildclawbench",
        root=root,
        tasks=tuple(_load_task(loader, found[name]) for name in select(list(found), globs)),
    )


def _parsed(file: Path) -> tuple[str, TaskFile | UserError]:
    """A task file by its id; one that is none is refused only when it is selected."""
    try:
        task = parse_task(file)
    except UserError as error:
        return file.stem, error
    return task.task_id, task


def _load_task(loader: _Loader, task: TaskFile | UserError) -> TaskBundle:
    if isinstance(task, UserError):
        raise task
    notes = _Notes(task.task_id)
    inspected = inspect_grader(task.grader)
    _report_file(task, inspected, notes)
    parts = _read_parts(loader, task, inspected, notes)
    variables = _variables(task, loader.given, notes)
    network = _report_warmup(task, notes)
    solution = loader.root / "solutions" / task.task_id
    return TaskBundle(
        task=_task(task, parts, network=network),
        root=parts.place,
        sources=parts.sources,
        skills=parts.skills,
        services=parts.services,
        sidecars=parts.sidecars,
        variables=variables,
        prepare=preparation(task.warmup, workspace=WORKSPACE, refused=parts.refused),
        brief=Brief(),
        findings=tuple(notes.found),
        load_rubric=_rubric_loader(task, parts, inspected),
        solution=solution if solution.is_dir() else None,
        mutants=solution / "mutants" if (solution / "mutants").is_dir() else None,
    )


def _report_file(task: TaskFile, inspected: Inspection, notes: _Notes) -> None:
    for key in task.unknown_keys:
        notes.add("warning", "unknown-key", f"{key}: not used")
    for code, message in task.remarks:
        notes.add("warning", code, message)
    if inspected.problem is not None:
        notes.add("error", REFUSED, f"the grader {inspected.problem}")
    if inspected.asks_model:
        notes.add("note", "needs-judge", "the grader asks a judge model")
    if inspected.runs_code:
        severity = "error" if inspected.asks_model else "warning"
        told = (
            "the grader may carry out what the agent wrote: it runs without network and without a"
            " way to a model, but in one place with the ground truth"
        )
        notes.add(severity, "grader-runs-agent-code", told)


def _read_parts(loader: _Loader, task: TaskFile, inspected: Inspection, notes: _Notes) -> _Parts:
    place = loader.root / task.workspace
    refused = f"the grader {inspected.problem}" if inspected.problem else None
    if _through_link(loader.root, task.workspace) or not place.is_dir():
        told = f"{task.workspace}: no such directory in the checkout"
        notes.add("error", REFUSED, told)
        refused = refused or told
    trees = {name: scan_tree(place / name) for name in ("exec", "tmp", "gt")}
    for name, tree in trees.items():
        _report_tree(tree, name, notes)
    if inspected.reads_gt and not trees["gt"].files:
        told = f"{task.workspace}/gt: missing or empty, and the grader reads it"
        notes.add("error", REFUSED, told)
        refused = refused or told
    services = subdirectories(place / "services")
    for name in inspected.services:
        if name not in services:
            told = (
                f"the grader reads the audit of {name!r}, and {task.workspace}/services/ has none"
            )
            notes.add("error", "missing-service", told)
    try:
        found = read_services(
            place / "services",
            [Service(name=name) for name in services],
            assets=loader.assets,
            file=task.file,
        )
    except UserError as error:
        notes.add("error", "bad-service", str(error))
        found = TaskServices()
    return _Parts(
        place=place,
        sources={
            **trees["exec"].files,
            **{f"tmp/{name}": path for name, path in trees["tmp"].files.items()},
        },
        hidden={f"gt/{name}": path for name, path in trees["gt"].files.items()},
        skills=_skills(loader.root, task.skills, notes),
        services=found.directories,
        sidecars=found.sidecars,
        refused=refused,
    )


def _through_link(root: Path, relative: str) -> bool:
    steps = PurePosixPath(relative).parts
    return any((root / Path(*steps[: n + 1])).is_symlink() for n in range(len(steps)))


def _report_tree(tree: Tree, kind: str, notes: _Notes) -> None:
    for link in tree.links:
        notes.add("warning", "link", f"{kind}/{link}: a link; links are never followed")
    for name in tree.special:
        notes.add("warning", "special-file", f"{kind}/{name}: not a regular file")
    for name in tree.pointers:
        notes.add("error", "lfs-pointer", f"{kind}/{name}: an unresolved Git LFS pointer")
    for name in tree.files:
        if PurePosixPath(name).name == "dot_git.tar.gz":
            told = f"{kind}/{name}: still packed; the benchmark's prepare script unpacks it"
            notes.add("warning", "not-prepared", told)


def _skills(root: Path, wanted: Sequence[str], notes: _Notes) -> dict[str, Path]:
    """Skill directories by their last name; of two with one name the first is taken."""
    found: dict[str, Path] = {}
    for skill in wanted:
        directory = root / "skills" / skill
        name = directory.name
        if _through_link(root / "skills", skill) or not directory.is_dir():
            notes.add("warning", "missing-skill", f"skills/{skill}: named, not there")
        elif name in found:
            notes.add(
                "warning", "skill-twice", f"skills/{skill}: a skill {name!r} is there already"
            )
        else:
            tree = scan_tree(directory)
            _report_tree(tree, f"skills/{skill}", notes)
            if not tree.links and not tree.special:
                found[name] = directory
    return found


def _variables(task: TaskFile, given: Given, notes: _Notes) -> tuple[str, ...]:
    """Variables that the agent needs; those of the grader's judge are never given to it."""
    judge = [name for name in task.env if name in JUDGE_VARIABLES]
    if judge:
        told = f"{', '.join(judge)}: for the grader's judge; the agent does not get them"
        notes.add("note", "judge-variables", told)
    wanted = tuple(name for name in task.env if name not in JUDGE_VARIABLES)
    missing = [n for n in wanted if n not in given.credentials]
    told = [f"{n} (a placeholder)" if n in given.placeholders else n for n in missing]
    if told:
        notes.add("error", "needs-credentials", f"variables not provided: {', '.join(told)}")
    return wanted


def _report_warmup(task: TaskFile, notes: _Notes) -> bool:
    """Whether the warm-up needs a network."""
    kinds = {command: kind_of_warmup(command) for command in task.warmup}
    for command, kind in kinds.items():
        if kind == "background":
            told = f"warm-up in the background ends with the first turn: {command[:80]}"
            notes.add("warning", "background-warmup", told)
    return "network" in kinds.values()


def _task(task: TaskFile, parts: _Parts, *, network: bool) -> Task:
    language: Language = (
        "zh" if len(_CJK.findall(task.prompt)) > _CJK_SHARE * len(task.prompt) else "en"
    )
    preamble = _PREAMBLE[language].format(seconds=task.keys.timeout_seconds)
    capability = _CATEGORY.fullmatch(task.category)
    return Task(
        task_id=TaskId(task.task_id),
        suite="wildclawbench",
        instruction=f"{preamble}\n\n{task.prompt}",
        language=language,
        family=task.task_id,
        capability=(capability.group(1) if capability else task.category).lower(),
        modality=(task.keys.modality,),
        domain=(task.category,),
        environment=task.keys.environment,
        user="root",
        workspace=WORKSPACE,
        sources_dir=WORKSPACE,
        skills_dir=SKILLS_DIR,
        artifact_roots=(WORKSPACE,),
        sources=tuple(parts.sources),
        skills=tuple(parts.skills),
        services=tuple(Service(name=spec.name) for spec in parts.sidecars),
        network="open" if network else "none",
        budget=Budget(turn_s=task.keys.timeout_seconds),
    )


def outputs_of(prompt: str) -> tuple[str, ...]:
    """Files under the workspace's results that a prompt names, absolute."""
    names = (name.rstrip(".") for name in _OUTPUT.findall(prompt))
    return tuple(
        dict.fromkeys(f"{WORKSPACE}/{n}" for n in names if n.startswith(("results/", "output")))
    )


def _rubric_loader(
    task: TaskFile, parts: _Parts, inspected: Inspection
) -> Callable[[], LoadedRubric]:
    @cache
    def load() -> LoadedRubric:
        return LoadedRubric(
            rubric=_rubric(task, parts, inspected),
            root=parts.place,
            source="imported",
            reference_root=parts.place,
            raw_texts=task.hidden,
            program=GraderProgram(
                source=task.grader,
                workspace=WORKSPACE,
                hidden=parts.hidden,
                idle=parts.sources,
                weights=inspected.weights,
                asks_model=inspected.asks_model,
                runs_code=inspected.runs_code,
            ),
        )

    return load


def _rubric(task: TaskFile, parts: _Parts, inspected: Inspection) -> Rubric:
    weights = inspected.weights or {OVERALL: 1.0}
    digest = hashlib.sha256(task.grader.encode("utf-8", "replace")).hexdigest()
    outputs = outputs_of(task.prompt)
    scale = math.fsum(weights.values())
    return Rubric(
        threshold=THRESHOLD if task.keys.threshold is None else task.keys.threshold,
        checkpoints=tuple(
            Checkpoint(
                id=key,
                weight=weight / scale,
                description=f"The task's own grader, {key.replace('_', ' ')}.",
                check=GraderCheck(
                    key=key, sha256=digest, asks_model=inspected.asks_model, outputs=outputs
                ),
            )
            for key, weight in weights.items()
        ),
        references=("gt",) if parts.hidden else (),
    )
