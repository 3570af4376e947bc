"""What of a frozen working tree must be laid over the base commit, from the manifest alone."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from uniclaw.records import Entry
from uniclaw.supervisor.swe_patch import MAX_FILE_BYTES, Dropped
from uniclaw.trajectory import Evidence

_EXECUTABLE = 0o100


@dataclass(frozen=True, kw_only=True)
class Overlay:
    """Changes against the baseline, by path relative to the repository."""

    gone: tuple[str, ...]
    """To be removed first: what was deleted, and what another kind of thing replaces."""
    directories: tuple[str, ...]
    """Directories that may stand where the base commit has a file or a link."""
    files: Mapping[str, Path]
    links: Mapping[str, str]
    executable: tuple[str, ...]
    ordinary: tuple[str, ...]
    dropped: tuple[Dropped, ...]

    @property
    def empty(self) -> bool:
        """Nothing has changed."""
        return not (self.gone or self.directories or self.files or self.links)


def overlay_of(evidence: Evidence, workspace: str) -> Overlay:
    """Everything that differs, without anything that git keeps for itself.

    Files that were not copied or are too large keep the base commit's state, and are reported.
    """
    gone: list[str] = []
    directories: list[str] = []
    files: dict[str, Path] = {}
    links: dict[str, str] = {}
    modes: dict[str, int] = {}
    dropped: list[Dropped] = []
    for entry in evidence.manifest.entries:
        name = _changed(entry, workspace)
        if name is None:
            continue
        if entry.change == "deleted":
            gone.append(name)
        elif entry.kind == "dir":
            directories.append(name)
        elif entry.kind == "link" and entry.target is not None:
            gone.append(name)
            links[name] = entry.target
        elif entry.kind == "file":
            path = evidence.host_path(entry)
            if path is None or path.is_symlink() or not path.is_file():
                dropped.append(Dropped(path=name, reason="not copied"))
            elif entry.size > MAX_FILE_BYTES:
                dropped.append(Dropped(path=name, reason="too large"))
            else:
                gone.append(name)
                files[name] = path
                modes[name] = entry.mode
        else:
            dropped.append(Dropped(path=name, reason="not copied"))
    return Overlay(
        gone=tuple(gone),
        directories=tuple(directories),
        files=files,
        links=links,
        executable=tuple(n for n, mode in modes.items() if mode & _EXECUTABLE),
        ordinary=tuple(n for n, mode in modes.items() if not mode & _EXECUTABLE),
        dropped=tuple(dropped),
    )


def _changed(entry: Entry, workspace: str) -> str | None:
    """Relative path of a change that belongs to the working tree."""
    path = PurePosixPath(entry.path)
    if entry.change == "same" or not path.is_relative_to(workspace):
        return None
    relative = path.relative_to(workspace)
    if not relative.parts or ".git" in relative.parts or ".." in relative.parts:
        return None
    return str(relative)
