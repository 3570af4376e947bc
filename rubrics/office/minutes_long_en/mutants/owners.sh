# The officer before last month's election.
python3 - <<'PY'
import csv
path = 'results/register.csv'
with open(path, encoding="utf-8", newline="") as f:
    rows = list(csv.reader(f))
col = rows[0].index('owner')
key = rows[0].index('decision')
for row in rows[1:]:
    if row[key] in ['D-06']:
        row[col] = 'Omar Whitfield'
with open(path, "w", encoding="utf-8", newline="") as f:
    csv.writer(f, lineterminator="\n").writerows(rows)
PY
