# The plan names the ticket that was closed long ago.
python3 - <<'PY'
import csv
path = 'results/plan.csv'
with open(path, encoding="utf-8", newline="") as f:
    rows = list(csv.reader(f))
col = rows[0].index('ticket')
key = rows[0].index('client')
for row in rows[1:]:
    if row[key] in ['C-04']:
        row[col] = 'T-5'
with open(path, "w", encoding="utf-8", newline="") as f:
    csv.writer(f, lineterminator="\n").writerows(rows)
PY
