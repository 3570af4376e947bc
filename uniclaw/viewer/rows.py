"""What the pages ask of a run's SQLite, read-only: counts, pages of episodes, cells, tasks, calls.

Lists are filtered, sorted and paged by SQL over columns; of a row's JSON only single fields are
read, inside SQLite.
"""

import sqlite3
import stat
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing, contextmanager
from urllib.parse import quote

from pydantic import JsonValue
from pydantic_core import from_json

from uniclaw.records import SCHEMA_VERSION
from uniclaw.viewer.access import Folder, NoSuchPage
from uniclaw.viewer.row_types import (
    SCORED,
    SORTS,
    Call,
    Cost,
    Group,
    Measured,
    Row,
    TaskFacts,
    Totals,
    Wanted,
    marks,
    where_of,
)

_COLUMNS = (
    "e.episode_id, e.task_id, e.cell, e.trial, e.attempt, e.state, e.outcome, e.reason, e.rounds,"
    " e.final_score, e.best_score, e.executor_s, e.wall_s, e.base_id"
)


_ROLES = ("executor", "judge", "user_simulator", "auditor")
_ROUNDS = 6
"""Of an episode, rounds that are looked at for blocked drafts."""


def _by_role(one: str) -> str:
    """A sum over roles; `one` reads a field of a role's part of a row."""
    paid, usage = (
        " + ".join(one.format(path=f"$.{part}.{role}") for role in _ROLES)
        for part in ("paid", "usage")
    )
    return f"CASE json_type(row, '$.paid') WHEN 'object' THEN {paid} ELSE {usage} END"


class RunRows:
    """One open run."""

    def __init__(self, name: str, db: sqlite3.Connection) -> None:
        self.name = name
        self._db = db

    def settings(self) -> Mapping[str, JsonValue]:
        """What the run was started with; empty when it cannot be read."""
        try:
            value: JsonValue = from_json(self.meta("settings") or "{}")
        except ValueError:
            return {}
        return value if isinstance(value, dict) else {}

    def meta(self, key: str) -> str | None:
        """One stored setting of the database."""
        row = self._db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return None if row is None else str(row[0])

    def totals(self) -> Totals:
        """The run in numbers, by one pass."""
        sums = ", ".join(
            f"SUM({'1' if kind == 'n' else column} * ({column} IS NOT NULL))"
            for column in ("final_score", "best_score")
            for kind in ("sum", "n")
        )
        outcomes: dict[str, int] = {}
        planned = settled = 0
        scores = [0.0] * 4
        for state, outcome, number, *found in self._db.execute(
            f"SELECT state, COALESCE(outcome, ''), COUNT(*), {sums} FROM episodes GROUP BY 1, 2"
        ):
            planned += int(number)
            if state != "done":
                continue
            settled += int(number)
            outcomes[str(outcome)] = int(number)
            if outcome in SCORED:
                scores = [a + float(b or 0.0) for a, b in zip(scores, found, strict=True)]
        (started,) = self._db.execute(
            "SELECT COUNT(*) FROM attempts WHERE state = 'started'"
        ).fetchone()
        return Totals(
            planned=planned,
            settled=settled,
            scored=sum(n for name, n in outcomes.items() if name in SCORED),
            passed=outcomes.get("pass", 0),
            final=scores[0] / scores[1] if scores[1] else None,
            best=scores[2] / scores[3] if scores[3] else None,
            outcomes=outcomes,
            started=int(started),
        )

    def cost(self) -> Cost:
        """Money over all roles. Reads a field of every row: seconds on a large run."""
        money = _by_role("COALESCE(json_extract(row, '{path}.cost_usd'), 0)")
        known = _by_role("(json_extract(row, '{path}.cost_usd') IS NOT NULL)")
        parts = _by_role("(json_type(row, '{path}') IS 'object')")
        total, priced, unpriced = self._db.execute(
            f"SELECT SUM({money}), SUM({known}), SUM(({parts}) > ({known})) FROM episodes"
            " WHERE state = 'done' AND json_valid(row)"
        ).fetchone()
        return Cost(float(total or 0.0) if priced else None, int(unpriced or 0))

    def episodes(self, wanted: Wanted, *, offset: int, limit: int) -> list[Row]:
        """One page of a list."""
        where, values = where_of(wanted)
        order = SORTS.get(wanted.sort, SORTS["order"])
        if wanted.descending:
            first, *rest = order.split(", ")
            order = ", ".join((f"{first} DESC", *rest))
        # Rows without a value stand last in either direction.
        first = order.split(",")[0].removesuffix(" DESC")
        last = "" if first == "e.rowid" else f"{first} IS NULL, "
        rows = self._db.execute(
            f"SELECT {_COLUMNS} FROM episodes e{where} ORDER BY {last}{order} LIMIT ? OFFSET ?",
            (*values, limit, offset),
        )
        return [Row(*row) for row in rows]

    def count(self, wanted: Wanted) -> int:
        """How many episodes a list has."""
        where, values = where_of(wanted)
        return int(
            self._db.execute(f"SELECT COUNT(*) FROM episodes e{where}", values).fetchone()[0]
        )

    def episode(self, episode_id: str) -> Row | None:
        """One episode, by the id of its result, of its plan or of any attempt."""
        row = self._db.execute(
            f"SELECT {_COLUMNS} FROM episodes e WHERE e.episode_id = ?1 OR e.base_id = ?1"
            " OR e.base_id = (SELECT base_id FROM attempts WHERE episode_id = ?1)"
            " ORDER BY e.episode_id = ?1 DESC LIMIT 1",
            (episode_id,),
        ).fetchone()
        return None if row is None else Row(*row)

    def siblings(self, row: Row) -> tuple[str | None, str | None]:
        """Ids of the episodes planned before and after one."""
        found: list[str | None] = []
        for sign, order in (("<", "DESC"), (">", "ASC")):
            other = self._db.execute(
                f"SELECT episode_id FROM episodes WHERE rowid {sign} (SELECT rowid FROM episodes"
                f" WHERE episode_id = ?) ORDER BY rowid {order} LIMIT 1",
                (row.episode_id,),
            ).fetchone()
            found.append(None if other is None else str(other[0]))
        return found[0], found[1]

    def same_task(self, row: Row, limit: int) -> list[Row]:
        """Episodes of the same task, other than this."""
        rows = self._db.execute(
            f"SELECT {_COLUMNS} FROM episodes e WHERE e.task_id = ? AND e.episode_id != ?"
            " ORDER BY e.cell = ? DESC, e.rowid LIMIT ?",
            (row.task_id, row.episode_id, row.cell, limit),
        )
        return [Row(*found) for found in rows]

    def attempts(self, base_id: str) -> list[tuple[int, str, str, str | None]]:
        """Number, id, state and outcome of every attempt at an episode."""
        rows = self._db.execute(
            "SELECT attempt, episode_id, state, outcome FROM attempts WHERE base_id = ?"
            " ORDER BY attempt",
            (base_id,),
        )
        return [(int(a), str(b), str(c), None if d is None else str(d)) for a, b, c, d in rows]

    def running(self, limit: int) -> list[tuple[str, str]]:
        """Attempts without an end: id and start."""
        rows = self._db.execute(
            "SELECT episode_id, started_at FROM attempts WHERE state = 'started'"
            " ORDER BY rowid DESC LIMIT ?",
            (limit,),
        )
        return [(str(a), str(b)) for a, b in rows]

    def groups(self, task_id: str | None = None) -> list[Group]:
        """Every (task, cell) with its counts, or those of one task."""
        where = "" if task_id is None else " WHERE task_id = ?"
        rows = self._db.execute(
            "SELECT task_id, cell, COUNT(*), SUM(state = 'done'),"
            f" SUM(state = 'done' AND outcome IN ({marks(SCORED)})),"
            " SUM(state = 'done' AND outcome = 'pass'), AVG(best_score), MIN(episode_id)"
            f" FROM episodes{where} GROUP BY task_id, cell ORDER BY task_id, cell",
            SCORED if task_id is None else (*SCORED, task_id),
        )
        return [Group(*row) for row in rows]

    def tasks(self) -> list[TaskFacts]:
        """Every task that has a settled row, by one row each."""
        fields = ", ".join(
            f"json_extract(row, '$.{name}')"
            for name in ("family", "capability", "language", "suite", "threshold")
        )
        rows = self._db.execute(f"SELECT e.task_id, {fields} {_one_by('task_id')}")
        return [
            TaskFacts(str(t), str(f or t), str(c or "general"), str(n or "en"), str(s or ""), x)
            for t, f, c, n, s, x in rows
        ]

    def cells(self) -> list[str]:
        """Names of all cells."""
        rows = self._db.execute("SELECT DISTINCT cell FROM episodes ORDER BY 1")
        return [str(row[0]) for row in rows]

    def cell_axes(self) -> dict[str, Mapping[str, JsonValue]]:
        """Axes of every cell that has a settled row."""
        rows = self._db.execute(f"SELECT e.cell, json_extract(row, '$.axes') {_one_by('cell')}")
        return {str(cell): _object(text) for cell, text in rows}

    def measures(self) -> Iterator[Measured]:
        """Of every settled episode: task, cell, trial, outcome, scores, seconds, money, rounds."""
        rows = self._db.execute(
            "SELECT task_id, cell, trial, outcome, final_score, best_score, executor_s,"
            " json_extract(row, '$.usage.executor.cost_usd'), rounds"
            " FROM episodes WHERE state = 'done' AND outcome IS NOT NULL AND json_valid(row)"
        )
        return (Measured(*row) for row in rows)

    def calls(self, episode_id: str, limit: int) -> list[Call]:
        """Model exchanges of one attempt, in order."""
        rows = self._db.execute(
            "SELECT seq, role, model, ok, blob, spent, reused FROM calls WHERE episode_id = ?"
            " ORDER BY attempt, seq LIMIT ?",
            (episode_id, limit),
        )
        return [
            Call(int(n), str(role), str(model), bool(ok), str(blob), _object(spent), bool(reused))
            for n, role, model, ok, blob, spent, reused in rows
        ]

    def leaks(self) -> dict[str, tuple[int, int]]:
        """By cell: feedback messages blocked, and rounds that had feedback."""
        blocked = " + ".join(
            f"CASE WHEN rounds > {n} THEN COALESCE(json_extract(row, '$.rounds[{n}].blocked'), 0)"
            " ELSE 0 END"
            for n in range(_ROUNDS)
        )
        rows = self._db.execute(
            f"SELECT cell, SUM({blocked}), SUM(MAX(rounds - 1, 0)) FROM episodes"
            " WHERE state = 'done' AND json_valid(row) GROUP BY 1"
        )
        return {str(cell): (int(a or 0), int(b or 0)) for cell, a, b in rows}


def _one_by(column: str) -> str:
    """FROM clause: one settled row for each value of a column, found without reading the rest."""
    return (
        f"FROM (SELECT DISTINCT {column} AS value FROM episodes) d JOIN episodes e ON e.rowid ="
        f" (SELECT rowid FROM episodes WHERE {column} = d.value AND state = 'done'"
        f" AND json_valid(row) LIMIT 1) ORDER BY e.{column}"
    )


def _object(text: object) -> Mapping[str, JsonValue]:
    try:
        value: JsonValue = from_json(str(text))
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


@contextmanager
def open_rows(folder: Folder) -> Generator[RunRows]:
    """A run's rows.

    Raises:
        NoSuchPage: no database, damaged, or of a newer version.
    """
    file = folder.root / "run.sqlite"
    try:
        if not stat.S_ISREG(file.lstat().st_mode):
            raise NoSuchPage("error.no_run", folder.root.name)
    except OSError as error:
        raise NoSuchPage("error.no_run", folder.root.name) from error
    try:
        with closing(_connect(folder)) as db:
            rows = RunRows(folder.root.name, db)
            _check_version(rows)
            yield rows
    except sqlite3.Error as error:
        if not file.exists():
            raise NoSuchPage("error.gone", folder.root.name, status=410) from error
        raise NoSuchPage("error.database", f"{folder.root.name}: {error}", status=409) from error


def _connect(folder: Folder) -> sqlite3.Connection:
    address = f"file:{quote(str(folder.root / 'run.sqlite'))}?mode=ro"
    db = sqlite3.connect(address, uri=True, timeout=5)
    try:
        db.execute("SELECT 1 FROM sqlite_master").fetchone()
    except sqlite3.OperationalError:
        db.close()
        # A directory that cannot be written holds no log of a writer to wait for.
        return sqlite3.connect(f"{address}&immutable=1", uri=True)
    return db


def _check_version(rows: RunRows) -> None:
    version = rows.meta("schema_version")
    if version is None or not version.isdigit():
        raise NoSuchPage("error.database", rows.name, status=409)
    if int(version) > SCHEMA_VERSION:
        detail = f"{rows.name}: {version} > {SCHEMA_VERSION}"
        raise NoSuchPage("error.newer", detail, status=409)


def stamp(folder: Folder) -> tuple[int, ...]:
    """Changes whenever the run's database does."""
    found: list[int] = []
    for name in ("run.sqlite", "run.sqlite-wal"):
        try:
            state = (folder.root / name).lstat()
        except OSError:
            continue
        found += [state.st_ino, state.st_mtime_ns, state.st_size]
    return tuple(found)
