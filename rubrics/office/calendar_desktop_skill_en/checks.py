"""Checks over the workbook: what was entered, by formulas, and what it comes to."""

import datetime
import zipfile

import openpyxl


def _sheets(evidence):
    """The workbook with its formulas and with its stored results, or None."""
    path = evidence.path("calendar.xlsx")
    if path is None:
        return None
    try:
        return openpyxl.load_workbook(path), openpyxl.load_workbook(path, data_only=True)
    except (OSError, ValueError, KeyError, zipfile.BadZipFile):
        return None


def _plain(value):
    if isinstance(value, datetime.datetime):
        return value.strftime("%Y-%m-%d") if value.time() == datetime.time(0) else value.strftime("%H:%M")
    if isinstance(value, (datetime.date, datetime.time)):
        return value.strftime("%H:%M" if isinstance(value, datetime.time) else "%Y-%m-%d")
    if isinstance(value, datetime.timedelta):
        minutes = round(value.total_seconds() / 60)
        return f"{minutes // 60:02}:{minutes % 60:02}"
    return str("" if value is None else value).strip()


def _rows(book, first):
    if "Bookings" not in book.sheetnames:
        return []
    rows = [[cell.value for cell in row[:8]] for row in book["Bookings"].iter_rows(min_row=first, max_row=60, max_col=8)]
    while rows and not any(_plain(v) for v in rows[-1]):
        rows.pop()
    return rows


def entries(evidence, references, columns, first):
    """Share of the expected rows whose named columns are right, in order; rows too many count against it."""
    books = _sheets(evidence)
    if books is None:
        return {"value": 0.0, "reason": "no readable calendar.xlsx"}
    wanted = references.json("references/expected.json")["rows"]
    rows = _rows(books[1], first)
    hits = 0
    for row, true in zip(rows, wanted):
        row = [*row, *[None] * (8 - len(row))]
        hits += all(_plain(row[c]).lower() == str(true[c]).lower() for c in columns)
    extra = max(0, len(rows) - len(wanted))
    return {"value": max(0.0, (hits - extra) / len(wanted)), "reason": f"{hits} of {len(wanted)} rows, {extra} more", "evidence": ["calendar.xlsx"]}


def formulas(evidence, references, first):
    """Share of the new rows with a formula for the hours (and the fee, where one is due) and its stored result."""
    books = _sheets(evidence)
    if books is None:
        return {"value": 0.0, "reason": "no readable calendar.xlsx"}
    wanted = references.json("references/expected.json")["rows"]
    made, results = _rows(books[0], first), _rows(books[1], first)
    hits = 0
    for formula, result, true in zip(made, results, wanted):
        formula, result = [*formula, *[None] * 8], [*result, *[None] * 8]
        hours = str(formula[5]).startswith("=") and _near(result[5], true[5])
        fee = _near(result[6], true[6]) and (true[7] == "clash" or "tariff" in str(formula[6]).lower())
        hits += hours and fee
    return {"value": hits / len(wanted), "reason": f"{hits} of {len(wanted)} rows calculate", "evidence": ["calendar.xlsx"]}


def _near(value, wanted):
    if isinstance(value, datetime.timedelta):
        value = value.total_seconds() / 3600
    return isinstance(value, (int, float)) and abs(value - wanted) < 0.005


def old_changed(evidence, references):
    """1 when an old booking or the tariff is no longer what it was."""
    books = _sheets(evidence)
    source = evidence.source("calendar.xlsx")
    if books is None or source is None:
        return {"value": 0.0, "reason": "nothing to compare"}
    before = openpyxl.load_workbook(source, data_only=True)
    old = [[_plain(v) for v in row] for row in _rows(before, 1)]
    now = [[_plain(v) for v in row] for row in _rows(books[1], 1)[: len(old)]]

    def tariff(book):
        rows = book["Tariff"].iter_rows(values_only=True) if "Tariff" in book.sheetnames else []
        return [[_plain(v) for v in row] for row in rows]

    kept = old == now and tariff(before) == tariff(books[1])
    return {"value": 0.0 if kept else 1.0, "reason": "kept" if kept else "old rows or tariff differ", "evidence": ["calendar.xlsx"]}
