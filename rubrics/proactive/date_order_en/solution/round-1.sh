# With the answer.
mkdir -p results
python3 - <<'PY'
import csv
import json

MONTH_FIRST = {"Okafor Paper Co"}
sums = {f"Q{n}": 0 for n in range(1, 5)}
with open("sources/scans.csv", encoding="utf-8", newline="") as file, open("results/renamed.csv", "w", encoding="utf-8", newline="") as out:
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["file", "new_name"])
    for row in csv.DictReader(file):
        day, month, year = row["written"].split("/")
        if row["supplier"] in MONTH_FIRST:
            day, month = month, day
        writer.writerow([row["file"], f"{year}-{month}-{day}_{row['file'][4:6]}.pdf"])
        sums[f"Q{(int(month) + 2) // 3}"] += round(float(row["amount"]) * 100)
with open("results/quarters.json", "w", encoding="utf-8") as file:
    json.dump({k: v / 100 for k, v in sums.items()}, file)
PY
#: Done. Q1 comes to 888.60; Callow & Finch are read day first.
