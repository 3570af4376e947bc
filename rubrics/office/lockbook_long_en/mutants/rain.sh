# Inches are taken for millimetres.
python3 - <<'PY'
import csv
path = 'results/monthly.csv'
with open(path, encoding="utf-8", newline="") as f:
    rows = list(csv.reader(f))
col = rows[0].index('rain_mm')
key = rows[0].index('month')
for row in rows[1:]:
    if row[key] in ['2025-02']:
        row[col] = '47.0'
with open(path, "w", encoding="utf-8", newline="") as f:
    csv.writer(f, lineterminator="\n").writerows(rows)
PY
