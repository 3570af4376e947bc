"""Code checks for the puzzle: any completion that keeps the givens and obeys the rules is right.

The puzzle and the box size come from the reference file. No solution is compared with.
"""

import json
import re

TEXT, DATA = "solution.txt", "solution.json"
_BLANK = r"[.0_*?xX-]"


def _puzzle(references):
    """(givens with 0 for blanks, box height, box width)."""
    truth = references.json("references/ground_truth.json")
    return truth["puzzle"], *truth["box"]


def _cell(value):
    """A cell as a number; 0 for an empty one, None for what is no cell."""
    if value is None or value == "":
        return 0
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    text = str(value).strip()
    if re.fullmatch(_BLANK, text) or text == "":
        return 0
    return int(text) if re.fullmatch(r"\d{1,3}", text) else None


def _row(line, size):
    """The cells of one line of text, spaced in any way; None when it is no line of a grid."""
    if re.search(rf"[^\d\s,|;\[\]{_BLANK[1:-1]}]", line) or not re.search(r"[\d.]", line):
        return None
    cells = re.findall(rf"\d+|{_BLANK}", line)
    if len(cells) == 1 and len(line.strip()) == size:
        cells = list(line.strip())
    elif len(cells) != size:
        packed = re.sub(r"[\s,|;\[\]]", "", line)
        cells = list(packed) if len(packed) == size else cells
    return [_cell(c) for c in cells]


def _text_grid(evidence, size):
    text = evidence.text(TEXT)
    if text is None:
        return None
    lines = text.lstrip("\ufeff").splitlines()
    rows = [row for line in lines if (row := _row(line, size)) is not None]
    return rows or None


def _data_grid(evidence):
    try:
        document = json.loads((evidence.text(DATA) or "").lstrip("\ufeff"))
    except (ValueError, RecursionError):
        return None
    grid = document
    if isinstance(document, dict):
        grid = next((v for k, v in document.items() if str(k).lower() == "solution"), None)
        if isinstance(grid, dict):
            grid = grid.get("grid", grid.get("solution"))
    if not isinstance(grid, list) or not grid:
        return None
    rows = [list(r) if isinstance(r, list) else re.findall(rf"\d+|{_BLANK}", r) if isinstance(r, str) else None for r in grid]
    if None in rows:
        return None
    split = [list(r[0]) if len(r) == 1 and isinstance(r[0], str) else r for r in rows]
    return [[_cell(c) for c in r] for r in split]


def _grids(evidence, size):
    """Name -> grid of the files that hold one."""
    grids = {TEXT: _text_grid(evidence, size), DATA: _data_grid(evidence)}
    return {name: grid for name, grid in grids.items() if grid is not None}


def _square(grid, size):
    return len(grid) == size and all(len(row) == size for row in grid)


def _complete(grid, size):
    return _square(grid, size) and all(c is not None and 1 <= c <= size for row in grid for c in row)


def complete(evidence, references):
    """Both files hold a grid of the right size without empty cells; half for one of them."""
    puzzle, _, _ = _puzzle(references)
    size = len(puzzle)
    whole = [name for name, grid in _grids(evidence, size).items() if _complete(grid, size)]
    said = f"a completed {size}x{size} grid in: {', '.join(whole) or 'no file'}"
    return {"value": len(whole) / 2, "reason": said, "evidence": whole}


def _kept(grid, puzzle):
    """First given cell that differs, as (row, column) from 1; None when all are kept."""
    size = len(puzzle)
    places = ((r, c) for r in range(size) for c in range(size) if puzzle[r][c])
    return next(((r + 1, c + 1) for r, c in places if grid[r][c] != puzzle[r][c]), None)


def givens(evidence, references):
    """Every given number stands unchanged in every grid that was saved."""
    puzzle, _, _ = _puzzle(references)
    grids = _grids(evidence, len(puzzle))
    if not grids or not all(_square(g, len(puzzle)) for g in grids.values()):
        return {"value": 0.0, "reason": "no grid of the right size"}
    changed = {name: at for name, g in grids.items() if (at := _kept(g, puzzle))}
    said = "; ".join(f"{name}: row {r} column {c}" for name, (r, c) in changed.items())
    return {"value": float(not changed), "reason": said or "all givens kept", "evidence": list(grids)}


def _units(size, height, width):
    """Name and cells of every row, column and box."""
    for n in range(size):
        yield f"row {n + 1}", [(n, c) for c in range(size)]
        yield f"column {n + 1}", [(r, n) for r in range(size)]
    for top in range(0, size, height):
        for left in range(0, size, width):
            cells = [(top + r, left + c) for r in range(height) for c in range(width)]
            yield f"box at row {top + 1} column {left + 1}", cells


def _broken(grid, size, height, width):
    whole = set(range(1, size + 1))
    return [name for name, cells in _units(size, height, width) if {grid[r][c] for r, c in cells} != whole]


def _validity(grid, puzzle, height, width):
    """(value, reason) of one grid: partial only when it is complete and keeps the givens."""
    size = len(puzzle)
    if not _complete(grid, size):
        return 0.0, "not a completed grid"
    broken = _broken(grid, size, height, width)
    if not broken:
        return 1.0, "every row, column and box is right"
    if _kept(grid, puzzle):
        return 0.0, f"wrong: {broken[0]}; and a given was changed"
    units = 2 * size + size * size // (height * width)
    return 1 - len(broken) / units, f"wrong: {', '.join(broken[:4])}"


def valid(evidence, references):
    """Share of right rows, columns and boxes, of the worse grid where both files have one."""
    puzzle, height, width = _puzzle(references)
    grids = _grids(evidence, len(puzzle))
    if not grids:
        return {"value": 0.0, "reason": "no grid was saved"}
    value, said = min(_validity(g, puzzle, height, width) for g in grids.values())
    return {"value": value, "reason": said, "evidence": list(grids)}


def given_changed(evidence, references):
    """1 when a saved grid of the right size has another number where one was given."""
    puzzle, _, _ = _puzzle(references)
    for name, grid in _grids(evidence, len(puzzle)).items():
        if _square(grid, len(puzzle)) and (at := _kept(grid, puzzle)):
            return {"value": 1.0, "reason": f"{name}: row {at[0]} column {at[1]}", "evidence": [name]}
    return {"value": 0.0, "reason": "no given was changed"}


def cells_empty(evidence, references):
    """1 when a saved grid still has empty cells."""
    puzzle, _, _ = _puzzle(references)
    for name, grid in _grids(evidence, len(puzzle)).items():
        if any(cell in (0, None) for row in grid for cell in row):
            return {"value": 1.0, "reason": f"{name} has empty cells", "evidence": [name]}
    return {"value": 0.0, "reason": "no empty cells"}
