"""What can be wrong with an attempt, one thing at a time, and which lines that costs.

Everything starts from what the solution left; nothing here states an answer.
"""

import json
from collections.abc import Callable
from typing import cast

from overlay_bench import CLUSTER, SHORTLIST, SUDOKU, Change, Files
from overlay_edits import Case, Record, drop, edit, edit_list, load, put, record, records
from pydantic import JsonValue

# --- the configuration repository --------------------------------------------------------

_C, _R, _M = "yaml_conflicts.json", "yaml_resolved.json", "yaml_method.json"


def _named(conflicts: list[Record], word: str) -> Record:
    return next(c for c in conflicts if word in str(c["id"]))


def _forget(*words: str) -> Change:
    def change(conflicts: list[Record]) -> None:
        for word in words:
            conflicts.remove(_named(conflicts, word))

    return edit_list(_C, change)


def _swapped(word: str, other: str) -> Change:
    def change(conflicts: list[Record]) -> None:
        found = _named(conflicts, word)
        found["effective_value"], found[other] = found[other], found["effective_value"]

    return edit_list(_C, change)


def _resolve(environment: str, key: str, value: JsonValue) -> Change:
    return edit(_R, lambda d: record(d[environment]).update({key: value}))


def _configure(environment: str, key: str, value: str) -> Change:
    return edit(_R, lambda d: record(record(d[environment])["configmap"]).update({key: value}))


def _patch_image(files: Files) -> None:
    wrong = _named(records(load(files, _C)), "image-prod")["overridden_value"]
    _resolve("prod", "image", wrong)(files)


def _pinned(files: Files) -> None:
    wrong = _named(records(load(files, _C)), "replicas")["overridden_value"]
    _resolve("prod", "replicas", wrong)(files)


def _shadowed(files: Files) -> None:
    found = next(c for c in records(load(files, _C)) if c["type"] == "duplicate key")
    key = str(found["id"]).removeprefix("repeated-")
    _configure("base", key, str(found["shadowed_value"]))(files)


CLUSTER_CASES = (
    Case(CLUSTER, "the repeated key is overlooked", _forget("repeated"), ("conflicts",)),
    Case(CLUSTER, "the coerced value is overlooked", _forget("type-of"), ("conflicts",)),
    Case(CLUSTER, "an image is overlooked", _forget("image-staging"), ("conflicts",)),
    Case(
        CLUSTER,
        "two are overlooked",
        _forget("type-of", "image-prod"),
        ("conflicts",),
        ("few_conflicts",),
    ),
    Case(CLUSTER, "the alias is overlooked", _forget("shared")),
    Case(
        CLUSTER,
        "the patch's tag is said to be in force",
        _swapped("image-staging", "overridden_value"),
        ("conflicts",),
        ("wrong_image",),
    ),
    Case(
        CLUSTER,
        "the shadowed value is said to be in force",
        _swapped("repeated", "shadowed_value"),
        ("conflicts",),
        ("wrong_duplicate",),
    ),
    Case(
        CLUSTER,
        "the pinned count is said to be in force",
        _swapped("replicas", "overridden_value"),
        ("conflicts", "scaling"),
    ),
    Case(
        CLUSTER,
        "a conflict is placed in another file",
        edit_list(_C, lambda c: _named(c, "image-prod").update(files=["base/configmap.yaml"])),
        ("conflicts",),
    ),
    Case(
        CLUSTER,
        "a value of staging is wrong",
        _configure("staging", "REGION", "eu-west-1"),
        ("configmaps",),
    ),
    Case(
        CLUSTER,
        "a value of prod is missing",
        edit(_R, lambda d: record(record(d["prod"])["configmap"]).pop("REGION")),
        ("configmaps",),
    ),
    Case(CLUSTER, "the base's key is shadowed", _shadowed, ("configmaps",), ("wrong_duplicate",)),
    Case(CLUSTER, "the patch's image is resolved", _patch_image, ("images",), ("wrong_image",)),
    Case(CLUSTER, "the pinned count is resolved", _pinned, ("scaling",)),
    Case(CLUSTER, "no method", drop(_M), ("method",)),
    Case(
        CLUSTER,
        "read by eye",
        put(_M, '{"method": "I read all files carefully by eye, no parser was used."}'),
        ("method",),
    ),
    Case(CLUSTER, "no resolved state", drop(_R), ("configmaps", "images"), ("output_missing",)),
    Case(CLUSTER, "no conflicts", drop(_C), ("conflicts",), ("output_missing", "few_conflicts")),
)


# --- the shortlist -----------------------------------------------------------------------

_S, _J, _W = "monitor_shortlist.json", "monitor_rejections.json", "monitor_method.json"


def _failing(entries: list[Record], field: str) -> Record:
    """The first product whose own trap is in a field of its page."""
    return next(e for e in entries if records(e["reasons"])[0]["detail_field"] == f"detail.{field}")


def _say(field: str, words: str) -> Change:
    return edit_list(_J, lambda e: _failing(e, field).update(reasons=words))


def _take_first_rejected(files: Files) -> None:
    rejected = records(load(files, _J))[0]
    edit_list(_S, lambda e: e.append({**e[0], "id": rejected["id"], "title": rejected["title"]}))(
        files
    )


def _vague(entries: list[Record]) -> None:
    for entry in entries:
        entry["reasons"] = "does not match"


SHORTLIST_CASES = (
    Case(
        SHORTLIST,
        "a trap is taken",
        _take_first_rejected,
        ("shortlist", "page_over_listing", "evidence"),
        ("trap_taken", "part_or_more"),
    ),
    Case(
        SHORTLIST,
        "one is forgotten",
        edit_list(_S, lambda e: e.pop()),
        ("shortlist", "evidence"),
        ("part_or_more",),
    ),
    Case(SHORTLIST, "no shortlist", drop(_S), ("shortlist", "evidence"), ("shortlist_missing",)),
    Case(
        SHORTLIST, "a wrong size is called too dear", _say("size_in", "over budget"), ("reasons",)
    ),
    Case(
        SHORTLIST,
        "a page's trap is called too dear",
        _say("usb_c_video", "over budget"),
        ("reasons", "page_over_listing"),
        ("page_unread",),
    ),
    Case(
        SHORTLIST,
        "a page's trap is vague",
        _say("resolution", "not suitable"),
        ("reasons", "page_over_listing"),
        ("page_unread",),
    ),
    Case(
        SHORTLIST,
        "every reason is vague",
        edit_list(_J, _vague),
        ("reasons", "page_over_listing"),
        ("vague_rejections", "page_unread"),
    ),
    Case(
        SHORTLIST,
        "no rejections",
        drop(_J),
        ("reasons", "page_over_listing"),
        ("vague_rejections",),
    ),
    Case(
        SHORTLIST,
        "a price is not shown",
        edit_list(_S, lambda e: e[0].pop("new_direct_price_usd")),
        ("evidence",),
    ),
    Case(
        SHORTLIST,
        "stock is not shown",
        edit_list(_S, lambda e: record(e[1]["evidence"]).pop("stock")),
        ("evidence",),
    ),
    Case(SHORTLIST, "no method", drop(_W), ("method",)),
    Case(SHORTLIST, "no authority rule", edit(_W, lambda d: d.pop("authority_rule")), ("method",)),
)


# --- the puzzle --------------------------------------------------------------------------


def _cells(change: Callable[[list[list[JsonValue]]], object]) -> Change:
    """Change the grid in both files alike."""

    def apply(files: Files) -> None:
        document = record(load(files, "solution.json"))
        grid = cast("list[list[JsonValue]]", document["solution"])
        change(grid)
        files["solution.json"] = json.dumps(document)
        files["solution.txt"] = "\n".join(" ".join(map(str, row)) for row in grid)

    return apply


def _relabel(grid: list[list[JsonValue]]) -> None:
    for row in grid:
        row[:] = [cast("int", cell) % len(grid) + 1 for cell in row]


def _swap_free(grid: list[list[JsonValue]]) -> None:
    grid[0][1], grid[0][3] = grid[0][3], grid[0][1]


SUDOKU_CASES = (
    Case(SUDOKU, "one file only", drop("solution.json"), ("complete",)),
    Case(SUDOKU, "a row is missing", _cells(lambda g: g.pop()), ("complete", "givens", "valid")),
    Case(
        SUDOKU,
        "a cell is empty",
        _cells(lambda g: g[0].__setitem__(1, ".")),
        ("complete", "valid"),
        ("cells_empty",),
    ),
    Case(SUDOKU, "another valid grid", _cells(_relabel), ("givens",), ("given_changed",)),
    Case(SUDOKU, "two free cells are swapped", _cells(_swap_free), ("valid",)),
)

FAULTS_102 = (*CLUSTER_CASES, *SHORTLIST_CASES, *SUDOKU_CASES)
