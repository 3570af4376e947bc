# What a hasty agent does first: it takes every spelling for another colour.
#--- the list
cat sources/items.csv
#--- the counts
mkdir -p results
python3 - <<'PY'
import csv, json
counts = {}
with open("sources/items.csv", encoding="utf-8", newline="") as file:
    for row in csv.DictReader(file):
        counts[row["colour"]] = counts.get(row["colour"], 0) + int(row["pieces"])
with open("results/count.json", "w", encoding="utf-8") as file:
    json.dump(counts, file)
PY
#: There are 14 pieces in all; results/count.json has them by colour.
