"""What rounds bring: rounds to pass, gain per feedback round, checkpoints gained and lost.

An episode that ends by its budget (rounds, time, tokens, money) is censored at its last round.
One that ends otherwise without passing (`fail`, `executor_incomplete`) will never pass: it stays
at risk up to the cell's last round, as a competing end does in a cumulative incidence.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from uniclaw.records import Count, NonNegative, Outcome, Record
from uniclaw.statistics import foreign
from uniclaw.statistics.estimates import Estimate, Options, undefined
from uniclaw.statistics.foreign import Floats
from uniclaw.statistics.intervals import (
    Design,
    percentile_ends,
    ratio_estimates,
    resample_weights,
    totals,
)
from uniclaw.statistics.rows import EpisodeRow, RoundRow

_CENSORED = frozenset({Outcome.ROUNDS_EXHAUSTED, Outcome.TIMEOUT, Outcome.BUDGET})


class PassStep(Record):
    """Kaplan-Meier at one round."""

    round: Count
    at_risk: Count
    passes: Count
    passed_by: Estimate
    """Probability of having passed by the end of this round, had no budget cut it."""


class RoundGain(Record):
    """One feedback round, over the episodes that played it."""

    round: Count
    episodes: Count
    gain: Estimate
    """Mean change of score from the round before."""
    average_so_far: float | None
    """Mean best score up to this round over all scored episodes with rounds."""
    passed_so_far: float | None
    gained: Count
    """Checkpoints whose value rose against the round before."""
    lost: Count
    """Checkpoints whose value fell."""
    weight_gained: NonNegative
    weight_lost: NonNegative


class RoundsReport(Record):
    """Rounds of one cell; `reason` says why there is nothing to say."""

    steps: tuple[PassStep, ...] = ()
    median_rounds: Count | None = None
    """First round by which half have passed; None when fewer do."""
    gains: tuple[RoundGain, ...] = ()
    rounds_played: float | None = None
    """Mean number of rounds, where known."""
    reason: str | None = None


def rounds_report(rows: Sequence[EpisodeRow], plan: Design, options: Options) -> RoundsReport:
    """Rounds of one cell's scored episodes."""
    scored = [row for row in rows if row.scored]
    played = [_played(row) for row in scored]
    known = [count for count in played if count is not None]
    mean = sum(known) / len(known) if known else None
    with_rounds = [row for row in scored if row.rounds]
    if not with_rounds:
        return RoundsReport(rounds_played=mean, reason="the rows hold no rounds")
    steps = pass_steps(with_rounds, plan, options)
    halves = [s.round for s in steps if s.passed_by.value is not None and s.passed_by.value >= 0.5]
    left_out = len(scored) - len(with_rounds)
    return RoundsReport(
        steps=steps,
        median_rounds=halves[0] if halves else None,
        gains=_gains(with_rounds, plan, options),
        rounds_played=mean,
        reason=f"{left_out} scored episodes without rounds are left out" if left_out else None,
    )


def _played(row: EpisodeRow) -> int | None:
    return len(row.rounds) if row.rounds else row.rounds_played


def pass_steps(rows: Sequence[EpisodeRow], plan: Design, options: Options) -> tuple[PassStep, ...]:
    """Kaplan-Meier of rounds to pass (times are round + 1), intervals by cluster bootstrap.

    The product limit comes from statsmodels; its Greenwood variance takes episodes as
    independent, so the interval resamples families instead.
    """
    last = max(len(row.rounds) for row in rows)
    ends = [_end(row, last) for row in rows]
    times = np.array([time for time, _ in ends], dtype=np.float64)
    events = np.array([event for _, event in ends], dtype=np.bool_)
    fitted = foreign.kaplan_meier(times, events)
    failed = dict(zip(fitted.times.tolist(), fitted.probability.tolist(), strict=True))
    index = plan.index()
    where = np.array([index[row.family] for row in rows])
    weights = resample_weights(plan, options)
    survival = np.ones(options.resamples)
    current = 1.0
    steps: list[PassStep] = []
    for time in range(1, last + 1):
        risk, passes = times >= time, events & (times == time)
        survival = survival * _surviving(weights, where, risk, passes)
        current = failed.get(float(time), current)
        clusters = len(set(where[risk].tolist()))
        steps.append(
            PassStep(
                round=time - 1,
                at_risk=int(risk.sum()),
                passes=int(passes.sum()),
                passed_by=_step(1 - current, 1 - survival, plan, (len(rows), clusters), options),
            )
        )
    return tuple(steps)


def _end(row: EpisodeRow, last: int) -> tuple[int, bool]:
    """When the episode left the risk set, and whether by passing."""
    for entry in row.rounds:
        if entry.passed:
            return entry.round + 1, True
    if row.passed:
        return len(row.rounds), True
    return (len(row.rounds) if row.outcome in _CENSORED else last), False


def _surviving(
    weights: Floats,
    where: np.ndarray[tuple[int], np.dtype[np.int64]],
    risk: np.ndarray[tuple[int], np.dtype[np.bool_]],
    passes: np.ndarray[tuple[int], np.dtype[np.bool_]],
) -> Floats:
    size = weights.shape[1]
    at_risk = weights @ np.bincount(where[risk], minlength=size)
    passed = weights @ np.bincount(where[passes], minlength=size)
    return np.where(at_risk > 0, 1 - passed / np.where(at_risk > 0, at_risk, 1), 1.0)


def _step(
    value: float, draws: Floats, plan: Design, sizes: tuple[int, int], options: Options
) -> Estimate:
    n, clusters = sizes
    base = Estimate(value=value, n=n, clusters=clusters, level=options.level)
    if plan.size < 2 or float(np.ptp(draws)) == 0:
        return base.model_copy(update={"reason": "no variation between clusters"})
    df = max(plan.size - int(plan.strata.max()) - 1, 1)
    low, high = percentile_ends(draws, options.level, df)
    return base.model_copy(update={"low": low, "high": high, "method": "cluster_bootstrap"})


def _gains(rows: Sequence[EpisodeRow], plan: Design, options: Options) -> tuple[RoundGain, ...]:
    last = max(len(row.rounds) for row in rows)
    changes = {number: _changes(rows, number) for number in range(1, last)}
    estimates: list[Estimate] = []
    if changes:
        data = totals(plan, [changes[number] for number in range(1, last)])
        estimates = ratio_estimates(plan, data, options, bounded=False)
    return tuple(_gain(rows, number, estimates[number - 1]) for number in range(1, last))


def _changes(rows: Sequence[EpisodeRow], number: int) -> list[tuple[str, float]]:
    pairs = [
        (row.family, row.rounds[number - 1].score, row.rounds[number].score)
        for row in rows
        if len(row.rounds) > number
    ]
    return [
        (f, after - before)
        for f, before, after in pairs
        if before is not None and after is not None
    ]


def _gain(rows: Sequence[EpisodeRow], number: int, gain: Estimate) -> RoundGain:
    moves = [
        transition(row.rounds[number - 1], row.rounds[number])
        for row in rows
        if len(row.rounds) > number
    ]
    best = [_best_until(row, number) for row in rows]
    known = [score for score in best if score is not None]
    passed = [any(r.passed for r in row.rounds[: number + 1]) for row in rows]
    return RoundGain(
        round=number,
        episodes=len(moves),
        gain=gain if gain.n else undefined("no pair of scored rounds", level=gain.level),
        average_so_far=sum(known) / len(known) if known else None,
        passed_so_far=sum(passed) / len(passed),
        gained=sum(len(move.gained) for move in moves),
        lost=sum(len(move.lost) for move in moves),
        weight_gained=sum(move.weight_gained for move in moves),
        weight_lost=sum(move.weight_lost for move in moves),
    )


def _best_until(row: EpisodeRow, number: int) -> float | None:
    known = [r.score for r in row.rounds[: number + 1] if r.score is not None]
    return max(known) if known else None


class Transition(Record):
    """Checkpoints that rose or fell from one round to the next, and their weight times change."""

    gained: tuple[str, ...]
    lost: tuple[str, ...]
    weight_gained: NonNegative
    weight_lost: NonNegative


def transition(before: RoundRow, after: RoundRow) -> Transition:
    """What changed between two rounds; undecided checkpoints (None) are in neither list."""
    change: dict[str, float] = {}
    for name, new in after.checkpoints.items():
        old = before.checkpoints.get(name)
        if new is not None and old is not None and new != old:
            change[name] = new - old
    weights: Mapping[str, float] = after.weights
    return Transition(
        gained=tuple(name for name, move in change.items() if move > 0),
        lost=tuple(name for name, move in change.items() if move < 0),
        weight_gained=sum(weights.get(n, 0) * m for n, m in change.items() if m > 0),
        weight_lost=sum(-weights.get(n, 0) * m for n, m in change.items() if m < 0),
    )


class CheckpointRate(Record):
    """One checkpoint of one task over episodes, at their last round."""

    task_id: str
    checkpoint: str
    weight: NonNegative | None
    episodes: Count
    undecided: Count
    """Episodes where its value is None."""
    mean: float | None
    met: float | None
    """Share fully met (value 1)."""
    met_ci: tuple[float, float] | None
    """Wilson, over episodes."""


def checkpoint_rates(rows: Sequence[EpisodeRow], options: Options) -> tuple[CheckpointRate, ...]:
    """Rates of every checkpoint over scored episodes with rounds."""
    values: dict[tuple[str, str], list[float | None]] = {}
    weights: dict[tuple[str, str], float] = {}
    for row in rows:
        if not row.scored or not row.rounds:
            continue
        last = row.rounds[-1]
        for name, value in last.checkpoints.items():
            values.setdefault((row.task_id, name), []).append(value)
            if name in last.weights:
                weights[row.task_id, name] = last.weights[name]
    return tuple(_rate(key, values[key], weights.get(key), options) for key in sorted(values))


def _rate(
    key: tuple[str, str], values: Sequence[float | None], weight: float | None, options: Options
) -> CheckpointRate:
    known = [value for value in values if value is not None]
    met = sum(value >= 1 for value in known)
    return CheckpointRate(
        task_id=key[0],
        checkpoint=key[1],
        weight=weight,
        episodes=len(values),
        undecided=len(values) - len(known),
        mean=sum(known) / len(known) if known else None,
        met=met / len(known) if known else None,
        met_ci=foreign.wilson(met, len(known), options.level) if known else None,
    )
