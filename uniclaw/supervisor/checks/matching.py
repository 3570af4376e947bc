"""Count the rows on which two tables agree."""

from collections import defaultdict
from collections.abc import Sequence

from uniclaw.supervisor.checks.values import Tolerance, normal, read_number, same_cell

Row = Sequence[str]
_MAX_SEARCH = 2_000
"""In a larger group of rows that agree in their text, rows are paired in the order of their
numbers instead of searching for each."""


def matched_rows(
    actual: Sequence[Row], expected: Sequence[Row], tolerance: Tolerance, *, ordered: bool
) -> int:
    """How many rows of one table can be paired with equal rows of the other, each once.

    Args:
        actual: rows of one width.
        expected: rows of the same width.
        tolerance: for cells that are numbers on both sides.
        ordered: only rows at the same position are paired.
    """
    if ordered:
        return sum(_same_row(a, e, tolerance) for a, e in zip(actual, expected, strict=False))
    groups: dict[tuple[str, ...], list[Row]] = defaultdict(list)
    for row in actual:
        groups[_text_key(row)].append(row)
    wanted: dict[tuple[str, ...], list[Row]] = defaultdict(list)
    for row in expected:
        wanted[_text_key(row)].append(row)
    return sum(_pair(groups.get(key, []), rows, tolerance) for key, rows in wanted.items())


def _pair(actual: list[Row], expected: list[Row], tolerance: Tolerance) -> int:
    """Pair rows whose text agrees. Sorted by number, near rows meet near rows first."""
    left = sorted(actual, key=_numbers)
    right = sorted(expected, key=_numbers)
    if max(len(left), len(right)) > _MAX_SEARCH:
        return sum(_same_row(a, e, tolerance) for a, e in zip(left, right, strict=False))
    matched = 0
    for row in right:
        index = next((i for i, a in enumerate(left) if _same_row(a, row, tolerance)), None)
        if index is not None:
            left.pop(index)
            matched += 1
    return matched


def _same_row(actual: Row, expected: Row, tolerance: Tolerance) -> bool:
    return all(same_cell(a, e, tolerance) for a, e in zip(actual, expected, strict=True))


def _text_key(row: Row) -> tuple[str, ...]:
    return tuple("#" if read_number(cell) is not None else normal(cell) for cell in row)


def _numbers(row: Row) -> tuple[float, ...]:
    return tuple(n for cell in row if (n := read_number(cell)) is not None)
