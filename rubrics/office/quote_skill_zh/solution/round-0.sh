# 第一版：漏了满额优惠，其余照规则。
cat skills/baojia/SKILL.md skills/baojia/prices.csv skills/baojia/issued.csv skills/baojia/template.md skills/baojia/terms-*.md
#--- 询价和量尺
cat sources/request.txt sources/measurements.csv
#--- 算价和填写
mkdir -p results work
python3 - <<'PY'
import csv
import json
from datetime import date, timedelta
from decimal import ROUND_HALF_UP, ROUND_UP, Decimal

SKILL = "skills/baojia/"
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
    unit = cents(area * price[row["wood"]] * (Decimal("1.12") if row["finish"] == "上油" else 1))
    pieces = int(row["pieces"])
    goods += unit * pieces
    if row["fitted"] == "是":
        fitting += pieces * Decimal("450.00" if area > 1 else "280.00")
    name = f"{row['item']}，{row['wood']}"
    rows.append(f"| {row['pos']} | {name} | {row['width']} x {row['height']} | {pieces} | {unit:.2f} | {unit * pieces:.2f} |")
discount = Decimal("0.00")
net = goods - discount + fitting
vat = cents(net * Decimal("0.13"))
last = max(r["number"] for r in read(SKILL + "issued.csv"))
day = date(2025, 5, 12)
quote = {
    "number": f"{last[:-3]}{int(last[-3:]) + 1:03}",
    "customer": "马家桥口腔诊所",
    "date": str(day),
    "valid_until": str(day + timedelta(days=30)),
    "goods": goods, "discount": discount, "fitting": fitting, "net": net, "vat": vat, "total": net + vat,
}
with open(SKILL + "terms-business.md", encoding="utf-8") as file:
    terms = file.read().strip()
with open(SKILL + "template.md", encoding="utf-8") as file:
    text = file.read()
said = {k: f"{v:.2f}" if isinstance(v, Decimal) else v for k, v in quote.items()}
for key, value in (said | {"contact": "芮欧宁", "rows": "\n".join(rows), "terms": terms}).items():
    text = text.replace("{" + key + "}", value)
with open("work/quote.md", "w", encoding="utf-8") as file:
    file.write(text)
with open("results/quote.json", "w", encoding="utf-8") as file:
    json.dump({k: float(v) if isinstance(v, Decimal) else v for k, v in quote.items()}, file, ensure_ascii=False, indent=2)
print(text)
PY
#--- 转换
pandoc work/quote.md -o results/quote.docx --reference-doc skills/baojia/letterhead.docx
soffice --headless --convert-to pdf --outdir results results/quote.docx > work/soffice.log 2>&1; pdfinfo results/quote.pdf | grep -E 'Pages|Producer'
#: 报价单 XY-2025-043 已做好，在 results/ 里。
