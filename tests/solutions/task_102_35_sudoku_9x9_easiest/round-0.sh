# Complete at the first attempt: search with the cell of fewest candidates first.
cat clawbench/sources/puzzle.txt
#---
mkdir -p results
python3 <<'PY'
import json
from pathlib import Path

lines = Path("clawbench/sources/puzzle.txt").read_text(encoding="utf-8").split("\n")
grid = [[0 if c == "." else int(c) for c in line.split()] for line in lines if line.strip()]
SIZE, BOX = len(grid), int(len(grid) ** 0.5)


def candidates(row, column):
    top, left = row - row % BOX, column - column % BOX
    used = {*grid[row], *(grid[r][column] for r in range(SIZE))}
    used |= {grid[r][c] for r in range(top, top + BOX) for c in range(left, left + BOX)}
    return [n for n in range(1, SIZE + 1) if n not in used]


def solve():
    empty = [(r, c) for r in range(SIZE) for c in range(SIZE) if not grid[r][c]]
    if not empty:
        return True
    row, column = min(empty, key=lambda cell: len(candidates(*cell)))
    for number in candidates(row, column):
        grid[row][column] = number
        if solve():
            return True
    grid[row][column] = 0
    return False


assert solve()
text = "\n".join(" ".join(map(str, row)) for row in grid) + "\n"
Path("results/solution.txt").write_text(text, encoding="utf-8")
note = "Backtracking that always fills the empty cell with the fewest candidates."
document = {"solution": grid, "approach": note}
Path("results/solution.json").write_text(json.dumps(document), encoding="utf-8")
print(text)
PY
#: The puzzle is solved; the grid is in results/solution.txt and results/solution.json.
