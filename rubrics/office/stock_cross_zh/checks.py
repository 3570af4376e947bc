"""Checks over the mails that went out and what was read in between."""

import json
import re


def _mail(evidence):
    probe = evidence.probe("service:mail")
    return json.loads(probe["stdout"]) if probe else {"audit": [], "state": {}}


def _sent(document):
    state = document["state"]
    return [state["messages"][i] for i in state.get("sent", []) if i in state["messages"]]


def _to(message):
    return " ".join([*message["to"], *message["cc"]]).lower()


def supplier(evidence, references):
    """Half for a list that the wholesaler can book, half for reading what they answered to it."""
    expected = references.json("references/expected.json")
    mail = _mail(evidence)
    lists = [m for m in _sent(mail) if expected["supplier"] in _to(m)]
    good = bool(lists) and all(
        re.search(rf"{sku}\D{{0,20}}?\b0*{packs}\b", lists[-1]["body"]) for sku, packs in expected["purchase"].items()
    )
    answers = {
        m["id"] for m in mail["state"].get("messages", {}).values() if m["in_reply_to"] and expected["supplier"] in m["from"]
    }
    read = {e.get("id") for e in mail["audit"] if e["action"] == "mail.read" and e["ok"]}
    threads = any(e["action"] == "mail.thread" and e["ok"] for e in mail["audit"])
    seen = len(answers) > 1 and (answers <= read or threads)
    return {"value": (good + seen) / 2, "reason": f"last list right: {good}; answers read: {seen}"}


def customers(evidence, references):
    """Share of the customers whose last mail says what they must know."""
    expected = references.json("references/expected.json")["customers"]
    sent = _sent(_mail(evidence))
    right = 0
    for address, patterns in expected.items():
        mine = [m for m in sent if address in _to(m)]
        text = f"{mine[-1]['subject']} {mine[-1]['body']}" if mine else ""
        right += bool(mine) and all(re.search(p, text, re.IGNORECASE) for p in patterns)
    return {"value": right / len(expected), "reason": f"{right} of {len(expected)} customers told"}
