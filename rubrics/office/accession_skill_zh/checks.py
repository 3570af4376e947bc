"""Checks over the register."""

import csv
import hashlib


def seal(evidence, references):
    """1 when the summary's seal is that of the register handed in, which must be well formed."""
    text = evidence.text("register.csv")
    summary = evidence.json("summary.json")
    if text is None or not isinstance(summary, dict):
        return {"value": 0.0, "reason": "no register or no summary"}
    try:
        rows = [row for row in csv.reader(text.splitlines()) if row]
    except csv.Error:
        return {"value": 0.0, "reason": "not a table"}
    numbers = "\n".join(row[0] for row in rows[1:])
    right = str(summary.get("seal", "")).strip() == hashlib.sha256(numbers.encode()).hexdigest()[:8]
    return {"value": 1.0 if right else 0.0, "reason": "sealed" if right else "no seal, or not of this register", "evidence": ["summary.json"]}


def labels(evidence, references):
    """1 when the label lines are exactly the expected ones, spaces apart."""
    text = evidence.text("labels.txt")
    if text is None:
        return {"value": 0.0, "reason": "no labels"}
    found = [" ".join(line.split()) for line in text.splitlines() if line.strip()]
    wanted = [" ".join(line.split()) for line in references.json("references/labels.json")["labels"]]
    return {"value": 1.0 if found == wanted else 0.0, "reason": f"{len(found)} of {len(wanted)} labels", "evidence": ["labels.txt"]}
