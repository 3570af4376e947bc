"""Read reference files by type into values with their context, and into prose.

Reads host files that the suite's author wrote; limits bytes, follows no link, runs nothing.
"""

import ast
import csv
import io
import json
import re
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, cast

import yaml
from pydantic import JsonValue

MAX_FILE_BYTES: Final = 8_000_000
MAX_TOTAL_BYTES: Final = 32_000_000
_TABULAR = {".csv": ",", ".tsv": "\t"}
_ZIPPED = {".xlsx", ".docx", ".pptx", ".odt", ".ods", ".odp"}
_PART = re.compile(r"(sharedStrings|sheet\d+|document|slide\d+|content)\.xml$")
_TAG = re.compile(r"<[^>]{0,2000}>")
_RULE_NAMES = {"eval_rule", "rubric", "rules", "grading", "criteria"}


@dataclass(frozen=True)
class Leaf:
    """One value of a structured hidden document."""

    text: str
    context: str
    """Keys, headers and neighbours that say what the value is."""
    where: str


@dataclass(frozen=True)
class Prose:
    """A hidden text."""

    text: str
    where: str
    rule: bool
    """It says what is demanded, so that a paraphrase of it is a leak."""


def plain(value: object) -> str:
    """A scalar as an author would write it."""
    if isinstance(value, float):
        return f"{value:.12g}" if "e" not in repr(value) else f"{value:f}"
    return str(value)


class Collected:
    """Values and texts taken from reference files, growing with every file that is read."""

    def __init__(self, *, prose: list[Prose], leaves: list[Leaf]) -> None:
        """Start from what the rubric itself holds."""
        self.prose = prose
        self.leaves = leaves
        self.names: list[str] = []
        self.unreadable: list[str] = []
        self._left = MAX_TOTAL_BYTES

    def read(self, path: Path, name: str) -> None:
        """Take names, values and text of one file, by its type."""
        self.names.append(name.rsplit("/", 1)[-1])
        size = path.stat().st_size
        suffix = path.suffix.lower()
        if size > min(MAX_FILE_BYTES, self._left):
            self.unreadable.append(name)
            return
        self._left -= size
        data = path.read_bytes()
        if suffix in _ZIPPED:
            text = _zipped_text(data)
            if text is None:
                self.unreadable.append(name)
            else:
                self.prose.append(Prose(text, name, rule=False))
            return
        if b"\0" in data[:8192]:
            self.unreadable.append(name)
            return
        self._text(data.decode("utf-8", "replace"), name, suffix)

    def code(self, text: str, name: str) -> None:
        """Take the literals of a program."""
        self._text(text[:MAX_FILE_BYTES], name, ".py")

    def _text(self, text: str, name: str, suffix: str) -> None:
        if suffix == ".json":
            try:
                self._document(cast("JsonValue", json.loads(text)), name, "")
                return
            except (ValueError, RecursionError):
                pass
        elif suffix == ".jsonl":
            for line in text.splitlines():
                self._text(line, name, ".json")
            return
        elif suffix in (".yaml", ".yml"):
            try:
                self._document(cast("JsonValue", yaml.safe_load(text)), name, "")
                return
            except (yaml.YAMLError, RecursionError):
                pass
        elif suffix in _TABULAR:
            self._table(text, name, _TABULAR[suffix])
            return
        elif suffix == ".py":
            self._code(text, name)
            return
        if suffix in (".html", ".htm", ".xml", ".svg"):
            text = _TAG.sub(" ", text)
        self.prose.append(Prose(text, name, rule=Path(name).stem.lower() in _RULE_NAMES))

    def _document(self, value: JsonValue, name: str, context: str) -> None:
        if isinstance(value, dict):
            near = " ".join(str(v) for v in value.values() if isinstance(v, str) and len(v) <= 40)
            for key, part in value.items():
                beside = "" if isinstance(part, (dict, list)) else near[:160]
                self._key(key, value, name, context)
                self._document(part, name, f"{context[-120:]} {key} {beside}".strip())
        elif isinstance(value, list):
            if len(value) > 1:
                self.leaves.append(Leaf(str(len(value)), f"{context} count", name))
            for part in value:
                self._document(part, name, context)
        elif isinstance(value, str) and (len(value.split()) > 5 or len(value) > 60):
            self.prose.append(Prose(str(value), name, rule=True))
            self.leaves.append(Leaf(str(value), context, name))
        elif value is not None and not isinstance(value, bool):
            self.leaves.append(Leaf(plain(value), context, name))

    def _key(self, key: str, owner: Mapping[str, JsonValue], name: str, context: str) -> None:
        """Keys that are data (an id -> its record) count as values."""
        if re.search(r"\d|[./@]| ", key) and len(owner) > 1:
            self.leaves.append(Leaf(key, context, name))

    def _table(self, text: str, name: str, delimiter: str) -> None:
        rows = csv.reader(io.StringIO(text), delimiter=delimiter)
        try:
            header = next(rows, list[str]())
            count = 0
            for row in rows:
                count += 1
                for column, cell in zip(header, row, strict=False):
                    if cell.strip():
                        self.leaves.append(Leaf(cell.strip(), f"{column} {row[0]}", name))
            self.leaves.append(Leaf(str(count), "rows count 行数", name))
        except csv.Error:
            self.prose.append(Prose(text, name, rule=False))

    def _code(self, text: str, name: str) -> None:
        """Literals of check code: the code itself is the rubric author's."""
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError):
            self.prose.append(Prose(text, name, rule=False))
            return
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, (str, int, float)):
                literal = plain(node.value)
                if not isinstance(node.value, bool) and 3 <= len(literal) <= 400:
                    self.leaves.append(Leaf(literal, "", name))


def _zipped_text(data: bytes) -> str | None:
    """Text of the parts of an office document, capped; None when it cannot be read."""
    out: list[str] = []
    left = MAX_FILE_BYTES
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for part in archive.infolist():
                if _PART.search(part.filename) and left > 0:
                    with archive.open(part) as stream:
                        raw = stream.read(left)
                    left -= len(raw)
                    out.append(_TAG.sub(" ", raw.decode("utf-8", "replace")))
    except (zipfile.BadZipFile, OSError, NotImplementedError, RuntimeError, EOFError):
        return None
    return "\n".join(out)
