"""Remarks on a loaded task that need no run.

A lint compares the public side with the hidden side; its findings are for the operator and
never reach a role.
"""

import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from uniclaw.errors import UserError
from uniclaw.hidden.rubric import (
    AllCheck,
    AnyCheck,
    Check,
    CommandCheck,
    CsvCheck,
    FileCheck,
    ImageCheck,
    JsonCheck,
    JudgeCheck,
    LoadedRubric,
    NotCheck,
    TextCheck,
)
from uniclaw.suites.bundle import Finding, TaskBundle
from uniclaw.suites.files import scan_tree
from uniclaw.suites.lints_answers import answer_lints
from uniclaw.suites.lints_criteria import criteria_lints, unloaded_lints
from uniclaw.suites.markdown import split_sections

_UNUSABLE = ("unparsed-rubric", "missing-rule")
_RULE_NAME = "eval_rule.md"
_EXTENSIONS = (
    "md|txt|json|jsonl|csv|tsv|xlsx|ods|odt|docx|pptx|pdf|png|jpg|jpeg|svg|html|ics|srt|lrc|sql"
    "|yaml|yml|mmd|drawio|sketch|mp4|mp3|wav|bib|ris|py|sh"
)
_NAME = rf"[\w./-]*[\w-]\.(?:{_EXTENSIONS})"
_DELIVERED = re.compile(
    rf"`({_NAME})`\s+(?:\([^()]*\)\s+)?(?:exists?|parses|must exist|is (?:a )?valid|is present)\b"
)
_NAMED = re.compile(rf"`({_NAME})`")
_ABSENT = re.compile(r"^(?:sources|references)/(\S+): declared, not there")
_URL = re.compile(
    r"https?://(?!localhost|127\.|0\.0\.0\.0|example\.|[\w.-]*\.local\b)[\w.-]+", re.I
)
_WEB = re.compile(
    r"\b(?:web ?sites?|web ?pages?|official site|youtube|bilibili|browser|online|internet"
    r"|live (?:api|data|odds|page))\b|网站|网页|官网|联网|上网|在线|浏览器",
    re.IGNORECASE,
)
_DYNAMIC_TITLE = re.compile(r"dynamic|static", re.IGNORECASE)
_OFFLINE = re.compile(
    r"\boffline\b|\blocal-(?:audio|media|image)\b|\bno live\b"
    r"|\b(?:is|are) (?:fixed|frozen|static)\b",
    re.IGNORECASE,
)
_CREDENTIAL = re.compile(r"\$\{?([A-Z][A-Z0-9_]*(?:TOKEN|KEY|SECRET|PASSWORD|CREDENTIALS?))\b")


def lint(bundle: TaskBundle) -> tuple[Finding, ...]:
    """All findings on a task, besides those of its loader."""
    found: list[Finding] = []
    try:
        loaded = bundle.load_rubric()
    except UserError as error:
        loaded = None
        if not any(f.code in _UNUSABLE for f in bundle.findings):
            found.append(Finding(bundle.task_id, "error", "bad-rubric", str(error)))
    if loaded is not None:
        found.extend(_needs_judge(bundle, loaded))
        found.extend(_output_names(bundle, loaded))
        found.extend(answer_lints(bundle, loaded.reference_root / "references"))
        found.extend(criteria_lints(bundle, loaded))
    else:
        found.extend(unloaded_lints(bundle))
    if loaded is not None and loaded.source == "native":
        found.extend(_undeclared_references(bundle, loaded))
    found.extend(_network(bundle, loaded))
    found.extend(_credentials(bundle))
    found.extend(_prompt_paths(bundle))
    return tuple(found)


def _needs_judge(bundle: TaskBundle, loaded: LoadedRubric) -> Iterator[Finding]:
    rubric = loaded.rubric
    checks = [*(c.check for c in rubric.checkpoints), *(c.when for c in rubric.caps)]
    lines = sum(any(isinstance(p, JudgeCheck) for p in parts_of(c)) for c in checks)
    lines += len(rubric.pass_requires.judge)
    if lines:
        total = len(checks) + len(rubric.pass_requires.judge)
        message = f"{lines} of {total} rubric lines need a judge model"
        yield Finding(bundle.task_id, "note", "needs-judge", message)


def parts_of(check: Check, *, commands: bool = True) -> Iterator[Check]:
    """A check and every check inside it.

    Args:
        check: to take apart.
        commands: also what is said of a command's output, whose paths are no artifacts.
    """
    yield check
    if isinstance(check, AllCheck | AnyCheck):
        for part in check.of:
            yield from parts_of(part, commands=commands)
    elif isinstance(check, NotCheck):
        yield from parts_of(check.check, commands=commands)
    elif commands and isinstance(check, CommandCheck) and check.then is not None:
        yield from parts_of(check.then)


def _output_names(bundle: TaskBundle, loaded: LoadedRubric) -> Iterator[Finding]:
    """Files that the rubric wants and the instruction does not name."""
    task = bundle.task
    public = " ".join([task.instruction, task.snapshot_instruction or ""])
    known = {PurePosixPath(name).name for name in bundle.sources}
    known.update(PurePosixPath(n).name for d in bundle.skills.values() for n in scan_tree(d).files)
    known.update(Path(n).name for n in scan_tree(loaded.reference_root / "references").files)
    absent = (_ABSENT.match(f.message) for f in bundle.findings)
    known.update(PurePosixPath(match.group(1)).name for match in absent if match)
    wanted: dict[str, str] = {}
    for line in loaded.rubric.checkpoints:
        for name in _wanted(line.check, task.artifact_roots, loaded.source):
            wanted.setdefault(name, line.id)
    for name, line_id in wanted.items():
        base = PurePosixPath(name).name
        if base not in known and base != _RULE_NAME and base not in public:
            yield Finding(
                bundle.task_id,
                "warning",
                "output-name-mismatch",
                f"checkpoint {line_id} names {base!r}; the instruction does not",
            )


def _wanted(check: Check, roots: tuple[str, ...], source: str) -> Iterator[str]:
    for part in parts_of(check, commands=False):
        if isinstance(part, FileCheck | JsonCheck | CsvCheck | TextCheck | ImageCheck):
            path = part.path or ""
            exists = not isinstance(part, FileCheck) or part.exists
            if path and exists and not set(path) & set("*?["):
                yield path
        elif isinstance(part, JudgeCheck) and source == "imported" and part.criterion:
            delivered = (n for n in _DELIVERED.findall(part.criterion) if "/" not in n)
            yield from delivered
            yield from (n for n in _NAMED.findall(part.criterion) if n.startswith(roots))


def _undeclared_references(bundle: TaskBundle, loaded: LoadedRubric) -> Iterator[Finding]:
    declared = loaded.rubric.references
    for name in scan_tree(loaded.reference_root / "references").files:
        path = f"references/{name}"
        if not any(path == d or path.startswith(d.rstrip("/") + "/") for d in declared):
            yield Finding(
                bundle.task_id, "note", "undeclared-reference", f"{path}: there, not declared"
            )


def _network(bundle: TaskBundle, loaded: LoadedRubric | None) -> Iterator[Finding]:
    task = bundle.task
    addresses = sorted(set(_URL.findall(task.instruction)))
    words = sorted({w.lower() for w in _WEB.findall(task.instruction)})
    if task.network != "none":
        reason = f"; it names {addresses[0]}" if addresses else ""
        message = f"the task asks for the network: it runs with --network alone{reason}"
        yield Finding(bundle.task_id, "error", "needs-network", message)
    elif addresses:
        message = f"the instruction names {addresses[0]}, and the task has no network"
        yield Finding(bundle.task_id, "warning", "needs-network", message)
    elif words and not _says_offline(loaded):
        message = f"the instruction speaks of {words[0]!r}, and the task has no network"
        yield Finding(bundle.task_id, "warning", "needs-network", message)


def _credentials(bundle: TaskBundle) -> Iterator[Finding]:
    """Secrets that the instruction names and the loader has not reported."""
    names = sorted(set(_CREDENTIAL.findall(bundle.task.instruction)))
    reported = any(f.code == "needs-credentials" for f in bundle.findings)
    if names and not reported:
        message = f"the instruction names {', '.join(names)}, and nothing declares them"
        yield Finding(bundle.task_id, "error", "needs-credentials", message)


def _says_offline(loaded: LoadedRubric | None) -> bool:
    """Whether an imported rule says that the task needs nothing from outside."""
    if loaded is None:
        return False
    return any(
        _OFFLINE.search(block.text)
        for text in loaded.raw_texts
        for section in split_sections(text)
        if _DYNAMIC_TITLE.search(section.title)
        for block in section.blocks
    )


def _prompt_paths(bundle: TaskBundle) -> Iterator[Finding]:
    """The instruction says `<workspace>/sources/`, and the sources lie elsewhere."""
    task = bundle.task
    guess = f"{task.workspace}/sources/"
    if guess in task.instruction and not f"{task.sources_dir}/".startswith(guess):
        yield Finding(
            bundle.task_id,
            "warning",
            "prompt-path",
            f"the instruction names {guess}; the sources lie in {task.sources_dir}",
        )
