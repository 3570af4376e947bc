# A first attempt: table and text without the base prices.
cat skills/shelf-labels/SKILL.md skills/shelf-labels/scripts/register.sh; cat sources/goods.csv
#--- the labels
mkdir -p results
cat > /tmp/labels.py <<'PY'
import csv, sys

base = "base" in sys.argv
with open("sources/purchase.csv", encoding="utf-8") as file:
    paid = {row["article"]: float(row["purchase_eur"]) for row in csv.DictReader(file)}
with open("sources/goods.csv", encoding="utf-8") as file:
    goods = [row for row in csv.DictReader(file) if float(row["price_eur"]) >= paid[row["article"]]]
labels = []
for row in goods:
    digits = row["article"] + {"piece": "1", "kg": "2", "m": "3"}[row["unit"]]
    check = -sum(int(d) * w for d, w in zip(digits, (7, 3, 1, 7, 3, 1))) % 10
    price = f"{float(row['price_eur']):.2f}"
    per = f"1 {row['unit']} = {price} EUR" if base and row["unit"] != "piece" else ""
    labels.append([f"{digits}{check}", row["name"], price, row["unit"], per])
labels.sort()
with open("results/labels.csv", "w", encoding="utf-8", newline="") as file:
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["code", "name", "price", "unit", "base_price"])
    writer.writerows(labels)
with open("results/labels.txt", "w", encoding="utf-8") as file:
    for code, name, price, _, _ in labels:
        file.write(f"{code} {name.upper()[:16]:.<16} {price:>7}\n")
PY
python3 /tmp/labels.py; cat results/labels.csv results/labels.txt
echo '6 labels; left out for their purchase price: Lime paint white, Trellis wire.' > results/note.md
#: Six labels are in results/.
