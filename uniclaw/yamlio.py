"""Read YAML strictly and turn what it says into records, or say what is wrong and where.

YAML as of its 1.2 core schema, cut down to JSON values: only `true` and `false` are booleans
(`no` and `on` are text), numbers with leading zeros, dates and times are text, keys are text and
stand once, tags and non-finite numbers are refused. Knows no suite and no rubric.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, TypeVar, cast, get_args

import yaml
from pydantic import BaseModel, JsonValue, ValidationError
from pydantic_core import ErrorDetails

from uniclaw.errors import UserError

MAX_YAML_BYTES: Final = 10_000_000
LFS_MAGIC: Final = b"version https://git-lfs.github.com/spec/v1"
_MAX_NODES: Final = 200_000
_MAX_DEPTH: Final = 60
_MAX_SHOWN: Final = 120
_MAX_PROBLEMS: Final = 5
_TAG: Final = "tag:yaml.org,2002:"

ModelT = TypeVar("ModelT", bound=BaseModel)


_FLOAT: Final = (
    r"[-+]?((0|[1-9][0-9]*)?\.[0-9]+|(0|[1-9][0-9]*)\.)([eE][-+]?[0-9]+)?"
    r"|[-+]?(0|[1-9][0-9]*)[eE][-+]?[0-9]+|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)"
)
_PLAIN: Final = (
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("null", r"~|null|Null|NULL", "~nN"),
    ("null", r"", ""),
    ("int", r"[-+]?(0|[1-9][0-9]*)", "-+0123456789"),
    ("float", _FLOAT, "-+.0123456789"),
)
"""What a plain scalar may be beside text: tag, pattern, first characters."""


def _loader() -> type[yaml.SafeLoader]:
    """A safe loader (libyaml where the wheel has it) that knows the scalars of `_PLAIN` only."""
    resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}
    for tag, pattern, first in _PLAIN:
        for char in first or ("",):
            rule = (_TAG + tag, re.compile(rf"^(?:{pattern})\Z"))
            resolvers.setdefault(char, []).append(rule)
    base = cast("type[yaml.SafeLoader]", getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    return type("StrictLoader", (base,), {"yaml_implicit_resolvers": resolvers})


_LOADER: Final = _loader()


def read_yaml(path: Path) -> JsonValue:
    """Read one YAML document as a JSON value; None when the file holds no document.

    Raises:
        UserError: unreadable, too large, a Git LFS pointer, not UTF-8, broken YAML, a key that
            stands twice, or a value that JSON does not have.
    """
    try:
        with path.open("rb") as stream:
            data = stream.read(MAX_YAML_BYTES + 1)
    except OSError as error:
        raise UserError(f"cannot be read: {error.strerror}", file=path) from error
    if len(data) > MAX_YAML_BYTES:
        raise UserError(f"larger than {MAX_YAML_BYTES} bytes", file=path)
    if data.startswith(LFS_MAGIC):
        raise UserError("an unresolved Git LFS pointer; expected YAML (git lfs pull)", file=path)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError(f"not UTF-8 at byte {error.start}; expected UTF-8", file=path) from error
    return parse_yaml(text, file=path)


def parse_yaml(text: str, *, file: object = None) -> JsonValue:
    """Like `read_yaml`, for text that is already read (front matter, for example).

    Raises:
        UserError: see `read_yaml`.
    """
    try:
        node = yaml.compose(text, Loader=_LOADER)
    except yaml.YAMLError as error:
        raise UserError(f"broken YAML: {_yaml_problem(error)}", file=file) from error
    except RecursionError as error:
        raise UserError("broken YAML: nested too deeply", file=file) from error
    if node is None:
        return None
    return _Reader(file).value(node, ())


def parse_record(model: type[ModelT], data: object, *, file: object = None) -> ModelT:
    """Turn outside data into a record, strictly: no text for numbers, no numbers for flags.

    Args:
        model: the record's class.
        data: a JSON value, such as `read_yaml` returns.
        file: where it came from, for the message.

    Raises:
        UserError: names file, field, value and what was expected; further problems follow.
    """
    try:
        text = json.dumps(data)
    except (TypeError, ValueError, RecursionError) as error:
        raise UserError(f"not a JSON value: {error}", file=file) from error
    try:
        return model.model_validate_json(text, strict=True)
    except ValidationError as error:
        raise _user_error(model, data, error, file) from error


def field_path(parts: Sequence[str | int]) -> str:
    """Write a path into a document the way messages do: `checkpoints[0].weight`."""
    text = ""
    for part in parts:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


class _Reader:
    """Turns YAML nodes into JSON values, and knows the path of each for messages."""

    def __init__(self, file: object) -> None:
        self._file = file
        self._nodes = 0

    def value(self, node: yaml.Node, path: tuple[str | int, ...]) -> JsonValue:
        self._nodes += 1
        if self._nodes > _MAX_NODES or len(path) > _MAX_DEPTH:
            raise self._error(
                "too many or too deeply nested values (aliases count each time)", path[:4]
            )
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, path)
        if isinstance(node, yaml.SequenceNode):
            self._expect(node, {"seq"}, path)
            items = cast("list[yaml.Node]", node.value)
            return [self.value(item, (*path, i)) for i, item in enumerate(items)]
        return self._scalar(cast("yaml.ScalarNode", node), path)

    def _mapping(self, node: yaml.MappingNode, path: tuple[str | int, ...]) -> JsonValue:
        self._expect(node, {"map"}, path)
        found: dict[str, JsonValue] = {}
        for key_node, value_node in cast("list[tuple[yaml.Node, yaml.Node]]", node.value):
            line = key_node.start_mark.line + 1
            if not isinstance(key_node, yaml.ScalarNode) or key_node.tag != _TAG + "str":
                shown = cast("object", key_node.value)
                raise self._error(f"a key on line {line} is not text; quote it", path, shown)
            key = str(cast("object", key_node.value))
            if key in found:
                raise self._error(
                    f"key stands twice (again on line {line}); expected once", (*path, key), key
                )
            found[key] = self.value(value_node, (*path, key))
        return found

    def _scalar(self, node: yaml.ScalarNode, path: tuple[str | int, ...]) -> JsonValue:
        self._expect(node, {"str", "null", "bool", "int", "float"}, path)
        text = str(cast("object", node.value))
        match node.tag.removeprefix(_TAG):
            case "null":
                return None
            case "bool":
                return text.lower() == "true"
            case "int":
                return self._number(int, text, path)
            case "float":
                number = self._number(float, re.sub(r"^([-+]?)\.(?=[iInN])", r"\1", text), path)
                if not math.isfinite(number):
                    raise self._error("expected a finite number", path, text)
                return number
            case _:
                return text

    def _number(self, kind: type[int] | type[float], text: str, path: tuple[str | int, ...]):
        try:
            return kind(text)
        except ValueError as error:
            raise self._error("expected a number", path, text) from error

    def _expect(self, node: yaml.Node, kinds: set[str], path: tuple[str | int, ...]) -> None:
        if node.tag.removeprefix(_TAG) not in kinds:
            raise self._error("YAML tags are not supported; expected plain values", path, node.tag)

    def _error(self, problem: str, path: tuple[str | int, ...], value: object = None) -> UserError:
        shown = None if value is None else _short(value)
        return UserError(problem, file=self._file, field=field_path(path) or None, value=shown)


def _yaml_problem(error: yaml.YAMLError) -> str:
    """One line with the place."""
    mark = cast("yaml.Mark | None", getattr(error, "problem_mark", None))
    problem = cast("str | None", getattr(error, "problem", None)) or str(error).splitlines()[0]
    where = f" (line {mark.line + 1}, column {mark.column + 1})" if mark else ""
    return f"{problem}{where}"


def _user_error(
    model: type[BaseModel], data: object, error: ValidationError, file: object
) -> UserError:
    """The first problem with its field and value, and a few more in the message."""
    details = error.errors(include_url=False)
    found = [_problem(model, data, d) for d in details if not _follows(d, details)]
    first, *more = {p.shown: p for p in found}.values()
    if not more:
        return UserError(first.text, file=file, field=first.field, value=first.value)
    tail = "".join(f"; also {p.shown}" for p in more[: _MAX_PROBLEMS - 1])
    if len(more) >= _MAX_PROBLEMS:
        tail += f"; and {len(more) - _MAX_PROBLEMS + 1} more"
    combined = UserError(first.text + first.got + tail, file=file, field=first.field)
    combined.value = first.value
    return combined


def _follows(details: ErrorDetails, others: Sequence[ErrorDetails]) -> bool:
    """Whether a list is only called too short because its members were refused."""
    loc = details["loc"]
    return details["type"] == "too_short" and any(
        len(o["loc"]) > len(loc) and o["loc"][: len(loc)] == loc for o in others
    )


class _Problem:
    """One finding of a validation, in the words of our messages."""

    def __init__(self, field: str | None, text: str, value: object) -> None:
        self.field = field
        self.text = text
        self.value = value

    @property
    def got(self) -> str:
        return "" if self.value is None else f" (got {self.value!r})"

    @property
    def shown(self) -> str:
        where = f"`{self.field}`: " if self.field else ""
        return f"{where}{self.text}{self.got}"


def _problem(model: type[BaseModel], data: object, details: ErrorDetails) -> _Problem:
    steps = _real_steps(data, details)
    field = field_path(steps) or None
    kind, raw = details["type"], cast("object", details["input"])
    if kind == "extra_forbidden":
        known = _known_keys(model, details["loc"][:-1])
        text = f"unknown key; expected one of {known}" if known else "unknown key"
        return _Problem(field, text, _short(raw))
    if kind == "missing":
        return _Problem(field, "missing; expected a value", None)
    text = details["msg"].removeprefix("Value error, ")
    named = re.match(r"`([^`]+)`: ", text)
    if named and kind == "value_error":  # validators of a whole record name the field themselves
        field = field_path([*steps, named.group(1)])
        text = text[named.end() :]
    shown = None if isinstance(raw, Mapping | list | tuple) else _short(raw)
    return _Problem(field, text[:1].lower() + text[1:], shown)


def _real_steps(data: object, details: ErrorDetails) -> list[str | int]:
    """The steps that exist in the data: pydantic also names union members and tags."""
    steps: list[str | int] = []
    here = data
    loc = details["loc"]
    for index, step in enumerate(loc):
        if isinstance(here, Mapping) and step in here:
            here = cast("Mapping[object, object]", here)[step]
        elif (
            isinstance(here, list)
            and isinstance(step, int)
            and step < len(cast("list[object]", here))
        ):
            here = cast("list[object]", here)[step]
        elif not (index == len(loc) - 1 and details["type"] == "missing"):
            continue
        steps.append(step)
    return steps


def _known_keys(model: type[BaseModel], loc: Sequence[str | int]) -> list[str]:
    """Field names of the records that may stand at a place."""
    candidates = [model]
    for step in loc:
        inner = [
            found
            for c in candidates
            if isinstance(step, str) and step in c.model_fields
            for found in _models(c.model_fields[step].annotation)
        ]
        tagged = [c for c in candidates if step in (c.__name__, _tag_of(c))]
        candidates = inner or tagged or candidates
    return sorted({name for c in candidates for name in c.model_fields})


def _tag_of(model: type[BaseModel]) -> object:
    kind = model.model_fields.get("kind")
    return None if kind is None else cast("object", kind.default)


def _models(annotation: object) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
        return
    for part in get_args(annotation):
        yield from _models(part)


def _short(value: object) -> object:
    """The value itself, or the beginning of its text when it is long."""
    text = value if isinstance(value, str) else repr(value)
    return value if len(text) <= _MAX_SHOWN else text[:_MAX_SHOWN] + "…"
