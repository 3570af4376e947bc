"""A cast whose truth is known: what feedback names is mended with a planted probability."""

import math
import random
from typing import NamedTuple

from row_builder import row

from uniclaw.records import Outcome
from uniclaw.statistics.rows import EpisodeRow, RoundRow

LINES, ROUNDS = 3, 3
ARMS = ("sealed", "coarse", "hints", "open")
NAMED = {"sealed": 0, "coarse": 0, "hints": 1, "open": LINES}
"""Unmet lines that a message may name: as many as the view of its author holds."""


class Cast(NamedTuple):
    """One draw: what the code under test is not told."""

    mend: float
    """Probability that a line which feedback names is mended in the next round."""
    slip: float
    """Probability that a line is unmet after round 0."""
    spontaneous: float
    """Probability that any unmet line is mended in a round without being named."""


def draw(rng: random.Random) -> Cast:
    """Zero stands among the draws."""
    mend = rng.choice([0.0, rng.uniform(0.1, 0.9)])
    return Cast(mend, rng.uniform(0.25, 0.6), rng.choice([0.0, 0.1]))


def play(cast: Cast, arm: str, unmet: int, rng: random.Random) -> list[int]:
    """Unmet lines after each round; the first is given."""
    course = [unmet]
    for _ in range(ROUNDS):
        left = course[-1]
        if not left:
            break
        named = min(left, NAMED[arm])
        chances = [1 - (1 - cast.mend) * (1 - cast.spontaneous)] * named
        chances += [cast.spontaneous] * (left - named)
        course.append(sum(rng.random() >= chance for chance in chances))
    return course


def rows_of(cast: Cast, families: int, rng: random.Random, trials: int = 2) -> list[EpisodeRow]:
    """Episodes of all arms over the same round-0 states."""
    found: list[EpisodeRow] = []
    for family in range(families):
        for trial in range(trials):
            unmet = sum(rng.random() < cast.slip for _ in range(LINES))
            found += [
                episode(f"t{family}", trial, arm, play(cast, arm, unmet, rng)) for arm in ARMS
            ]
    return found


def episode(task: str, trial: int, arm: str, course: list[int]) -> EpisodeRow:
    """A row with its rounds."""
    passed = course[-1] == 0
    rounds = tuple(
        RoundRow(round=n, score=1 - left / LINES, passed=left == 0) for n, left in enumerate(course)
    )
    plain = row(
        task,
        passed,
        1 - course[-1] / LINES,
        trial=trial,
        rounds=rounds,
        limit=ROUNDS,
        outcome=Outcome.PASS if passed else Outcome.ROUNDS_EXHAUSTED,
    )
    return plain.model_copy(update={"policy": arm, "cell": arm})


def truth(cast: Cast, arm: str, *, failing: bool) -> dict[str, float]:
    """The effect against `coarse`, exactly: by the distribution of unmet lines round by round."""
    mine, theirs = (_expected(cast, name, failing) for name in (arm, "coarse"))
    return {name: mine[name] - theirs[name] for name in mine}


def _binomial(n: int, p: float) -> list[float]:
    return [math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)]


def _step(cast: Cast, arm: str, state: list[float]) -> list[float]:
    after = [0.0] * (LINES + 1)
    for left, weight in enumerate(state):
        named = min(left, NAMED[arm])
        kept = _binomial(named, (1 - cast.mend) * (1 - cast.spontaneous))
        others = _binomial(left - named, 1 - cast.spontaneous)
        for a, p in enumerate(kept):
            for b, q in enumerate(others):
                after[a + b] += weight * p * q
    return after


def _expected(cast: Cast, arm: str, failing: bool) -> dict[str, float]:
    state = _binomial(LINES, cast.slip)
    if failing:
        state = [0.0, *(p / (1 - state[0]) for p in state[1:])]
    rounds, before = 0.0, state[0]
    for number in range(1, ROUNDS + 1):
        state = _step(cast, arm, state)
        rounds, before = rounds + number * (state[0] - before), state[0]
    rounds += (ROUNDS + 1) * (1 - before)
    score = sum(p * (1 - left / LINES) for left, p in enumerate(state))
    return {"pass": before, "score": score, "rounds": rounds}
