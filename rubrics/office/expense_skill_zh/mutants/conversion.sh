# One foreign amount is converted wrongly.
python3 - <<'PY'
import csv
path = 'results/claim.csv'
with open(path, encoding="utf-8", newline="") as f:
    rows = list(csv.reader(f))
col = rows[0].index('折合人民币')
key = rows[0].index('序号')
for row in rows[1:]:
    if row[key] in ['2']:
        row[col] = '1.00'
with open(path, "w", encoding="utf-8", newline="") as f:
    csv.writer(f, lineterminator="\n").writerows(rows)
PY
