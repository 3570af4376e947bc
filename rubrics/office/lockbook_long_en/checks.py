"""Checks over the corrections."""

import csv


def corrections(evidence, references):
    """Overlap of the listed stretches with the true ones (Jaccard)."""
    text = evidence.text("corrections.csv")
    if text is None:
        return {"value": 0.0, "reason": "no corrections"}

    def stretches(table):
        rows = csv.DictReader(table.lstrip("\ufeff").splitlines())
        return {tuple((row.get(k) or "").strip().lower() for k in ("from", "to", "what")) for row in rows}

    try:
        found = stretches(text)
    except csv.Error:
        return {"value": 0.0, "reason": "not a table"}
    true = stretches(references.text("references/corrections.csv"))
    value = len(found & true) / len(found | true)
    return {"value": value, "reason": f"{len(found & true)} of {len(true)}, {len(found - true)} wrong", "evidence": ["corrections.csv"]}
