"""Checks over the booking's evidence and the list of duplicates."""

import csv


def evidence_paths(evidence, references):
    """Share of the facts whose named file really proves them."""
    booking = evidence.json("booking.json")
    expected = references.json("references/expected.json")
    given = booking.get(expected["evidence_key"]) if isinstance(booking, dict) else None
    if not isinstance(given, dict):
        return {"value": 0.0, "reason": "no evidence object"}
    wrong = []
    for field, accepted in expected["evidence"].items():
        path = str(given.get(field, "")).replace("\\", "/").strip()
        path = path.removeprefix("./").removeprefix("sources/drive/")
        # A path inside an archive may follow the archive's own.
        if not any(path == one or path.startswith((one + "!", one + "/", one + "#", one + ":")) for one in accepted):
            wrong.append(field)
    share = 1 - len(wrong) / len(expected["evidence"])
    return {"value": share, "reason": "not proven: " + ", ".join(wrong) if wrong else "all proven", "evidence": ["booking.json"]}


def duplicate_groups(evidence, references):
    """Share of the true groups found exactly, less one for each group that is not one."""
    text = evidence.text("duplicates.csv")
    expected = references.json("references/expected.json")
    if text is None:
        return {"value": 0.0, "reason": "no list of duplicates"}
    try:
        rows = [row for row in csv.reader(text.lstrip("\ufeff").splitlines()) if row]
    except csv.Error:
        return {"value": 0.0, "reason": "not a table"}
    if not rows or [cell.strip().lower() for cell in rows[0]] != expected["duplicate_columns"]:
        return {"value": 0.0, "reason": "the columns differ from what was asked"}
    found = {}
    for row in rows[1:]:
        if len(row) == 2:
            path = row[1].strip().removeprefix("./").removeprefix("sources/drive/")
            found.setdefault(row[0].strip(), set()).add(path)
    true = [frozenset(group) for group in expected["duplicates"]]
    hits = sum(frozenset(group) in true for group in found.values())
    value = max(0.0, (hits - (len(found) - hits)) / len(true))
    return {"value": value, "reason": f"{hits} of {len(true)} groups, {len(found) - hits} wrong", "evidence": ["duplicates.csv"]}
