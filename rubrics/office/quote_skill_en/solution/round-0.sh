# A first attempt: figures and words are right, but on plain paper and without the PDF.
cat skills/quotations/SKILL.md skills/quotations/prices.csv skills/quotations/issued.csv skills/quotations/template.md skills/quotations/terms-*.md
#--- request and measurements
cat sources/request.txt sources/measurements.csv
#--- figures and text
mkdir -p results work
python3 - <<'PY'
import csv
import json
from datetime import date, timedelta
from decimal import ROUND_HALF_UP, ROUND_UP, Decimal

SKILL = "skills/quotations/"
CENT = Decimal("0.01")


def read(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def cents(value):
    return value.quantize(CENT, ROUND_HALF_UP)


price = {r["wood"]: Decimal(r["per_m2"]) for r in read(SKILL + "prices.csv")}
goods = fitting = Decimal(0)
rows = []
for row in read("sources/measurements.csv"):
    raw = Decimal(row["width"]) * Decimal(row["height"]) / 1000000
    area = max((raw / Decimal("0.05")).quantize(Decimal(1), ROUND_UP) * Decimal("0.05"), Decimal("0.25"))
    unit = cents(area * price[row["wood"]] * (Decimal("1.12") if row["finish"] == "oiled" else 1))
    pieces = int(row["pieces"])
    goods += unit * pieces
    if row["fitted"] == "yes":
        fitting += pieces * Decimal("45.00" if area > 1 else "28.00")
    name = f"{row['item']}, {row['wood']}"
    rows.append(f"| {row['pos']} | {name} | {row['width']} x {row['height']} | {pieces} | {unit:.2f} | {unit * pieces:.2f} |")
discount = cents(goods * Decimal("0.05")) if goods >= Decimal("2000.00") else Decimal("0.00")
net = goods - discount + fitting
vat = cents(net * Decimal("0.20"))
last = max(r["number"] for r in read(SKILL + "issued.csv"))
day = date(2025, 5, 12)
quote = {
    "number": f"{last[:-3]}{int(last[-3:]) + 1:03}",
    "customer": "Marlow & Reeve Dental Practice",
    "date": str(day),
    "valid_until": str(day + timedelta(days=30)),
    "goods": goods, "discount": discount, "fitting": fitting, "net": net, "vat": vat, "total": net + vat,
}
with open(SKILL + "terms-business.md", encoding="utf-8") as file:
    terms = file.read().strip()
with open(SKILL + "template.md", encoding="utf-8") as file:
    text = file.read()
said = {k: f"{v:.2f}" if isinstance(v, Decimal) else v for k, v in quote.items()}
for key, value in (said | {"contact": "Ottoline Reeve", "rows": "\n".join(rows), "terms": terms}).items():
    text = text.replace("{" + key + "}", value)
with open("work/quote.md", "w", encoding="utf-8") as file:
    file.write(text)
with open("results/quote.json", "w", encoding="utf-8") as file:
    json.dump({k: float(v) if isinstance(v, Decimal) else v for k, v in quote.items()}, file, ensure_ascii=False, indent=2)
print(text)
PY
#--- convert
pandoc work/quote.md -o results/quote.docx
#: The quotation is in results/quote.docx, the figures for the books in results/quote.json.
