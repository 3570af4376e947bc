"""Small changes to what an attempt left, and the shapes of test cases."""

import csv
import io
import json
from collections.abc import Callable
from typing import NamedTuple, cast

from overlay_bench import Change, Files
from pydantic import JsonValue

Record = dict[str, JsonValue]


class Case(NamedTuple):
    """One change and what it costs."""

    task: str
    name: str
    change: Change
    lost: tuple[str, ...] = ()
    fired: tuple[str, ...] = ()


def load(files: Files, name: str) -> JsonValue:
    """A result file's JSON."""
    return cast("JsonValue", json.loads(files[name]))


def record(value: JsonValue) -> Record:
    """A JSON object."""
    assert isinstance(value, dict)
    return value


def records(value: JsonValue) -> list[Record]:
    """A JSON array of objects."""
    assert isinstance(value, list)
    return [record(item) for item in value]


def edit(name: str, change: Callable[[Record], object]) -> Change:
    """Change a JSON object in place."""

    def apply(files: Files) -> None:
        document = record(load(files, name))
        change(document)
        files[name] = json.dumps(document)

    return apply


def edit_list(name: str, change: Callable[[list[Record]], object]) -> Change:
    """Change a JSON array of objects in place."""

    def apply(files: Files) -> None:
        document = records(load(files, name))
        change(document)
        files[name] = json.dumps(document)

    return apply


def drop(*names: str) -> Change:
    """Remove files."""

    def apply(files: Files) -> None:
        for name in names:
            del files[name]

    return apply


def edit_table(name: str, change: Callable[[list[list[str]]], object]) -> Change:
    """Change the rows of a CSV file, header first."""

    def apply(files: Files) -> None:
        rows = list(csv.reader(io.StringIO(files[name])))
        change(rows)
        stream = io.StringIO()
        csv.writer(stream, lineterminator="\n").writerows(rows)
        files[name] = stream.getvalue()

    return apply


def replace(name: str, old: str, new: str) -> Change:
    """Replace a text that must be there."""

    def apply(files: Files) -> None:
        assert old in files[name]
        files[name] = files[name].replace(old, new)

    return apply


def put(name: str, text: str) -> Change:
    """Give a file another content."""

    def apply(files: Files) -> None:
        files[name] = text

    return apply


def append(name: str, text: str) -> Change:
    """Add to a file."""

    def apply(files: Files) -> None:
        files[name] = files.get(name, "") + text

    return apply


def fill(text: str) -> Change:
    """Give all files the same content."""

    def apply(files: Files) -> None:
        files.update(dict.fromkeys(files, text))

    return apply


def both(*changes: Change) -> Change:
    """One change after another."""

    def apply(files: Files) -> None:
        for change in changes:
            change(files)

    return apply


class Form(NamedTuple):
    """One rewriting."""

    task: str
    name: str
    change: Change


def rewrite(name: str, change: Callable[[JsonValue], JsonValue]) -> Change:
    """Put another JSON document in a file's place."""

    def apply(files: Files) -> None:
        files[name] = json.dumps(change(load(files, name)), ensure_ascii=False)

    return apply
