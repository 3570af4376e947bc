"""The rubric: weighted checkpoints, caps and pass requirements, and what checks them.

A rubric is data. How a check is carried out is the business of `supervisor.checks`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, JsonValue, model_validator

from uniclaw.hidden.check_base import CheckBase
from uniclaw.hidden.program import GraderProgram
from uniclaw.hidden.tests_check import TestsCheck
from uniclaw.records import Record, Unit

Finite = Annotated[float, Field(allow_inf_nan=False)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
LineId = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]


class Ref(Record):
    """A value read from a reference file when the check runs."""

    ref: str
    """Reference path, relative to the rubric's directory (`references/x.json`)."""
    pointer: str = ""
    """JSON pointer (RFC 6901); empty is the whole document."""


Value = Ref | JsonValue


class Assertion(Record):
    """One statement about a JSON value.

    `op` is one of: equals, not_equals, approx, at_least, at_most, length, type, contains,
    contains_all, set_equals, subset_of, matches (regex), exists, absent.
    """

    pointer: str = ""
    """JSON pointer; a `*` segment ranges over all members (the statement must hold for each)."""
    op: Literal[
        "equals",
        "not_equals",
        "approx",
        "at_least",
        "at_most",
        "length",
        "type",
        "contains",
        "contains_all",
        "set_equals",
        "subset_of",
        "matches",
        "exists",
        "absent",
    ] = "equals"
    value: Value = None
    abs_tol: Annotated[float, Field(ge=0)] = 0.0
    rel_tol: Annotated[float, Field(ge=0)] = 0.0
    ignore_case: bool = False


class FileCheck(CheckBase):
    """Files exist (or do not). `path` may be a glob; relative to the first artifact root."""

    kind: Literal["file"] = "file"
    path: str
    exists: bool = True
    min_bytes: Annotated[int, Field(ge=0)] = 1
    max_bytes: Annotated[int, Field(ge=0)] | None = None
    min_count: Annotated[int, Field(ge=1)] = 1
    changed: bool | None = None
    """True: must differ from the baseline; False: must be as it was."""
    sha256: Value = None


class JsonCheck(CheckBase):
    """A JSON file parses and every assertion holds.

    `path` may be a glob here and in the other content checks: the best of the files counts
    (for a text from which something must be absent, the worst).
    """

    kind: Literal["json"] = "json"
    path: str
    asserts: Annotated[tuple[Assertion, ...], Field(min_length=1)]
    partial: bool = False
    """False: 1 only when all hold, else 0. True: the share that holds."""


class Cell(Record):
    """One expected cell of a table: the row where `where` matches, and its column's value."""

    where: Mapping[str, Value]
    column: str
    value: Value
    abs_tol: Annotated[float, Field(ge=0)] = 0.0
    rel_tol: Annotated[float, Field(ge=0)] = 0.0


class CsvCheck(CheckBase):
    """A delimited table: columns, row count, unique keys, cells, equality with a reference."""

    kind: Literal["csv"] = "csv"
    path: str
    sheet: str | None = None
    """For .xlsx files: the sheet's name (first one when None)."""
    delimiter: str | None = None
    columns: tuple[str, ...] = ()
    """Must all be present, in any order, compared without case and surrounding space."""
    rows: Annotated[int, Field(ge=0)] | Ref | None = None
    unique: tuple[str, ...] = ()
    """Columns that together identify a row."""
    cells: tuple[Cell, ...] = ()
    equals: Ref | None = None
    """Reference table (.csv); compared on `columns` (all of the reference's when empty)."""
    ordered: bool = False
    abs_tol: Annotated[float, Field(ge=0)] = 0.0
    rel_tol: Annotated[float, Field(ge=0)] = 0.0
    partial: bool = False


class TextCheck(CheckBase):
    """Text of a file or of the final message."""

    kind: Literal["text"] = "text"
    path: str | None = None
    """None: the executor's final message of the round."""
    contains: tuple[Value, ...] = ()
    any_of: tuple[Value, ...] = ()
    regex: tuple[str, ...] = ()
    absent: tuple[Value, ...] = ()
    ignore_case: bool = True
    min_words: Annotated[int, Field(ge=0)] = 0
    """CJK characters count as one word each."""
    max_words: Annotated[int, Field(ge=0)] | None = None
    partial: bool = False


class ImageCheck(CheckBase):
    """An image: format, size, likeness to a reference, text by OCR."""

    kind: Literal["image"] = "image"
    path: str
    formats: tuple[str, ...] = ()
    """Pillow format names in capitals, such as PNG."""
    min_width: Annotated[int, Field(ge=0)] = 0
    min_height: Annotated[int, Field(ge=0)] = 0
    max_width: Annotated[int, Field(ge=0)] | None = None
    max_height: Annotated[int, Field(ge=0)] | None = None
    min_colours: Annotated[int, Field(ge=0)] = 0
    """Distinct colours after reduction to 5 bits a channel; a blank picture has one."""
    similar_to: str | None = None
    """Reference path."""
    min_similarity: Unit = 0.9
    """1 - mean absolute difference of 64 x 64 grey thumbnails / 255."""
    ocr_contains: tuple[Value, ...] = ()
    ocr_language: str = "eng"


class CommandCheck(CheckBase):
    """Two phases: run code of the agent's without references, then compare what it produced.

    Phase 1 runs `run` under `sh -c`, in the workspace of a clean environment that holds a copy of
    the artifacts (at their own paths) and of `files`, no references, no network. Its stdout,
    stderr and exit code become `command/<line>/stdout`, `.../stderr`, `.../exit_code`, and
    the files named by `keep` are copied beside them. Phase 2 applies `then`, whose relative
    paths start at that directory.
    """

    kind: Literal["command"] = "command"
    run: str
    timeout_s: Annotated[float, Field(gt=0, le=600)] = 60.0
    files: Mapping[str, str] = {}
    """Absolute path inside -> public fixture path relative to the rubric's directory."""
    keep: tuple[str, ...] = ()
    exit_code: int | None = 0
    then: "Check | None" = None


class PythonCheck(CheckBase):
    """A function over frozen evidence, run apart from anything of the agent's.

    `function(evidence, references, **args)` returns a number in 0..1, a bool, or a mapping
    `{value, reason?, evidence?}`. See `supervisor.pycheck_runner` for the two reader objects.
    """

    kind: Literal["python"] = "python"
    file: str = "checks.py"
    function: str
    args: Mapping[str, JsonValue] = {}
    timeout_s: Annotated[float, Field(gt=0, le=600)] = 60.0


class StateCheck(CheckBase):
    """What a probe or a service's audit log says, as a JSON document or text.

    The audit log of a service reaches the evidence as the probe result `service:<name>`.
    """

    kind: Literal["state"] = "state"
    probe: str | None = None
    service: str | None = None
    asserts: tuple[Assertion, ...] = ()
    contains: tuple[Value, ...] = ()
    exit_code: int | None = None
    partial: bool = False

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if (self.probe is None) == (self.service is None):
            raise ValueError("exactly one of `probe` and `service`")
        return self


class TraceCheck(CheckBase):
    """Statements about the trajectory."""

    kind: Literal["trace"] = "trace"
    tool: str | None = None
    """Regex on the tool's name."""
    arguments: str | None = None
    """Regex on the call's arguments as JSON text."""
    result: str | None = None
    """Regex on the result's text."""
    message: str | None = None
    """Regex on assistant messages (instead of tool calls)."""
    min_count: Annotated[int, Field(ge=0)] = 1
    max_count: Annotated[int, Field(ge=0)] | None = None
    rounds: tuple[int, ...] | None = None
    """Only these rounds; None means all so far."""


class GraderCheck(CheckBase):
    """One criterion of a grader that an imported benchmark brings along (`LoadedRubric.program`).

    The grader is called once a round for all of these checks.
    """

    kind: Literal["grader"] = "grader"
    key: str
    """Of the mapping that it returns."""
    sha256: str
    """Of the grader's source."""
    asks_model: bool = False
    """It calls a judge model by itself."""
    outputs: tuple[str, ...] = ()
    """Files that the instruction asks for, absolute."""


class JudgeCheck(CheckBase):
    """A criterion for the judge model; `criterion` None takes the line's description."""

    kind: Literal["judge"] = "judge"
    criterion: str | None = None
    files: tuple[str, ...] = ()
    """Globs of artifacts that the judge should see first."""


class AllCheck(CheckBase):
    """The least value of its parts (with `mean`: their mean)."""

    kind: Literal["all"] = "all"
    of: Annotated[tuple["Check", ...], Field(min_length=1)]
    mean: bool = False


class AnyCheck(CheckBase):
    """The greatest value of its parts."""

    kind: Literal["any"] = "any"
    of: Annotated[tuple["Check", ...], Field(min_length=1)]


class NotCheck(CheckBase):
    """1 - value of its part."""

    kind: Literal["not"] = "not"
    check: "Check"


Check = Annotated[
    FileCheck
    | JsonCheck
    | CsvCheck
    | TextCheck
    | ImageCheck
    | CommandCheck
    | PythonCheck
    | StateCheck
    | TraceCheck
    | TestsCheck
    | GraderCheck
    | JudgeCheck
    | AllCheck
    | AnyCheck
    | NotCheck,
    Field(discriminator="kind"),
]


class Checkpoint(Record):
    """One weighted criterion."""

    id: LineId
    weight: Positive
    description: Annotated[str, Field(min_length=1)]
    check: Check
    artifact: str | None = None
    """Artifact whose absence makes the attempt `incomplete`; relative to the first root."""
    tag: str | None = None
    """Guidance tag of `roles/tags.yaml`."""


class Cap(Record):
    """An upper bound on the score when its condition holds (check value >= 0.5)."""

    id: LineId
    max: Unit
    description: str = ""
    when: Check


class PassRequires(Record):
    """What a pass needs beside the threshold."""

    checkpoints: tuple[LineId, ...] = ()
    """Fully met (value 1)."""
    no_cap: bool = False
    """No cap may have fired."""
    judge: tuple[str, ...] = ()
    """Prose requirements; each becomes a judge line of weight 0 named `requires-N`."""


WEIGHT_SUM_TOLERANCE = 0.01


class Rubric(Record):
    """The hidden side of one task."""

    threshold: Unit
    checkpoints: Annotated[tuple[Checkpoint, ...], Field(min_length=1)]
    caps: tuple[Cap, ...] = ()
    pass_requires: PassRequires = PassRequires()
    references: tuple[str, ...] = ()
    """Reference files or directories, relative to the rubric's directory."""
    null_floor: Unit = 0.0
    """What the null agent may score at most."""
    secrets: tuple[str, ...] = ()
    """Further hidden phrases for screening that stand in no reference file."""

    @property
    def weights_sum(self) -> float:
        """Sum of the weights as written."""
        return sum(c.weight for c in self.checkpoints)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        ids = [line.id for line in (*self.checkpoints, *self.caps)]
        twice = sorted({i for i in ids if ids.count(i) > 1})
        if twice:
            raise ValueError(f"`checkpoints`: duplicate ids {twice}; every line needs its own")
        total = self.weights_sum
        if abs(total - 1) > WEIGHT_SUM_TOLERANCE + 1e-9:
            raise ValueError(f"`checkpoints`: weights sum to {total:g}; expected 1 (± 0.01)")
        known = {c.id for c in self.checkpoints}
        strange = [i for i in self.pass_requires.checkpoints if i not in known]
        if strange:
            raise ValueError(f"`pass_requires.checkpoints`: unknown checkpoints {strange}")
        return self


@dataclass(frozen=True, kw_only=True)
class LoadedRubric:
    """A rubric with the host directory that its relative paths start at."""

    rubric: Rubric
    root: Path
    """Directory of `references/`, `checks.py`, `mutants/` ..."""
    source: Literal["native", "overlay", "imported"]
    reference_root: Path
    """Directory that `references/...` paths start at (an overlay reads the imported task's)."""
    raw_texts: tuple[str, ...] = ()
    """Further hidden prose (an imported rule) for screening and canaries."""
    program: GraderProgram | None = None
    """Of `grader` checks."""
