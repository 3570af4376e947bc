"""The tables of a report."""

from collections.abc import Mapping, Sequence

from uniclaw.firewall.measure import LeakRow
from uniclaw.report.axes import label, short, title_of
from uniclaw.report.model import Table, amount, share, signed, with_interval
from uniclaw.statistics.compare import CompareReport
from uniclaw.statistics.reconstruction import Reconstruction
from uniclaw.statistics.stats import CellStats, StatsReport


def results(report: StatsReport) -> Table:
    """Every cell: episodes, pass rate, scores."""
    rows = [
        (
            *_axes(cell, report.by),
            str(cell.n),
            with_interval(cell.pass_detail),
            with_interval(cell.score_detail),
            share(cell.final_score.value),
            share(cell.best_score.value),
            amount(cell.rounds.rounds_played, 2),
        )
        for cell in report.cells
    ]
    columns = ("n", "Pass rate", "Average score", "Final", "Best", "Rounds")
    return Table(
        name="results",
        title="Results by cell",
        columns=(*map(title_of, report.by), *columns),
        numeric=(*(False for _ in report.by), *(True for _ in columns)),
        rows=tuple(rows),
        note=(
            f"Intervals cover {report.level:.0%} nominally and are clustered by task family. "
            "Final and best are the mean scores of the last and of the best round."
        ),
    )


def groups(report: StatsReport, axis: str, name: str, title: str) -> Table:
    """Pass rate and score of each cell within each value of one more axis."""
    lead = [part for part in report.by if part != axis]
    rows = [
        (
            short(_value(cell, axis)),
            label([_value(cell, part) for part in lead]),
            str(cell.n),
            with_interval(cell.pass_detail),
            with_interval(cell.score_detail),
        )
        for cell in report.cells
    ]
    return Table(
        name=name,
        title=title,
        columns=(axis.replace("_", " ").capitalize(), "Cell", "n", "Pass rate", "Average score"),
        numeric=(False, False, True, True, True),
        rows=tuple(sorted(rows)),
    )


def rounds(report: StatsReport) -> Table:
    """What each feedback round changed."""
    rows = [
        (
            label([_value(cell, axis) for axis in report.by]),
            str(gain.round),
            str(gain.episodes),
            signed(gain.gain),
            share(gain.passed_so_far),
            str(gain.gained),
            str(gain.lost),
        )
        for cell in report.cells
        for gain in cell.rounds.gains
    ]
    return Table(
        name="rounds",
        title="Feedback rounds",
        columns=("Cell", "Round", "Episodes", "Change of score", "Passed so far", "Won", "Lost"),
        numeric=(False, *(True for _ in range(6))),
        rows=tuple(rows),
        note="Won and lost count checkpoints whose value rose or fell against the round before.",
    )


def spending(report: StatsReport) -> Table:
    """What an episode of each cell takes."""
    names = ("tokens.total", "cost_usd", "executor_s", "wall_s", "model_calls")
    rows = [
        (
            label([_value(cell, axis) for axis in report.by]),
            *(
                amount(cell.spend.amounts[name].mean, 4 if name == "cost_usd" else 1)
                for name in names
            ),
            amount(cell.spend.cost_per_pass.value, 4),
        )
        for cell in report.cells
    ]
    return Table(
        name="spending",
        title="Spending per scored episode",
        columns=("Cell", "Tokens", "USD", "Executor s", "Wall s", "Calls", "USD per pass"),
        numeric=(False, *(True for _ in range(6))),
        rows=tuple(rows),
        note="Means over the episodes that report the amount; a dash where none does.",
    )


def missing(report: StatsReport) -> Table:
    """What has no score, and what that can change."""
    rows = [
        (
            label([_value(cell, axis) for axis in report.by]),
            str(cell.missing.episodes),
            str(cell.missing.scored),
            str(cell.missing.counted),
            ", ".join(f"{name} {count}" for name, count in cell.missing.outcomes.items()),
            "–"
            if cell.missing.pass_bounds is None
            else " to ".join(share(end) for end in cell.missing.pass_bounds),
        )
        for cell in report.cells
    ]
    return Table(
        name="missing",
        title="Outcomes and missing data",
        columns=("Cell", "Episodes", "Scored", "Counted", "Outcomes", "Pass rate, bounds"),
        numeric=(False, True, True, True, False, True),
        rows=tuple(rows),
        note="Bounds take everything missing as failed, and as passed.",
    )


def losses(report: StatsReport) -> Table:
    """Who lost the points that were lost."""
    owners = sorted({owner for cell in report.cells for owner in cell.attribution.by_owner})
    rows = [
        (
            label([_value(cell, axis) for axis in report.by]),
            amount(cell.attribution.lost, 2),
            *(amount(cell.attribution.by_owner.get(owner, 0.0), 2) for owner in owners),
        )
        for cell in report.cells
    ]
    return Table(
        name="losses",
        title="Lost points by whose they are",
        columns=("Cell", "Lost", *(owner.replace("_", " ").capitalize() for owner in owners)),
        numeric=(False, True, *(True for _ in owners)),
        rows=tuple(rows),
    )


def comparisons(report: CompareReport) -> Table:
    """Every pair of cells on the same tasks."""
    rows = [
        (
            label(list(pair.left.values())),
            label(list(pair.right.values())),
            str(pair.tasks),
            signed(pair.passing.difference),
            "–" if pair.passing.p_holm is None else f"{pair.passing.p_holm:.3f}",
            signed(pair.score.difference),
            "–" if pair.score.p_holm is None else f"{pair.score.p_holm:.3f}",
            pair.score.conclusion.replace("_", " "),
        )
        for pair in report.pairs
    ]
    return Table(
        name="comparisons",
        title="Paired comparisons",
        columns=("Left", "Right", "Tasks", "Pass, left − right", "p", "Score", "p", "Score says"),
        numeric=(False, False, True, True, True, True, True, False),
        rows=tuple(rows),
        note=(
            "Differences on the same tasks with clustered intervals; permutation tests that flip"
            f" whole families, corrected by Holm over all pairs; level {report.alpha:g}."
        ),
    )


def leaks(rows: Sequence[LeakRow], bits: Sequence[Reconstruction]) -> Table:
    """What feedback leaked under each policy, over all rounds."""
    told = {probe.policy: probe.bits_per_message for probe in bits}
    found = [
        (
            row.policy,
            str(row.drafts),
            share(row.leak_rate_before),
            str(row.delivered),
            share(row.leak_rate_after),
            "–" if row.policy not in told else signed(told[row.policy]),
            ", ".join(f"{kind} {count}" for kind, count in row.kinds.items()) or "–",
        )
        for row in rows
        if row.round is None
    ]
    return Table(
        name="leaks",
        title="The firewall, by policy",
        columns=(
            *("Policy", "Drafts", "Leaking", "Delivered", "Leaking", "Bits per message"),
            "Kinds found in drafts",
        ),
        numeric=(False, *(True for _ in range(5)), False),
        rows=tuple(found),
        note=(
            "Shares of drafts and of delivered messages that the deterministic screen finds"
            " leaking; bits of checkpoint status beyond what was visible, by a held-out probe."
        ),
    )


def _axes(cell: CellStats, by: Sequence[str]) -> tuple[str, ...]:
    return tuple(short(_value(cell, axis)) for axis in by)


def _value(cell: CellStats, axis: str) -> str:
    values: Mapping[str, str] = cell.axes
    return values.get(axis, "unknown")
