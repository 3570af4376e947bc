# Second attempt: links to products too, and the statements are kept.
cat > results/reproduce.sql <<'SQL'
-- Negative unit prices
SELECT order_id, order_number, unit_price FROM orders WHERE unit_price < 0 ORDER BY order_id;

-- Order numbers that stand more than once
SELECT order_number, COUNT(*) AS times FROM orders GROUP BY order_number HAVING COUNT(*) > 1;

-- Orders whose customer does not exist
SELECT o.order_id, o.order_number, o.customer_id
FROM orders o LEFT JOIN customers c ON c.customer_id = o.customer_id
WHERE c.customer_id IS NULL;

-- Orders whose product does not exist
SELECT o.order_id, o.order_number, o.product_id
FROM orders o LEFT JOIN products p ON p.product_id = o.product_id
WHERE p.product_id IS NULL;

-- Orders outside December 2010
SELECT order_id, order_number, ordered_at FROM orders
WHERE date(ordered_at) NOT BETWEEN '2010-12-01' AND '2010-12-31' ORDER BY order_id;
SQL
#---
python3 <<'PY'
import csv
import json
import sqlite3
from pathlib import Path

db = sqlite3.connect(":memory:")
db.row_factory = sqlite3.Row
db.executescript(Path("clawbench/sources/orders.db.sql").read_text(encoding="utf-8"))


def rows(sql):
    return [dict(row) for row in db.execute(sql)]


orphans = {
    kind: rows(
        f"SELECT o.* FROM orders o LEFT JOIN {kind}s t ON t.{kind}_id = o.{kind}_id"
        f" WHERE t.{kind}_id IS NULL"
    )
    for kind in ("customer", "product")
}
repeated = {}
for row in rows("SELECT * FROM orders ORDER BY order_id"):
    repeated.setdefault(row["order_number"], []).append(row)
repeated = {number: members for number, members in repeated.items() if len(members) > 1}
negative = rows("SELECT * FROM orders WHERE unit_price < 0 ORDER BY order_id")
outside = rows(
    "SELECT * FROM orders WHERE date(ordered_at) NOT BETWEEN '2010-12-01' AND '2010-12-31'"
    " ORDER BY order_id"
)
report = {
    "negative_unit_prices": negative,
    "duplicate_order_numbers": [
        {"order_number": n, "count": len(m), "rows": m} for n, m in sorted(repeated.items())
    ],
    "broken_relationships": {
        "missing_customer": orphans["customer"],
        "missing_product": orphans["product"],
    },
    "outside_import_window": outside,
}
Path("results/anomalies.json").write_text(json.dumps(report, indent=2), encoding="utf-8")
lines = [
    *(("negative_unit_price", row, "unit_price") for row in negative),
    *(("duplicate_order_number", row, "order_number") for n in sorted(repeated) for row in repeated[n]),
    *(("orphan_customer", row, "customer_id") for row in orphans["customer"]),
    *(("orphan_product", row, "product_id") for row in orphans["product"]),
    *(("outside_import_window", row, "ordered_at") for row in outside),
]
with Path("results/anomaly_rows.csv").open("w", newline="", encoding="utf-8") as stream:
    writer = csv.writer(stream)
    writer.writerow(
        "anomaly_type table_name primary_key order_number customer_id product_id evidence_value lookup_sql".split()
    )
    for kind, row, column in lines:
        writer.writerow(
            [
                kind, "orders", row["order_id"], row["order_number"], row["customer_id"],
                row["product_id"], f"{column}={row[column]}",
                f"SELECT * FROM orders WHERE order_id = {row['order_id']};",
            ]
        )
print(len(lines), "lines")
PY
#: The checks now cover products that do not exist as well, and results/reproduce.sql holds the
#: statements I used, one for each kind of problem.
