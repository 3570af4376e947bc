# The day of the first yes.
python3 - <<'PY'
import csv
path = 'results/spec.csv'
with open(path, encoding="utf-8", newline="") as f:
    rows = list(csv.reader(f))
col = rows[0].index('agreed_on')
key = rows[0].index('item')
for row in rows[1:]:
    if row[key] in ['tap']:
        row[col] = '2025-02-03'
with open(path, "w", encoding="utf-8", newline="") as f:
    csv.writer(f, lineterminator="\n").writerows(rows)
PY
