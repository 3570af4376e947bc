# The longer term is forgotten.
python3 - <<'PY'
import csv
path = 'results/plan.csv'
with open(path, encoding="utf-8", newline="") as f:
    rows = list(csv.reader(f))
col = rows[0].index('最后一天')
key = rows[0].index('客户')
for row in rows[1:]:
    if row[key] in ['C-01']:
        row[col] = '2026-05-31'
with open(path, "w", encoding="utf-8", newline="") as f:
    csv.writer(f, lineterminator="\n").writerows(rows)
PY
