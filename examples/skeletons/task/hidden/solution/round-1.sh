# What it does after the user was not satisfied.
#--- the counts
python3 - <<'PY'
import csv, json
counts = {}
with open("sources/items.csv", encoding="utf-8", newline="") as file:
    for row in csv.DictReader(file):
        colour = row["colour"].strip().lower()
        counts[colour] = counts.get(colour, 0) + int(row["pieces"])
with open("results/count.json", "w", encoding="utf-8") as file:
    json.dump(counts, file)
PY
#: I had counted two spellings of one colour apart. There are 14 pieces in all.
