"""The run store: `runs/<run>/run.sqlite` beside `episodes/<id>/`. One writer, atomic, versioned."""

import fcntl
import gzip
import hashlib
import os
import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple, Self

from pydantic import JsonValue, ValidationError
from pydantic_core import from_json

from uniclaw.errors import StoreError, UserError
from uniclaw.records import SCHEMA_VERSION, RoleUsage
from uniclaw.store.atomic import read_json, sync_directory, to_json, write_bytes, write_json
from uniclaw.store.records import EpisodeRecord

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS episodes (
  task_id TEXT NOT NULL, cell TEXT NOT NULL, trial INTEGER NOT NULL,
  episode_id TEXT NOT NULL UNIQUE, attempt INTEGER NOT NULL, state TEXT NOT NULL,
  outcome TEXT, reason TEXT, rounds INTEGER, final_score REAL, best_score REAL,
  executor_s REAL, wall_s REAL, row TEXT,
  PRIMARY KEY (task_id, cell, trial));
CREATE TABLE IF NOT EXISTS rounds (
  episode_id TEXT NOT NULL, round INTEGER NOT NULL, decision TEXT, score REAL, stop TEXT NOT NULL,
  executor_s REAL NOT NULL, PRIMARY KEY (episode_id, round));
CREATE TABLE IF NOT EXISTS checkpoints (
  episode_id TEXT NOT NULL, round INTEGER NOT NULL, id TEXT NOT NULL, kind TEXT NOT NULL,
  weight REAL NOT NULL, value REAL, reason TEXT NOT NULL,
  PRIMARY KEY (episode_id, round, kind, id));
CREATE TABLE IF NOT EXISTS calls (
  episode_id TEXT NOT NULL, attempt INTEGER NOT NULL, seq INTEGER NOT NULL, role TEXT NOT NULL,
  model TEXT NOT NULL, ok INTEGER NOT NULL, blob TEXT NOT NULL, spent TEXT NOT NULL,
  PRIMARY KEY (episode_id, attempt, seq));
"""


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

    @classmethod
    def create(cls, runs_dir: Path, name: str, settings: JsonValue) -> Self:
        """Make a new run and take its lock.

        Raises:
            UserError: the name is not allowed, or the run exists.
        """
        root = runs_dir / check_run_name(name)
        try:
            runs_dir.mkdir(parents=True, exist_ok=True)
            root.mkdir()
        except FileExistsError as error:
            raise UserError(
                f"run exists in {runs_dir}; choose another name", field="run", value=name
            ) from error
        except OSError as error:
            raise StoreError(f"cannot create {root}: {error}") from error
        lock = _take_lock(root)
        store = cls(root, _connect(root / "run.sqlite"), lock)
        with store._db as db:
            db.executescript(_SCHEMA)
            db.execute("INSERT INTO meta VALUES ('schema_version', ?)", (str(SCHEMA_VERSION),))
            db.execute("INSERT INTO meta VALUES ('settings', ?)", (to_json(settings),))
        sync_directory(root)
        return store

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
        store = cls(root, _connect(file), _take_lock(root) if write else None)
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
        with self._db as db:
            db.executemany(
                "INSERT OR IGNORE INTO episodes"
                " (task_id, cell, trial, episode_id, attempt, state)"
                " VALUES (?, ?, ?, ?, 1, 'planned')",
                [(*key, episode_id) for key, episode_id in planned],
            )

    def unfinished(self) -> list[tuple[Key, str]]:
        """Episodes without a settled row, in planning order."""
        rows = self._db.execute(
            "SELECT task_id, cell, trial, episode_id FROM episodes WHERE state != 'done'"
            " ORDER BY rowid"
        )
        return [(Key(str(a), str(b), int(c)), str(d)) for a, b, c, d in rows]

    def settle(self, record: EpisodeRecord) -> None:
        """Write an episode's record and its rows; the row is what makes it count."""
        write_json(self.episode_dir(record.episode_id) / "episode.json", record)
        with self._db as db:
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
                    to_json(_row(record)),
                    record.task_id,
                    record.cell,
                    record.trial,
                ),
            )
            for table in ("rounds", "checkpoints"):
                db.execute(f"DELETE FROM {table} WHERE episode_id = ?", (record.episode_id,))
            self._insert_rounds(db, record)

    @staticmethod
    def _insert_rounds(db: sqlite3.Connection, record: EpisodeRecord) -> None:
        for item in record.rounds:
            verdict = item.verdict
            db.execute(
                "INSERT INTO rounds VALUES (?, ?, ?, ?, ?, ?)",
                (
                    record.episode_id,
                    item.round,
                    verdict.decision.value if verdict else None,
                    verdict.score if verdict else None,
                    item.stop.value,
                    item.executor_s,
                ),
            )
            db.executemany(
                "INSERT INTO checkpoints VALUES (?, ?, ?, ?, ?, ?, ?)",
                [
                    (
                        record.episode_id,
                        item.round,
                        line.id,
                        line.kind,
                        line.weight,
                        line.result.value,
                        line.result.reason,
                    )
                    for line in (verdict.lines if verdict else ())
                ],
            )

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
        with self._db as db:
            db.execute(
                "INSERT INTO calls VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (*row[:5], int(row.ok), row.blob, to_json(row.spent)),
            )

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
        path = self.episode_dir(episode_id) / "episode.json"
        data = read_json(path)
        try:
            return EpisodeRecord.model_validate(data)
        except ValidationError as error:
            raise StoreError(f"{path}: {error.error_count()} fields do not fit: {error}") from error

    def episodes(self) -> Iterator[EpisodeRecord]:
        """All settled records in planning order."""
        for episode_id in self.settled_ids():
            yield self.episode(episode_id)

    def settled_ids(self) -> list[str]:
        """Ids of settled episodes in planning order."""
        rows = self._db.execute(
            "SELECT episode_id FROM episodes WHERE state = 'done' ORDER BY rowid"
        )
        return [str(r[0]) for r in rows]

    def rows(self) -> list[Mapping[str, JsonValue]]:
        """Flat result rows (one per settled episode) for statistics."""
        rows = self._db.execute("SELECT row FROM episodes WHERE state = 'done' ORDER BY rowid")
        return [from_json(str(r[0])) for r in rows]

    def counts(self) -> dict[str, int]:
        """Episodes by outcome; `unfinished` for those without a row."""
        rows = self._db.execute(
            "SELECT COALESCE(outcome, 'unfinished'), COUNT(*) FROM episodes GROUP BY 1"
        )
        return {str(a): int(b) for a, b in rows}


def _row(record: EpisodeRecord) -> JsonValue:
    data = record.model_dump(
        mode="json", exclude={"rounds", "assets", "images", "flags", "container"}
    )
    data["passed"] = record.passed
    data["scored"] = record.outcome.scored
    data["rounds"] = [
        {
            "round": r.round,
            "score": r.verdict.score if r.verdict else None,
            "passed": None if r.verdict is None else r.verdict.decision.value == "pass",
            "checkpoints": {
                line.id: line.result.value
                for line in (r.verdict.lines if r.verdict else ())
                if line.kind == "checkpoint"
            },
            "weights": {
                line.id: line.weight
                for line in (r.verdict.lines if r.verdict else ())
                if line.kind == "checkpoint"
            },
            "executor_s": r.executor_s,
            "feedback_source": r.feedback.source if r.feedback else None,
            "blocked": sum(1 for d in r.drafts if d.decision == "leak" and not d.delivered),
        }
        for r in record.rounds
    ]
    return data


def _connect(file: Path) -> sqlite3.Connection:
    try:
        db = sqlite3.connect(file, timeout=30, check_same_thread=False)
        db.execute("PRAGMA journal_mode=WAL")
        db.execute("PRAGMA synchronous=FULL")
    except sqlite3.Error as error:
        raise StoreError(f"cannot open {file}: {error}") from error
    return db


def _take_lock(root: Path) -> int:
    handle = os.open(root / "lock", os.O_CREAT | os.O_RDWR, 0o644)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(handle)
        raise StoreError(f"{root}: another runner works on this run") from error
    return handle


def list_runs(runs_dir: Path) -> list[Path]:
    """Run directories below `runs_dir`, newest first."""
    if not runs_dir.is_dir():
        return []
    found = [p for p in runs_dir.iterdir() if (p / "run.sqlite").is_file() and not p.is_symlink()]
    return sorted(found, key=lambda p: (p / "run.sqlite").stat().st_mtime, reverse=True)


def check_database(file: Path) -> str | None:
    """None when SQLite finds the file whole, else what is wrong."""
    with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as db:
        try:
            answer = str(db.execute("PRAGMA quick_check").fetchone()[0])
        except sqlite3.DatabaseError as error:
            return str(error)
    return None if answer == "ok" else answer
