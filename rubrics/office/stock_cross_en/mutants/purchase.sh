# Packs of the old size.
python3 - <<'PY'
import csv
path = 'results/purchase.csv'
with open(path, encoding="utf-8", newline="") as f:
    rows = list(csv.reader(f))
col = rows[0].index('units')
key = rows[0].index('sku')
for row in rows[1:]:
    if row[key] in ['B07']:
        row[col] = '12'
with open(path, "w", encoding="utf-8", newline="") as f:
    csv.writer(f, lineterminator="\n").writerows(rows)
PY
