"""Trajectory and evidence of an episode: what was seen, frozen, with references into the store.

Must not know the hidden side.
"""

from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from uniclaw.records import Entry, Event, Manifest, ProbeResult, Task, Turn


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """All that judging a round may look at."""

    round: int
    task: Task
    files_root: Path
    """Host directory; the file `/workspace/results/x` lies at `files_root/workspace/results/x`."""
    manifest: Manifest
    turns: tuple[Turn, ...]
    """All turns so far, the last is this round's."""
    probes: tuple[ProbeResult, ...] = ()

    @property
    def turn(self) -> Turn:
        """This round's turn."""
        return self.turns[-1]

    @property
    def events(self) -> tuple[Event, ...]:
        """Events of all turns so far."""
        return tuple(event for turn in self.turns for event in turn.events)

    def absolute(self, path: str) -> PurePosixPath:
        """A check's path as an absolute path inside; relative ones start at the first root."""
        return PurePosixPath(self.task.artifact_roots[0]) / path

    def entries(self, pattern: str) -> tuple[Entry, ...]:
        """Present entries whose absolute path matches a path or glob (sorted by path)."""
        wanted = self.absolute(pattern)
        return tuple(
            sorted(
                (
                    e
                    for e in self.manifest.entries
                    if e.change != "deleted" and PurePosixPath(e.path).match(str(wanted))
                ),
                key=lambda e: e.path,
            )
        )

    def host_path(self, entry: Entry) -> Path | None:
        """Where a frozen regular file's bytes lie; None when it has none in the store."""
        if entry.kind != "file" or entry.skipped is not None or entry.change == "deleted":
            return None
        return self.files_root / entry.path.lstrip("/")

    def texts(self, *, max_bytes: int) -> list[str]:
        """Decoded contents of frozen files that were added or changed, up to `max_bytes` in all.

        Files with a NUL byte in their first 8 KiB are left out as binary.
        """
        texts: list[str] = []
        left = max_bytes
        for entry in sorted(self.manifest.files(), key=lambda e: (e.size, e.path)):
            path = self.host_path(entry)
            if path is None or entry.change == "same" or left <= 0 or path.is_symlink():
                continue
            with path.open("rb") as file:
                data = file.read(left)
            if b"\0" not in data[:8192]:
                texts.append(data.decode("utf-8", "replace"))
                left -= len(data)
        return texts
