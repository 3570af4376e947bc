"""Other ways to say the same, which must keep the full score.

Forms rewrite what the solution left; nothing here states an answer.
"""

from collections.abc import Callable
from typing import cast

from overlay_bench import ANOMALIES, MERGE, Change, Files
from overlay_edits import Form, Record, edit_table, put, record, records, replace, rewrite
from pydantic import JsonValue

# --- the order dump ----------------------------------------------------------------------

_Groups = dict[str, list[Record]]


def _groups(document: JsonValue) -> _Groups:
    """Rows by kind, out of the solution's report."""
    found = record(document)
    links = record(found["broken_relationships"])
    return {
        "price": records(found["negative_unit_prices"]),
        "duplicate": [
            r for g in records(found["duplicate_order_numbers"]) for r in records(g["rows"])
        ],
        "orphan": [r for rows in links.values() for r in records(rows)],
        "window": records(found["outside_import_window"]),
    }


def _ids(rows: list[Record]) -> list[JsonValue]:
    return [r["order_id"] for r in rows]


def _by_number(rows: list[Record]) -> dict[str, JsonValue]:
    numbers: dict[str, list[JsonValue]] = {}
    for row in rows:
        numbers.setdefault(str(row["order_number"]), []).append(row["order_id"])
    return cast("dict[str, JsonValue]", numbers)


def _bare_ids(document: JsonValue) -> JsonValue:
    g = _groups(document)
    return {
        "invalid_pricing": _ids(g["price"]),
        "repeated_identifiers": _by_number(g["duplicate"]),
        "referential_integrity": _ids(g["orphan"]),
        "dates_not_in_december_2010": _ids(g["window"]),
    }


def _texts(document: JsonValue) -> JsonValue:
    g = _groups(document)
    return {
        "negativeUnitPrices": [str(i) for i in _ids(g["price"])],
        "duplicateOrderNumbers": list(_by_number(g["duplicate"])),
        "orphanRows": [f"order_id={i}" for i in _ids(g["orphan"])],
        "outOfWindow": [f"Order {r['order_id']} ({r['order_number']})" for r in g["window"]],
    }


def _categories(document: JsonValue) -> JsonValue:
    g = _groups(document)
    numbers = _by_number(g["duplicate"])
    groups: list[JsonValue] = [
        {"order_number": n, "count": len(cast("list[JsonValue]", i)), "order_ids": i}
        for n, i in numbers.items()
    ]
    return {
        "source": "orders.db.sql",
        "summary": {"negative_prices": len(g["price"]), "out_of_window_dates": len(g["window"])},
        "categories": [
            {
                "type": "negative_price",
                "description": "unit price below zero",
                "rows": list(g["price"]),
            },
            {"type": "duplicate_order_number", "groups": groups},
            {"type": "orphan_foreign_key", "rows": list(g["orphan"])},
            {"type": "date_outside_window", "rows": list(g["window"])},
        ],
    }


def _keyed(document: JsonValue) -> JsonValue:
    g = _groups(document)
    keyed = {
        kind: cast("JsonValue", {str(r["order_id"]): r for r in rows}) for kind, rows in g.items()
    }
    keyed["duplicate"] = [
        {"identifier": n, "members": i} for n, i in _by_number(g["duplicate"]).items()
    ]
    return {"anomalies": {f"{kind}_anomalies": rows for kind, rows in keyed.items()}}


def _cells(document: JsonValue) -> JsonValue:
    made: dict[str, JsonValue] = {
        kind: [list(r.values()) for r in rows] for kind, rows in _groups(document).items()
    }
    return {**made, "rows_considered_but_not_flagged": [1, 2, 3]}


def _shuffle_columns(rows: list[list[str]]) -> None:
    for index, row in enumerate(rows):
        row.append("remark" if index == 0 else "seen")
        row.reverse()
    rows[1:] = rows[:0:-1]


def _marked(files: Files) -> None:
    files.update({name: "\ufeff" + text for name, text in files.items()})


_ONE_STATEMENT = """
SELECT 'negative price' AS kind, order_id FROM orders WHERE unit_price < 0
UNION ALL
SELECT 'duplicate order number', order_id FROM orders
WHERE order_number IN (SELECT order_number FROM orders GROUP BY 1 HAVING COUNT(*) > 1)
UNION ALL
SELECT 'orphan customer', order_id FROM orders
WHERE NOT EXISTS (SELECT 1 FROM customers c WHERE c.customer_id = orders.customer_id)
UNION ALL
SELECT 'orphan product', order_id FROM orders
WHERE NOT EXISTS (SELECT 1 FROM products p WHERE p.product_id = orders.product_id)
UNION ALL
SELECT 'outside window', order_id FROM orders WHERE strftime('%Y-%m', ordered_at) <> '2010-12'
"""
_SHELL_SCRIPT = """.read orders.db.sql
.headers on
CREATE TEMP VIEW twice AS SELECT order_number FROM orders GROUP BY order_number HAVING COUNT(*) > 1;
select order_number, unit_price from orders where unit_price < 0;
select o.* from orders o join twice using (order_number);
select order_id from orders where customer_id not in (select customer_id from customers)
   or product_id not in (select product_id from products);
select count(*) from orders where ordered_at >= '2011-01-01';
"""

_ANOMALY_FORMS = (
    *(
        Form(ANOMALIES, f.__name__.strip("_"), rewrite("anomalies.json", f))
        for f in (_bare_ids, _texts, _categories, _keyed, _cells)
    ),
    Form(
        ANOMALIES,
        "another category too",
        rewrite("anomalies.json", lambda d: {**record(d), "zero_price_samples": [{"order_id": 1}]}),
    ),
    Form(ANOMALIES, "columns shuffled", edit_table("anomaly_rows.csv", _shuffle_columns)),
    Form(ANOMALIES, "byte-order mark", _marked),
    Form(ANOMALIES, "one statement", put("reproduce.sql", _ONE_STATEMENT)),
    Form(ANOMALIES, "shell script", put("reproduce.sql", _SHELL_SCRIPT)),
)


# --- the merge ---------------------------------------------------------------------------


def _observed(conflict: Record) -> dict[str, list[Record]]:
    return {field: records(values) for field, values in record(conflict["values"]).items()}


def _sources(value: Record) -> list[str]:
    return cast("list[str]", value["source_files"])


def _rewritten(shape: Callable[[dict[str, list[Record]]], Record], **label: JsonValue) -> Change:
    """Give every conflict record another shape; `label` stands in the cosmetic ones."""

    def change(document: JsonValue) -> JsonValue:
        made: list[JsonValue] = []
        for old in records(document):
            cosmetic = old["classification"] == "false_positive"
            made.append(
                {
                    "customer_id": old["customer_id"],
                    **shape(_observed(old)),
                    **(label if cosmetic else {}),
                }
            )
        return made

    return rewrite("conflicts.json", change)


def _by_value(fields: dict[str, list[Record]]) -> Record:
    return {
        "fields": {f: {str(v["value"]): v["source_files"] for v in vs} for f, vs in fields.items()}
    }


def _observations(fields: dict[str, list[Record]]) -> Record:
    return {
        "differences": [
            {
                "field": f,
                "observations": [
                    {"value": v["value"], "source": s} for v in vs for s in _sources(v)
                ],
            }
            for f, vs in fields.items()
        ]
    }


def _parallel(fields: dict[str, list[Record]]) -> Record:
    return {
        "fields": [
            {
                "field": f,
                "values": [v["value"] for v in vs],
                "sources": [v["source_files"] for v in vs],
            }
            for f, vs in fields.items()
        ]
    }


def _sentences(fields: dict[str, list[Record]]) -> Record:
    told = [
        f"{f} '{v['value']}' ({', '.join(_sources(v))})" for f, vs in fields.items() for v in vs
    ]
    return {"differing_fields": list(fields), "evidence": cast("JsonValue", told)}


def _grouped(document: JsonValue) -> JsonValue:
    kinds: dict[str, list[JsonValue]] = {"needs_human_review": [], "cosmetic_drift": []}
    for old in records(document):
        kind = (
            "cosmetic_drift" if old["classification"] == "false_positive" else "needs_human_review"
        )
        kinds[kind].append({k: v for k, v in old.items() if k != "classification"})
    return cast("JsonValue", kinds)


def _ranked_table(files: Files) -> None:
    lines = ["| rank | product | revenue |", "| --- | --- | --- |"]
    kept: list[str] = []
    for line in files["summary.md"].split("\n"):
        if line[:1].isdigit():
            rank, rest = line.split(". ", 1)
            lines.append(f"| {rank} | {rest} | |")
        else:
            kept.append("\n".join(lines) if line.startswith("## Top") else line)
    table = "## Best sellers by revenue\n\n" + "\n".join(lines)
    files["summary.md"] = (
        table + "\n\n# Figures\n\n" + "\n".join(x for x in kept if not x.startswith("| rank"))
    )


_OTHER_HEADINGS = ["Customer ID", "Names seen", "Files", "Canonical name", "Reason for review"]

_MERGE_FORMS = (
    Form(MERGE, "values as keys", _rewritten(_by_value, category="cosmetic")),
    Form(MERGE, "observations", _rewritten(_observations, false_positive=True)),
    Form(MERGE, "parallel lists", _rewritten(_parallel, status="no_action_needed")),
    Form(
        MERGE,
        "sentences",
        _rewritten(_sentences, why="Format-only difference, not a real conflict."),
    ),
    Form(MERGE, "two groups", rewrite("conflicts.json", _grouped)),
    Form(MERGE, "ranked table", _ranked_table),
    Form(
        MERGE,
        "other headings",
        edit_table("conflict_review.csv", lambda r: r.__setitem__(0, _OTHER_HEADINGS)),
    ),
    Form(MERGE, "bare figure", replace("summary.md", ",", "")),
)

FORMS_101 = (*_ANOMALY_FORMS, *_MERGE_FORMS)
