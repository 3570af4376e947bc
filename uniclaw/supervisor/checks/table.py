"""A table of text cells under a header, however it was delimited."""

import csv
import io
from dataclasses import dataclass
from typing import cast

from pydantic import JsonValue

from uniclaw.supervisor.checks.values import normal

DELIMITERS = ",;\t|"
MAX_CELLS = 2_000_000


@dataclass(frozen=True, kw_only=True)
class Table:
    """Rows of one width."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, lines: list[list[str]]) -> "Table":
        """The first line that is not blank is the header; short rows are filled with blanks.

        Raises:
            ValueError: there is no such line.
        """
        filled = [line for line in lines if any(cell.strip() for cell in line)]
        if not filled:
            raise ValueError("it is empty")
        width = max(len(line) for line in filled)
        padded = [tuple(line) + ("",) * (width - len(line)) for line in filled]
        return cls(header=padded[0], rows=tuple(padded[1:]))

    def column(self, name: str) -> int | None:
        """Index of a column, by name without case and surrounding space.

        None when there is none, or more than one.
        """
        wanted = normal(name, ignore_case=True)
        found = [i for i, h in enumerate(self.header) if normal(h, ignore_case=True) == wanted]
        return found[0] if len(found) == 1 else None


def parse_table(text: str, delimiter: str | None) -> Table:
    """Parse delimited text; without a delimiter, the one that the header holds most.

    Raises:
        ValueError: empty, malformed, or too large.
    """
    if "\0" in text:
        raise ValueError("it holds NUL bytes")
    used = delimiter or _guess(text)
    lines: list[list[str]] = []
    cells = 0
    try:
        for line in csv.reader(io.StringIO(text), delimiter=used):
            lines.append(line)
            cells += len(line)
            if cells > MAX_CELLS:
                raise ValueError(f"more than {MAX_CELLS} cells")
    except csv.Error as error:
        raise ValueError(str(error)) from error
    return Table.of(lines)


def _guess(text: str) -> str:
    """Counts delimiters outside quotes in the first line that is not blank."""
    first = next((line for line in text.split("\n") if line.strip()), "")
    outside = "".join(piece for i, piece in enumerate(first.split('"')) if i % 2 == 0)
    return max(DELIMITERS, key=outside.count)


def read_rows(value: JsonValue) -> list[list[str]]:
    """Rows of text that the grader sent back.

    Raises:
        ValueError: it is something else.
    """
    if not isinstance(value, list) or not all(
        isinstance(row, list) and all(isinstance(cell, str) for cell in row) for row in value
    ):
        raise ValueError("the workbook reader answered with something else than rows")
    return cast("list[list[str]]", value)
