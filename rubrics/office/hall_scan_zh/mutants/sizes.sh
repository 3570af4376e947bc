# A stand is measured wrongly.
python3 - <<'PY'
import csv
path = 'results/stands.csv'
with open(path, encoding="utf-8", newline="") as f:
    rows = list(csv.reader(f))
col = rows[0].index('宽')
key = rows[0].index('展位')
for row in rows[1:]:
    if row[key] in ['8']:
        row[col] = '6'
with open(path, "w", encoding="utf-8", newline="") as f:
    csv.writer(f, lineterminator="\n").writerows(rows)
PY
