"""The run store: `runs/<run>/run.sqlite` beside `episodes/<id>/`. One writer, atomic, versioned."""

import gzip
import hashlib
import os
import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Self

from pydantic import JsonValue
from pydantic_core import from_json

from uniclaw.errors import StoreError, UserError
from uniclaw.failpoints import reach
from uniclaw.records import SCHEMA_VERSION, RoleUsage
from uniclaw.store.atomic import to_json, write_bytes, write_json
from uniclaw.store.attempts import AttemptLog
from uniclaw.store.database import connect, create_run, take_lock, writing
from uniclaw.store.records import EpisodeRecord
from uniclaw.store.rows import add_spent, flat_row, insert_rounds
from uniclaw.store.settled import FILE, Settled, read_record

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


class Key(NamedTuple):
    """What makes an episode's row unique in a run."""

    task_id: str
    cell: str
    trial: int


class CallRow(NamedTuple):
    """One stored model exchange."""

    episode_id: str
    attempt: int
    seq: int
    role: str
    model: str
    ok: bool
    blob: str
    spent: RoleUsage
    request: str = ""
    """What the same request of a later attempt or run is recognised by."""
    reused: bool = False
    """Answered from the store: paid before."""


def check_run_name(name: str) -> str:
    """A run name is one path segment of letters, digits, dot, dash and underscore."""
    if not _NAME.fullmatch(name):
        raise UserError(
            "expected 1 to 100 letters, digits, '.', '-', '_', not starting with a sign",
            field="run",
            value=name,
        )
    return name


def refuse_existing(runs_dir: Path, name: str) -> None:
    """Refuse a name that is not allowed or taken, before anything is prepared.

    Raises:
        UserError: names the run.
    """
    if (runs_dir / check_run_name(name)).exists():
        raise UserError(f"run exists in {runs_dir}; choose another name", field="run", value=name)


class RunStore:
    """One run on disk. Use as a context manager; a writer holds the run's lock."""

    def __init__(self, root: Path, connection: sqlite3.Connection, lock: int | None) -> None:
        self.root = root
        self._db = connection
        self._lock = lock
        self.attempts = AttemptLog(connection)

    @classmethod
    def create(cls, runs_dir: Path, name: str, settings: JsonValue) -> Self:
        """Make a new run and take its lock.

        Raises:
            UserError: the name is not allowed, or the run exists.
        """
        root = runs_dir / check_run_name(name)
        lock = create_run(root, settings)
        return cls(root, connect(root / "run.sqlite"), lock)

    @classmethod
    def open(cls, root: Path, *, write: bool = False) -> Self:
        """Open an existing run, read-only unless `write`.

        Raises:
            UserError: no run there.
            StoreError: another runner holds it, or it comes from a newer version.
        """
        file = root / "run.sqlite"
        if not file.is_file():
            raise UserError("no run there", field="run", value=str(root))
        lock = take_lock(root) if write else None
        try:
            store = cls(root, connect(file), lock)
        except StoreError:
            if lock is not None:
                os.close(lock)
            raise
        version = store._meta("schema_version")
        if version is None or int(version) > SCHEMA_VERSION:
            store.close()
            raise StoreError(
                f"{file}: schema version {version}; this UniClaw reads up to {SCHEMA_VERSION}"
            )
        return store

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the database and give back the lock."""
        self._db.close()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    @property
    def name(self) -> str:
        """The run's name."""
        return self.root.name

    @property
    def settings(self) -> JsonValue:
        """The resolved settings the run was started with."""
        text = self._meta("settings")
        if text is None:
            raise StoreError(f"{self.root}: no settings stored")
        return from_json(text)

    def _meta(self, key: str) -> str | None:
        row = self._db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return None if row is None else str(row[0])

    # --- planning and settling -----------------------------------------------------------

    def plan(self, planned: Sequence[tuple[Key, str]]) -> None:
        """Enter the episodes to play: key and episode id; existing keys are left alone."""
        reach("plan.before")
        with writing(self._db) as db:
            db.executemany(
                "INSERT OR IGNORE INTO episodes"
                " (task_id, cell, trial, episode_id, base_id, attempt, state)"
                " VALUES (?, ?, ?, ?, ?, 1, 'planned')",
                [(*key, episode_id, episode_id) for key, episode_id in planned],
            )
        reach("plan.after")

    def unfinished(self) -> list[tuple[Key, str]]:
        """Episodes without a settled row, in planning order, with the id they were planned by."""
        rows = self._db.execute(
            "SELECT task_id, cell, trial, base_id FROM episodes WHERE state != 'done'"
            " ORDER BY rowid"
        )
        return [(Key(str(a), str(b), int(c)), str(d)) for a, b, c, d in rows]

    def settle(self, record: EpisodeRecord) -> None:
        """Write an episode's record and its rows; the row is what makes it count."""
        reach("settle.before")
        write_json(self.episode_dir(record.episode_id) / FILE, record)
        reach("settle.file")
        with writing(self._db) as db:
            self._settle_rows(db, record)
            reach("settle.rows")
        reach("settle.after")

    def _settle_rows(self, db: sqlite3.Connection, record: EpisodeRecord) -> None:
        db.execute(
            "UPDATE episodes SET episode_id = ?, attempt = ?, state = 'done', outcome = ?,"
            " reason = ?, rounds = ?, final_score = ?, best_score = ?, executor_s = ?,"
            " wall_s = ?, row = ? WHERE task_id = ? AND cell = ? AND trial = ?",
            (
                record.episode_id,
                record.attempt,
                record.outcome.value,
                record.reason,
                len(record.rounds),
                record.final_score,
                record.best_score,
                sum(r.executor_s for r in record.rounds),
                record.seconds.get("wall"),
                to_json(flat_row(record)),
                record.task_id,
                record.cell,
                record.trial,
            ),
        )
        self.attempts.settled(record.episode_id, record.outcome.value, record.seconds.get("wall"))
        insert_rounds(db, record)

    def reopen(self, outcome: str) -> list[str]:
        """Take back the rows of an outcome that was no end; returns the ids they were planned by.

        Their attempts stay, as cut off.
        """
        with writing(self._db) as db:
            rows = db.execute(
                "SELECT base_id, episode_id FROM episodes WHERE state = 'done' AND outcome = ?",
                (outcome,),
            ).fetchall()
            for base, episode_id in rows:
                db.execute("UPDATE attempts SET state = 'cut' WHERE episode_id = ?", (episode_id,))
                db.execute(
                    "UPDATE episodes SET state = 'planned', outcome = NULL, reason = NULL,"
                    " row = NULL WHERE base_id = ?",
                    (base,),
                )
        return [str(base) for base, _ in rows]

    # --- model exchanges -----------------------------------------------------------------

    def put_blob(self, data: bytes) -> str:
        """Store bytes once, compressed, by content; returns the SHA-256."""
        digest = hashlib.sha256(data).hexdigest()
        path = self.root / "blobs" / digest[:2] / f"{digest}.gz"
        if not path.exists():
            write_bytes(path, gzip.compress(data, mtime=0))
        return digest

    def get_blob(self, digest: str) -> bytes:
        """Read a blob back, verified.

        Raises:
            StoreError: missing or damaged.
        """
        path = self.root / "blobs" / digest[:2] / f"{digest}.gz"
        try:
            data = gzip.decompress(path.read_bytes())
        except (OSError, EOFError) as error:
            raise StoreError(f"cannot read {path}: {error}") from error
        if hashlib.sha256(data).hexdigest() != digest:
            raise StoreError(f"{path}: content does not match its name")
        return data

    def add_call(self, row: CallRow) -> None:
        """Record one model exchange; a repeated key is an error of the caller."""
        reach("call.blob")
        with writing(self._db) as db:
            db.execute(
                "INSERT INTO calls VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    *row[:5],
                    int(row.ok),
                    row.blob,
                    to_json(row.spent),
                    row.request,
                    int(row.reused),
                ),
            )
        reach("call.after")

    def next_call(self, episode_id: str) -> int:
        """Number of an attempt's next exchange."""
        row = self._db.execute(
            "SELECT COALESCE(MAX(seq) + 1, 0) FROM calls WHERE episode_id = ?", (episode_id,)
        ).fetchone()
        return int(row[0])

    def spent(self, episode_id: str, *, reused: bool) -> dict[str, RoleUsage]:
        """What an attempt's exchanges cost by role; `reused` counts stored answers too."""
        found: dict[str, RoleUsage] = {}
        for row in self.calls(episode_id):
            if reused or not row.reused:
                found[row.role] = add_spent(found.get(row.role, RoleUsage(cost_usd=0.0)), row.spent)
        return found

    def calls(self, episode_id: str) -> list[CallRow]:
        """All exchanges of an episode, in order."""
        rows = self._db.execute(
            "SELECT * FROM calls WHERE episode_id = ? ORDER BY attempt, seq", (episode_id,)
        )
        return [
            CallRow(
                str(r[0]),
                int(r[1]),
                int(r[2]),
                str(r[3]),
                str(r[4]),
                bool(r[5]),
                str(r[6]),
                RoleUsage.model_validate_json(str(r[7])),
                str(r[8]),
                bool(r[9]),
            )
            for r in rows
        ]

    # --- reading -------------------------------------------------------------------------

    def episode_dir(self, episode_id: str) -> Path:
        """Directory of one episode."""
        if not _NAME.fullmatch(episode_id):
            raise UserError("not an episode id", field="episode", value=episode_id)
        return self.root / "episodes" / episode_id

    def episode(self, episode_id: str) -> EpisodeRecord:
        """One settled record.

        Raises:
            StoreError: missing, damaged or of another schema; names the file.
        """
        return read_record(self.episode_dir(episode_id))

    def episodes(self) -> Iterator[EpisodeRecord]:
        """All settled records in planning order."""
        for episode_id in self.settled_ids():
            yield self.episode(episode_id)

    def readable(self) -> tuple[list[EpisodeRecord], list[str]]:
        """All settled records that can be read, and what is wrong with the others."""
        settled = self.settled
        return list(settled), list(settled.damaged.values())

    @property
    def settled(self) -> Settled:
        """All settled records in planning order, each read when it is asked for."""
        return Settled(self.root / "episodes", self.settled_ids())

    def settled_ids(self) -> list[str]:
        """Ids of settled episodes in planning order."""
        rows = self._db.execute(
            "SELECT episode_id FROM episodes WHERE state = 'done' ORDER BY rowid"
        )
        return [str(r[0]) for r in rows]

    def settled_by_key(self) -> dict[Key, str]:
        """Key of each settled episode -> id of the attempt that became its result."""
        rows = self._db.execute(
            "SELECT task_id, cell, trial, episode_id FROM episodes WHERE state = 'done'"
        )
        return {Key(str(a), str(b), int(c)): str(d) for a, b, c, d in rows}

    def rows(self) -> list[Mapping[str, JsonValue]]:
        """Flat result rows (one per settled episode) for statistics."""
        rows = self._db.execute("SELECT row FROM episodes WHERE state = 'done' ORDER BY rowid")
        return [from_json(str(r[0])) for r in rows]

    def brief_rows(self) -> Iterator[Mapping[str, JsonValue]]:
        """Of each settled episode what totals and budgets need; reads no record.

        `cell`, `outcome`, `final_score`, `best_score`, `wall_s`, `earlier` (how many attempts
        came before), `usage` and `paid` by role.
        """
        rows = self._db.execute(
            "SELECT cell, outcome, final_score, best_score, wall_s, attempt - 1,"
            " json_extract(row, '$.usage', '$.paid')"
            " FROM episodes WHERE state = 'done' ORDER BY rowid"
        )
        names = ("cell", "outcome", "final_score", "best_score", "wall_s", "earlier")
        for row in rows:
            usage, paid = from_json(str(row[6] or "[{}, null]"))
            yield {
                **dict(zip(names, row[:6], strict=True)),
                "usage": usage,
                "paid": usage if paid is None else paid,
            }

    def counts(self) -> dict[str, int]:
        """Episodes by outcome; `unfinished` for those without a row."""
        rows = self._db.execute(
            "SELECT COALESCE(outcome, 'unfinished'), COUNT(*) FROM episodes GROUP BY 1"
        )
        return {str(a): int(b) for a, b in rows}


def list_runs(runs_dir: Path) -> list[Path]:
    """Run directories below `runs_dir`, newest first."""
    if not runs_dir.is_dir():
        return []
    found = [p for p in runs_dir.iterdir() if (p / "run.sqlite").is_file() and not p.is_symlink()]
    return sorted(found, key=lambda p: (p / "run.sqlite").stat().st_mtime, reverse=True)
