"""Checks over the findings."""


def listed(evidence, references, fields):
    """Mean over the fields of the overlap of what is listed with what is true (Jaccard)."""
    found = evidence.json("findings.json")
    expected = references.json("references/findings.json")
    if not isinstance(found, dict):
        return {"value": 0.0, "reason": "no findings"}
    shares = {}
    for field in fields:
        given = found.get(field)
        ours = {str(x).strip() for x in given} if isinstance(given, list) else set()
        true = {str(x) for x in expected[field]}
        shares[field] = len(ours & true) / len(ours | true)
    value = sum(shares.values()) / len(shares)
    reason = ", ".join(f"{field} {share:.2f}" for field, share in shares.items())
    return {"value": value, "reason": reason, "evidence": ["findings.json"]}
