"""Image recipes: a directory with `recipe.yaml` and a `Dockerfile` of a small dialect.

The dialect is a subset of Docker's, so `docker build --build-arg BASE=...` works as well:
ARG, FROM, RUN, COPY, ENV, WORKDIR, USER, and line continuations. Must not know the engine.
"""

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, cast

import yaml
from pydantic import AfterValidator, Field, ValidationError

from uniclaw.assets import tree_hash
from uniclaw.errors import UserError
from uniclaw.records import Record

BOOTSTRAP = "bootstrap"
"""The `from` of a recipe that starts at a bare Debian."""

Word = Literal["ARG", "FROM", "RUN", "COPY", "ENV", "WORKDIR", "USER"]
_WORDS: Mapping[str, Word] = {
    w: w for w in ("ARG", "FROM", "RUN", "COPY", "ENV", "WORKDIR", "USER")
}
_NAME = re.compile(r"[a-z0-9][a-z0-9_.-]{0,63}\Z")
_VARIABLE = re.compile(r"\$\{(\w+)\}|\$(\w+)")


def _compiles(pattern: str) -> str:
    try:
        re.compile(pattern)
    except re.error as error:
        raise ValueError(f"no regex: {error}") from error
    return pattern


Pattern = Annotated[str, AfterValidator(_compiles)]


class Trial(Record):
    """One command of a self-test, and what must come of it."""

    run: str
    """Runs under `sh -c` in the built image, without network, as the agent."""
    exit: int = 0
    output: Pattern | None = None
    """Regex, multi-line, that its output (both streams) must match somewhere."""


class Session(Record):
    """A program that must run beside the agent, such as a display; started before each turn."""

    command: str
    """Runs under `sh -c` as the agent's user, apart from every later command, until it is ended."""
    ready: str
    """Asked over and over until it exits 0. It must not wait by itself."""
    timeout_s: Annotated[float, Field(gt=0, le=120)] = 20.0
    """How long it may take until it is ready."""


class Film(Record):
    """A program that films a turn, in a container beside the agent's.

    It shares the agent's network namespace (abstract sockets and ports), and nothing else. It has
    `RECORD_FILE` (where to write), `RECORD_FPS` and `RECORD_MAX_BYTES`, and ends on SIGINT.
    """

    command: str
    suffix: Annotated[str, Field(pattern=r"^\.[a-z0-9]{1,8}$")] = ".mp4"
    fps: Mapping[Literal["low", "high"], Annotated[float, Field(gt=0, le=30)]] = {
        "low": 1.0,
        "high": 5.0,
    }


class RecipeFile(Record):
    """What `recipe.yaml` holds."""

    from_: str = Field(alias="from")
    """Name of the parent recipe, or `bootstrap`."""
    description: str
    self_test: tuple[Trial | str, ...] = ()
    """A string is a command that must exit 0."""
    session: Session | None = None
    """What stands on this recipe has it as well, unless it names its own; so for `recording`."""
    recording: Film | None = None
    """How a turn is filmed, where a task asks for it."""


@dataclass(frozen=True, kw_only=True)
class Step:
    """One instruction, parsed as far as its kind allows."""

    word: Word
    arguments: tuple[str, ...]
    """RUN: the argv; COPY: sources and target; ENV: `k=v` each; otherwise one argument."""
    owner: str | None = None
    """`--chown` of a COPY."""
    line: int


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """A recipe, read and checked."""

    name: str
    directory: Path
    parent: str
    description: str
    self_test: tuple[Trial, ...]
    steps: tuple[Step, ...]
    sha256: str
    """Over the directory's names and bytes."""
    session: Session | None = None
    recording: Film | None = None


def check_name(name: str) -> str:
    """A recipe's name, when it can be one.

    Raises:
        UserError: it cannot (it becomes a path and an image name).
    """
    if not _NAME.match(name) or ".." in name or name == BOOTSTRAP:
        raise UserError(
            "a recipe's name is lower-case letters, digits, `.`, `_`, `-`",
            field="environment",
            value=name,
        )
    return name


def load_recipe(name: str, directory: Path) -> Recipe:
    """Read a recipe.

    Raises:
        UserError: a file is missing or broken; names file, field and value.
    """
    for path in directory.rglob("*"):
        if path.is_symlink():
            raise UserError("links are not allowed in a recipe", file=path)
    head = _recipe_file(directory / "recipe.yaml")
    dockerfile = directory / "Dockerfile"
    if not dockerfile.is_file():
        raise UserError("missing", file=dockerfile)
    return Recipe(
        name=check_name(name),
        directory=directory,
        parent=head.from_ if head.from_ == BOOTSTRAP else check_name(head.from_),
        description=head.description,
        self_test=tuple(Trial(run=t) if isinstance(t, str) else t for t in head.self_test),
        steps=tuple(parse_dockerfile(dockerfile.read_text(encoding="utf-8"), dockerfile)),
        sha256=tree_hash(directory),
        session=head.session,
        recording=head.recording,
    )


def _recipe_file(path: Path) -> RecipeFile:
    try:
        data: object = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise UserError("missing", file=path) from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise UserError(f"not YAML: {error}", file=path) from error
    try:
        return RecipeFile.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        raise UserError(first["msg"], file=path, field=field, value=first["input"]) from error


def parse_dockerfile(text: str, file: Path) -> Iterator[Step]:
    """Instructions of a Dockerfile of our dialect.

    Raises:
        UserError: an instruction outside the dialect, or a broken one.
    """
    started = False
    for line, logical in _logical_lines(text):
        word_text, _, rest = logical.partition(" ")
        word = _WORDS.get(word_text.upper())
        if word is None:
            known = ", ".join(_WORDS)
            raise UserError(f"line {line}: recipes know {known}", file=file, value=word_text)
        step = _step(word, rest.strip(), line, file)
        if word == "FROM":
            if started or step.arguments not in {("${BASE}",), ("$BASE",)}:
                raise UserError(
                    f"line {line}: one `FROM ${{BASE}}`, the parent is named in recipe.yaml",
                    file=file,
                    value=rest,
                )
            started = True
        elif not started and word != "ARG":
            raise UserError(f"line {line}: stands before FROM", file=file, value=word_text)
        yield step
    if not started:
        raise UserError("no `FROM ${BASE}`", file=file)


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    parts: list[str] = []
    first = 0
    for number, raw in enumerate(text.splitlines(), start=1):
        if raw.lstrip().startswith("#") or (not parts and not raw.strip()):
            continue
        first = first if parts else number
        if raw.rstrip().endswith("\\"):
            parts.append(raw.rstrip()[:-1])
            continue
        parts.append(raw)
        yield first, " ".join(parts).strip()
        parts = []
    if parts:
        yield first, " ".join(parts).strip()


def _step(word: Word, rest: str, line: int, file: Path) -> Step:
    if not rest:
        raise UserError(f"line {line}: nothing follows", file=file, value=word)
    if word == "RUN":
        argv = _json_list(rest) or ("/bin/sh", "-c", rest)
        return Step(word=word, arguments=argv, line=line)
    try:
        words = _json_list(rest) or tuple(shlex.split(rest))
    except ValueError as error:
        raise UserError(f"line {line}: {error}", file=file, value=rest) from error
    if word == "COPY":
        return _copy(words, line, file)
    if word == "ENV":
        return _env(words, line, file)
    if len(words) != 1:
        raise UserError(f"line {line}: {word} takes one argument", file=file, value=rest)
    return Step(word=word, arguments=words, line=line)


def _json_list(rest: str) -> tuple[str, ...] | None:
    if not rest.startswith("["):
        return None
    try:
        data = json.loads(rest)
    except ValueError:
        return None
    items = cast("list[object]", data)
    return tuple(str(item) for item in items)


def _copy(words: tuple[str, ...], line: int, file: Path) -> Step:
    owner = None
    while words and words[0].startswith("--"):
        key, _, value = words[0].partition("=")
        if key != "--chown" or not re.fullmatch(r"\d+:\d+", value):
            raise UserError(
                f"line {line}: COPY knows `--chown=UID:GID` only", file=file, value=words[0]
            )
        owner, words = value, words[1:]
    if len(words) < 2:
        raise UserError(f"line {line}: COPY needs a source and a target", file=file, value=words)
    for source in words[:-1]:
        if source.startswith("/") or ".." in Path(source).parts:
            raise UserError(f"line {line}: COPY stays inside the recipe", file=file, value=source)
    return Step(word="COPY", arguments=words, owner=owner, line=line)


def _env(words: tuple[str, ...], line: int, file: Path) -> Step:
    if all("=" in w and not w.startswith("=") for w in words):
        return Step(word="ENV", arguments=words, line=line)
    raise UserError(f"line {line}: ENV takes KEY=VALUE", file=file, value=" ".join(words))


def expand(text: str, variables: Mapping[str, str]) -> str:
    """Replace `${NAME}` and `$NAME` as ENV, COPY and WORKDIR do; unknown names are empty."""
    return _VARIABLE.sub(lambda m: variables.get(m.group(1) or m.group(2), ""), text)
