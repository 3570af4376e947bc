# Second attempt: one row for each order, the conflicts with their sources, and the notes.
python3 <<'PY'
import csv
import json
from decimal import Decimal
from pathlib import Path


def read(path):
    with path.open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def plain(value):
    return " ".join(value.split()).casefold()


exports, products, orders, settled, repeated, batches = {}, {}, {}, {}, 0, {}
for path in sorted(Path("clawbench/sources").glob("*.csv")):
    rows = read(path)
    head = set(rows[0])
    if "revenue_usd" in head:
        kind = "orders"
        for row in rows:
            repeated += row["order_id"] in orders
            assert orders.setdefault(row["order_id"], row) == row
    elif "unit_price_usd" in head:
        kind = "products"
        products.update({r["sku"]: r for r in rows})
    elif "settled_amount_usd" in head:
        kind = "reconciliation"
        settled.update({r["order_id"]: r for r in rows})
    else:
        kind = "customers"
        for row in rows:
            record = {
                "name": row.get("full_name") or row.get("name") or "",
                "email": row.get("email_address") or row.get("email") or "",
                "address": row.get("city") or "",
                "signup": (row.get("signup_at") or row.get("signup_date") or "")[:10],
                "file": path.name,
            }
            exports.setdefault((row.get("customer_id") or row["id"]).strip(), []).append(record)
    batches.setdefault(kind, []).append(path.name)

conflicts, kept = [], {}
for customer, records in sorted(exports.items()):
    chosen = kept[customer] = max(records, key=lambda r: r["signup"])
    fields, cosmetic = {}, True
    for field in ("name", "email", "address"):
        values = {}
        for record in records:
            if record[field]:
                values.setdefault(record[field], []).append(record["file"])
        if len(values) > 1:
            fields[field] = values
            cosmetic = cosmetic and len({plain(v) for v in values}) == 1
    if fields:
        conflicts.append(
            {
                "customer_id": customer,
                "classification": "false_positive" if cosmetic else "real_conflict",
                "differing_fields": sorted(fields),
                "values": {
                    field: [{"value": v, "source_files": files} for v, files in values.items()]
                    for field, values in fields.items()
                },
                "kept": {"name": " ".join(chosen["name"].split()), "from": chosen["file"]},
            }
        )
real = [c for c in conflicts if c["classification"] == "real_conflict"]
drift = [c for c in conflicts if c not in real]
Path("results/conflicts.json").write_text(json.dumps(conflicts, indent=1), encoding="utf-8")

with Path("results/conflict_review.csv").open("w", newline="", encoding="utf-8") as stream:
    writer = csv.writer(stream)
    writer.writerow(
        ["customer_id", "distinct_names", "source_files", "chosen_name_if_any", "why_it_needs_review"]
    )
    for conflict in conflicts:
        records = exports[conflict["customer_id"]]
        why = (
            f"the exports disagree on {', '.join(conflict['differing_fields'])}"
            if conflict in real
            else "false positive: only case or spacing differs"
        )
        writer.writerow(
            [
                conflict["customer_id"],
                " | ".join(dict.fromkeys(r["name"] for r in records)),
                "; ".join(dict.fromkeys(r["file"] for r in records)),
                "" if conflict in real else conflict["kept"]["name"],
                why,
            ]
        )

columns = ["order_id", "customer_id", "sku", "quantity", "revenue_usd", "order_date"]
with Path("results/master.csv").open("w", newline="", encoding="utf-8") as stream:
    writer = csv.writer(stream)
    writer.writerow(
        [*columns, "customer_name", "customer_email", "product_name", "category", "region", "settled_amount_usd"]
    )
    for order in orders.values():
        customer, product = kept[order["customer_id"]], products[order["sku"]]
        writer.writerow(
            [
                *(order[c] for c in columns),
                " ".join(customer["name"].split()), customer["email"].strip(),
                product["name"], product["category"], product["region"],
                settled.get(order["order_id"], {}).get("settled_amount_usd", ""),
            ]
        )

totals = {}
for order in orders.values():
    totals[order["sku"]] = totals.get(order["sku"], Decimal(0)) + Decimal(order["revenue_usd"])
best = sorted(totals, key=lambda sku: totals[sku], reverse=True)[:5]
lines = [
    "# Merge summary",
    "",
    f"- Total rows: {len(orders)} (deduped: {repeated} repeated order rows were dropped)",
    f"- Unique customers: {len({o['customer_id'] for o in orders.values()})}",
    f"- Total revenue: {sum(totals.values()):,.2f} USD",
    "",
    "## Top 5 products by revenue",
    "",
    *(f"{n}. {sku} ({products[sku]['name']}): {totals[sku]:,.2f}" for n, sku in enumerate(best, 1)),
    "",
    "## What disagreed",
    "",
    *(
        f"- {label}: {sum(field in c['differing_fields'] for c in real)} customers"
        for field, label in (("name", "Name spelling or another name"), ("email", "Contact (email)"), ("address", "Address (city)"))
    ),
    "",
    "## Which version was kept",
    "",
    "The record with the latest signup date; the source file of each is in conflicts.json.",
    "",
    "## Where the records come from",
    "",
    *(f"- {kind}: {', '.join(names)}" for kind, names in sorted(batches.items())),
    "",
    "## Cosmetic drift and real conflicts",
    "",
    f"- False positives, only case or spacing: {', '.join(c['customer_id'] for c in drift)}",
    f"- Manual review needed: {', '.join(c['customer_id'] for c in real)}",
]
Path("results/summary.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
print("\n".join(lines))
PY
#: master.csv now has one row for each order. The customer conflicts are in conflicts.json and
#: conflict_review.csv, with the cosmetic ones told apart, and the summary explains the choices.
