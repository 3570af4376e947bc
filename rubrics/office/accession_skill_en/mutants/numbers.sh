# also: sealed
# One check letter is wrong.
python3 - <<'PY'
import csv
path = 'results/register.csv'
with open(path, encoding="utf-8", newline="") as f:
    rows = list(csv.reader(f))
col = rows[0].index('number')
key = rows[0].index('number')
for row in rows[1:]:
    if row[key] in ['2025.07.002-W']:
        row[col] = '2025.07.002-A'
with open(path, "w", encoding="utf-8", newline="") as f:
    csv.writer(f, lineterminator="\n").writerows(rows)
PY
