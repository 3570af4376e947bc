# A repeat is taken for a new ticket.
python3 - <<'PY'
import csv
path = 'results/calls.csv'
with open(path, encoding="utf-8", newline="") as f:
    rows = list(csv.reader(f))
col = rows[0].index('重呼')
key = rows[0].index('时间')
for row in rows[1:]:
    if row[key] in ['09:33']:
        row[col] = '否'
with open(path, "w", encoding="utf-8", newline="") as f:
    csv.writer(f, lineterminator="\n").writerows(rows)
PY
