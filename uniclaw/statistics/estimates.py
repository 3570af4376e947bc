"""Estimates as records: a number with its interval, or None with the reason.

Every interval of this package is an `Estimate`; none ever holds NaN.
"""

import math
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from uniclaw.errors import UserError
from uniclaw.records import Count, Record

Level = Annotated[float, Field(gt=0, lt=1)]
Interval = tuple[float, float]
Method = Literal[
    "cluster_bootstrap",
    "cluster_wilson",
    "cluster_exact",
    "wilson",
    "generalised_pivot",
    "none",
]
"""How an interval came about; `intervals` says what each one is."""


class Estimate(Record):
    """A number with its interval. `value` None: undefined, `reason` says why.

    A value without an interval has `low` and `high` None, and `reason` says why there is none.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    level: Level = 0.95
    n: Count = 0
    """Episodes (or tasks, pairs, items) behind the value."""
    clusters: Count = 0
    method: Method = "none"
    reason: str | None = None
    warnings: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.value is None and self.reason is None:
            raise ValueError("an undefined estimate needs a reason")
        if (self.low is None) != (self.high is None):
            raise ValueError("an interval has two ends or none")
        return self

    @property
    def ci(self) -> Interval | None:
        """Both ends, or None."""
        return None if self.low is None or self.high is None else (self.low, self.high)


class Options(Record):
    """What every estimate with an interval needs; the same seed gives the same numbers."""

    level: Level = 0.95
    """Nominal coverage of intervals."""
    resamples: Annotated[int, Field(ge=200, le=1_000_000)] = 10_000
    """Bootstrap resamples and permutations."""
    seed: Count = 0


def undefined(reason: str, *, n: int = 0, clusters: int = 0, level: float = 0.95) -> Estimate:
    """An estimate that cannot be given."""
    return Estimate(value=None, reason=reason, n=n, clusters=clusters, level=level)


def check_finite(value: float, what: str) -> float:
    """Refuse NaN and infinity.

    Raises:
        UserError: naming what is not finite.
    """
    if not math.isfinite(value):
        raise UserError(f"{what} is not a finite number", value=value)
    return value
