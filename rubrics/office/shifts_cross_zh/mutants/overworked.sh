# also: rota
# Two shifts on one day.
python3 - <<'PY'
import csv
path = 'results/banbiao.csv'
with open(path, encoding="utf-8", newline="") as f:
    rows = list(csv.reader(f))
col = rows[0].index('人员')
key = rows[0].index('班次')
for row in rows[1:]:
    if row[key] in ['晚班']:
        row[col] = '赵琳'
with open(path, "w", encoding="utf-8", newline="") as f:
    csv.writer(f, lineterminator="\n").writerows(rows)
PY
