"""The page of one episode: its rounds through a lens, with time, spending and budgets."""

from collections.abc import Callable
from typing import NamedTuple

from pydantic import JsonValue

from uniclaw.records import Budget
from uniclaw.store.records import EpisodeRecord
from uniclaw.viewer import figures
from uniclaw.viewer.access import NAME, NoSuchPage
from uniclaw.viewer.conversation import Evidence, RoundPage, rounds_of
from uniclaw.viewer.episode import Episode, load_episode, phase, waiting_message
from uniclaw.viewer.events import Allowance, Cut, Trajectory, trajectory_of
from uniclaw.viewer.exchanges import read_exchange
from uniclaw.viewer.lens import Lens, Parts, lens_of, may_read, offered, parts_of
from uniclaw.viewer.render import Ask, Page, render
from uniclaw.viewer.row_types import Row
from uniclaw.viewer.rows import RunRows, open_rows

EVENTS = 80
"""Events on a page of their own."""


class Opened(NamedTuple):
    """An episode with its lens and the rows around it."""

    episode: Episode
    lens: Lens
    before: str | None
    after: str | None
    attempts: list[tuple[int, str, str, str | None]]


def opened(ask: Ask) -> Opened:
    """The episode that a page is about.

    Raises:
        NoSuchPage: no such episode or lens.
    """
    lens = lens_of(ask.text("lens"), static=ask.site.static, hidden=ask.site.hidden)
    episode_id = ask.text("episode")
    folder = ask.run()
    if not NAME.fullmatch(episode_id):
        raise NoSuchPage("error.no_episode", episode_id)
    with open_rows(folder) as rows:
        row = rows.episode(episode_id)
        if row is None:
            raise NoSuchPage("error.no_episode", episode_id)
        before, after = rows.siblings(row)
        attempts = rows.attempts(row.base_id)
    known = {row.episode_id, row.base_id, *(a[1] for a in attempts)}
    wanted = episode_id if episode_id in known else row.episode_id
    if not row.done and attempts and wanted == row.base_id:
        wanted = attempts[-1][1]
    return Opened(load_episode(folder, row, wanted), lens, before, after, attempts)


def episode(ask: Ask) -> Page:
    """An episode's rounds through a lens."""
    from uniclaw.viewer.board import short_names

    found = opened(ask)
    shown = found.episode
    parts = parts_of(found.lens)
    trajectory = trajectory_of(shown)
    rounds = rounds_of(shown, trajectory, found.lens)
    with open_rows(ask.run()) as rows:
        calls = {c.role for c in rows.calls(shown.id, 2_000) if may_read(found.lens, c.role)}
        alike = rows.same_task(shown.row, 12) if parts.outcome else []
        judging_s = _judging(ask, rows, shown) if parts.spending and parts.verdict else None
    record = shown.record if parts.spending else None
    return render(
        "episode.html",
        ask,
        here=here_of("episode", ask, shown, found.lens),
        run=shown.run,
        episode=shown,
        row=seen_row(shown.row, parts),
        reason=_reason(shown, parts),
        parent=record.parent if record and parts.verdict else None,
        lens=found.lens.value,
        lenses=[lens.value for lens in offered(static=ask.site.static, hidden=ask.site.hidden)],
        parts=parts,
        rounds=rounds,
        waiting=None if shown.record else waiting_message(shown),
        phase=None if shown.row.done else phase(shown),
        before=found.before,
        after=found.after,
        attempts=found.attempts,
        record=record,
        neutral=_neutral(shown),
        bars=figures.timeline(record) if record else [],
        judging_s=judging_s,
        budgets=_budgets(record) if record else [],
        calls=sorted(calls),
        alike=alike,
        names=short_names([shown.row.cell, *(other.cell for other in alike)]),
        evidence_href=_evidence_links(ask, shown, trajectory, rounds),
    )


def seen_row(row: Row, parts: Parts) -> Row:
    """A row without what the lens does not hold."""
    if not parts.outcome:
        return row._replace(outcome=None, reason=None, final_score=None, best_score=None)
    return row if parts.verdict else row._replace(reason=None)


def _reason(shown: Episode, parts: Parts) -> Cut | None:
    if not parts.verdict or not shown.row.reason:
        return None
    return Allowance(2_000).take(shown.row.reason, 2_000)


def _evidence_links(
    ask: Ask, shown: Episode, trajectory: Trajectory, rounds: list[RoundPage]
) -> Callable[[Evidence, int], str | None]:
    """Where a piece of evidence can be read: on this page, among all events, or as a file."""
    on_page = {i for item in rounds for step in item.steps for i in (step.id, step.result_id)}
    files = {(item.number, f.path) for item in rounds for f in item.files if f.readable}

    def link(evidence: Evidence, number: int) -> str | None:
        if evidence.path:
            if (number, evidence.path) not in files:
                return None
            return ask.links(
                "preview", run=shown.run, episode=shown.id, round=number, path=evidence.path
            )
        if evidence.event in on_page or not evidence.event:
            return f"#{evidence.event}" if evidence.event else None
        line = trajectory.find(evidence.event)
        if line is None:
            return None
        page = trajectory.of_round(line.round).index(line) // EVENTS + 1
        address = ask.links("events", run=shown.run, episode=shown.id, round=line.round, page=page)
        return None if address is None else f"{address}#{evidence.event}"

    return link


def here_of(
    kind: str, ask: Ask, shown: Episode, lens: Lens, **more: str
) -> tuple[str, dict[str, str]]:
    """A page's own kind and parameters; the lens stands in them unless it is the default."""
    first = offered(static=ask.site.static, hidden=ask.site.hidden)[0]
    chosen = {} if lens is first else {"lens": lens.value}
    return kind, {"run": shown.run, "episode": shown.id, **chosen, **more}


def _neutral(shown: Episode) -> tuple[str, str] | None:
    """Ids by which the roles know the task and the episode."""
    if shown.record is None:
        return None
    return shown.record.neutral_task_id, shown.record.neutral_episode_id


def _judging(ask: Ask, rows: RunRows, shown: Episode) -> float | None:
    """Seconds that judge calls took; None without any."""
    calls = [c for c in rows.calls(shown.id, 400) if c.role == "judge" and not c.reused]
    total: float | None = None
    for call in calls[:24]:
        exchange = read_exchange(ask.run(), call.blob)
        value = exchange.get("duration_s")
        if isinstance(value, int | float):
            total = (total or 0.0) + value
    return total


class BudgetLine(NamedTuple):
    """A limit and what was used of it."""

    name: str
    used: float | None
    limit: float
    unit: str
    """seconds, money or count."""


def _budgets(record: EpisodeRecord) -> list[BudgetLine]:
    executor = record.usage.get("executor")
    budget: Budget = record.budget
    lines = [
        (
            "turn_s",
            max((r.executor_s for r in record.rounds), default=0.0),
            budget.turn_s,
            "seconds",
        ),
        ("executor_s", sum(r.executor_s for r in record.rounds), budget.executor_s, "seconds"),
        ("tokens", executor.usage.total if executor else None, budget.tokens, "count"),
        ("cost_usd", executor.cost_usd if executor else None, budget.cost_usd, "money"),
        ("model_calls", executor.calls if executor else None, budget.model_calls, "count"),
        ("feedback_rounds", max(0, len(record.rounds) - 1), budget.feedback_rounds, "count"),
    ]
    return [
        BudgetLine(n, u, float(limit), unit) for n, u, limit, unit in lines if limit is not None
    ]


def live_episode(ask: Ask) -> dict[str, JsonValue]:
    """What changes while an episode is played; the page is loaded anew when `version` does."""
    found = opened(ask).episode
    at = "done" if found.row.done else phase(found)
    return {
        "version": f"{found.row.state}-{found.id}-{len(found.rounds)}-{at}",
        "open": not found.row.done,
        "phase": at,
    }
