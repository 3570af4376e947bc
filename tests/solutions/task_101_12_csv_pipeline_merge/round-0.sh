# First attempt: files are told apart by their headers and joined, but the monthly files overlap
# and nothing is done about it; the conflicts are not looked at yet.
head -n 2 clawbench/sources/*.csv
cat /root/skills/csv-pipeline/SKILL.md
#---
mkdir -p results
python3 <<'PY'
import csv
from pathlib import Path


def read(path):
    with path.open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


customers, products, orders = {}, {}, []
for path in sorted(Path("clawbench/sources").glob("*.csv")):
    rows = read(path)
    head = set(rows[0])
    if "revenue_usd" in head:
        orders += rows
    elif "unit_price_usd" in head:
        products.update({r["sku"]: r for r in rows})
    elif "email" in head or "email_address" in head:
        customers.update({(r.get("customer_id") or r["id"]).strip(): r for r in rows})
columns = ["order_id", "customer_id", "sku", "quantity", "revenue_usd", "order_date"]
with Path("results/master.csv").open("w", newline="", encoding="utf-8") as stream:
    writer = csv.writer(stream)
    writer.writerow([*columns, "customer_name", "product_name"])
    for order in orders:
        customer = customers[order["customer_id"]]
        name = customer.get("full_name") or customer.get("name")
        writer.writerow([*(order[c] for c in columns), name, products[order["sku"]]["name"]])
totals = {}
for order in orders:
    totals[order["sku"]] = totals.get(order["sku"], 0) + float(order["revenue_usd"])
best = sorted(totals, key=totals.get, reverse=True)[:5]
lines = [
    "# Merge summary",
    "",
    f"- Rows: {len(orders)}",
    f"- Unique customers: {len({o['customer_id'] for o in orders})}",
    f"- Total revenue: {sum(totals.values()):.2f} USD",
    "",
    "## Top 5 products by revenue",
    "",
    *(f"{n}. {sku} ({products[sku]['name']}): {totals[sku]:.2f}" for n, sku in enumerate(best, 1)),
]
Path("results/summary.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
print("\n".join(lines))
PY
#: The files are merged into results/master.csv, and results/summary.md has the figures. I have
#: not gone through the customer conflicts yet.
