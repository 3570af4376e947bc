"""What can be wrong with an attempt, one thing at a time, and which lines that costs.

Everything starts from what the solution left; nothing here states an answer.
"""

import json
from collections.abc import Callable

from overlay_bench import ANOMALIES, MERGE, Files
from overlay_edits import (
    Case,
    Record,
    append,
    both,
    drop,
    edit,
    edit_list,
    edit_table,
    fill,
    load,
    put,
    record,
    records,
    replace,
)
from pydantic import JsonValue

# --- the order dump ----------------------------------------------------------------------


def _rows(document: Record, group: str) -> list[JsonValue]:
    found = document[group]
    assert isinstance(found, list)
    return found


def _extra_rows(group: str, count: int) -> Callable[[Record], None]:
    """Report harmless rows (there are enough of them in the dump) in a group."""
    return lambda d: _rows(d, group).extend({"order_id": 100 + n} for n in range(count))


def _as_list(files: Files) -> None:
    groups = record(load(files, "anomalies.json"))
    listed = [{"type": kind, "rows": rows} for kind, rows in groups.items()]
    files["anomalies.json"] = json.dumps(listed)


_DUPLICATES, _OUTSIDE, _LINKS = (
    "duplicate_order_numbers",
    "outside_import_window",
    "broken_relationships",
)

ANOMALY_CASES = (
    Case(
        ANOMALIES,
        "top level is a list",
        _as_list,
        ("categories",),
    ),
    Case(
        ANOMALIES,
        "a harmless row among the negative prices",
        edit("anomalies.json", _extra_rows("negative_unit_prices", 1)),
        ("negative_prices",),
    ),
    Case(
        ANOMALIES,
        "a negative price is overlooked",
        edit("anomalies.json", lambda d: _rows(d, "negative_unit_prices").pop()),
        ("negative_prices",),
    ),
    Case(
        ANOMALIES,
        "half as many again negative prices",
        edit("anomalies.json", _extra_rows("negative_unit_prices", 2)),
        ("negative_prices",),
        ("invented_rows",),
    ),
    Case(
        ANOMALIES,
        "an order that does not exist",
        edit("anomalies.json", lambda d: _rows(d, _OUTSIDE).append({"order_id": 777777})),
        ("outside_window",),
        ("invented_rows",),
    ),
    Case(
        ANOMALIES,
        "a repeated number is overlooked",
        edit("anomalies.json", lambda d: _rows(d, _DUPLICATES).pop()),
        ("duplicate_numbers",),
    ),
    Case(
        ANOMALIES,
        "a number that is not repeated",
        edit(
            "anomalies.json", lambda d: _rows(d, _DUPLICATES).append({"order_number": "ORD-000100"})
        ),
        ("duplicate_numbers",),
        ("invented_rows",),
    ),
    Case(
        ANOMALIES,
        "orphans of one kind only",
        edit("anomalies.json", lambda d: record(d[_LINKS]).pop("missing_product")),
        ("broken_links",),
    ),
    Case(
        ANOMALIES,
        "a late order is overlooked",
        edit("anomalies.json", lambda d: _rows(d, _OUTSIDE).pop()),
        ("outside_window",),
    ),
    Case(
        ANOMALIES,
        "December rows reported as late",
        edit("anomalies.json", _extra_rows(_OUTSIDE, 3)),
        ("outside_window",),
    ),
    Case(
        ANOMALIES,
        "a line is missing",
        edit_table("anomaly_rows.csv", lambda r: r.pop()),
        ("row_list",),
    ),
    Case(
        ANOMALIES,
        "a line stands twice",
        edit_table("anomaly_rows.csv", lambda r: r.append(r[-1])),
        ("row_list",),
    ),
    Case(
        ANOMALIES,
        "a column is missing",
        edit_table("anomaly_rows.csv", lambda rows: [r.pop() for r in rows]),
        ("row_list",),
    ),
    Case(ANOMALIES, "no row list", drop("anomaly_rows.csv"), ("row_list",), ("auxiliary_missing",)),
    Case(ANOMALIES, "no script", drop("reproduce.sql"), ("statements",), ("auxiliary_missing",)),
    Case(
        ANOMALIES,
        "a statement is wrong",
        replace("reproduce.sql", "unit_price < 0", "unit_price <= 0"),
        ("statements",),
    ),
    Case(
        ANOMALIES,
        "a statement does not run",
        replace("reproduce.sql", "LEFT JOIN products", "LEFT JOIN wares"),
        ("statements",),
    ),
    Case(
        ANOMALIES,
        "statements only told of",
        put("reproduce.sql", "-- SELECT negative prices, duplicates, orphans, dates\n"),
        ("statements",),
    ),
    Case(
        ANOMALIES,
        "a key in a deliverable",
        append("reproduce.sql", f"-- sk-{'a1B2' * 8}\n"),
        (),
        ("credentials",),
    ),
    Case(
        ANOMALIES,
        "only empty files",
        fill(""),
        (
            "categories",
            "negative_prices",
            "duplicate_numbers",
            "broken_links",
            "outside_window",
            "row_list",
            "statements",
        ),
        ("nothing_delivered", "auxiliary_missing"),
    ),
)


# --- the merge ---------------------------------------------------------------------------


def _real(conflicts: list[Record]) -> list[Record]:
    return [c for c in conflicts if c["classification"] == "real_conflict"]


def _cosmetic(conflicts: list[Record]) -> list[Record]:
    return [c for c in conflicts if c["classification"] != "real_conflict"]


def _values(conflict: Record) -> list[Record]:
    return records(next(iter(record(conflict["values"]).values())))


def _swap_sources(conflicts: list[Record]) -> None:
    first, second = _values(_real(conflicts)[0])[:2]
    first["source_files"], second["source_files"] = second["source_files"], first["source_files"]


def _swap_ranks(files: Files) -> None:
    lines = files["summary.md"].split("\n")
    first = next(i for i, line in enumerate(lines) if line.startswith("1. "))
    lines[first], lines[first + 1] = "1" + lines[first + 1][1:], "2" + lines[first][1:]
    files["summary.md"] = "\n".join(lines)


def _without_topic(files: Files) -> None:
    for name in ("summary.md", "conflicts.json", "conflict_review.csv"):
        files[name] = files[name].replace("latest", "newest")


def _unlabelled(conflicts: list[Record]) -> None:
    for conflict in _cosmetic(conflicts):
        del conflict["classification"]


_ALL_MERGE = ("files", "columns", "row_count", "unique_orders", "unique_customers")

MERGE_CASES = (
    Case(MERGE, "no review sheet", drop("conflict_review.csv"), ("files", "review_sheet")),
    Case(MERGE, "no fact table", drop("master.csv"), _ALL_MERGE, ("master_missing",)),
    Case(
        MERGE,
        "a column under another name",
        replace("master.csv", "revenue_usd,", "amount,"),
        ("columns",),
    ),
    Case(MERGE, "a row too few", edit_table("master.csv", lambda rows: rows.pop()), ("row_count",)),
    Case(
        MERGE,
        "an order stands twice",
        edit_table("master.csv", lambda rows: rows.__setitem__(-1, rows[1])),
        ("unique_orders",),
    ),
    Case(
        MERGE,
        "one customer for all orders",
        edit_table("master.csv", lambda rows: [r.__setitem__(1, rows[1][1]) for r in rows[1:]]),
        ("unique_customers",),
    ),
    Case(
        MERGE,
        "a customer nobody knows",
        edit_table("master.csv", lambda rows: rows[1].__setitem__(1, "C99999")),
        ("unique_customers",),
        ("invented_customers",),
    ),
    Case(MERGE, "two ranks are swapped", _swap_ranks, ("top_products",)),
    Case(
        MERGE,
        "a real conflict is overlooked",
        edit_list("conflicts.json", lambda c: c.remove(_real(c)[0])),
        ("conflicts",),
    ),
    Case(
        MERGE,
        "a value is left out",
        edit_list("conflicts.json", lambda c: _set_values(_real(c)[0])),
        ("conflicts",),
    ),
    Case(MERGE, "sources are swapped", edit_list("conflicts.json", _swap_sources), ("conflicts",)),
    Case(MERGE, "the revenue is rounded", replace("summary.md", ".08 USD", " USD"), ("revenue",)),
    Case(
        MERGE,
        "a review row is missing",
        edit_table("conflict_review.csv", lambda r: r.pop(1)),
        ("review_sheet",),
    ),
    Case(
        MERGE,
        "a review row stands twice",
        edit_table("conflict_review.csv", lambda r: r.append(r[1])),
        ("review_sheet",),
    ),
    Case(
        MERGE,
        "a review column is missing",
        edit_table("conflict_review.csv", lambda rows: [r.pop() for r in rows]),
        ("review_sheet",),
    ),
    Case(MERGE, "an angle is not spoken of", _without_topic, ("topics",)),
    Case(
        MERGE,
        "drift is not surfaced",
        both(
            edit_list("conflicts.json", lambda c: c.remove(_cosmetic(c)[0])),
            replace(
                "conflict_review.csv", "false positive: only case or spacing differs", "differs"
            ),
        ),
        ("cosmetic",),
    ),
    Case(
        MERGE,
        "drift stands as conflict",
        edit_list("conflicts.json", _unlabelled),
        (),
        ("drift_as_conflict",),
    ),
    Case(
        MERGE,
        "a real conflict is called drift",
        edit_list("conflicts.json", lambda c: _real(c)[0].update(classification="false_positive")),
        (),
        ("conflict_as_drift",),
    ),
    Case(
        MERGE,
        "a key in a deliverable",
        put("merge_notes.md", f"OPENAI_API_KEY=abc{'123x' * 6}"),
        (),
        ("credentials",),
    ),
)


def _set_values(conflict: Record) -> None:
    kept: dict[str, JsonValue] = {
        field: [records(values)[0]] for field, values in record(conflict["values"]).items()
    }
    conflict["values"] = kept
    conflict.pop("kept")


FAULTS_101 = (*ANOMALY_CASES, *MERGE_CASES)
