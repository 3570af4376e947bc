# The scale's error is not taken off.
python3 - <<'PY'
import csv
path = 'results/animals.csv'
with open(path, encoding="utf-8", newline="") as f:
    rows = list(csv.reader(f))
col = rows[0].index('体重')
key = rows[0].index('名字')
for row in rows[1:]:
    if row[key] in ['三叶']:
        row[col] = '7.6'
with open(path, "w", encoding="utf-8", newline="") as f:
    csv.writer(f, lineterminator="\n").writerows(rows)
PY
