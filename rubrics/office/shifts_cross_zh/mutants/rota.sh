# Wednesday's late shift without the till.
python3 - <<'PY'
import csv
path = 'results/banbiao.csv'
with open(path, encoding="utf-8", newline="") as f:
    rows = list(csv.reader(f))
col = rows[0].index('收银')
key = rows[0].index('日期')
for row in rows[1:]:
    if row[key] in ['2026-03-14']:
        row[col] = '否'
with open(path, "w", encoding="utf-8", newline="") as f:
    csv.writer(f, lineterminator="\n").writerows(rows)
PY
