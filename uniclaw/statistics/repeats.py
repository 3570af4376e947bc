"""pass@k and pass^k over repeated trials of tasks, by their unbiased estimators."""

from collections.abc import Sequence
from math import comb

from uniclaw.errors import UserError
from uniclaw.statistics.estimates import Estimate, Options, undefined
from uniclaw.statistics.intervals import Design, ratio_estimates, totals
from uniclaw.statistics.measures import Definition, read
from uniclaw.statistics.rows import EpisodeRow


def pass_at_k(n: int, passes: int, k: int) -> float:
    """Chance that at least one of k trials passes: 1 - C(n - c, k) / C(n, k).

    The unbiased estimator of Chen et al. 2021 (Codex), equation 1.

    Raises:
        UserError: k below 1, above n, or an impossible number of passes.
    """
    _check(n, passes, k)
    return 1 - comb(n - passes, k) / comb(n, k)


def pass_hat_k(n: int, passes: int, k: int) -> float:
    """Chance that all of k trials pass (pass^k): C(c, k) / C(n, k), as tau-bench defines it.

    Raises:
        UserError: k below 1, above n, or an impossible number of passes.
    """
    _check(n, passes, k)
    return comb(passes, k) / comb(n, k)


def _check(n: int, passes: int, k: int) -> None:
    if k < 1:
        raise UserError("k is at least 1", field="k", value=k)
    if k > n:
        raise UserError(f"k needs as many trials, there are {n}", field="k", value=k)
    if not 0 <= passes <= n:
        raise UserError(f"passes must be within 0..{n}", field="passes", value=passes)


def repeated(
    rows: Sequence[EpisodeRow], plan: Design, k: int, definition: Definition, options: Options
) -> tuple[Estimate, Estimate]:
    """pass@k and pass^k of one cell: means over tasks, intervals by cluster bootstrap.

    Undefined as soon as one task has fewer than k counted trials: dropping such tasks would
    change the set that is measured.
    """
    trials: dict[str, list[float]] = {}
    family: dict[str, str] = {}
    for row in rows:
        passed = read(row, definition).passed
        trials.setdefault(row.task_id, [])
        family[row.task_id] = row.family
        if passed is not None:
            trials[row.task_id].append(passed)
    short = sorted(task for task, values in trials.items() if len(values) < k)
    if short:
        reason = (
            f"{len(short)} of {len(trials)} tasks have fewer than {k} counted trials"
            f" (first: {short[0]})"
        )
        gone = undefined(reason, n=len(trials), level=options.level)
        return gone, gone
    columns = [
        [(family[t], estimator(len(v), round(sum(v)), k)) for t, v in trials.items()]
        for estimator in (pass_at_k, pass_hat_k)
    ]
    at_k, hat_k = ratio_estimates(plan, totals(plan, columns), options)
    return at_k, hat_k
