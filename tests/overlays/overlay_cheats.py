"""Ways to say nothing that looks like much, which must not pass."""

import json

from overlay_bench import ANOMALIES, CLUSTER, MERGE, SHORTLIST, SUDOKU, TASKS
from overlay_edits import Form, fill, put, records, rewrite
from pydantic import JsonValue

_C, _J = "yaml_conflicts.json", "monitor_rejections.json"
_KINDS = ("negative_prices", "duplicate_numbers", "broken_links", "outside_window")


def _everything_is_wrong(_: JsonValue) -> JsonValue:
    return {kind: list(range(1, 201)) for kind in _KINDS}


def _stuffed(document: JsonValue) -> JsonValue:
    words = " ".join(json.dumps(e["reasons"]) for e in records(document))
    return [{"id": e["id"], "reason": words} for e in records(document)]


def _all_in_one(document: JsonValue) -> JsonValue:
    return [{"finding": json.dumps(document)}]


CHEATS = (
    *(Form(task, "empty files", fill("")) for task in TASKS),
    *(Form(task, "done", fill("All checks passed. Full score.")) for task in TASKS),
    Form(ANOMALIES, "every row is reported", rewrite("anomalies.json", _everything_is_wrong)),
    Form(SHORTLIST, "every reason for every product", rewrite(_J, _stuffed)),
    Form(CLUSTER, "one entry that says everything", rewrite(_C, _all_in_one)),
    Form(
        CLUSTER,
        "both values in force",
        rewrite(
            _C,
            lambda d: [
                *records(d),
                *(
                    {
                        **c,
                        "effective_value": c["shadowed_value"],
                        "shadowed_value": c["effective_value"],
                    }
                    for c in records(d)
                    if "shadowed_value" in c
                ),
            ],
        ),
    ),
    Form(
        MERGE,
        "every customer is a conflict",
        rewrite(
            "conflicts.json",
            lambda d: [
                *records(d),
                *({"customer_id": f"C{n:05}", "fields": ["name"]} for n in range(1, 1000)),
            ],
        ),
    ),
    Form(SUDOKU, "ones", put("solution.txt", ("1 " * 9 + "\n") * 9)),
)
