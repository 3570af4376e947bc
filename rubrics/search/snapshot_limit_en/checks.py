"""What was opened, cited and searched for."""

import json
import re

_OPENED = {"docs.page": "docs", "docs.raw": "docs", "forum.thread": "forum", "shop.product": "shop", "tickets.view": "tickets"}
_CITED = (
    ("docs", r"/(?:v|raw|api/pages)/([\w.-]+/[\w-]+)"),
    ("forum", r"/(?:api/)?threads?/([\w-]+)"),
    ("shop", r"/(?:api/)?products?/([\w-]+)"),
    ("tickets", r"/(?:api/)?tickets?/([\w-]+)"),
)


def _audit(evidence):
    for site in ("docs", "forum", "shop", "tickets"):
        probe = evidence.probe(f"service:{site}")
        if probe:
            yield from json.loads(probe["stdout"])["audit"]


def _opened(evidence):
    """Pages that were opened, as `site:page`."""
    found = set()
    for entry in _audit(evidence):
        if entry["action"] in _OPENED and entry["ok"]:
            page = f"{entry['version']}/{entry['slug']}" if "slug" in entry else entry["id"]
            found.add(f"{_OPENED[entry['action']]}:{page}")
    return found


def _cited(evidence):
    """Pages that the result names as its sources, in the same form."""
    result = evidence.json("answer.json")
    listed = result.get("sources") if isinstance(result, dict) else None
    text = " ".join(json.dumps(s) for s in listed) if isinstance(listed, list) else ""
    return {f"{site}:{page}" for site, pattern in _CITED for page in re.findall(pattern, text)}


def looked(evidence, references, pages):
    """Share of the pages that have to be known which were opened; nothing without a result."""
    if evidence.json("answer.json") is None:
        return {"value": 0.0, "reason": "no result"}
    missing = sorted(set(pages) - _opened(evidence))
    return {"value": 1 - len(missing) / len(pages), "reason": f"never opened: {missing}"}


def sources(evidence, references, pages):
    """Share of the pages which carry the result that are named as its sources."""
    missing = sorted(set(pages) - _cited(evidence))
    return {"value": 1 - len(missing) / len(pages), "reason": f"not named: {missing}"}


def unread(evidence, references):
    """A source is named that was never opened."""
    strange = sorted(_cited(evidence) - _opened(evidence))
    return {"value": float(bool(strange)), "reason": f"named and never opened: {strange}"}


def over_budget(evidence, references):
    """A search was refused because none was left."""
    return any(e["action"].endswith(".search") or e["action"] == "tickets.list" for e in _audit(evidence) if e["status"] == 429)
