"""Statements about delimited tables and workbook sheets."""

from collections.abc import Iterator

from uniclaw.hidden.rubric import Cell, CsvCheck, Ref
from uniclaw.hidden.verdict import CheckResult
from uniclaw.supervisor.apart import JobKey
from uniclaw.supervisor.checks.context import (
    BrokenOnEvidence,
    CheckContext,
    Statement,
    Undecidable,
    conclude,
    hold,
    unmet,
)
from uniclaw.supervisor.checks.matching import matched_rows
from uniclaw.supervisor.checks.table import Table, parse_table, read_rows
from uniclaw.supervisor.checks.values import Tolerance, number, read_number, same_cell, show
from uniclaw.supervisor.frozen import Unreadable, decode

MAX_TABLE_BYTES = 20_000_000
WORKBOOK_SUFFIXES = (".xlsx", ".xlsm")


def check_csv(part: str, check: CsvCheck, context: CheckContext) -> CheckResult:
    """Carry out a `csv` check; where a glob matches several files the best one counts.

    Raises:
        Undecidable: a workbook could not be read for want of the grader environment.
    """
    try:
        entries = context.files.readable(check.path)
    except Unreadable as error:
        return unmet(str(error))
    results = [_check_file(part, check, entry.path, context) for entry in entries]
    return max(results, key=lambda result: result.value or 0.0)


def _check_file(part: str, check: CsvCheck, path: str, context: CheckContext) -> CheckResult:
    try:
        table = _load(part, check, path, context)
    except (Unreadable, BrokenOnEvidence, ValueError) as error:
        return unmet(f"{path} is no table: {error}", evidence=[path])
    statements = list(_statements(check, table, context))
    return conclude(statements, partial=check.partial, evidence=[path])


def _load(part: str, check: CsvCheck, path: str, context: CheckContext) -> Table:
    if path.lower().endswith(WORKBOOK_SUFFIXES):
        return Table.of(_sheet(part, path, context))
    entry = context.files.readable(path)[0]
    text = decode(context.files.read(entry, max_bytes=MAX_TABLE_BYTES))
    return parse_table(text, check.delimiter)


def _sheet(part: str, path: str, context: CheckContext) -> list[list[str]]:
    result = context.jobs.get(JobKey(part, path))
    if result is None or result.status == "unavailable":
        raise Undecidable(result.reason if result else f"{path} was not read")
    if result.status == "failed":
        raise BrokenOnEvidence(result.reason)
    return read_rows(result.value)


def _statements(check: CsvCheck, table: Table, context: CheckContext) -> Iterator[Statement]:
    if check.columns:
        missing = [name for name in check.columns if table.column(name) is None]
        yield hold(not missing, f"columns missing or doubled: {missing}" if missing else "columns")
    if check.rows is not None:
        wanted = context.references.value(check.rows)
        yield hold(len(table.rows) == number(wanted), f"{len(table.rows)} rows")
    if check.unique:
        yield _unique(check, table)
    for cell in check.cells:
        yield _cell(cell, table, context)
    if check.equals is not None:
        yield _equals(check, check.equals, table, context)


def _unique(check: CsvCheck, table: Table) -> Statement:
    columns = [table.column(name) for name in check.unique]
    if None in columns or not table.rows:
        return hold(False, f"no rows with {list(check.unique)}")
    keys = [tuple(row[c] for c in columns if c is not None) for row in table.rows]
    distinct = {tuple(_canonical(text) for text in key) for key in keys}
    return hold(len(distinct) == len(keys), f"{len(keys) - len(distinct)} rows repeat their key")


def _canonical(text: str) -> str | float:
    found = read_number(text)
    return " ".join(text.split()) if found is None else found


def _cell(cell: Cell, table: Table, context: CheckContext) -> Statement:
    """The row is found by exact values; where several match, all must say the same."""
    column = table.column(cell.column)
    where = {
        table.column(key): context.references.value(value) for key, value in cell.where.items()
    }
    shown = ", ".join(
        f"{key} is {show(value)}" for key, value in zip(cell.where, where.values(), strict=False)
    )
    name = f"{cell.column} where {shown}"
    if column is None or None in where:
        return hold(False, f"{name}: a column is missing or doubled")
    rows = [
        row
        for row in table.rows
        if all(same_cell(row[c], v) for c, v in where.items() if c is not None)
    ]
    if not rows:
        return hold(False, f"{name}: no such row")
    expected = context.references.value(cell.value)
    tolerance = Tolerance(cell.abs_tol, cell.rel_tol)
    wrong = [row[column] for row in rows if not same_cell(row[column], expected, tolerance)]
    return hold(not wrong, f"{name}: {show(wrong[0] if wrong else rows[0][column])}")


def _equals(check: CsvCheck, ref: Ref, table: Table, context: CheckContext) -> Statement:
    """Value: matched rows over the rows of the longer table."""
    reference = parse_table(decode(context.references.read(ref.ref)), None)
    names = check.columns or tuple(reference.header)
    ours = [reference.column(name) for name in names]
    theirs = [table.column(name) for name in names]
    if None in ours or None in theirs:
        missing = [n for n, c in zip(names, theirs, strict=True) if c is None]
        return hold(False, f"differs from the reference: columns {missing} missing or doubled")
    expected = [[row[c] for c in ours if c is not None] for row in reference.rows]
    actual = [[row[c] for c in theirs if c is not None] for row in table.rows]
    tolerance = Tolerance(check.abs_tol, check.rel_tol)
    matched = matched_rows(actual, expected, tolerance, ordered=check.ordered)
    longest = max(len(actual), len(expected))
    share = matched / longest if longest else 1.0
    return Statement(share, f"{matched} of {longest} rows agree with the reference")
