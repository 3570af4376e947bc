# A metre too much in October.
python3 - <<'PY'
import csv
path = 'results/monthly.csv'
with open(path, encoding="utf-8", newline="") as f:
    rows = list(csv.reader(f))
col = rows[0].index('max_river_m')
key = rows[0].index('month')
for row in rows[1:]:
    if row[key] in ['2024-10']:
        row[col] = '2.79'
with open(path, "w", encoding="utf-8", newline="") as f:
    csv.writer(f, lineterminator="\n").writerows(rows)
PY
