# The downpour stands under the day before.
python3 - <<'PY'
import csv
path = 'results/monthly.csv'
with open(path, encoding="utf-8", newline="") as f:
    rows = list(csv.reader(f))
col = rows[0].index('wettest_day')
key = rows[0].index('month')
for row in rows[1:]:
    if row[key] in ['2025-05']:
        row[col] = '2025-05-06'
with open(path, "w", encoding="utf-8", newline="") as f:
    csv.writer(f, lineterminator="\n").writerows(rows)
PY
