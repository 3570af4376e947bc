# also: rota
# Two shifts on one day.
python3 - <<'PY'
import csv
path = 'results/rota.csv'
with open(path, encoding="utf-8", newline="") as f:
    rows = list(csv.reader(f))
col = rows[0].index('person')
key = rows[0].index('shift')
for row in rows[1:]:
    if row[key] in ['late']:
        row[col] = 'Lin Zhao'
with open(path, "w", encoding="utf-8", newline="") as f:
    csv.writer(f, lineterminator="\n").writerows(rows)
PY
