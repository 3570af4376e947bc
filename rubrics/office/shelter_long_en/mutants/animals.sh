# The door's old number.
python3 - <<'PY'
import csv
path = 'results/animals.csv'
with open(path, encoding="utf-8", newline="") as f:
    rows = list(csv.reader(f))
col = rows[0].index('kennel')
key = rows[0].index('name')
for row in rows[1:]:
    if row[key] in ['Bramble']:
        row[col] = '4'
with open(path, "w", encoding="utf-8", newline="") as f:
    csv.writer(f, lineterminator="\n").writerows(rows)
PY
