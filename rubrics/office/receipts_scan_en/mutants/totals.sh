# One total is misread.
python3 - <<'PY'
import csv
path = 'results/receipts.csv'
with open(path, encoding="utf-8", newline="") as f:
    rows = list(csv.reader(f))
col = rows[0].index('total')
key = rows[0].index('file')
for row in rows[1:]:
    if row[key] in ['receipt-03.png']:
        row[col] = '99.99'
with open(path, "w", encoding="utf-8", newline="") as f:
    csv.writer(f, lineterminator="\n").writerows(rows)
PY
