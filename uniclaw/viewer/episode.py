"""Load one episode as its steps left it, whole or half; what is damaged is said, not raised."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from pydantic import JsonValue, ValidationError
from pydantic_core import from_json

from uniclaw.episode.files import TextFile
from uniclaw.episode.nodes import Frozen
from uniclaw.episode.referee import Draft
from uniclaw.hidden.verdict import Verdict
from uniclaw.records import SCHEMA_VERSION, Feedback, Record, Turn, UserView
from uniclaw.store.records import EpisodeRecord, RoundRecord
from uniclaw.viewer.access import NAME, Folder, NoSuchPage
from uniclaw.viewer.row_types import Row

R = TypeVar("R", bound=Record)

DOCUMENT_BYTES = 24_000_000
"""Of one stored document, what is read at all."""
MAX_ROUNDS = 64


class Problem(NamedTuple):
    """Something of an episode that cannot be shown."""

    file: str
    key: str
    """Of the label that says what is wrong."""
    detail: str = ""


@dataclass(kw_only=True)
class Episode:
    """What is there of one episode."""

    run: str
    row: Row
    folder: Folder
    record: EpisodeRecord | None
    rounds: tuple[RoundRecord, ...]
    problems: list[Problem]

    @property
    def id(self) -> str:
        """Of the attempt that is shown."""
        return self.folder.root.name

    def document(self, round_number: int, name: str, kind: type[R]) -> R | None:
        """One stored document of a round; None when it is not there or cannot be read."""
        return self.load(f"rounds/{round_number}/{name}.json", kind)

    def load(self, ref: str, kind: type[R]) -> R | None:
        """One stored document; what is wrong with it is noted."""
        try:
            piece = self.folder.read(ref, DOCUMENT_BYTES)
        except NoSuchPage as error:
            if error.key != "error.gone":
                self.problems.append(Problem(ref, error.key))
            return None
        if piece.cut:
            self.problems.append(Problem(ref, "problem.large", str(piece.size)))
            return None
        try:
            return kind.model_validate_json(piece.data)
        except ValidationError as error:
            self.problems.append(Problem(ref, "problem.damaged", _said(piece.data, error)))
            return None

    def frozen(self, round_number: int) -> Frozen | None:
        """Manifest and probes of a round."""
        return self.document(round_number, "frozen", Frozen)

    def views(self, round_number: int) -> Iterator[tuple[str, UserView]]:
        """Every view that the user simulator had in a round, with its reference."""
        for visit in range(MAX_ROUNDS):
            name = f"view-{visit}"
            view = self.document(round_number, name, UserView)
            if view is None:
                return
            yield f"rounds/{round_number}/{name}.json", view


def _said(data: bytes, error: ValidationError) -> str:
    """Why a document does not fit; a newer version says so."""
    try:
        value: JsonValue = from_json(data)
    except ValueError:
        return "not JSON"
    version = value.get("schema_version") if isinstance(value, dict) else None
    if isinstance(version, int) and version > SCHEMA_VERSION:
        return f"schema version {version} > {SCHEMA_VERSION}"
    first = error.errors(include_url=False, include_input=False)[0]
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"


def load_episode(run: Folder, row: Row, wanted: str | None = None) -> Episode:
    """An episode's attempt.

    Args:
        run: the run's directory.
        row: its row.
        wanted: id of the attempt; None for the one that became the result.

    Raises:
        NoSuchPage: its directory is not there.
    """
    episode_id = wanted or row.episode_id
    if not NAME.fullmatch(episode_id):
        raise NoSuchPage("error.no_episode", episode_id)
    folder = run.child("episodes", episode_id)
    episode = Episode(
        run=run.root.name, row=row, folder=folder, record=None, rounds=(), problems=[]
    )
    if row.done and episode_id == row.episode_id:
        episode.record = episode.load("episode.json", EpisodeRecord)
        if episode.record is None and not episode.problems:
            episode.problems.append(Problem("episode.json", "problem.missing"))
    if episode.record is not None:
        episode.rounds = episode.record.rounds
    else:
        episode.rounds = tuple(_partial(episode))
    return episode


def _partial(episode: Episode) -> Iterator[RoundRecord]:
    """Rounds of an episode that runs, was cut off, or has no readable record."""
    for number in range(MAX_ROUNDS):
        message = episode.document(number, "message", TextFile)
        if message is None:
            return
        turn = episode.document(number, "turn", Turn)
        if turn is None:
            return
        frozen = episode.frozen(number)
        view = episode.document(number, "view-0", UserView)
        drafts: list[Draft] = []
        while (draft := episode.document(number, f"screen-{len(drafts)}", Draft)) is not None:
            drafts.append(draft)
        yield RoundRecord(
            round=number,
            message=message.text,
            stop=turn.stop,
            stop_detail=turn.detail,
            final_message=turn.final_message,
            executor_s=turn.executor_s,
            waited_s=turn.waited_s,
            files=len(frozen.manifest.files()) if frozen else 0,
            verdict=episode.document(number, "verdict", Verdict),
            progress=view.progress if view else None,
            drafts=tuple(record for draft in drafts for record in draft.records),
            feedback=episode.document(number, "feedback", Feedback),
        )


def waiting_message(episode: Episode) -> tuple[int, str] | None:
    """Number and message of a round whose turn has not come back yet."""
    number = len(episode.rounds)
    message = episode.document(number, "message", TextFile)
    if message is None or episode.folder.size(f"rounds/{number}/turn.json") is not None:
        return None
    return number, message.text


def phase(episode: Episode) -> str:
    """What a running episode is at, by the files of its last round."""
    last = len(episode.folder.names("rounds")) - 1
    names = set(episode.folder.names(f"rounds/{last}")) if last >= 0 else set[str]()
    for name, at in (
        ("feedback.json", "execute"),
        ("draft-0.json", "screen"),
        ("view-0.json", "simulate"),
        ("verdict.json", "relay"),
        ("frozen.json", "supervise"),
        ("turn.json", "freeze"),
        ("message.json", "execute"),
    ):
        if name in names:
            return at
    return "provision"
