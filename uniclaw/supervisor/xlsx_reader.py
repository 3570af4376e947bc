"""Reads one sheet of an .xlsx workbook as rows of text, with the standard library alone.

Runs inside a grader environment, next to `pycheck_runner.py`. Numbers come as Python writes
them, booleans as `true` and `false`, dates in ISO form, formulas as their saved results.
"""

from __future__ import annotations

import re
import zipfile
from datetime import date, timedelta
from pathlib import Path
from xml.etree import ElementTree

MAX_PART_BYTES = 200_000_000
MAX_CELLS = 2_000_000
MAX_COLUMNS = 16_384
_MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_BUILT_IN_DATES = set(range(14, 23)) | set(range(45, 48))


class NoSheet(ValueError):
    """The workbook has no sheet of that name."""


def read_sheet(path: Path, name: str | None = None) -> list[list[str]]:
    """Rows of a sheet, the first one when `name` is None.

    Raises:
        ValueError: no workbook, damaged, too large, or without the sheet.
    """
    try:
        with zipfile.ZipFile(str(path)) as archive:
            book = _xml(archive, "xl/workbook.xml")
            target = _sheet_part(archive, book, name)
            strings = _shared_strings(archive)
            dates = _date_styles(archive)
            since = 1904 if _uses_1904(book) else 1900
            return _rows(_xml(archive, target), strings, dates, since)
    except (zipfile.BadZipFile, ElementTree.ParseError, KeyError, OSError) as error:
        raise ValueError(f"no readable workbook: {error}") from error


def _xml(archive: zipfile.ZipFile, part: str) -> ElementTree.Element:
    if archive.getinfo(part).file_size > MAX_PART_BYTES:
        raise ValueError(f"{part} is too large")
    with archive.open(part) as stream:
        data = stream.read(MAX_PART_BYTES + 1)
    if b"<!DOCTYPE" in data[:2000] or b"<!ENTITY" in data:
        raise ValueError(f"{part} declares entities")
    return ElementTree.fromstring(data)


def _sheet_part(archive: zipfile.ZipFile, book: ElementTree.Element, name: str | None) -> str:
    sheets = list(book.iter(f"{_MAIN}sheet"))
    chosen = [s for s in sheets if name is None or s.get("name") == name]
    if not chosen:
        names = [s.get("name") for s in sheets]
        raise NoSheet(f"no sheet {name!r}; there are {names}")
    relations = _xml(archive, "xl/_rels/workbook.xml.rels")
    wanted = chosen[0].get(_RELATION)
    for relation in relations:
        if relation.get("Id") == wanted:
            target = relation.get("Target", "")
            return target.lstrip("/") if target.startswith("/") else f"xl/{target}"
    raise NoSheet(f"the sheet {name!r} has no part")


def _shared_strings(archive: zipfile.ZipFile) -> list[str]:
    if "xl/sharedStrings.xml" not in archive.namelist():
        return []
    root = _xml(archive, "xl/sharedStrings.xml")
    return [_text(item) for item in root.iter(f"{_MAIN}si")]


def _text(item: ElementTree.Element) -> str:
    """Text of a string item without its phonetic hints."""
    pieces: list[str] = []
    for child in item:
        if child.tag == f"{_MAIN}t":
            pieces.append(child.text or "")
        elif child.tag == f"{_MAIN}r":
            pieces.extend(t.text or "" for t in child.iter(f"{_MAIN}t"))
    return "".join(pieces)


def _date_styles(archive: zipfile.ZipFile) -> set[int]:
    """Indexes of the cell styles that show a number as a date or time."""
    if "xl/styles.xml" not in archive.namelist():
        return set()
    root = _xml(archive, "xl/styles.xml")
    custom = {
        int(f.get("numFmtId", "0")): f.get("formatCode", "") for f in root.iter(f"{_MAIN}numFmt")
    }
    formats = root.find(f"{_MAIN}cellXfs")
    found: set[int] = set()
    for index, style in enumerate([] if formats is None else formats):
        number = int(style.get("numFmtId", "0"))
        code = re.sub(r'"[^"]*"|\[[^\]]*\]|\\.', "", custom.get(number, ""))
        if number in _BUILT_IN_DATES or re.search(r"[ymdhs]", code, re.IGNORECASE):
            found.add(index)
    return found


def _uses_1904(book: ElementTree.Element) -> bool:
    settings = book.find(f"{_MAIN}workbookPr")
    return settings is not None and settings.get("date1904") in {"1", "true"}


def _rows(
    sheet: ElementTree.Element, strings: list[str], dates: set[int], since: int
) -> list[list[str]]:
    rows: list[list[str]] = []
    cells = 0
    for row in sheet.iter(f"{_MAIN}row"):
        number = int(row.get("r", len(rows) + 1))
        if number - len(rows) > MAX_CELLS:
            raise ValueError("the sheet is too large")
        rows.extend([] for _ in range(len(rows), number - 1))
        line: list[str] = []
        for cell in row.iter(f"{_MAIN}c"):
            column = _column(cell.get("r"), len(line))
            line.extend("" for _ in range(len(line), column))
            line.append(_value(cell, strings, dates, since))
        rows.append(line)
        cells += len(line) + 1
        if cells > MAX_CELLS:
            raise ValueError("the sheet is too large")
    return rows


def _column(reference: str | None, default: int) -> int:
    letters = re.match(r"[A-Z]{1,3}", reference or "")
    if letters is None:
        return default
    index = 0
    for letter in letters.group():
        index = index * 26 + ord(letter) - 64
    if index > MAX_COLUMNS:
        raise ValueError("the sheet is too wide")
    return index - 1


def _value(cell: ElementTree.Element, strings: list[str], dates: set[int], since: int) -> str:
    kind = cell.get("t", "n")
    if kind == "inlineStr":
        inline = cell.find(f"{_MAIN}is")
        return "" if inline is None else _text(inline)
    raw = cell.findtext(f"{_MAIN}v")
    if raw is None:
        return ""
    if kind == "s":
        return strings[int(raw)] if int(raw) < len(strings) else ""
    if kind == "b":
        return "true" if raw == "1" else "false"
    if kind != "n":
        return raw
    number = float(raw)
    if int(cell.get("s", "0")) in dates:
        return _date(number, since)
    return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)


def _date(number: float, since: int) -> str:
    if not 0 <= number < 2958466:
        return repr(number)
    days, seconds = divmod(round(number * 86400), 86400)
    clock = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    if number < 1:
        return clock
    first = date(1904, 1, 1) if since == 1904 else date(1899, 12, 30)
    day = (first + timedelta(days=days)).isoformat()
    return day if seconds == 0 else f"{day} {clock}"
