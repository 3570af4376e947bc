"""Ratings: values that supervisors or people gave, from result rows or from a CSV of labels.

A rating is a value in [0, 1] of one checkpoint (or of the whole score: checkpoint None) of an
item. An item is an episode as played, whoever judged it.
"""

import csv
import io
import math
from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from uniclaw.errors import UserError
from uniclaw.records import Record, Unit
from uniclaw.statistics.rows import EpisodeRow

MAX_BYTES = 64 * 1024 * 1024
_PLAYED = (
    "harness",
    "model",
    "policy",
    "user_simulator",
    "feedback_rounds_limit",
    "task_id",
    "trial",
)


class Rating(Record):
    """One value that one rater gave."""

    item: str
    rater: str
    value: Unit
    checkpoint: str | None = None
    cluster: str | None = None
    """Task family; None takes the item as its own cluster."""


def item_of(row: EpisodeRow) -> str:
    """The item of an episode: all that was played, without run and supervisor."""
    return "/".join(str(getattr(row, name)) for name in _PLAYED)


def ratings_of(rows: Sequence[EpisodeRow]) -> tuple[Rating, ...]:
    """Ratings of the last round of scored episodes; the rater is the row's supervisor.

    Every decided checkpoint is one rating, and the score is one more (checkpoint None). Rows of
    a run and of its rejudged twin share their items.
    """
    found: list[Rating] = []
    for row in rows:
        if not row.scored:
            continue
        values: dict[str | None, float | None] = {None: row.final_score}
        if row.final_score is None:
            values[None] = row.best_score
        if row.rounds:
            values.update(row.rounds[-1].checkpoints)
        found.extend(
            Rating(
                item=item_of(row),
                rater=row.supervisor,
                value=value,
                checkpoint=None if name is None else f"{row.task_id}:{name}",
                cluster=row.family,
            )
            for name, value in values.items()
            if value is not None
        )
    return tuple(found)


def read_labels(data: bytes, source: str = "labels") -> tuple[Rating, ...]:
    """Ratings of a CSV of labels.

    Raises:
        UserError: too large, a column is missing, a value is not in 0..1; names line and column.
    """
    if len(data) > MAX_BYTES:
        raise UserError(f"larger than {MAX_BYTES} bytes", file=source)
    reader = csv.DictReader(io.StringIO(data.decode("utf-8-sig", "replace")))
    absent = [name for name in ("item", "rater", "value") if name not in (reader.fieldnames or ())]
    if absent:
        raise UserError(f"columns are missing: {absent}", file=source, value=reader.fieldnames)
    found: list[Rating] = []
    for line, row in enumerate(reader, start=2):
        text = row.get("value") or ""
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        try:
            found.append(
                Rating(
                    item=row.get("item") or "",
                    rater=row.get("rater") or "",
                    value=number,
                    checkpoint=row.get("checkpoint") or None,
                    cluster=row.get("cluster") or None,
                )
            )
        except ValidationError as error:
            raise UserError(
                f"line {line}: expected a number in 0..1", file=source, field="value", value=text
            ) from error
    return tuple(found)


def read_label_file(file: Path) -> tuple[Rating, ...]:
    """Ratings of a CSV file.

    Raises:
        UserError: it cannot be read, or as `read_labels`.
    """
    try:
        with file.open("rb") as opened:
            data = opened.read(MAX_BYTES + 1)
    except OSError as error:
        raise UserError(f"cannot be read: {error.strerror}", file=file) from error
    return read_labels(data, str(file))
