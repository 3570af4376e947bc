"""Two episodes side by side, aligned by round: a fork and its parent, or two cells on a task."""

from typing import NamedTuple

from uniclaw.viewer.access import NAME, NoSuchPage, run_folder
from uniclaw.viewer.conversation import RoundPage, rounds_of
from uniclaw.viewer.episode import Episode, load_episode
from uniclaw.viewer.events import Step, trajectory_of
from uniclaw.viewer.lens import offered, parts_of
from uniclaw.viewer.pages_episode import seen_row
from uniclaw.viewer.render import Ask, Page, render
from uniclaw.viewer.row_types import Row
from uniclaw.viewer.rows import open_rows


class Side(NamedTuple):
    """One of the two."""

    run: str
    episode: Episode
    row: Row
    rounds: list[RoundPage]


def pair(ask: Ask) -> Page:
    """Two episodes; the addresses are `RUN/EPISODE`."""
    sides = [_side(ask, ask.text(name)) for name in ("a", "b")]
    rounds = max(len(side.rounds) for side in sides)
    return render(
        "pair.html",
        ask,
        here=("pair", {"a": ask.text("a"), "b": ask.text("b")}),
        sides=sides,
        count_rounds=rounds,
        same=[_same(sides, number) for number in range(rounds)],
        unnamed=_unnamed,
    )


def _side(ask: Ask, address: str) -> Side:
    run, _, episode_id = address.partition("/")
    folder = run_folder(ask.site.runs, run)
    if not NAME.fullmatch(episode_id):
        raise NoSuchPage("error.no_episode", address)
    with open_rows(folder) as rows:
        row = rows.episode(episode_id)
    if row is None:
        raise NoSuchPage("error.no_episode", address)
    lens = offered(static=ask.site.static, hidden=ask.site.hidden)[0]
    episode = load_episode(folder, row)
    rounds = rounds_of(episode, trajectory_of(episode), lens)
    return Side(run, episode, seen_row(row, parts_of(lens)), rounds)


def _same(sides: list[Side], number: int) -> bool:
    """Whether both had this round with the same message and the same work."""
    pages = [side.rounds[number] for side in sides if number < len(side.rounds)]
    if len(pages) < 2:
        return False
    left, right = (
        (p.message, p.final, [(s.tool, s.text, s.arguments) for s in p.steps], p.more)
        for p in pages
    )
    return left == right


def _unnamed(found: tuple[Step, ...]) -> list[Step]:
    """Steps without ids, which would stand twice on the page; pictures keep theirs."""
    return [step._replace(id="", result_id="") for step in found]
