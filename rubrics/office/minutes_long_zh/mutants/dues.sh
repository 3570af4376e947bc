# The first date, before it was moved.
python3 - <<'PY'
import csv
path = 'results/register.csv'
with open(path, encoding="utf-8", newline="") as f:
    rows = list(csv.reader(f))
col = rows[0].index('期限')
key = rows[0].index('决议')
for row in rows[1:]:
    if row[key] in ['决议11']:
        row[col] = '2024-03-31'
with open(path, "w", encoding="utf-8", newline="") as f:
    csv.writer(f, lineterminator="\n").writerows(rows)
PY
