"""The search for a Lite subset: quotas, loss and a seeded multi-start swap search.

The method of Claw-SWE-Bench: within a stratum, tasks fall into quartiles of difficulty, each
quartile gives a quota, and a local search swaps tasks within a quartile. The loss of a stratum is
the sum over cells of |lite rate - full rate|, plus lambda times a hinge over ordered pairs of
cells: where the full rates differ by more than `hinge_gap`, the lite rates shall differ by at
least `hinge_margin` the same way. Strata do not share terms, so each is searched alone.

What the paper leaves open is an option with a default here: `Rules`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from uniclaw.errors import UserError
from uniclaw.records import Count, NonNegative, Record, Unit
from uniclaw.statistics.foreign import Floats

Indices = NDArray[np.int64]
QUARTILES = 4


class Rules(Record):
    """Choices of the search; each that the paper leaves open says so."""

    quotas: Annotated[tuple[Count, ...], Field(min_length=4, max_length=4)] = (2, 3, 3, 2)
    """Shares of the four quartiles; scaled to the size of the stratum by largest remainder."""
    boundaries: Literal["rank", "quantile"] = "rank"
    """Open in the paper. `rank`: equal numbers by rank, the first quartiles one more where the
    stratum is not divisible by four. `quantile`: cut at the quartile values, ties together."""
    first_quartile: Literal["hard", "easy"] = "hard"
    """Open in the paper: which end of difficulty is quartile 1 (no difference for 2/3/3/2)."""
    ties: Literal["task_id", "seeded"] = "task_id"
    """Open in the paper: order of tasks of equal difficulty."""
    hinge_weight: NonNegative = 1.0
    """Lambda; the later paper does not state it, the first one used 1."""
    hinge_gap: Unit = 0.05
    """Least gap of full rates that activates the hinge."""
    hinge_margin: Unit = 0.025
    restarts: Annotated[int, Field(ge=1, le=100_000)] = 200
    """Random starts a stratum; the first paper used 200, the later one does not say."""


@dataclass(frozen=True, kw_only=True)
class Stratum:
    """Tasks of one stratum: their rates by cell, and their quartiles."""

    name: str
    tasks: tuple[str, ...]
    rates: Floats
    """Rows tasks, columns cells."""
    quartile: Indices
    """0 to 3 by task."""


class Candidate(NamedTuple):
    """A local optimum: chosen tasks (sorted positions) and their loss."""

    loss: float
    chosen: tuple[int, ...]


def quartiles(difficulty: Floats, rules: Rules, rng: np.random.Generator) -> Indices:
    """Quartile of each task by difficulty (mean rate over cells; low is hard).

    Tasks must come in the order of their ids: that order breaks ties under `task_id`.
    """
    n = len(difficulty)
    ease = difficulty if rules.first_quartile == "hard" else -difficulty
    if rules.boundaries == "quantile":
        cuts = np.quantile(ease, [0.25, 0.5, 0.75])
        return np.searchsorted(cuts, ease, side="left").astype(np.int64)
    breaker = np.arange(n) if rules.ties == "task_id" else rng.permutation(n)
    order = np.lexsort((breaker, np.round(ease, 12)))
    labels = np.empty(n, dtype=np.int64)
    for number, part in enumerate(np.array_split(order, QUARTILES)):
        labels[part] = number
    return labels


def apportion(total: int, shares: Sequence[float]) -> list[int]:
    """Whole numbers in proportion to shares that sum to `total`, by largest remainder.

    Equal remainders go to the earlier share.
    """
    whole = sum(shares)
    exact = [total * share / whole for share in shares]
    parts = [int(np.floor(value + 1e-9)) for value in exact]
    order = sorted(range(len(parts)), key=lambda i: (-(exact[i] - parts[i]), i))
    for i in order[: total - sum(parts)]:
        parts[i] += 1
    return parts


def quotas_of(stratum: Stratum, size: int, rules: Rules) -> list[int]:
    """How many tasks each quartile gives.

    A quartile with fewer tasks than its quota (ties under `quantile`, tiny strata) gives all it
    has; what is left over goes to the nearest quartiles with room.

    Raises:
        UserError: the stratum has fewer tasks than `size`.
    """
    room = [int((stratum.quartile == q).sum()) for q in range(QUARTILES)]
    if size > sum(room):
        raise UserError(f"stratum {stratum.name!r} has {sum(room)} tasks", field="size", value=size)
    wanted = apportion(size, [float(quota) for quota in rules.quotas])
    given = [min(want, have) for want, have in zip(wanted, room, strict=True)]
    for quarter, (want, have) in enumerate(zip(wanted, room, strict=True)):
        missing = max(0, want - have)
        for other in sorted(range(QUARTILES), key=lambda q, at=quarter: (abs(q - at), q)):
            moved = min(missing, room[other] - given[other])
            given[other] += moved
            missing -= moved
    return given


class Loss:
    """Loss of subsets of one stratum, for many subsets at once."""

    def __init__(self, rates: Floats, rules: Rules) -> None:
        self.full: Floats = rates.mean(axis=0)
        gaps = self.full[:, None] - self.full[None, :]
        self.above, self.below = np.nonzero(gaps > rules.hinge_gap)
        self.rules = rules

    def __call__(self, lite: Floats) -> Floats:
        """Loss of rows of lite rates."""
        distance = np.abs(lite - self.full).sum(axis=1)
        margins = self.rules.hinge_margin - (lite[:, self.above] - lite[:, self.below])
        return distance + self.rules.hinge_weight * np.maximum(margins, 0).sum(axis=1)


def search(
    stratum: Stratum, size: int, rules: Rules, rng: np.random.Generator, keep: int = 50
) -> list[Candidate]:
    """Local optima of one stratum, best first, without repeats, at most `keep`.

    Every start draws the quotas at random; the best swap of a chosen task with an unchosen one
    of the same quartile is taken until none lowers the loss.
    """
    quotas = quotas_of(stratum, size, rules)
    loss = Loss(stratum.rates, rules)
    members = [np.flatnonzero(stratum.quartile == q) for q in range(QUARTILES)]
    found: dict[tuple[int, ...], float] = {}
    for _ in range(rules.restarts):
        start = np.concatenate(
            [
                rng.choice(who, quota, replace=False)
                for who, quota in zip(members, quotas, strict=True)
            ]
        ).astype(np.int64)
        best = descend(stratum, start, loss)
        found[best.chosen] = best.loss
    ordered = sorted((value, chosen) for chosen, value in found.items())
    return [Candidate(value, chosen) for value, chosen in ordered[:keep]]


def descend(stratum: Stratum, start: Indices, loss: Loss) -> Candidate:
    """Swap until no single swap within a quartile lowers the loss."""
    size = len(start)
    inside = np.zeros(len(stratum.tasks), dtype=np.bool_)
    inside[start] = True
    total: Floats = stratum.rates[inside].sum(axis=0)
    current = float(loss(total[None, :] / size)[0])
    while True:
        out, into = swaps(stratum, inside)
        if not len(out):
            break
        trial = (total[None, :] + stratum.rates[into] - stratum.rates[out]) / size
        values = loss(trial)
        best = int(values.argmin())
        if values[best] >= current - 1e-12:
            break
        inside[out[best]], inside[into[best]] = False, True
        total = stratum.rates[inside].sum(axis=0)
        current = float(loss(total[None, :] / size)[0])
    return Candidate(current, tuple(np.flatnonzero(inside).tolist()))


def swaps(stratum: Stratum, inside: NDArray[np.bool_]) -> tuple[Indices, Indices]:
    """All (leaves, enters) pairs within quartiles."""
    out: list[Indices] = []
    into: list[Indices] = []
    for quarter in range(QUARTILES):
        here = stratum.quartile == quarter
        chosen, free = np.flatnonzero(here & inside), np.flatnonzero(here & ~inside)
        out.append(np.repeat(chosen, len(free)))
        into.append(np.tile(free, len(chosen)))
    return np.concatenate(out), np.concatenate(into)


class Costs(NamedTuple):
    """What is needed to compare the cost of a subset with that of the whole suite."""

    values: Floats
    """Rows tasks, columns cells; NaN where unknown."""
    tolerance: float


def cost_error(costs: Costs, chosen: Indices) -> tuple[float | None, float | None]:
    """Mean |log(mean cost of the subset / mean cost of the whole)| over cells.

    First over every cell with a known cost in the subset, then over cells whose cost is known
    on every task; None where there is no such cell.
    """
    errors = _log_errors(costs.values, chosen)
    complete = ~np.isnan(costs.values).any(axis=0)
    every, whole = errors[~np.isnan(errors)], errors[complete & ~np.isnan(errors)]
    return (
        float(every.mean()) if len(every) else None,
        float(whole.mean()) if len(whole) else None,
    )


def _log_errors(values: Floats, chosen: Indices) -> Floats:
    """|log ratio| by cell; NaN where the cell has no positive known cost on either side."""
    sides: list[Floats] = []
    for part in (values[chosen], values):
        known = ~np.isnan(part)
        total = np.where(known, part, 0.0).sum(axis=0)
        sides.append(np.where(total > 0, total / np.maximum(known.sum(axis=0), 1), np.nan))
    return np.abs(np.log(sides[0] / sides[1]))


def within(costs: Costs, chosen: Indices) -> bool:
    """Whether the subset passes the cost filter on both sets of cells."""
    return all(error is None or error <= costs.tolerance for error in cost_error(costs, chosen))


def combine(
    pools: Sequence[Sequence[Candidate]],
    positions: Sequence[Indices],
    costs: Costs | None,
    rng: np.random.Generator,
    tries: int = 4000,
) -> tuple[list[Candidate], bool | None]:
    """One candidate of each stratum: the least total loss that passes the cost filter.

    Costs are those of the whole subset while strata are searched apart (the paper leaves open
    when the filter applies): the best of each stratum is taken if it passes; otherwise seeded
    random combinations that favour good candidates, and each is tried in order of its loss.
    Where none passes, the one with the smallest cost error is taken, and the answer says so.

    Returns:
        The candidates, and whether the filter was passed (None without costs).
    """
    best = [pool[0] for pool in pools]
    if costs is None:
        return best, None
    if within(costs, merge(best, positions)):
        return best, True
    picks = np.stack(
        [np.minimum(rng.geometric(0.15, size=tries) - 1, len(pool) - 1) for pool in pools],
        axis=1,
    )
    unique = np.unique(picks, axis=0)
    combos = [[pool[int(i)] for pool, i in zip(pools, pick, strict=True)] for pick in unique]
    losses = np.array([sum(candidate.loss for candidate in combo) for combo in combos])
    closest: tuple[float, list[Candidate]] | None = None
    for number in np.argsort(losses, kind="stable"):
        tried = combos[int(number)]
        chosen = merge(tried, positions)
        if within(costs, chosen):
            return tried, True
        error = max((e for e in cost_error(costs, chosen) if e is not None), default=0.0)
        if closest is None or error < closest[0]:
            closest = error, tried
    return (best if closest is None else closest[1]), False


def merge(candidates: Sequence[Candidate], positions: Sequence[Indices]) -> Indices:
    """Positions in the whole suite of the tasks that strata chose."""
    return np.concatenate(
        [
            where[np.array(candidate.chosen, dtype=np.int64)]
            for candidate, where in zip(candidates, positions, strict=True)
        ]
    )
