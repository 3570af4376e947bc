"""Result rows: one per episode, the only input of statistics and curation.

A row holds outcomes and checkpoint values, never texts of the hidden side. Conversion from
and to a pandas frame is exact; a NaN that someone wrote is refused, not read as missing.
"""

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal, Self, get_args

import pandas as pd
from pydantic import Field, ValidationError, field_validator, model_validator

from uniclaw.errors import UserError
from uniclaw.records import Count, NonNegative, Outcome, Record, Unit, Usage
from uniclaw.statistics.foreign import frame_columns, frame_of

Axis = Literal[
    "run",
    "suite",
    "cell",
    "harness",
    "model",
    "policy",
    "user_simulator",
    "supervisor",
    "feedback_rounds_limit",
    "capability",
    "language",
    "modality",
    "domain",
    "family",
    "task_id",
]
AXES: tuple[str, ...] = get_args(Axis)
CELL_AXES: tuple[Axis, ...] = (
    "harness",
    "model",
    "policy",
    "user_simulator",
    "supervisor",
    "feedback_rounds_limit",
)


class RoundRow(Record):
    """One round of an episode."""

    round: Count
    score: Unit | None = None
    passed: bool | None = None
    checkpoints: Mapping[str, Unit | None] = Field(default_factory=dict)
    """Value per checkpoint id; None when it could not be decided."""
    weights: Mapping[str, NonNegative] = Field(default_factory=dict)
    executor_s: NonNegative | None = None
    feedback: Literal["model", "template", "neutral"] | None = None
    """Source of the message that started this round; None for round 0."""
    blocked: Count = 0
    """Drafts that the firewall blocked before that message."""
    disputed: tuple[str, ...] = ()
    """Checkpoints on which members of a panel differ by half a point or more."""
    wrong_request: bool = False
    """The message was found (by a reviewer or a fact check) to ask for the wrong thing."""

    @model_validator(mode="after")
    def _known_lines(self) -> Self:
        unknown = set(self.checkpoints) - set(self.weights) if self.weights else set[str]()
        if unknown:
            raise ValueError(f"checkpoints without a weight: {sorted(unknown)}")
        return self


class ToolUse(Record):
    """How an episode used tools, counted over all turns."""

    calls: Mapping[str, Count] = Field(default_factory=dict)
    """Calls by category of tool."""
    errors: Count = 0
    """Results with a non-zero exit code."""
    loops: Count = 0
    """Calls that repeat the same tool and arguments three times or more in a row."""
    seconds: Mapping[str, NonNegative] = Field(default_factory=dict)
    """Seconds between a call and its result, by category, where stamps exist."""


class Anomaly(Record):
    """A value of the source that was not taken over, with what it was."""

    field: str
    value: float
    problem: str


class EpisodeRow(Record):
    """One episode as statistics sees it."""

    run: str
    task_id: str
    family: str
    """Cluster of intervals: twins of a task share it."""
    suite: str
    capability: str = "general"
    """Stratum of the bootstrap."""
    language: str = "en"
    modality: tuple[str, ...] = ()
    domain: tuple[str, ...] = ()
    cell: str
    harness: str
    model: str | None = None
    policy: str = "unknown"
    user_simulator: str = "unknown"
    supervisor: str = "unknown"
    feedback_rounds_limit: Count | None = None
    trial: Count = 0
    outcome: Outcome
    scored: bool
    passed: bool | None = None
    threshold: Unit | None = None
    final_score: Unit | None = None
    best_score: Unit | None = None
    final_round: Count | None = None
    best_round: Count | None = None
    rounds: tuple[RoundRow, ...] = ()
    """Empty where the source has no rounds."""
    rounds_played: Count | None = None
    """Rounds, where only their number is known."""
    executor_s: NonNegative | None = None
    wall_s: NonNegative | None = None
    tokens: Usage | None = None
    """None when unknown."""
    cost_usd: NonNegative | None = None
    model_calls: Count | None = None
    attempts: Count | None = None
    reason: str | None = None
    missing_artifacts: tuple[str, ...] | None = None
    """Required artifacts absent at the end; None when unknown."""
    safety: bool | None = None
    """True when a safety line was broken; None when the task has none or it is unknown."""
    tools: ToolUse | None = None
    anomalies: tuple[Anomaly, ...] = ()

    @field_validator("rounds", mode="after")
    @classmethod
    def _in_order(cls, rounds: tuple[RoundRow, ...]) -> tuple[RoundRow, ...]:
        numbers = [entry.round for entry in rounds]
        if numbers != list(range(len(numbers))):
            raise ValueError(f"rounds must be 0, 1, 2 ... in order, got {numbers}")
        return rounds

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.scored != self.outcome.scored:
            raise ValueError(f"scored={self.scored} does not fit outcome {self.outcome.value!r}")
        if not self.scored and self.passed is not None:
            raise ValueError("an episode without a scored outcome has no `passed`")
        return self

    def axis(self, name: str) -> tuple[str, ...]:
        """Values of one axis; several for modality and domain, `unknown` when absent."""
        value: object = getattr(self, name)
        if isinstance(value, tuple):
            entries: tuple[object, ...] = value  # pyright: ignore[reportUnknownVariableType] -- narrowed tuple
            return tuple(str(entry) for entry in entries) or ("unknown",)
        return ("unknown" if value is None else str(value),)


Rows = Sequence[EpisodeRow] | pd.DataFrame
"""What every public function accepts."""


def to_frame(rows: Sequence[EpisodeRow]) -> pd.DataFrame:
    """Rows as a frame: one column per field, object columns, nested fields as JSON text."""
    columns: dict[str, list[object]] = {name: [] for name in EpisodeRow.model_fields}
    for row in rows:
        for name, value in row.model_dump(mode="json").items():
            nested = isinstance(value, dict | list)
            columns[name].append(
                json.dumps(value, ensure_ascii=False, allow_nan=False) if nested else value
            )
    return frame_of(columns)


def from_frame(frame: pd.DataFrame) -> tuple[EpisodeRow, ...]:
    """Rows of a frame made by `to_frame` or by hand.

    Raises:
        UserError: for an unknown column, a NaN in an object column, or a value that does not fit.
    """
    columns = frame_columns(frame)
    unknown = sorted(set(columns) - set(EpisodeRow.model_fields))
    if unknown:
        raise UserError(f"unknown columns {unknown}; known are the fields of EpisodeRow")
    names = list(columns)
    rows: list[EpisodeRow] = []
    for index, values in enumerate(zip(*columns.values(), strict=True)):
        fields = {
            name: _cell(name, index, value) for name, value in zip(names, values, strict=True)
        }
        try:
            rows.append(EpisodeRow.model_validate(fields))
        except ValidationError as error:
            first = error.errors()[0]
            field = ".".join(str(part) for part in first["loc"]) or None
            raise UserError(
                f"row {index}: {first['msg']}", field=field, value=first["input"] if field else None
            ) from error
    return tuple(rows)


_NESTED = frozenset(
    {"modality", "domain", "rounds", "tokens", "missing_artifacts", "tools", "anomalies"}
)


def _cell(name: str, index: int, value: object) -> object:
    if isinstance(value, float):
        if math.isnan(value):
            raise UserError(f"row {index}: NaN; a missing value is None", field=name)
        return int(value) if value.is_integer() and name not in _FLOATS else value
    if name in _NESTED and isinstance(value, str):
        return json.loads(value)
    return value


_FLOATS = frozenset({"threshold", "final_score", "best_score", "executor_s", "wall_s", "cost_usd"})


def as_rows(rows: Rows) -> tuple[EpisodeRow, ...]:
    """Typed rows of either form, checked as a set.

    Raises:
        UserError: no rows, or two rows of one (run, cell, task, trial), or a family with two
            capabilities (it could not be in one stratum).
    """
    typed = from_frame(rows) if isinstance(rows, pd.DataFrame) else tuple(rows)
    if not typed:
        raise UserError("no rows: nothing to compute")
    keys = Counter((row.run, row.cell, row.task_id, row.trial) for row in typed)
    key, times = keys.most_common(1)[0]
    if times > 1:
        raise UserError(f"{times} rows of one (run, cell, task, trial)", value=key)
    stratum: dict[str, str] = {}
    for row in typed:
        if stratum.setdefault(row.family, row.capability) != row.capability:
            raise UserError(
                f"family {row.family!r} has two capabilities",
                value=(stratum[row.family], row.capability),
            )
    return typed


def select(
    rows: Sequence[EpisodeRow], where: Mapping[str, Sequence[str]]
) -> tuple[EpisodeRow, ...]:
    """Rows whose axes take one of the wanted values.

    Raises:
        UserError: for an unknown axis, a value that no row has, or an empty result.
    """
    kept = tuple(rows)
    for name, wanted in where.items():
        check_axis(name)
        present = {value for row in rows for value in row.axis(name)}
        absent = sorted(set(wanted) - present)
        if absent:
            raise UserError(f"no row has {absent}; present are {sorted(present)[:20]}", field=name)
        kept = tuple(row for row in kept if set(row.axis(name)) & set(wanted))
    if not kept:
        raise UserError("no row is left after selection", value=dict(where))
    return kept


def check_axis(name: str) -> None:
    """Refuse an axis that rows do not have.

    Raises:
        UserError: with the known axes.
    """
    if name not in AXES:
        raise UserError(f"unknown axis; known are {', '.join(AXES)}", field="by", value=name)


def group(
    rows: Sequence[EpisodeRow], by: Sequence[str]
) -> dict[tuple[str, ...], tuple[EpisodeRow, ...]]:
    """Rows by the values of axes, sorted; a row with several modalities is in several groups."""
    for name in by:
        check_axis(name)
    groups: dict[tuple[str, ...], list[EpisodeRow]] = {}
    for row in rows:
        keys: list[tuple[str, ...]] = [()]
        for name in by:
            keys = [(*key, value) for key in keys for value in row.axis(name)]
        for key in keys:
            groups.setdefault(key, []).append(row)
    return {key: tuple(groups[key]) for key in sorted(groups)}
