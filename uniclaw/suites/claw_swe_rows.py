"""Reads SWE-bench rows (JSON lines or one JSON array); what is wrong with one row stays with it."""

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Literal, NamedTuple, cast

from pydantic import BeforeValidator, Field, JsonValue, ValidationError

from uniclaw.errors import UserError
from uniclaw.hidden.tests_plan import DEFAULT_COMMANDS, Runner
from uniclaw.records import Record
from uniclaw.suites.files import check_id

MAX_BYTES = 2_000_000_000
"""Of the whole file."""
MAX_GOLD_BYTES = 20_000_000
_RUNNERS: Mapping[str, Runner] = {
    "python": "pytest",
    "javascript": "node",
    "js": "node",
    "c": "exit",
    "c++": "exit",
    "shell": "exit",
}
_TOUCHED = re.compile(r"^(?:---|\+\+\+) [ab]/([^\t\n]+)", re.MULTILINE)


def _names(value: object) -> object:
    """Test lists stand as JSON text in the published rows."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value) if value.strip() else []
    except ValueError as error:
        raise ValueError(f"not a JSON list: {error}") from error


Names = Annotated[tuple[str, ...], BeforeValidator(_names)]


class Row(Record):
    """One instance. Other keys of the published rows are not used."""

    instance_id: str
    repo: str
    base_commit: Annotated[str, Field(pattern=r"^(?:[0-9a-f]{40}|[0-9a-f]{64})$")]
    problem_statement: Annotated[str, Field(min_length=1)]
    patch: str = ""
    test_patch: str = ""
    fail_to_pass: Annotated[Names, Field(alias="FAIL_TO_PASS", min_length=1)]
    pass_to_pass: Annotated[Names, Field(alias="PASS_TO_PASS")] = ()
    repository: str | None = None
    """Bundle, archive (.tar, .tar.gz ...) or directory, relative to the file of the rows; None:
    the image holds the repository at /testbed."""
    image: str = "dev"
    """Name of an environment recipe."""
    user: Literal["agent", "root"] | None = None
    """None: root where the image holds the repository, else the plain user."""
    language: str = "python"
    runner: Literal["pytest", "node", "junit", "exit"] | None = None
    """None: by the language."""
    test_command: str | None = None
    setup_command: str = ""
    test_timeout_s: Annotated[float, Field(gt=0, le=7200)] = 900.0

    @property
    def test_files(self) -> tuple[str, ...]:
        """Paths that the test patch touches."""
        return tuple(dict.fromkeys(_TOUCHED.findall(self.test_patch)))

    @property
    def how(self) -> tuple[Runner, str]:
        """Runner and command.

        Raises:
            ValueError: neither the row nor its language says how its tests are run.
        """
        runner = self.runner or _RUNNERS.get(self.language.lower())
        if runner is None:
            raise ValueError(f"no runner is known for {self.language!r}; name `runner`")
        command = self.test_command or DEFAULT_COMMANDS[runner]
        if command is None:
            raise ValueError(f"runner {runner!r} needs `test_command`")
        return runner, command


class ReadRow(NamedTuple):
    """A row, or why it is refused; exactly one of the two."""

    instance_id: str
    row: Row | None
    refusal: str | None


def read_rows(file: Path) -> tuple[ReadRow, ...]:
    """All instances, each once, in the file's order.

    A row that cannot be used is refused alone, and so is an instance that stands there twice.

    Raises:
        UserError: the file cannot be read, holds no rows, or is JSON of another shape.
    """
    rows = [_read(number, value) for number, value in _values(file)]
    if not rows:
        raise UserError("no rows in it", file=file)
    places: dict[str, list[int]] = {}
    for number, row in enumerate(rows, 1):
        places.setdefault(row.instance_id, []).append(number)
    found: dict[str, ReadRow] = {}
    for row in rows:
        where = places[row.instance_id]
        if len(where) > 1:
            told = ", ".join(map(str, where))
            row = ReadRow(row.instance_id, None, f"the instance stands in rows {told}")
        found[row.instance_id] = row
    return tuple(found.values())


def _values(file: Path) -> Iterator[tuple[int, JsonValue | ValueError]]:
    try:
        if file.stat().st_size > MAX_BYTES:
            raise UserError(f"larger than {MAX_BYTES} bytes", file=file)
        text = file.read_bytes().decode("utf-8", "replace")
    except OSError as error:
        raise UserError(f"cannot be read: {error.strerror}", file=file) from error
    if text.lstrip().startswith("["):
        yield from enumerate(_array(text, file), 1)
        return
    lines = (line for line in text.split("\n") if line.strip())
    for number, line in enumerate(lines, 1):
        try:
            yield number, cast("JsonValue", json.loads(line))
        except ValueError as error:
            yield number, error


def _array(text: str, file: Path) -> list[JsonValue]:
    try:
        data = cast("JsonValue", json.loads(text))
    except ValueError as error:
        raise UserError(f"not JSON: {error}", file=file) from error
    return data if isinstance(data, list) else [data]


def _read(number: int, value: JsonValue | ValueError) -> ReadRow:
    name = f"row-{number}"
    if isinstance(value, ValueError):
        return ReadRow(name, None, f"row {number} is not JSON: {value}")
    if not isinstance(value, dict):
        return ReadRow(name, None, f"row {number} is no object")
    try:
        name = check_id(str(value.get("instance_id") or ""), file=name, field="instance_id")
        aliases = {f.alias or key for key, f in Row.model_fields.items()}
        row = Row.model_validate({k: v for k, v in value.items() if k in aliases})
        _ = row.how
        check_command(row)
    except UserError as error:
        return ReadRow(name, None, str(error))
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        return ReadRow(name, None, f"row {number}: `{field}`: {first['msg']}")
    except ValueError as error:
        return ReadRow(name, None, f"row {number}: {error}")
    return ReadRow(name, row, None)


def check_command(row: Row) -> None:
    """See that the test command can carry what its runner needs.

    Raises:
        ValueError: a placeholder is missing.
    """
    runner, command = row.how
    needed = "{test}" if runner == "exit" else "{report}"
    if needed not in command:
        raise ValueError(f"`test_command` of runner {runner!r} needs {needed}")
    if len(row.patch) > MAX_GOLD_BYTES or len(row.test_patch) > MAX_GOLD_BYTES:
        raise ValueError(f"`patch` or `test_patch` is larger than {MAX_GOLD_BYTES} characters")
    if runner != "exit":
        shlex.split(command)
