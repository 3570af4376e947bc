# The count alone, without what went out after it.
python3 - <<'PY'
import csv
path = 'results/stock.csv'
with open(path, encoding="utf-8", newline="") as f:
    rows = list(csv.reader(f))
col = rows[0].index('quantity')
key = rows[0].index('article')
for row in rows[1:]:
    if row[key] in ['番茄丁罐头']:
        row[col] = '351'
with open(path, "w", encoding="utf-8", newline="") as f:
    csv.writer(f, lineterminator="\n").writerows(rows)
PY
