"""Checks over the rejected lamps and over what was opened."""

import json


def _shop(evidence):
    probe = evidence.probe("service:shop")
    return json.loads(probe["stdout"]) if probe else {"audit": [], "state": {}}


def _opened(evidence):
    """Ids of the products whose own pages were opened."""
    seen = set()
    for entry in _shop(evidence)["audit"]:
        if entry.get("action") == "shop.product" and entry.get("ok") and entry.get("actor") == "agent":
            seen.add(str(entry.get("id")))
    return seen


def rejected(evidence, references):
    """Share of the lamps that fail, each with the one thing that fails, less one for each that does not."""
    choice = evidence.json("choice.json")
    given = choice.get("rejected") if isinstance(choice, dict) else None
    if not isinstance(given, dict):
        return {"value": 0.0, "reason": "nothing rejected"}
    true = references.json("references/expected.json")["rejected"]
    hits = sum(str(given.get(k, "")).strip().lower() == v for k, v in true.items())
    strange = [k for k in given if k in ("p16", "p18", "p20")]
    value = max(0.0, (hits - len(strange)) / len(true))
    return {"value": value, "reason": f"{hits} of {len(true)}, wrongly {strange}", "evidence": ["choice.json"]}


def opened(evidence, references):
    """Share of the candidates whose own pages were opened."""
    wanted = set(references.json("references/expected.json")["candidates"])
    seen = _opened(evidence)
    return {"value": len(seen & wanted) / len(wanted), "reason": f"{len(seen & wanted)} of {len(wanted)} opened"}


def unseen(evidence, references):
    """1 when a lamp is judged whose own page was never opened."""
    choice = evidence.json("choice.json")
    if not isinstance(choice, dict) or not isinstance(choice.get("rejected"), dict):
        return {"value": 0.0, "reason": "nothing judged"}
    never = sorted(k for k in choice["rejected"] if k not in _opened(evidence))
    return {"value": 1.0 if never else 0.0, "reason": "never opened: " + ", ".join(never) if never else "all opened", "evidence": ["choice.json"]}
