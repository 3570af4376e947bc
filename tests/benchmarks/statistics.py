"""Speed of the bootstrap and of the Lite search, against a plain loop in the same process.

Run with `python -m tests.benchmarks.statistics`; the last line is one JSON object.
"""

import json
import random
import sys
import time
from collections.abc import Sequence

import numpy as np

from uniclaw.curation.lite import lite
from uniclaw.curation.problem import LiteOptions
from uniclaw.curation.search import Rules
from uniclaw.records import Outcome
from uniclaw.statistics.estimates import Options
from uniclaw.statistics.intervals import design_of, ratio_estimates, totals
from uniclaw.statistics.rows import EpisodeRow

CELLS = 16
TASKS = 400
RESAMPLES = 10_000
PLAIN = 30
"""Resamples of the plain loop; its time is scaled up to `RESAMPLES`."""
BOOTSTRAP_LIMIT_S = 3.0
LITE_LIMIT_S = 30.0


def rows_of(tasks: int, cells: int, strata: int, seed: int) -> list[EpisodeRow]:
    """Episodes of a suite with twins: one row for each task and cell."""
    rng = np.random.default_rng(seed)
    ability, ease = rng.normal(0, 1, cells), rng.normal(0, 1.5, tasks)
    chance = 1 / (1 + np.exp(-(ability[None, :] + ease[:, None])))
    passed = rng.random((tasks, cells)) < chance
    return [
        EpisodeRow(
            run="bench",
            task_id=f"t{i:03d}",
            family=f"f{i // (2 * strata)}.{i % strata}",
            suite="bench",
            capability=f"c{i % strata}",
            cell=f"cell{j:02d}",
            harness=f"h{j % 4}",
            model=f"m{j // 4}",
            outcome=Outcome.PASS if passed[i, j] else Outcome.FAIL,
            scored=True,
            passed=bool(passed[i, j]),
            final_score=float(passed[i, j]),
            best_score=float(passed[i, j]),
            cost_usd=float(1 + i % 7),
        )
        for i in range(tasks)
        for j in range(cells)
    ]


def vectorised(rows: Sequence[EpisodeRow]) -> float:
    """Seconds of 10,000 resamples of pass and score in all cells."""
    begin = time.monotonic()
    by_cell: dict[str, list[EpisodeRow]] = {}
    for row in rows:
        by_cell.setdefault(row.cell, []).append(row)
    plan = design_of(rows)
    columns = [[(r.family, float(bool(r.passed))) for r in cell] for cell in by_cell.values()]
    columns += [[(r.family, r.final_score or 0.0) for r in cell] for cell in by_cell.values()]
    ratio_estimates(plan, totals(plan, columns), Options(resamples=RESAMPLES, seed=1))
    return time.monotonic() - begin


def plain(rows: Sequence[EpisodeRow]) -> float:
    """Seconds that a loop over resampled families and their rows would take."""
    drawn = random.Random(1)
    begin = time.monotonic()
    strata: dict[str, dict[str, list[EpisodeRow]]] = {}
    for row in rows:
        strata.setdefault(row.capability, {}).setdefault(row.family, []).append(row)
    for _ in range(PLAIN):
        passes: dict[str, float] = {}
        scores: dict[str, float] = {}
        counts: dict[str, int] = {}
        for families in strata.values():
            names = list(families)
            for name in drawn.choices(names, k=len(names) - 1):
                for row in families[name]:
                    passes[row.cell] = passes.get(row.cell, 0.0) + bool(row.passed)
                    scores[row.cell] = scores.get(row.cell, 0.0) + (row.final_score or 0.0)
                    counts[row.cell] = counts.get(row.cell, 0) + 1
    return (time.monotonic() - begin) * RESAMPLES / PLAIN


def lite_seconds() -> float:
    """Seconds of one Lite search on 350 tasks and 21 cells, without fold validation."""
    rows = rows_of(350, 21, 8, 2)
    options = LiteOptions(size=80, definition="final", folds=0, rules=Rules(restarts=200))
    begin = time.monotonic()
    lite(rows, options)
    return time.monotonic() - begin


def main() -> int:
    """Measure, print, and fail when a limit is passed."""
    rows = rows_of(TASKS, CELLS, 5, 1)
    vectorised(rows[: CELLS * 20])
    fast, slow, search = vectorised(rows), plain(rows), lite_seconds()
    ok = fast < BOOTSTRAP_LIMIT_S and search < LITE_LIMIT_S
    lines = [
        f"bootstrap, {RESAMPLES} resamples, {len(rows)} rows, {CELLS} cells: {fast:.3f} s",
        f"plain loop (scaled from {PLAIN} resamples): {slow:.1f} s, ratio {slow / fast:.0f}",
        f"lite search, 350 x 21, 200 restarts a stratum: {search:.2f} s",
        json.dumps(
            {
                "bootstrap_s": round(fast, 4),
                "plain_loop_s": round(slow, 2),
                "ratio": round(slow / fast, 1),
                "lite_350x21_s": round(search, 3),
                "bootstrap_limit_s": BOOTSTRAP_LIMIT_S,
                "lite_limit_s": LITE_LIMIT_S,
                "ok": ok,
            }
        ),
    ]
    sys.stdout.write("\n".join(lines) + "\n")
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
