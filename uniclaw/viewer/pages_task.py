"""The page of one task."""

from uniclaw.records import UserView
from uniclaw.viewer.access import NoSuchPage
from uniclaw.viewer.conversation import VerdictPage, verdict_page
from uniclaw.viewer.episode import Episode, load_episode
from uniclaw.viewer.events import Allowance, Cut
from uniclaw.viewer.render import Ask, Page, render
from uniclaw.viewer.row_types import Row, Wanted
from uniclaw.viewer.rows import open_rows

TASK_BYTES = 120_000


def task(ask: Ask) -> Page:
    """One task as its episodes tell it; the hidden side only where both switches are on."""
    from uniclaw.viewer.board import short_names

    folder = ask.run()
    task_id = ask.params.get("task", "")
    with open_rows(folder) as rows:
        groups = rows.groups(task_id)
        if not groups:
            raise NoSuchPage("error.no_task", task_id)
        fact = next((f for f in rows.tasks() if f.task_id == task_id), None)
        row = _latest(rows.episodes(Wanted(task=task_id, sort="rounds"), offset=0, limit=200))
    episode = None if row is None else load_episode(folder, row)
    allowance = Allowance(TASK_BYTES)
    hidden = ask.site.hidden and ask.text("hidden") == "1"
    return render(
        "task.html",
        ask,
        here=(
            "task",
            {"run": folder.root.name, "task": task_id, **({"hidden": "1"} if hidden else {})},
        ),
        run=folder.root.name,
        task_id=task_id,
        fact=fact,
        groups=groups,
        names=short_names(sorted({group.cell for group in groups})),
        instruction=_instruction(episode, allowance),
        view=_view(episode),
        record=episode.record if episode else None,
        can_hide=ask.site.hidden,
        hidden=hidden,
        verdict=_verdict(episode, allowance) if hidden else None,
    )


def _instruction(episode: Episode | None, allowance: Allowance) -> Cut | None:
    if episode is None or not episode.rounds:
        return None
    return allowance.take(episode.rounds[0].message, 20_000)


def _view(episode: Episode | None) -> UserView | None:
    return None if episode is None else episode.document(0, "view-0", UserView)


def _verdict(episode: Episode | None, allowance: Allowance) -> VerdictPage | None:
    if episode is None:
        return None
    verdict = next((r.verdict for r in reversed(episode.rounds) if r.verdict), None)
    return None if verdict is None else verdict_page(verdict, allowance)


def _latest(rows: list[Row]) -> Row | None:
    """An episode to take a task's texts from: settled, with the most rounds."""
    done = [row for row in rows if row.done]
    return max(done, key=lambda row: row.rounds or 0, default=None)
