"""Remove what dead runners left: containers, networks, volumes, snapshots, process directories.

Only things with our label whose owner is certainly dead are touched; content-addressed images
are shared and never removed here.
"""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from docker.errors import APIError, DockerException, NotFound
from requests.exceptions import RequestException

from uniclaw.environments.engine import connect
from uniclaw.environments.labels import (
    EPISODE,
    KEEP,
    MARK,
    OWNER,
    RUN,
    SNAPSHOT,
    Owner,
    certainly_dead,
    parse_owner,
    this_owner,
)
from uniclaw.environments.process import (
    EPISODE_FILE,
    HOME_PREFIX,
    OWNER_FILE,
    RUN_FILE,
    base_directory,
)
from uniclaw.environments.process_files import remove_tree
from uniclaw.environments.wire import DockerApi, Json, mapping_of
from uniclaw.errors import EngineError
from uniclaw.records import Record

_FILTER: Mapping[str, object] = {"label": f"{MARK}=1"}


class Removed(Record):
    """What a sweep removed, by name."""

    containers: tuple[str, ...] = ()
    networks: tuple[str, ...] = ()
    volumes: tuple[str, ...] = ()
    images: tuple[str, ...] = ()
    """Snapshots only."""
    directories: tuple[str, ...] = ()
    """Of the process adapter."""

    def sentence(self) -> str:
        """One line for people."""
        counts = [
            f"{len(getattr(self, kind))} {kind}"
            for kind in ("containers", "networks", "volumes", "images", "directories")
            if getattr(self, kind)
        ]
        return f"removed {', '.join(counts)}" if counts else "nothing to remove"


class _Choice:
    """Which things a sweep takes."""

    def __init__(
        self, run: str | None, episode: str | None, *, all_dead: bool, snapshots: bool = True
    ) -> None:
        self._snapshots = snapshots
        self._run = run
        self._episode = episode
        self._everything = all_dead
        self._here = this_owner()

    def takes(self, labels: Mapping[str, str]) -> bool:
        if labels.get(SNAPSHOT) == "1" and not self._snapshots:
            return False
        if labels.get(KEEP) == "1" or labels.get(MARK) != "1":
            return False
        if self._run is not None and labels.get(RUN) != self._run:
            return False
        if self._episode is not None and labels.get(EPISODE) != self._episode:
            return False
        if self._run is None and self._episode is None and not self._everything:
            return False
        owner = parse_owner(labels.get(OWNER, ""))
        return owner is not None and self._abandoned(owner)

    def _abandoned(self, owner: Owner) -> bool:
        return certainly_dead(owner, self._here)


def clean(
    run: str | None = None,
    episode: str | None = None,
    *,
    all_dead: bool = True,
    docker: bool = True,
    directory: Path | None = None,
    snapshots: bool = True,
) -> Removed:
    """Remove what owners that are certainly dead left behind.

    Args:
        run: Only what belongs to this run.
        episode: Only what belongs to this episode.
        all_dead: Without `run` and `episode`, sweep every dead owner's things.
        docker: Look into the engine as well, when one answers.
        directory: Where process environments lie; the default place if None.
        snapshots: Remove snapshots too; forks can then no longer begin from them.
    """
    choice = _Choice(run, episode, all_dead=all_dead, snapshots=snapshots)
    directories = tuple(_directories(directory or base_directory(), choice))
    if not docker:
        return Removed(directories=directories)
    try:
        api = connect()
    except EngineError:
        return Removed(directories=directories)
    try:
        return _engine(api, choice).model_copy(update={"directories": directories})
    except (DockerException, RequestException) as error:
        raise EngineError(f"the sweep broke off: {error}") from error
    finally:
        api.close()


def _engine(api: DockerApi, choice: _Choice) -> Removed:
    # Containers first: they hold the others.
    containers = _sweep(
        api.containers(all=True, filters=_FILTER),
        choice,
        lambda row: _first_name(row).lstrip("/"),
        lambda row: api.remove_container(str(row.get("Id")), v=True, force=True),
    )
    networks = _sweep(
        api.networks(filters=_FILTER),
        choice,
        lambda row: str(row.get("Name")),
        lambda row: api.remove_network(str(row.get("Id"))),
    )
    volume_rows = api.volumes(filters=_FILTER).get("Volumes")
    volumes = _sweep(
        (row for row in volume_rows if isinstance(row, dict))
        if isinstance(volume_rows, list)
        else (),
        choice,
        lambda row: str(row.get("Name")),
        lambda row: api.remove_volume(str(row.get("Name")), force=True),
    )
    images = _sweep(
        api.images(filters=_FILTER),
        choice,
        _first_tag,
        lambda row: api.remove_image(str(row.get("Id")), force=True),
    )
    return Removed(containers=containers, networks=networks, volumes=volumes, images=images)


def _sweep(
    rows: Iterable[Json],
    choice: _Choice,
    name: Callable[[Json], str],
    remove: Callable[[Json], object],
) -> tuple[str, ...]:
    removed: list[str] = []
    for row in rows:
        labels = {k: v for k, v in mapping_of(row.get("Labels")).items() if isinstance(v, str)}
        if not choice.takes(labels):
            continue
        try:
            remove(row)
        except NotFound:
            continue
        except APIError as error:
            if "already in progress" in str(error.explanation):
                continue
            raise
        removed.append(name(row))
    return tuple(sorted(removed))


def _first_name(row: Json) -> str:
    names = row.get("Names")
    return str(names[0]) if isinstance(names, list) and names else str(row.get("Id"))


def _first_tag(row: Json) -> str:
    tags = row.get("RepoTags")
    return str(tags[0]) if isinstance(tags, list) and tags else str(row.get("Id"))


def _directories(base: Path, choice: _Choice) -> Iterable[str]:
    for home in sorted(base.iterdir()) if base.is_dir() else ():
        labels = {
            MARK: "1",
            OWNER: _text(home / OWNER_FILE),
            RUN: _text(home / RUN_FILE),
            EPISODE: _text(home / EPISODE_FILE),
            SNAPSHOT: "0" if home.name.startswith(HOME_PREFIX) else "1",
        }
        if choice.takes(labels):
            remove_tree(home)
            yield home.name


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        return ""
