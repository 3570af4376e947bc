"""The SQLite file of a run: schema, opening, the writer's lock, and how a run comes to be."""

import fcntl
import os
import secrets
import shutil
import sqlite3
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path

from pydantic import JsonValue

from uniclaw.errors import StoreError, UserError
from uniclaw.failpoints import reach
from uniclaw.records import SCHEMA_VERSION
from uniclaw.store.atomic import sync_directory, to_json

FILE = "run.sqlite"
LOCK = "lock"
NEW = ".new-"
"""Prefix of a run that is being made."""
SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS episodes (
  task_id TEXT NOT NULL, cell TEXT NOT NULL, trial INTEGER NOT NULL,
  episode_id TEXT NOT NULL UNIQUE, attempt INTEGER NOT NULL, state TEXT NOT NULL,
  outcome TEXT, reason TEXT, rounds INTEGER, final_score REAL, best_score REAL,
  executor_s REAL, wall_s REAL, row TEXT, base_id TEXT NOT NULL,
  PRIMARY KEY (task_id, cell, trial));
CREATE INDEX IF NOT EXISTS episodes_base ON episodes (base_id);
CREATE INDEX IF NOT EXISTS episodes_totals ON episodes
  (state, outcome, final_score, best_score);
CREATE INDEX IF NOT EXISTS episodes_groups ON episodes
  (task_id, cell, state, outcome, best_score, episode_id);
CREATE TABLE IF NOT EXISTS attempts (
  base_id TEXT NOT NULL, attempt INTEGER NOT NULL, episode_id TEXT NOT NULL UNIQUE,
  state TEXT NOT NULL, outcome TEXT, reason TEXT, started_at TEXT NOT NULL, wall_s REAL,
  PRIMARY KEY (base_id, attempt));
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
  request TEXT NOT NULL, reused INTEGER NOT NULL,
  PRIMARY KEY (episode_id, attempt, seq));
"""


def connect(file: Path) -> sqlite3.Connection:
    """Open the database for reading and writing.

    Raises:
        StoreError: it is none, or cannot be opened.
    """
    try:
        db = sqlite3.connect(file, timeout=30, check_same_thread=False)
        db.execute("PRAGMA journal_mode=WAL")
        db.execute("PRAGMA synchronous=FULL")
    except sqlite3.Error as error:
        raise StoreError(f"cannot open {file}: {error}") from error
    return db


@contextmanager
def writing(db: sqlite3.Connection) -> Generator[sqlite3.Connection]:
    """One transaction.

    Raises:
        StoreError: the disk is full, or the file cannot be written.
    """
    try:
        with db:
            yield db
    except sqlite3.OperationalError as error:
        raise StoreError(f"cannot write the run's database: {error}") from error


def take_lock(root: Path) -> int:
    """Become the one writer of a run.

    Raises:
        StoreError: another process is.
    """
    handle = os.open(root / LOCK, os.O_CREAT | os.O_RDWR, 0o644)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(handle)
        raise StoreError(f"{root}: another runner works on this run") from error
    return handle


def create_run(root: Path, settings: JsonValue) -> int:
    """Make a run beside its place and rename it there, so that half a run is never seen.

    Returns:
        The writer's lock.

    Raises:
        UserError: the run exists.
        StoreError: the directory cannot be written.
    """
    try:
        root.parent.mkdir(parents=True, exist_ok=True)
        maker = os.open(root.parent, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise StoreError(f"cannot create {root}: {error}") from error
    try:
        # One maker at a time: whatever is half-made now has no living maker.
        fcntl.flock(maker, fcntl.LOCK_EX)
        return _create(root, settings)
    finally:
        os.close(maker)


def _create(root: Path, settings: JsonValue) -> int:
    for old in root.parent.glob(f"{NEW}*"):
        shutil.rmtree(old, ignore_errors=True)
    new = root.parent / f"{NEW}{secrets.token_hex(6)}"
    try:
        new.mkdir()
    except OSError as error:
        raise StoreError(f"cannot create {root}: {error}") from error
    reach("run.directory")
    lock = take_lock(new)
    try:
        _fill(new, settings)
        _publish(new, root)
    except BaseException:
        os.close(lock)
        shutil.rmtree(new, ignore_errors=True)
        raise
    return lock


def _fill(new: Path, settings: JsonValue) -> None:
    with closing(connect(new / FILE)) as db, db:
        db.executescript(SCHEMA)
        db.execute("INSERT INTO meta VALUES ('schema_version', ?)", (str(SCHEMA_VERSION),))
        db.execute("INSERT INTO meta VALUES ('settings', ?)", (to_json(settings),))
    sync_directory(new)
    reach("run.rows")


def _publish(new: Path, root: Path) -> None:
    try:
        if root.exists():
            raise FileExistsError(root)
        new.rename(root)
    except OSError as error:
        if root.exists():
            raise UserError(
                f"run exists in {root.parent}; choose another name", field="run", value=root.name
            ) from error
        raise StoreError(f"cannot create {root}: {error}") from error
    sync_directory(root.parent)
    reach("run.published")


def check_database(file: Path) -> str | None:
    """None when SQLite finds the file whole, else what is wrong."""
    with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as db:
        try:
            answer = str(db.execute("PRAGMA quick_check").fetchone()[0])
        except sqlite3.DatabaseError as error:
            return str(error)
    return None if answer == "ok" else answer
