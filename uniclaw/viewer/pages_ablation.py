"""The page about an ablation: what each firewall policy does to the outcome, and what leaks."""

from concurrent.futures import Future
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from uniclaw.viewer.access import Folder, NoSuchPage
from uniclaw.viewer.later import within
from uniclaw.viewer.overview import groups_of
from uniclaw.viewer.render import Ask, Page, render
from uniclaw.viewer.rows import open_rows, stamp

if TYPE_CHECKING:
    from uniclaw.statistics.estimates import Estimate
    from uniclaw.viewer.board import Pair

ORDER = ("sealed", "binary", "coarse", "paper", "hints", "missing", "rationale", "open")
"""Shipped policies, from the one that releases nothing to the one that releases all."""


class PolicyLine(NamedTuple):
    """What a policy did, over all its cells."""

    policy: str
    cells: tuple[str, ...]
    episodes: int
    scored: int
    passed: int
    best: float | None
    blocked: int
    feedback: int


def ablation(ask: Ask) -> Page:
    """Effect and leak by policy."""
    folder = ask.run()
    lines = _policies(str(folder.root), stamp(folder))
    effects: dict[str, Estimate | None] = {}
    pending = False
    for policy, found in effects_of(folder).items():
        try:
            pair = within(found, ask.patience_s)
        except NoSuchPage:
            continue
        pending = pending or pair is None
        effects[policy] = None if pair is None else pair.result.passing.difference
    return render(
        "ablation.html",
        ask,
        here=("ablation", {"run": folder.root.name}),
        run=folder.root.name,
        lines=lines,
        base=lines[0].policy if lines else "",
        effects=effects,
        pending=pending,
    )


def effects_of(folder: Folder) -> "dict[str, Future[Pair]]":
    """Each policy against the most closed one, on the same tasks, where each has one cell."""
    from uniclaw.viewer.board import pair_of

    lines = _policies(str(folder.root), stamp(folder))
    if len(lines) < 2 or any(len(line.cells) != 1 or not line.scored for line in lines):
        return {}
    base, *others = lines
    return {line.policy: pair_of(folder, line.cells[0], base.cells[0], "paper") for line in others}


@lru_cache(maxsize=16)
def _policies(root: str, changed: tuple[int, ...]) -> tuple[PolicyLine, ...]:
    """By policy, kept until the run changes."""
    folder = Folder(Path(root))
    with open_rows(folder) as rows:
        axes = {cell: str(found.get("policy") or "?") for cell, found in rows.cell_axes().items()}
        leaks = rows.leaks()
    groups = groups_of(folder)
    places = {name: n for n, name in enumerate(ORDER)}
    found: list[PolicyLine] = []
    for policy in sorted(set(axes.values()), key=lambda name: (places.get(name, 99), name)):
        cells = tuple(sorted(cell for cell, name in axes.items() if name == policy))
        mine = [group for group in groups if group.cell in cells]
        weighted = [(g.best, g.settled) for g in mine if g.best is not None]
        weight = sum(n for _, n in weighted)
        found.append(
            PolicyLine(
                policy,
                cells,
                sum(g.episodes for g in mine),
                sum(g.scored for g in mine),
                sum(g.passed for g in mine),
                sum(best * n for best, n in weighted) / weight if weight else None,
                sum(leaks.get(cell, (0, 0))[0] for cell in cells),
                sum(leaks.get(cell, (0, 0))[1] for cell in cells),
            )
        )
    return tuple(found)
