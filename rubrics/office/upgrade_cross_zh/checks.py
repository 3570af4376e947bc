"""Checks over the ticket desk and the plan."""

import csv
import json


def _tickets(evidence):
    probe = evidence.probe("service:tickets")
    return json.loads(probe["stdout"])["state"] if probe else {"tickets": {}, "created": []}


def _created(evidence):
    state = _tickets(evidence)
    return [state["tickets"][i] for i in state.get("created", []) if i in state["tickets"]]


def _said(ticket):
    return " ".join([ticket["description"], *(c["text"] for c in ticket["comments"])])


def new_tickets(evidence, references):
    """Share of the new tickets that are right in every respect."""
    expected = references.json("references/expected.json")["tickets"]
    right = []
    for client, want in expected.items():
        mine = [t for t in _created(evidence) if t["title"].strip().startswith(client)]
        if len(mine) != 1:
            continue
        ticket = mine[0]
        fields = ticket["priority"] == want["priority"] and ticket["assignee"] == want["assignee"] and "migration" in ticket["labels"]
        if fields and all(part in _said(ticket) for entry in want["endpoints"] for part in entry):
            right.append(client)
    return {"value": len(right) / len(expected), "reason": f"right: {right}"}


def commented(evidence, references, ticket, parts):
    """The ticket has a comment of the agent's that holds every part."""
    found = _tickets(evidence)["tickets"].get(ticket, {"comments": []})
    text = " ".join(c["text"] for c in found["comments"])
    return bool(text) and all(part in text for part in parts)


def linked(evidence, references, client, column):
    """Share of the plan's rows whose ticket is one of that client."""
    tickets = _tickets(evidence)["tickets"]
    closed = {"T-5", "T-8", "T-6"}
    try:
        rows = list(csv.DictReader((evidence.text("plan.csv") or "").lstrip("\ufeff").splitlines()))
    except csv.Error:
        rows = []
    good = 0
    for row in rows:
        number, name = (row.get(column) or "").strip(), (row.get(client) or "").strip()
        found = tickets.get(number)
        good += bool(name and found and number not in closed and found["title"].strip().startswith(name))
    return {"value": good / max(7, len(rows)), "reason": f"{good} of {len(rows)} rows", "evidence": ["plan.csv"]}


def needless(evidence, references):
    """1 when a ticket was opened for a client that needs none."""
    known = references.json("references/expected.json")["tickets"]
    titles = [t["title"].strip() for t in _created(evidence)]
    wrong = [title for title in titles if not title.startswith(tuple(known))]
    return {"value": float(bool(wrong)), "reason": f"needless: {wrong}"}
