# The old meter is forgotten.
python3 - <<'PY'
import csv
path = 'results/bills.csv'
with open(path, encoding="utf-8", newline="") as f:
    rows = list(csv.reader(f))
col = rows[0].index('electricity')
key = rows[0].index('flat')
for row in rows[1:]:
    if row[key] in ['attic']:
        row[col] = '35.98'
with open(path, "w", encoding="utf-8", newline="") as f:
    csv.writer(f, lineterminator="\n").writerows(rows)
PY
