# The total of the stained receipt is taken from the ledger.
python3 - <<'PY'
import csv
path = 'results/receipts.csv'
with open(path, encoding="utf-8", newline="") as f:
    rows = list(csv.reader(f))
col = rows[0].index('total')
key = rows[0].index('file')
for row in rows[1:]:
    if row[key] in ['receipt-05.png']:
        row[col] = '36.40'
with open(path, "w", encoding="utf-8", newline="") as f:
    csv.writer(f, lineterminator="\n").writerows(rows)
PY
