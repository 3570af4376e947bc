# The officer before last month's election.
python3 - <<'PY'
import csv
path = 'results/register.csv'
with open(path, encoding="utf-8", newline="") as f:
    rows = list(csv.reader(f))
col = rows[0].index('负责人')
key = rows[0].index('决议')
for row in rows[1:]:
    if row[key] in ['决议06']:
        row[col] = '吴建舟'
with open(path, "w", encoding="utf-8", newline="") as f:
    csv.writer(f, lineterminator="\n").writerows(rows)
PY
