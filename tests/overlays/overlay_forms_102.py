"""Other ways to say the same, which must keep the full score.

Forms rewrite what the solution left; nothing here states an answer.
"""

import json
from typing import cast

from overlay_bench import CLUSTER, SHORTLIST, SUDOKU, Files
from overlay_edits import Form, both, put, record, records, replace, rewrite
from pydantic import JsonValue

# --- the configuration repository --------------------------------------------------------

_C, _R, _M = "yaml_conflicts.json", "yaml_resolved.json", "yaml_method.json"


def _told(document: JsonValue) -> JsonValue:
    """Every conflict in one sentence."""
    made: list[JsonValue] = []
    for old in records(document):
        lost = old.get("shadowed_value", old.get("overridden_value"))
        files = cast("list[str]", old["files"])
        kept = json.dumps(old["effective_value"])
        said = f"{old['why']}: effective is {kept}, shadowed is {json.dumps(lost)}"
        made.append(
            {"name": old["id"], "kind": old["type"], "file": ", ".join(files), "explanation": said}
        )
    return {"conflicts": made}


def _nested_values(document: JsonValue) -> JsonValue:
    return {
        str(old["id"]): {
            "type": old["type"],
            "objects": [old["object"]],
            "locations": [{"file": f} for f in cast("list[str]", old["files"])],
            "reason": old["why"],
            "value": {
                "takesEffect": old["effective_value"],
                "overridden": old.get("shadowed_value", old.get("overridden_value")),
            },
        }
        for old in records(document)
    }


def _by_kind(document: JsonValue) -> JsonValue:
    environments = record(document)
    return {
        plural: {name: record(state)[single] for name, state in environments.items()}
        for plural, single in (
            ("configMaps", "configmap"),
            ("images", "image"),
            ("replicas", "replicas"),
        )
    }


def _listed(document: JsonValue) -> JsonValue:
    made: list[JsonValue] = []
    for name, state in record(document).items():
        old = record(state)
        data = {
            k: {"true": True, "false": False}.get(str(v), v)
            for k, v in record(old["configmap"]).items()
        }
        image = str(old["image"])
        repository, tag = image.rsplit(":", 1)
        made.append(
            {
                "environment": "production" if name == "prod" else name,
                "orders-config": {"data": data},
                "containers": [
                    {"name": "orders", "image": {"name": repository, "tag": tag}},
                    {"name": "metrics-sidecar", "image": "registry.example.com/metrics:0.9.2"},
                ],
                "replicas": old["replicas"],
            }
        )
    return {"environments": made}


_OTHER_COMMANDS = ["kustomize build overlays/prod", "yq '.data' base/configmap.yaml"]

_CLUSTER_FORMS = (
    Form(CLUSTER, "sentences", rewrite(_C, _told)),
    Form(CLUSTER, "nested values", rewrite(_C, _nested_values)),
    Form(CLUSTER, "state by kind", rewrite(_R, _by_kind)),
    Form(CLUSTER, "state as a list", rewrite(_R, _listed)),
    Form(
        CLUSTER,
        "another parser",
        put(_M, json.dumps({"commands": _OTHER_COMMANDS, "notes": "compared both"})),
    ),
)


# --- the shortlist -----------------------------------------------------------------------

_S, _J = "monitor_shortlist.json", "monitor_rejections.json"


def _by_id(document: JsonValue) -> JsonValue:
    return {str(e["id"]): {k: v for k, v in e.items() if k != "id"} for e in records(document)}


def _plain_reasons(document: JsonValue) -> JsonValue:
    return {
        str(e["id"]): "; ".join(str(r["reason"]) for r in records(e["reasons"]))
        for e in records(document)
    }


def _first_field(document: JsonValue) -> JsonValue:
    made: list[JsonValue] = []
    for entry in records(document):
        first = records(entry["reasons"])[0]
        made.append(
            {
                "product_id": str(entry["id"]).lower(),
                "failed": first["reason"],
                "field": first["detail_field"],
            }
        )
    return {"rejected": made, "count": len(made)}


_SHORTLIST_FORMS = (
    Form(SHORTLIST, "keyed by id", both(rewrite(_S, _by_id), rewrite(_J, _by_id))),
    Form(SHORTLIST, "wrapped", rewrite(_S, lambda d: {"shortlist": d, "rejected_ids": ["X99"]})),
    Form(SHORTLIST, "reversed", rewrite(_S, lambda d: cast("JsonValue", records(d)[::-1]))),
    Form(SHORTLIST, "plain reasons", rewrite(_J, _plain_reasons)),
    Form(SHORTLIST, "one reason each", rewrite(_J, _first_field)),
)


# --- the puzzle --------------------------------------------------------------------------


def _packed(document: JsonValue) -> JsonValue:
    grid = cast("list[list[int]]", record(document)["solution"])
    return {"approach": "search", "solution": ["".join(map(str, row)) for row in grid]}


def _spelled(document: JsonValue) -> JsonValue:
    grid = cast("list[list[int]]", record(document)["solution"])
    return {"solution": [[str(cell) for cell in row] for row in grid]}


def _drawn(files: Files) -> None:
    lines: list[str] = []
    for index, line in enumerate(files["solution.txt"].strip().split("\n")):
        if index and index % 3 == 0:
            lines.append("------+-------+------")
        cells = line.split()
        lines.append(" | ".join(" ".join(cells[i : i + 3]) for i in range(0, len(cells), 3)))
    files["solution.txt"] = "\r\n".join(lines)


_SUDOKU_FORMS = (
    Form(SUDOKU, "rows as text", rewrite("solution.json", _packed)),
    Form(SUDOKU, "cells as text", rewrite("solution.json", _spelled)),
    Form(SUDOKU, "commas", replace("solution.txt", " ", ",")),
    Form(
        SUDOKU,
        "no spaces",
        replace("solution.txt", " ", ""),
    ),
    Form(SUDOKU, "drawn", _drawn),
)

FORMS_102 = (*_CLUSTER_FORMS, *_SHORTLIST_FORMS, *_SUDOKU_FORMS)
