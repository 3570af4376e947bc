# The void vote is taken for a revocation.
python3 - <<'PY'
import csv
path = 'results/register.csv'
with open(path, encoding="utf-8", newline="") as f:
    rows = list(csv.reader(f))
col = rows[0].index('状态')
key = rows[0].index('决议')
for row in rows[1:]:
    if row[key] in ['决议05']:
        row[col] = '撤销'
with open(path, "w", encoding="utf-8", newline="") as f:
    csv.writer(f, lineterminator="\n").writerows(rows)
PY
