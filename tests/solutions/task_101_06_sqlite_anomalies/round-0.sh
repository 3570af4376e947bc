# First attempt: the script to rerun the checks is left out, and the rows of broken links to
# products are overlooked.
ls -R clawbench/sources
cat /root/skills/sql-toolkit/SKILL.md
#---
mkdir -p results
python3 <<'PY'
import csv
import json
import sqlite3
from pathlib import Path

db = sqlite3.connect(":memory:")
db.row_factory = sqlite3.Row
db.executescript(Path("clawbench/sources/orders.db.sql").read_text(encoding="utf-8"))
QUERIES = {
    "negative_unit_price": "SELECT * FROM orders WHERE unit_price < 0 ORDER BY order_id",
    "duplicate_order_number": (
        "SELECT * FROM orders WHERE order_number IN"
        " (SELECT order_number FROM orders GROUP BY order_number HAVING COUNT(*) > 1)"
        " ORDER BY order_number, order_id"
    ),
    "orphan_customer": (
        "SELECT * FROM orders WHERE customer_id NOT IN (SELECT customer_id FROM customers)"
    ),
    "outside_import_window": (
        "SELECT * FROM orders WHERE date(ordered_at) NOT BETWEEN '2010-12-01' AND '2010-12-31'"
        " ORDER BY order_id"
    ),
}
SHOWN = {
    "negative_unit_price": "unit_price",
    "duplicate_order_number": "order_number",
    "orphan_customer": "customer_id",
    "outside_import_window": "ordered_at",
}
found = {kind: [dict(row) for row in db.execute(sql)] for kind, sql in QUERIES.items()}
Path("results/anomalies.json").write_text(json.dumps(found, indent=2), encoding="utf-8")
with Path("results/anomaly_rows.csv").open("w", newline="", encoding="utf-8") as stream:
    writer = csv.writer(stream)
    writer.writerow(
        "anomaly_type table_name primary_key order_number customer_id product_id evidence_value lookup_sql".split()
    )
    for kind, rows in found.items():
        for row in rows:
            writer.writerow(
                [
                    kind, "orders", row["order_id"], row["order_number"], row["customer_id"],
                    row["product_id"], f"{SHOWN[kind]}={row[SHOWN[kind]]}",
                    f"SELECT * FROM orders WHERE order_id = {row['order_id']};",
                ]
            )
for kind, rows in found.items():
    print(kind, len(rows))
PY
#: I loaded the dump, checked it and wrote the findings to results/anomalies.json, with one line
#: per offending row in results/anomaly_rows.csv.
