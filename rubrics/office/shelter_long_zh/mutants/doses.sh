# The tablet under the blanket is counted.
python3 - <<'PY'
import csv
path = 'results/animals.csv'
with open(path, encoding="utf-8", newline="") as f:
    rows = list(csv.reader(f))
col = rows[0].index('服药片数')
key = rows[0].index('名字')
for row in rows[1:]:
    if row[key] in ['青苔']:
        row[col] = '7'
with open(path, "w", encoding="utf-8", newline="") as f:
    csv.writer(f, lineterminator="\n").writerows(rows)
PY
