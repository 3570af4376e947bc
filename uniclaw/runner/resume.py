"""`uniclaw resume`: completes a run whose runner died or was stopped, and says what it found."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from pydantic import JsonValue, ValidationError

from uniclaw.assets import Assets, default_roots
from uniclaw.config import RunSettings
from uniclaw.environments.clean import clean
from uniclaw.errors import StoreError, UserError
from uniclaw.records import Outcome
from uniclaw.runner.engines import LOCAL, fleet_of, parse_engine
from uniclaw.runner.inputs import refuse_changes
from uniclaw.runner.local import Watch
from uniclaw.runner.start import RunResult, play_on, prepare
from uniclaw.store.atomic import TEMPORARY
from uniclaw.store.run_store import RunStore
from uniclaw.store.settled import FILE, torn

COMPARED = ("settings", "versions", "images", "inputs")
"""Parts of a run's stored document that must be as they were."""


class Recovered(NamedTuple):
    """What a resumed run was found with."""

    settled: int
    """Episodes that had their row."""
    written: tuple[str, ...]
    """Episodes whose record was written and got its row now."""
    cut: tuple[str, ...]
    """Attempts that had no end."""
    cancelled: tuple[str, ...]
    """Episodes that the user had stopped; they are played after all."""
    removed: str
    """What the dead runner had left in the engine and in temporary places."""
    litter: int
    """Half-written files that were removed."""
    damaged: tuple[str, ...]
    """Files that cannot be read; the rest is used."""

    @property
    def document(self) -> dict[str, JsonValue]:
        """As JSON."""
        return {
            "settled_before": self.settled,
            "written_before": list(self.written),
            "cut_off": list(self.cut),
            "cancelled_before": list(self.cancelled),
            "removed": self.removed,
            "litter": self.litter,
            "damaged": list(self.damaged),
        }

    @property
    def sentence(self) -> str:
        """One line for people."""
        parts = [f"{self.settled} episodes had their result"]
        for number, what in (
            (len(self.written), "had a written record without a row"),
            (len(self.cut), "were cut off"),
            (len(self.cancelled), "had been cancelled"),
            (self.litter, "half-written files removed"),
            (len(self.damaged), "files are damaged"),
        ):
            if number:
                parts.append(f"{number} {what}")
        return f"recovered: {'; '.join(parts)}; {self.removed}"


def resume(
    root: Path,
    *,
    environ: Mapping[str, str],
    notify: Callable[[str], None],
    watch: Watch,
    assets_dir: Path | None = None,
    engine: str = LOCAL,
) -> tuple[RunResult, Recovered]:
    """Complete a run: one row per task, cell and trial, nothing left behind.

    Args:
        root: of the run.
        environ: environment variables, for providers.
        notify: says what goes on.
        watch: makes the progress display of the episodes to play.
        assets_dir: asset tree to look in first.
        engine: where to play on, `local` or `ray[:ADDRESS]`.

    Raises:
        UserError: no such run, or what shapes its results has changed since.
        StoreError: another runner works on it, a newer version wrote it, or it is damaged.
    """
    assets, where = Assets(default_roots(assets_dir, environ=environ)), parse_engine(engine)
    with RunStore.open(root, write=True) as store:
        stored = stored_document(store)
        settings = stored_settings(stored, root)
        prepared = prepare(
            store.name,
            settings,
            assets=assets,
            environ=environ,
            notify=notify,
            salt=str(stored.get("salt")),
            build=where.local,
            runs_dir=root.parent,
        )
        with fleet_of(where, prepared.workshop, notify) as fleet:
            refuse_changes(*comparable(stored, prepared.document()), COMPARED)
            found = recover(store, docker=settings.environment == "docker")
            notify(found.sentence)
            for problem in found.damaged:
                notify(f"damaged: {problem}")
            result = play_on(store, prepared, watch=watch, fleet=fleet)
            return result._replace(damaged=found.damaged), found


def comparable(
    stored: Mapping[str, JsonValue], now: Mapping[str, JsonValue]
) -> tuple[Mapping[str, JsonValue], Mapping[str, JsonValue]]:
    """Two documents of a run, with image tags alone if one of them was played by several engines.

    A tag is the hash of the recipe; the content id beside it differs from engine to engine.
    """
    both = (stored, now)
    images = [found if isinstance(found := d.get("images"), dict) else {} for d in both]
    if all(" " in str(text) for found in images for text in found.values()):
        return both
    short = [{name: str(text).partition(" ")[0] for name, text in i.items()} for i in images]
    return {**stored, "images": {**short[0]}}, {**now, "images": {**short[1]}}


def stored_document(store: RunStore) -> Mapping[str, JsonValue]:
    """What was stored with a run when it began.

    Raises:
        UserError: it was not played by this program.
    """
    stored = store.settings
    if not isinstance(stored, dict) or "inputs" not in stored:
        raise UserError("nothing to go by: its settings were not stored", file=store.root)
    return stored


def stored_settings(stored: Mapping[str, JsonValue], root: Path) -> RunSettings:
    """The settings a run was started with.

    Raises:
        StoreError: they do not fit.
    """
    try:
        return RunSettings.model_validate(stored.get("settings"))
    except ValidationError as error:
        raise StoreError(f"{root}: the stored settings do not fit: {error}") from error


def recover(store: RunStore, *, docker: bool) -> Recovered:
    """Put a run in order: give records their rows, sweep what a dead runner left.

    Args:
        store: open for writing.
        docker: look into the engine too.
    """
    settled = store.settled_ids()
    cancelled = store.reopen(Outcome.CANCELLED.value)
    removed = clean(run=store.name, docker=docker, snapshots=False)
    left = store.attempts.open()
    # What is settled is not written to any more: only the others can be half-written.
    litter = sum(1 for _ in _sweep(store.root, [attempt.episode_id for attempt in left]))
    written: list[str] = []
    damaged = list(torn(store.root / "episodes", settled))
    cut: list[str] = []
    for attempt in left:
        try:
            if (store.episode_dir(attempt.episode_id) / FILE).is_file():
                store.settle(store.episode(attempt.episode_id))
                written.append(attempt.episode_id)
                continue
        except StoreError as error:
            damaged.append(str(error))
        cut.append(attempt.episode_id)
    return Recovered(
        len(settled) - len(cancelled),
        tuple(written),
        tuple(cut),
        tuple(cancelled),
        removed.sentence(),
        litter,
        tuple(damaged),
    )


def _sweep(root: Path, episodes: Iterable[str]) -> Iterator[Path]:
    """Files that a crash left half-written, in places that only we write to."""
    homes = [root / "episodes" / name for name in episodes]
    for home, pattern in (
        (root, ""),
        (root, "blobs/*/"),
        *((home, place) for home in homes for place in ("", "rounds/*/")),
    ):
        for path in list(home.glob(f"{pattern}{TEMPORARY}*")):
            if path.is_file() and not path.is_symlink():
                path.unlink(missing_ok=True)
                yield path
