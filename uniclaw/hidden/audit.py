"""Refuse checks that could never be carried out, or that would hold for anything."""

import ast
import re
from collections.abc import Callable, Iterable
from pathlib import Path, PurePosixPath
from typing import NamedTuple, NoReturn

from uniclaw.errors import UserError
from uniclaw.hidden.references import References, escapes, refs_in
from uniclaw.hidden.rubric import (
    AllCheck,
    AnyCheck,
    Assertion,
    Check,
    CommandCheck,
    CsvCheck,
    FileCheck,
    GraderCheck,
    ImageCheck,
    JsonCheck,
    JudgeCheck,
    LoadedRubric,
    NotCheck,
    PythonCheck,
    Ref,
    StateCheck,
    TextCheck,
    TraceCheck,
)
from uniclaw.hidden.tests_check import TestsCheck

_TYPES = ("string", "number", "integer", "boolean", "null", "array", "object")


class _Place(NamedTuple):
    """Where a check stands, for messages."""

    loaded: LoadedRubric
    file: Path
    field: str
    in_command: bool
    described: bool

    def inner(self, name: str, *, in_command: bool | None = None) -> "_Place":
        return self._replace(
            field=f"{self.field}.{name}",
            in_command=self.in_command if in_command is None else in_command,
        )

    def refuse(self, problem: str, name: str, value: object = None) -> NoReturn:
        field = f"{self.field}.{name}" if name else self.field
        raise UserError(problem, file=self.file, field=field, value=value)


def audit_check(
    check: Check, loaded: LoadedRubric, *, file: Path, field: str, described: bool = True
) -> None:
    """Check one check and everything under it.

    Args:
        check: to look at.
        loaded: the rubric it belongs to.
        file: the rubric's file, for messages.
        field: path of the check in it.
        described: whether its line has a description that a judge could go by.

    Raises:
        UserError: names file, field, value and what was expected.
    """
    _audit(check, _Place(loaded, file, field, in_command=False, described=described))


def _audit(check: Check, place: _Place) -> None:
    _audit_values(check, place)
    match check:
        case AllCheck() | AnyCheck():
            for index, inner in enumerate(check.of):
                _audit(inner, place.inner(f"of[{index}]"))
        case NotCheck():
            _audit(check.check, place.inner("check"))
        case CommandCheck():
            _audit_command(check, place)
        case JudgeCheck():
            _audit_judge(check, place)
        case PythonCheck():
            _audit_python(check, place)
        case FileCheck() | JsonCheck() | CsvCheck() | TextCheck() | ImageCheck():
            _audit_file_kind(check, place)
        case StateCheck() | TraceCheck() | TestsCheck() | GraderCheck():
            _audit_record_kind(check, place)


def _audit_values(check: Check, place: _Place) -> None:
    """References of the check itself resolve; nested checks see to their own."""
    if isinstance(check, AllCheck | AnyCheck | NotCheck):
        return
    references = References.of(place.loaded)
    own = check.model_copy(update={"then": None}) if isinstance(check, CommandCheck) else check
    table = check.equals if isinstance(check, CsvCheck) else None
    for ref in refs_in(own):
        try:
            if ref == table or (isinstance(check, FileCheck) and not ref.pointer):
                references.read(ref.ref)
            else:
                references.value(ref)
        except UserError as error:
            shown = ref.model_dump() if error.value is None else error.value
            place.refuse(error.problem, "ref", shown)


def _audit_file_kind(
    check: FileCheck | JsonCheck | CsvCheck | TextCheck | ImageCheck, place: _Place
) -> None:
    if check.path is not None:
        _audit_path(check.path, place)
    match check:
        case JsonCheck():
            _audit_assertions(check.asserts, place)
        case CsvCheck():
            _need(
                bool(check.columns or check.unique or check.cells or check.equals)
                or check.rows is not None,
                place,
                "columns, rows, unique, cells or equals",
            )
            if check.delimiter is not None and len(check.delimiter) != 1:
                place.refuse("expected one character", "delimiter", check.delimiter)
        case TextCheck():
            _need(
                bool(check.contains or check.any_of or check.regex or check.absent)
                or check.min_words > 0
                or check.max_words is not None,
                place,
                "contains, any_of, regex, absent, min_words or max_words",
            )
            _audit_patterns(check.regex, place, "regex")
        case ImageCheck():
            if check.similar_to is not None:
                _try_reference(check.similar_to, place, "similar_to")
        case FileCheck():
            _audit_sizes(check, place)


def _audit_record_kind(
    check: StateCheck | TraceCheck | TestsCheck | GraderCheck, place: _Place
) -> None:
    if isinstance(check, GraderCheck):
        if place.loaded.program is None:
            place.refuse("only an imported task has a grader of its own", "kind", check.kind)
        return
    if isinstance(check, TestsCheck):
        _need(bool(check.tests), place, "tests")
        return
    if isinstance(check, StateCheck):
        _audit_assertions(check.asserts, place)
        _need(
            bool(check.asserts or check.contains) or check.exit_code is not None,
            place,
            "asserts, contains or exit_code",
        )
        return
    for name in ("tool", "arguments", "result", "message"):
        pattern: str | None = getattr(check, name)
        if pattern is not None:
            _audit_patterns((pattern,), place, name)
    if check.message is not None and (check.tool or check.arguments or check.result):
        place.refuse("expected either `message` or tool, arguments, result", "message")
    if check.max_count is not None and check.max_count < check.min_count:
        place.refuse("expected at least `min_count`", "max_count", check.max_count)


def _audit_sizes(check: FileCheck, place: _Place) -> None:
    if check.max_bytes is not None and check.max_bytes < check.min_bytes:
        place.refuse("expected at least `min_bytes`", "max_bytes", check.max_bytes)
    if isinstance(check.sha256, str) and not re.fullmatch(r"[0-9a-fA-F]{64}", check.sha256):
        place.refuse("expected 64 hexadecimal digits or a reference", "sha256", check.sha256)


def _need(held: bool, place: _Place, names: str) -> None:
    if not held:
        place.refuse(f"states nothing; expected at least one of {names}", "")


def _audit_path(path: str, place: _Place, name: str = "path") -> None:
    if not path or ".." in PurePosixPath(path).parts or "\0" in path:
        place.refuse("expected a path inside, without `..`", name, path)


def _audit_patterns(patterns: Iterable[str], place: _Place, name: str) -> None:
    for pattern in patterns:
        try:
            re.compile(pattern)
        except (re.error, RecursionError, OverflowError) as error:
            place.refuse(f"broken regular expression: {error}", name, pattern)


def _try_reference(relative: str, place: _Place, name: str) -> None:
    try:
        References.of(place.loaded).read(relative)
    except UserError as error:
        place.refuse(error.problem, name, relative)


def _audit_judge(check: JudgeCheck, place: _Place) -> None:
    if place.in_command:
        place.refuse("the judge does not see a command's output; expected a code check", "")
    if not check.criterion and not place.described:
        place.refuse("missing; expected a criterion, as the line has no description", "criterion")
    for pattern in check.files:
        _audit_path(pattern, place, "files")


def _audit_command(check: CommandCheck, place: _Place) -> None:
    if place.in_command:
        place.refuse("expected no `command` inside the `then` of another", "")
    for inside, fixture in check.files.items():
        if not inside.startswith("/") or ".." in PurePosixPath(inside).parts:
            place.refuse("expected absolute paths inside", "files", inside)
        if escapes(fixture) or not (place.loaded.root / fixture).is_file():
            place.refuse("expected a fixture file beside the rubric", f"files.{inside}", fixture)
    for path in check.keep:
        _audit_path(path, place, "keep")
    if check.then is not None:
        _audit(check.then, place.inner("then", in_command=True))
    elif check.exit_code is None:
        place.refuse("states nothing; expected `exit_code` or `then`", "")


def _audit_python(check: PythonCheck, place: _Place) -> None:
    if escapes(check.file):
        place.refuse("expected a file beside the rubric", "file", check.file)
    path = place.loaded.root / check.file
    try:
        tree = ast.parse(path.read_bytes(), filename=str(path))
    except OSError as error:
        place.refuse(f"cannot be read: {error.strerror}", "file", check.file)
    except (SyntaxError, ValueError) as error:
        place.refuse(f"not valid Python: {error}", "file", check.file)
    functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    if check.function not in functions:
        known = ", ".join(sorted(functions)) or "none"
        place.refuse(
            f"expected a function at the top of {check.file}; there are: {known}",
            "function",
            check.function,
        )


def _audit_assertions(assertions: tuple[Assertion, ...], place: _Place) -> None:
    for index, assertion in enumerate(assertions):
        inner = place.inner(f"asserts[{index}]")
        if assertion.pointer and not assertion.pointer.startswith("/"):
            inner.refuse("expected a JSON pointer (empty, or `/a/b`)", "pointer", assertion.pointer)
        value = assertion.value
        if isinstance(value, Ref):
            continue
        if isinstance(value, dict) and "ref" in value:
            inner.refuse("not a reference; expected {ref, pointer}", "value", value)
        expected = _EXPECTED.get(assertion.op)
        if expected is not None and not expected[1](value):
            inner.refuse(f"`{assertion.op}` expects {expected[0]}", "value", value)
        if assertion.op == "matches" and isinstance(value, str):
            _audit_patterns((value,), inner, "value")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_EXPECTED: dict[str, tuple[str, Callable[[object], bool]]] = {
    "approx": ("a number", _is_number),
    "at_least": ("a number", _is_number),
    "at_most": ("a number", _is_number),
    "length": ("a whole number, 0 or more", lambda v: type(v) is int and v >= 0),
    "type": (f"one of {', '.join(_TYPES)}", lambda v: v in _TYPES),
    "contains_all": ("a list that is not empty", lambda v: isinstance(v, list) and v != []),
    "set_equals": ("a list", lambda v: isinstance(v, list)),
    "subset_of": ("a list", lambda v: isinstance(v, list)),
    "matches": ("a regular expression", lambda v: isinstance(v, str)),
    "exists": ("no value", lambda v: v is None),
    "absent": ("no value", lambda v: v is None),
}
