# A hasty first attempt: categories, rates and refusals are right, the daily limits are overlooked.
cat skills/expense-rules/SKILL.md skills/expense-rules/rates.csv
#--- the log
wc -l sources/trip-log.csv; cat sources/trip-log.csv
#--- the script and the table
mkdir -p results
cat > results/claim.py <<'PY'
import csv
import sys
from decimal import ROUND_HALF_UP, Decimal

CATEGORY = {'hotel': 'ACC', 'train': 'TRV', 'taxi': 'TRV', 'flight': 'TRV', 'ferry': 'TRV', 'meal': 'MEA', 'drink': 'MEA', 'km': 'KMS', 'parking': 'OTH', 'other': 'OTH'}
COLUMNS = ['line', 'date', 'category', 'description', 'currency', 'amount', 'rate', 'amount_eur', 'status', 'reason']


def money(value):
    return value.quantize(Decimal("0.01"), ROUND_HALF_UP)


def read(path):
    with open(path, encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def main(log, rates):
    per_month = {(r["month"], r["currency"]): Decimal(r["eur_per_unit"]) for r in read(rates)}
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(COLUMNS)
    eaten = {}
    for number, row in enumerate(sorted(read(log), key=lambda r: r["when"]), 1):
        day, kind = row["when"][:10], row["kind"]
        currency = row["currency"] or "KM"
        if kind == "km":
            rate = Decimal("0.32")
        elif currency == "EUR":
            rate = Decimal(1)
        else:
            rate = per_month[day[:7], currency]
        paid, status, reason = money(Decimal(row["amount"]) * rate), "ok", ""
        if kind == "drink":
            paid, status, reason = Decimal(0), "refused", "alcohol"
        elif row["receipt"] == "no" and kind != "km" and paid > 20:
            paid, status, reason = Decimal(0), "refused", "no-receipt"
        writer.writerow([number, day, CATEGORY[kind], row["what"], currency,
                         f"{money(Decimal(row['amount']))}", f"{rate:.4f}", f"{money(paid)}", status, reason])


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: claim.py LOG.csv RATES.csv")
    main(sys.argv[1], sys.argv[2])
PY
python3 results/claim.py sources/trip-log.csv skills/expense-rules/rates.csv > results/claim.csv
cat results/claim.csv
#--- the summary
python3 - <<'PY'
import csv, json
from decimal import Decimal
rows = list(csv.DictReader(open("results/claim.csv", encoding="utf-8")))
by = {}
for row in rows:
    by[row["category"]] = by.get(row["category"], Decimal(0)) + Decimal(row["amount_eur"])
summary = {
    "period_from": rows[0]["date"],
    "period_to": rows[-1]["date"],
    "rows": len(rows),
    "total_eur": float(sum(by.values())),
    "by_category": {key: float(value) for key, value in sorted(by.items())},
    "refused": [int(row["line"]) for row in rows if row["status"] == "refused"],
}
with open("results/claim.json", "w", encoding="utf-8") as file:
    json.dump(summary, file, ensure_ascii=False, indent=2)
print(summary)
PY
#: The claim, its summary and the script are in results/. Refused: lines 4, 12, 21.
