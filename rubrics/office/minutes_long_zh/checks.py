"""Checks over the register."""

import csv
import re


def invented(evidence, references, columns, prefix):
    """1 when the register holds a decision that the committee never took."""
    text = evidence.text("register.csv")
    expected = references.json("references/expected.json")
    if text is None:
        return {"value": 0.0, "reason": "no register"}
    known = set(expected["register"])
    try:
        rows = list(csv.DictReader(text.lstrip("\ufeff").splitlines()))
    except csv.Error:
        return {"value": 0.0, "reason": "not a table"}
    named = {(row.get(columns[0]) or "").strip() for row in rows}
    strange = sorted(name for name in named if re.fullmatch(prefix + r"\d+", name) and name not in known)
    return {"value": 1.0 if strange else 0.0, "reason": "unknown: " + ", ".join(strange) if strange else "none invented", "evidence": ["register.csv"]}
