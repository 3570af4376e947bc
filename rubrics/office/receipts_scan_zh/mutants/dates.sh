# One date is misread.
python3 - <<'PY'
import csv
path = 'results/receipts.csv'
with open(path, encoding="utf-8", newline="") as f:
    rows = list(csv.reader(f))
col = rows[0].index('日期')
key = rows[0].index('文件')
for row in rows[1:]:
    if row[key] in ['receipt-01.png']:
        row[col] = '2025-03-13'
with open(path, "w", encoding="utf-8", newline="") as f:
    csv.writer(f, lineterminator="\n").writerows(rows)
PY
