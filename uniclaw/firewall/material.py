"""Hidden material: everything of a rubric's side that the policy in force does not release.

Parsed once into sentences of rules, values with the words around them, and free text.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from pydantic import BaseModel

from uniclaw.firewall.leaves import Collected, Leaf, Prose, plain
from uniclaw.firewall.policy import Policy, ScoreRelease
from uniclaw.hidden.rubric import JudgeCheck, LoadedRubric, Ref, Rubric

_MACHINE = (
    "kind op pointer path ref file function mode sha256 delimiter ocr_language formats timeout_s"
    " abs_tol rel_tol min_bytes max_bytes tool partial ordered terminal exists ignore_case rounds"
)
_MACHINE_KEYS = frozenset(_MACHINE.split())
_BOUNDS = ("rows", "min_count", "max_count", "min_words", "max_words")
_PATTERNS = ("regex", "arguments", "result", "message")


@dataclass(frozen=True, kw_only=True)
class HiddenMaterial:
    """What is hidden of one task under one policy."""

    prose: tuple[Prose, ...] = ()
    leaves: tuple[Leaf, ...] = ()
    file_names: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    """Ids of checkpoints and caps."""
    tags: tuple[str, ...] = ()
    weights: tuple[float, ...] = ()
    threshold: float | None = None
    caps: tuple[float, ...] = ()
    lines: int = 0
    """Number of checkpoints."""
    unreadable: tuple[str, ...] = ()
    """Reference files whose text could not be taken (images, binaries, too large)."""

    @property
    def size(self) -> int:
        """Characters of all hidden text."""
        return sum(len(p.text) for p in self.prose) + sum(len(leaf.text) for leaf in self.leaves)

    @classmethod
    def of(cls, loaded: LoadedRubric, policy: Policy) -> "HiddenMaterial":
        """Collect the hidden side of a rubric, minus what the policy releases.

        Args:
            loaded: the rubric with its directories.
            policy: the policy in force.
        """
        rubric, release = loaded.rubric, policy.release
        prose = list(_rules(rubric, with_descriptions=not release.lines))
        prose += [Prose(text, f"raw:{i}", rule=True) for i, text in enumerate(loaded.raw_texts)]
        collected = Collected(prose=prose, leaves=list(_check_leaves(rubric)))
        for path, name in _reference_files(loaded):
            collected.read(path, name)
        if loaded.program is not None:
            collected.code(loaded.program.source, "grader.py")
        exact = release.score is ScoreRelease.EXACT
        return cls(
            prose=tuple(collected.prose),
            leaves=tuple(collected.leaves),
            file_names=tuple(collected.names),
            ids=tuple(line.id for line in (*rubric.checkpoints, *rubric.caps)),
            tags=()
            if release.guidance_tags
            else tuple(sorted({c.tag for c in rubric.checkpoints if c.tag})),
            weights=() if release.lines else tuple(c.weight for c in rubric.checkpoints),
            threshold=None if release.lines and exact else rubric.threshold,
            caps=tuple(c.max for c in rubric.caps),
            lines=0 if release.lines else len(rubric.checkpoints),
            unreadable=tuple(collected.unreadable),
        )

    def texts(self) -> Iterator[tuple[str, str]]:
        """Every hidden text as (where, text), for canaries and searches."""
        for item in self.prose:
            yield item.where, item.text
        for leaf in self.leaves:
            yield leaf.where, leaf.text


def _rules(rubric: Rubric, *, with_descriptions: bool) -> Iterator[Prose]:
    for line in rubric.checkpoints:
        if with_descriptions:
            yield Prose(line.description, f"checkpoint:{line.id}", rule=True)
        yield from _criteria(line.check, f"checkpoint:{line.id}")
    for cap in rubric.caps:
        if cap.description:
            yield Prose(cap.description, f"cap:{cap.id}", rule=True)
        yield from _criteria(cap.when, f"cap:{cap.id}")
    for index, text in enumerate(rubric.pass_requires.judge):
        yield Prose(text, f"requires-{index + 1}", rule=True)
    for index, text in enumerate(rubric.secrets):
        yield Prose(text, f"secret:{index}", rule=True)


def _criteria(check: BaseModel, where: str) -> Iterator[Prose]:
    if isinstance(check, JudgeCheck) and check.criterion:
        yield Prose(check.criterion, where, rule=True)
    fields: dict[str, object] = dict(check)
    for value in fields.values():
        parts = cast("tuple[object, ...]", value) if isinstance(value, tuple) else (value,)
        for part in parts:
            if isinstance(part, BaseModel):
                yield from _criteria(part, where)


def _check_leaves(rubric: Rubric) -> Iterator[Leaf]:
    """Literal values inside checks, with the words that say what they are."""
    for line in rubric.checkpoints:
        yield from _literals(line.check, line.description, f"checkpoint:{line.id}")
    for cap in rubric.caps:
        yield from _literals(cap.when, cap.description, f"cap:{cap.id}")


def _literals(check: object, context: str, where: str) -> Iterator[Leaf]:
    if isinstance(check, (Ref, bool)) or check is None:
        return
    if isinstance(check, BaseModel):
        yield from _check_literals(dict(check), context, where)
    elif isinstance(check, Mapping):
        for key, value in cast("Mapping[str, object]", check).items():
            yield from _literals(value, f"{context} {key}", where)
    elif isinstance(check, (list, tuple)):
        for value in cast("Iterable[object]", check):
            yield from _literals(value, context, where)
    else:
        yield Leaf(plain(check), context, where)


def _check_literals(fields: Mapping[str, object], context: str, where: str) -> Iterator[Leaf]:
    named = [str(fields[k]) for k in ("pointer", "column", "path", "function") if fields.get(k)]
    chosen = cast("Mapping[str, object]", fields.get("where") or {})
    about = " ".join([context, *named, *map(str, chosen.values())])
    for name, value in fields.items():
        if name in _BOUNDS:
            yield from _literals(_stated(name, value), f"{about} {name.replace('_', ' ')}", where)
        elif name in _PATTERNS:
            yield from _regex_literals(value, about, where)
        elif name not in _MACHINE_KEYS and name != "where":
            yield from _literals(value, about, where)


def _stated(name: str, value: object) -> object:
    """A default bound says nothing."""
    return None if name in ("min_count", "min_words") and value in (0, 1) else value


def _regex_literals(value: object, context: str, where: str) -> Iterator[Leaf]:
    patterns = cast("tuple[object, ...]", value) if isinstance(value, tuple) else (value,)
    for pattern in patterns:
        if isinstance(pattern, str):
            unclassed = re.sub(r"\\[bswdBSWD][+*?]?", " ", pattern)
            bare = re.sub(r"\\([.()\[\]{}+*?|/-])", r"\1", unclassed)
            for piece in re.split(r"[\[\](){}|^$*+?\\]+", bare):
                if len(piece.strip()) >= 3:
                    yield Leaf(piece.strip(), context, where)


def _reference_files(loaded: LoadedRubric) -> Iterator[tuple[Path, str]]:
    """Declared references (directories walked), then the code of python checks."""
    seen: set[Path] = set()
    for relative in loaded.rubric.references:
        base = loaded.reference_root / relative
        files = sorted(base.rglob("*")) if base.is_dir() else [base]
        for file in files:
            if file.is_file() and not file.is_symlink() and file not in seen:
                seen.add(file)
                yield file, file.relative_to(loaded.reference_root).as_posix()
    for file in sorted(loaded.root.glob("*.py")):
        if not file.is_symlink():
            yield file, file.name
