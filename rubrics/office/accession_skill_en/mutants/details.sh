# A donor's code that is not his.
python3 - <<'PY'
import csv
path = 'results/register.csv'
with open(path, encoding="utf-8", newline="") as f:
    rows = list(csv.reader(f))
col = rows[0].index('donor')
key = rows[0].index('number')
for row in rows[1:]:
    if row[key] in ['2025.07.001-L']:
        row[col] = 'D001'
with open(path, "w", encoding="utf-8", newline="") as f:
    csv.writer(f, lineterminator="\n").writerows(rows)
PY
