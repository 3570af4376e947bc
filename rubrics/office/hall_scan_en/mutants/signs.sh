# Water is overlooked.
python3 - <<'PY'
import csv
path = 'results/stands.csv'
with open(path, encoding="utf-8", newline="") as f:
    rows = list(csv.reader(f))
col = rows[0].index('water')
key = rows[0].index('stand')
for row in rows[1:]:
    if row[key] in ['7']:
        row[col] = 'no'
with open(path, "w", encoding="utf-8", newline="") as f:
    csv.writer(f, lineterminator="\n").writerows(rows)
PY
