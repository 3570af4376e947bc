"""Find what an imported task declares on disk, and say exactly what is not there.

It reads the task's directory under `injection/` and takes nothing through a link. A resource
without which the task cannot run or be judged is an error; the rest are warnings and notes.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Literal, NamedTuple

from uniclaw.ports import ServiceSpec
from uniclaw.records import Service
from uniclaw.suites.bundle import Finding
from uniclaw.suites.files import Tree, read_text, scan_tree, subdirectories
from uniclaw.suites.services import PROGRAM_DIR

SNAPSHOT_VARIABLE = "SNAPSHOT_MODE"
RULE = "references/eval_rule.md"
SERVICE_IMAGE = "office"
SERVICE_READY_S = 60.0
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SKILL_FILE = re.compile(
    r"(?<![\w/.-])((?:scripts|bin|lib|tools)/[\w./-]*\w\.(?:py|sh|js|mjs|ts|rb))\b"
)
_REACHES_OUT = re.compile(
    r"https?://(?!localhost|127\.)|\b(?:urllib|requests|httpx|aiohttp|curl|wget|gh|git clone)\b"
)
_IDLE_LINE = re.compile(r"\s*(?:#.*|exit 0|true|:|set -[a-z]+.*)?\s*")


@dataclass(frozen=True, kw_only=True)
class Resources:
    """What the directory holds."""

    sources: Mapping[str, Path]
    skills: Mapping[str, Path]
    services: Mapping[str, Path]
    sidecars: tuple[ServiceSpec, ...]
    setup: Mapping[str, Path]
    variables: tuple[str, ...]
    """Private ones, to be given to the executor."""
    env: Mapping[str, str]
    findings: tuple[Finding, ...]
    needs_network: bool


class Given(NamedTuple):
    """What the caller can provide."""

    credentials: frozenset[str] = frozenset()
    """Names of variables with a value."""
    placeholders: frozenset[str] = frozenset()
    """Names whose value is none yet."""
    snapshot: bool = False
    """Frozen copies stand for live services."""


NOTHING = Given()


@dataclass
class _Notes:
    task_id: str
    found: list[Finding] = field(default_factory=list[Finding])

    def add(self, severity: Literal["error", "warning", "note"], code: str, message: str) -> None:
        self.found.append(Finding(self.task_id, severity, code, message))


def read_resources(
    directory: Path,
    *,
    task_id: str,
    references: Sequence[str],
    sources: Sequence[str],
    skills: Sequence[str],
    services: Sequence[Service],
    pre_exec: Sequence[str],
    given: Given,
    overlay: bool,
) -> Resources:
    """Look for everything that a task declares.

    Args:
        directory: the task's directory under `injection/`.
        task_id: for the findings.
        references: declared hidden files and directories.
        sources: declared public files and directories.
        skills: declared skill names.
        services: declared services, each with its directory under `services/`.
        pre_exec: scripts that the reference runs on the host before the task.
        given: what the caller can provide.
        overlay: an overlay rubric replaces the imported one.
    """
    notes = _Notes(task_id)
    variables = _privacy(directory / ".privacy", notes, given)
    frozen = given.snapshot and SNAPSHOT_VARIABLE in variables
    _references(directory, references, notes, overlay=overlay)
    found = _sources(directory / "sources", sources, notes)
    if SNAPSHOT_VARIABLE in variables and not given.snapshot:
        found = {n: p for n, p in found.items() if not n.endswith("_snapshot.json")}
    setup = _pre_exec(directory, pre_exec, notes, frozen=frozen)
    found_services, sidecars = _services(directory / "services", services, notes)
    return Resources(
        sources=found,
        skills=_skills(directory / "skills", skills, notes),
        services=found_services,
        sidecars=sidecars,
        setup=setup,
        variables=tuple(n for n in variables if n != SNAPSHOT_VARIABLE),
        env={SNAPSHOT_VARIABLE: "1"} if frozen else {},
        findings=tuple(notes.found),
        needs_network=bool(pre_exec) and not frozen and _wants_network(setup, pre_exec),
    )


def _pre_exec(
    directory: Path, scripts: Sequence[str], notes: _Notes, *, frozen: bool
) -> dict[str, Path]:
    """Scripts that prepare the task; those that are there run in the environment."""
    found: dict[str, Path] = {}
    for script in scripts:
        place = directory / script
        if frozen:
            notes.add("note", "pre-exec", f"{script}: prepares live services; not run in snapshots")
        elif place.is_symlink() or not place.is_file():
            notes.add("error", "pre-exec", f"{script}: prepares the task; not shipped")
        else:
            _report_tree(scan_tree(_part(directory, script)), script, notes)
            found[script] = place
            notes.add("note", "pre-exec", f"{script}: runs in the environment before the agent")
    return found


def _part(directory: Path, script: str) -> Path:
    return directory / PurePosixPath(script).parts[0]


def _wants_network(setup: Mapping[str, Path], scripts: Sequence[str]) -> bool:
    """Whether a script that prepares the task reaches out; one that is not there may."""
    texts = [read_text(path) for path in setup.values()]
    return len(setup) < len(scripts) or any(_REACHES_OUT.search(text) for text in texts)


def _privacy(file: Path, notes: _Notes, given: Given) -> tuple[str, ...]:
    """Names of the variables that the task needs."""
    if not file.is_file() or file.is_symlink():
        return ()
    lines = [line.split("#")[0].strip() for line in read_text(file).splitlines()]
    names = tuple(dict.fromkeys(line for line in lines if _VARIABLE.fullmatch(line)))
    if any(line and not _VARIABLE.fullmatch(line) for line in lines):
        notes.add("error", "privacy-file", ".privacy: expected names of variables alone")
    wanted = [n for n in names if n != SNAPSHOT_VARIABLE and n not in given.credentials]
    if not wanted:
        return names
    if given.snapshot and SNAPSHOT_VARIABLE in names:
        listed = ", ".join(wanted)
        notes.add("note", "needs-credentials", f"{listed}: not needed in snapshot mode")
        return names
    told = [f"{n} (a placeholder)" if n in given.placeholders else n for n in wanted]
    notes.add("error", "needs-credentials", f"variables not provided: {', '.join(told)}")
    return names


def _report_tree(tree: Tree, kind: str, notes: _Notes) -> None:
    for link in tree.links:
        notes.add("error", "link", f"{kind}/{link}: a link; links are never followed")
    for name in tree.special:
        notes.add("error", "special-file", f"{kind}/{name}: not a regular file")
    for name in tree.pointers:
        notes.add("error", "lfs-pointer", f"{kind}/{name}: an unresolved Git LFS pointer")


def _references(directory: Path, declared: Sequence[str], notes: _Notes, *, overlay: bool) -> None:
    tree = scan_tree(directory / "references")
    _report_tree(tree, "references", notes)
    if "eval_rule.md" not in tree.files:
        severity = "warning" if overlay else "error"
        notes.add(severity, "missing-rule", f"{RULE}: missing; nothing to judge by")
    used: set[str] = set()
    for name in declared:
        inside = name.removeprefix("references/")
        files = tree.under(inside)
        used.update(files)
        if not files and inside != "eval_rule.md":
            notes.add("error", "missing-reference", f"references/{inside}: declared, not there")
    for name in tree.files:
        if name not in used and name != "eval_rule.md":
            notes.add("note", "undeclared-reference", f"references/{name}: there, not declared")


def _sources(root: Path, declared: Sequence[str], notes: _Notes) -> dict[str, Path]:
    tree = scan_tree(root)
    _report_tree(tree, "sources", notes)
    used: set[str] = set()
    for name in declared:
        inside = name.removeprefix("sources/").rstrip("/")
        files = tree.under(inside)
        used.update(files)
        if not files:
            notes.add("error", "missing-source", f"sources/{inside}: declared, not there")
    if declared:
        for name in tree.files:
            if name not in used:
                notes.add("note", "unlisted-source", f"sources/{name}: there, not declared")
    return dict(tree.files)


def _skills(root: Path, declared: Sequence[str], notes: _Notes) -> dict[str, Path]:
    present = subdirectories(root)
    found: dict[str, Path] = {}
    for name in declared:
        if name not in present:
            notes.add("error", "missing-skill", f"skills/{name}: declared, not there")
            continue
        tree = scan_tree(root / name)
        _report_tree(tree, f"skills/{name}", notes)
        text = next((p for n, p in tree.files.items() if n.lower() == "skill.md"), None)
        if text is None:
            notes.add("error", "missing-skill", f"skills/{name}/SKILL.md: not there")
        else:
            _skill_files(name, text, tree, notes)
        found[name] = root / name
    return found


def _skill_files(name: str, text: Path, tree: Tree, notes: _Notes) -> None:
    """Files of its own that a skill's text tells the reader to run."""
    for script in dict.fromkeys(_SKILL_FILE.findall(read_text(text))):
        if script not in tree.files:
            notes.add("warning", "missing-skill-file", f"skills/{name}/{script}: named, not there")


def _services(
    root: Path, declared: Sequence[Service], notes: _Notes
) -> tuple[dict[str, Path], tuple[ServiceSpec, ...]]:
    """Directories by name, and what is started beside the environment."""
    found: dict[str, Path] = {}
    sidecars: list[ServiceSpec] = []
    for service in declared:
        directory = root / service.path
        if directory.is_symlink() or not directory.is_dir():
            notes.add("error", "missing-service", f"services/{service.path}: declared, not there")
            continue
        tree = scan_tree(directory)
        _report_tree(tree, f"services/{service.path}", notes)
        if tree.files and all(_idle(file) for file in tree.files.values()):
            notes.add(
                "note",
                "installer-placeholder",
                f"services/{service.path}: does nothing; the image must hold what it would install",
            )
        found[service.name] = directory
        if not service.oneshot:
            sidecars.append(_sidecar(service, directory))
            notes.add(
                "warning",
                "background-service",
                f"services/{service.path}: runs beside the environment; the agent reaches its"
                " ports, and no file of it",
            )
    return found, tuple(sidecars)


def _sidecar(service: Service, directory: Path) -> ServiceSpec:
    return ServiceSpec(
        name=service.name,
        image=SERVICE_IMAGE,
        command=("/bin/sh", "-c", f"cd {PROGRAM_DIR} && {service.start}"),
        ready_timeout_s=SERVICE_READY_S,
        files={PROGRAM_DIR: directory},
    )


def _idle(file: Path) -> bool:
    """Whether a script consists of comments and an exit."""
    if file.suffix != ".sh" or file.stat().st_size > 4096:
        return False
    return all(_IDLE_LINE.fullmatch(line) for line in read_text(file).splitlines())
