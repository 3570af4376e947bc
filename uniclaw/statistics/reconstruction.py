"""How many bits of checkpoint status feedback carries beyond what was visible.

Two logistic probes guess whether a checkpoint is unmet: one from what was visible without the
feedback, one also from the feedback. The difference of their log losses on families that neither
was fitted to, in bits, is the information that this class of probes can use (predictive
V-information: Xu, Zhao, Song, Stewart, Ermon 2020, "A theory of usable information under
computational constraints"). It is a lower bound on what a cleverer reader could get, and it may
be negative where the feedback only adds noise.
"""

import math
from collections.abc import Sequence

import numpy as np

from uniclaw.firewall.reconstruction import StatusClue
from uniclaw.records import Count, Record
from uniclaw.statistics.estimates import Estimate, Options, undefined
from uniclaw.statistics.foreign import Floats
from uniclaw.statistics.intervals import design, ratio_estimates, totals

MIN_CLUES = 40
"""Checkpoints under which no probe is fitted."""
MIN_FAMILIES = 4
FOLDS = 5
RIDGE = 1.0
"""L2 penalty on standardised features; the intercept is free."""
_STEPS = 50
_CLIP = 1e-6


class Reconstruction(Record):
    """What the probes found under one policy."""

    policy: str
    messages: Count
    checkpoints: Count
    unmet_share: float | None
    bits_per_checkpoint: Estimate
    """Clustered by task family."""
    bits_per_message: Estimate
    """The same times the mean number of checkpoints that a message speaks about."""
    loss_before: float | None
    """Mean log loss in bits without the feedback."""
    loss_after: float | None


def reconstruct(
    observed: Sequence[StatusClue], options: Options | None = None
) -> tuple[Reconstruction, ...]:
    """Bits by policy, in the order of their names.

    Args:
        observed: clues of all rounds that had feedback.
        options: level, resamples and seed of the intervals.
    """
    used = options or Options()
    policies = sorted({clue.policy for clue in observed})
    return tuple(_policy(p, [c for c in observed if c.policy == p], used) for p in policies)


def _policy(policy: str, observed: Sequence[StatusClue], options: Options) -> Reconstruction:
    messages = len({(clue.episode, clue.round) for clue in observed})
    unmet = [clue.unmet for clue in observed]
    base = {
        "policy": policy,
        "messages": messages,
        "checkpoints": len(observed),
        "unmet_share": sum(unmet) / len(unmet) if unmet else None,
    }
    families = sorted({clue.family for clue in observed})
    why = _too_little(observed, families)
    if why is not None:
        nothing = undefined(why, n=len(observed), clusters=len(families), level=options.level)
        return Reconstruction.model_validate(
            {
                **base,
                "bits_per_checkpoint": nothing,
                "bits_per_message": nothing,
                "loss_before": None,
                "loss_after": None,
            }
        )
    before = _losses(observed, families, options.seed, with_feedback=False)
    after = _losses(observed, families, options.seed, with_feedback=True)
    plan = design(dict.fromkeys(families, "all"))
    column = [(c.family, float(b - a)) for c, b, a in zip(observed, before, after, strict=True)]
    (bits,) = ratio_estimates(plan, totals(plan, [column]), options, bounded=False)
    return Reconstruction.model_validate(
        {
            **base,
            "bits_per_checkpoint": bits,
            "bits_per_message": _scaled(bits, len(observed) / messages),
            "loss_before": float(before.mean()),
            "loss_after": float(after.mean()),
        }
    )


def _too_little(observed: Sequence[StatusClue], families: Sequence[str]) -> str | None:
    if len(observed) < MIN_CLUES:
        return f"{len(observed)} checkpoints with feedback; a probe needs {MIN_CLUES}"
    if len(families) < MIN_FAMILIES:
        return f"{len(families)} task families; a probe needs {MIN_FAMILIES}"
    if len({clue.unmet for clue in observed}) < 2:
        return "all checkpoints have the same status: nothing to tell"
    return None


def _scaled(bits: Estimate, factor: float) -> Estimate:
    def times(value: float | None) -> float | None:
        return None if value is None else value * factor

    scaled = {"value": times(bits.value), "low": times(bits.low), "high": times(bits.high)}
    return bits.model_copy(update=scaled)


def _losses(
    observed: Sequence[StatusClue], families: Sequence[str], seed: int, *, with_feedback: bool
) -> Floats:
    """Log loss in bits of each clue, by a probe fitted without its family's fold."""
    features = np.array([(*c.before, *(c.after if with_feedback else ())) for c in observed])
    unmet = np.array([float(c.unmet) for c in observed])
    order = np.random.default_rng(seed).permutation(len(families))
    fold_of = {families[at]: number % FOLDS for number, at in enumerate(order)}
    folds = np.array([fold_of[c.family] for c in observed])
    losses = np.zeros(len(observed))
    for number in range(min(FOLDS, len(families))):
        held = folds == number
        chance = _predict(_fit(features[~held], unmet[~held]), features[held])
        losses[held] = -np.log2(np.where(unmet[held] > 0, chance, 1 - chance))
    return losses


class _Probe(Record):
    centre: tuple[float, ...]
    scale: tuple[float, ...]
    weights: tuple[float, ...]


def _fit(features: Floats, unmet: Floats) -> _Probe:
    """Ridge logistic regression by Newton's method."""
    centre = features.mean(axis=0)
    spread = features.std(axis=0)
    scale = np.where(spread > 0, spread, 1.0)
    design_matrix = np.column_stack([np.ones(len(unmet)), (features - centre) / scale])
    penalty = np.full(design_matrix.shape[1], RIDGE)
    penalty[0] = 1e-3  # keeps a fold of one class finite
    weights = np.zeros(design_matrix.shape[1])
    for _ in range(_STEPS):
        chance = _logistic(design_matrix @ weights)
        slope = design_matrix.T @ (unmet - chance) - penalty * weights
        curve = (design_matrix.T * (chance * (1 - chance))) @ design_matrix + np.diag(penalty)
        step = np.linalg.solve(curve, slope)
        weights = weights + step
        if float(np.abs(step).max()) < 1e-8:
            break
    return _Probe(centre=tuple(centre), scale=tuple(scale), weights=tuple(weights))


def _predict(probe: _Probe, features: Floats) -> Floats:
    scaled = (features - np.array(probe.centre)) / np.array(probe.scale)
    weights = np.array(probe.weights)
    return np.clip(_logistic(scaled @ weights[1:] + weights[0]), _CLIP, 1 - _CLIP)


def _logistic(values: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-np.clip(values, -30, 30))))


def entropy_bits(share: float) -> float:
    """Bits of a yes-or-no whose chance is `share`: the most that feedback could carry of it."""
    if share in (0.0, 1.0):
        return 0.0
    return -share * math.log2(share) - (1 - share) * math.log2(1 - share)
