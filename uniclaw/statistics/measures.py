"""Measures: which rows count and which number each gives, under a named definition.

Definitions are never mixed: `final` takes the last round's score, `best` the maximum over
rounds, `paper` the reference benchmark's rules (see `Definition`).
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple, get_args

from uniclaw.errors import UserError
from uniclaw.records import Outcome
from uniclaw.statistics.rows import EpisodeRow

Definition = Literal["paper", "best", "final"]
"""How pass and score of an episode are read.

`paper`: rows that ended as executor_incomplete or without a best score leave the denominators
of both measures; score is the best round's; an episode passes when it passed, or when its best
score reached the threshold and its outcome is not `fail` (the reference promotes these).
`best` and `final`: every scored episode counts for pass as the supervisor left it; the score is
that of the best or of the last round.
"""

Measure = Literal["pass", "score"]
DEFINITIONS: tuple[str, ...] = get_args(Definition)


class Reading(NamedTuple):
    """Pass and score of one episode under a definition; None does not count."""

    passed: float | None
    score: float | None


def read(row: EpisodeRow, definition: Definition) -> Reading:
    """Pass and score of an episode under a definition."""
    if not row.scored:
        return Reading(None, None)
    if definition == "paper":
        return _read_as_paper(row)
    score = row.best_score if definition == "best" else row.final_score
    return Reading(None if row.passed is None else float(row.passed), score)


def _read_as_paper(row: EpisodeRow) -> Reading:
    if row.outcome is Outcome.EXECUTOR_INCOMPLETE or row.best_score is None or row.passed is None:
        return Reading(None, None)
    reached = row.threshold is not None and row.best_score >= row.threshold
    promoted = reached and row.outcome is not Outcome.FAIL
    return Reading(float(row.passed or promoted), row.best_score)


def value(row: EpisodeRow, measure: Measure, definition: Definition) -> float | None:
    """One measure of an episode under a definition."""
    reading = read(row, definition)
    return reading.passed if measure == "pass" else reading.score


def check_definition(rows: Sequence[EpisodeRow], definition: Definition) -> str | None:
    """Why a definition gives no score on any of these rows, or None.

    Raises:
        UserError: for an unknown definition.
    """
    if definition not in DEFINITIONS:
        raise UserError(
            f"unknown score definition; known are {', '.join(DEFINITIONS)}", value=definition
        )
    if any(read(row, definition).score is not None for row in rows):
        return None
    if not any(row.scored for row in rows):
        return "no episode has a scored outcome"
    other = "final" if definition != "final" else "best"
    return f"no scored row has a {definition!r} score (the source may only hold the {other!r} one)"
