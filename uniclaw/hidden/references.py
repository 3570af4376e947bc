"""Reference files of a rubric: where they lie, what they hold, JSON pointers into them.

Paths are relative and stay inside their root, also through links. A path is looked up under the
reference root first and then beside the rubric, so that an overlay may bring files of its own.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import NamedTuple, NoReturn, cast

from pydantic import JsonValue

from uniclaw.errors import UserError
from uniclaw.hidden.rubric import LoadedRubric, Ref, Rubric, Value
from uniclaw.records import Record
from uniclaw.yamlio import LFS_MAGIC, read_yaml


class Member(NamedTuple):
    """What a JSON pointer found at one place."""

    pointer: str
    found: bool
    value: JsonValue


def resolve_pointer(document: JsonValue, pointer: str) -> tuple[Member, ...]:
    """Follow an RFC 6901 pointer in which a `*` segment ranges over all members.

    A place that does not exist gives a member with `found` False; a `*` over an empty list or
    object gives none.
    """
    members = [Member("", True, document)]
    for segment in pointer.split("/")[1:]:
        key = segment.replace("~1", "/").replace("~0", "~")
        members = [deeper for member in members for deeper in _step(member, segment, key)]
    return tuple(members)


def _step(member: Member, segment: str, key: str) -> Iterator[Member]:
    value = member.value
    if segment == "*" and isinstance(value, dict | list):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for name, inner in items:
            escaped = str(name).replace("~", "~0").replace("/", "~1")
            yield Member(f"{member.pointer}/{escaped}", True, inner)
        return
    here = f"{member.pointer}/{segment}"
    if isinstance(value, dict) and key in value:
        yield Member(here, True, value[key])
    elif isinstance(value, list) and (index := _index(key)) is not None and index < len(value):
        yield Member(here, True, value[index])
    else:
        yield Member(here, False, None)


def _index(key: str) -> int | None:
    """A list index as pointers write it: no sign, no leading zero."""
    return int(key) if re.fullmatch(r"0|[1-9][0-9]{0,8}", key) else None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


class References:
    """The files that checks compare with."""

    def __init__(self, *, root: Path, reference_root: Path) -> None:
        """Bind the two places.

        Args:
            root: directory of the rubric.
            reference_root: directory that `references/...` paths start at.
        """
        self._roots = tuple(dict.fromkeys((reference_root, root)))
        self._documents: dict[str, JsonValue] = {}

    @classmethod
    def of(cls, loaded: LoadedRubric) -> "References":
        """The references of a loaded rubric."""
        return cls(root=loaded.root, reference_root=loaded.reference_root)

    def locate(self, relative: str) -> Path:
        """The existing file or directory at a reference path.

        Raises:
            UserError: the path leaves its root, or nothing is there.
        """
        if escapes(relative):
            raise UserError("expected a relative path without `..`", value=relative)
        for root in self._roots:
            candidate = root / relative
            if candidate.exists():
                if not candidate.resolve().is_relative_to(root.resolve()):
                    raise UserError("a link leads out of the rubric's directory", value=relative)
                return candidate
        places = " or ".join(str(root) for root in self._roots)
        raise UserError(f"missing reference; expected a file under {places}", value=relative)

    def read(self, relative: str) -> bytes:
        """Bytes of a reference file.

        Raises:
            UserError: missing, not a regular file, or an unresolved Git LFS pointer.
        """
        path = self.locate(relative)
        if not path.is_file():
            raise UserError("not a regular file; expected a reference file", value=relative)
        data = path.read_bytes()
        if data.startswith(LFS_MAGIC):
            raise UserError("an unresolved Git LFS pointer; run `git lfs pull`", value=relative)
        return data

    def document(self, relative: str) -> JsonValue:
        """A JSON or YAML file's value; any other file's text without surrounding space.

        Raises:
            UserError: see `read`, or it does not parse.
        """
        if relative not in self._documents:
            self._documents[relative] = self._parse(relative, self.read(relative))
        return self._documents[relative]

    def value(self, value: Value) -> JsonValue:
        """A value itself, or what it refers to.

        Raises:
            UserError: the reference is missing, or its pointer leads to nothing.
        """
        if not isinstance(value, Ref):
            return value
        members = resolve_pointer(self.document(value.ref), value.pointer)
        if "*" in value.pointer.split("/"):
            return [m.value for m in members if m.found]
        if not members[0].found:
            raise UserError(f"the pointer leads to nothing in {value.ref}", value=value.pointer)
        return members[0].value

    def sha256(self, relative: str) -> str:
        """Lower-case hash of a reference file.

        Raises:
            UserError: see `read`.
        """
        return hashlib.sha256(self.read(relative)).hexdigest()

    def files(self, rubric: Rubric) -> dict[str, Path]:
        """Every file that graders may read, by reference path.

        These are the files and directories that the rubric lists or refers to, and everything
        under `references/`, listed or not.

        Raises:
            UserError: one is missing, or is a link or something else that is not a file.
        """
        named = {*rubric.references, *(ref.ref for ref in refs_in(rubric))}
        if any((root / "references").is_dir() for root in self._roots):
            named.add("references")
        found: dict[str, Path] = {}
        for relative in sorted(named):
            self.locate(relative)
            for root in reversed(self._roots):  # the reference root's files win
                found.update(_expand(root, relative))
        return dict(sorted(found.items()))

    def _parse(self, relative: str, data: bytes) -> JsonValue:
        suffix = PurePosixPath(relative).suffix.lower()
        if suffix in {".yaml", ".yml"}:
            return read_yaml(self.locate(relative))
        text = data.decode("utf-8-sig", "replace")
        if suffix != ".json":
            return text.strip()
        try:
            return cast("JsonValue", json.loads(text, parse_constant=_refuse_constant))
        except (ValueError, RecursionError) as error:
            raise UserError(f"reference does not parse: {error}", value=relative) from error


def _expand(root: Path, relative: str) -> Iterator[tuple[str, Path]]:
    place = root / relative
    tree = sorted(place.rglob("*")) if place.is_dir() else [place] if place.exists() else []
    for path in tree:
        if path.is_symlink() or not (path.is_dir() or path.is_file()):
            raise UserError("expected regular files and directories only", file=path)
        if path.is_file():
            yield path.relative_to(root).as_posix(), path


def escapes(relative: str) -> bool:
    """Whether a path is not a plain relative path that stays below its root."""
    parts = PurePosixPath(relative).parts
    return (
        not parts
        or relative.startswith("/")
        or ".." in parts
        or "\\" in relative
        or "\0" in relative
    )


def refs_in(item: object) -> Iterator[Ref]:
    """Every `Ref` in a record, at any depth."""
    if isinstance(item, Ref):
        yield item
    elif isinstance(item, Record):
        for name in type(item).model_fields:
            yield from refs_in(getattr(item, name))
    elif isinstance(item, Mapping):
        for inner in cast("Mapping[object, object]", item).values():
            yield from refs_in(inner)
    elif isinstance(item, list | tuple):
        for inner in cast("list[object]", item):
            yield from refs_in(inner)
