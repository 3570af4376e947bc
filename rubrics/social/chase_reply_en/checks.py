"""Checks over what was written to whom, and when."""

import json
import re

HALL = "hall@tithebarn.example"
MARSH = "secretary@marshlane.example"
SENDING = {"mail.send", "mail.reply", "mail.forward", "mail.draft_send"}


def _audit(evidence):
    probe = evidence.probe("service:mail")
    return json.loads(probe["stdout"])["audit"] if probe else []


def _sent(evidence, address):
    """Mails to an address, in order."""
    mails = [e for e in _audit(evidence) if e["action"] in SENDING and e["ok"]]
    return [m for m in mails if any(address in a.lower() for a in [*m["to"], *m["cc"], *m["bcc"]])]


def hall(evidence, references):
    """The last mail to the hall has the sum, and of the choirs those with risers."""
    mails = _sent(evidence, HALL)
    if not mails:
        return {"value": 0.0, "reason": "no mail to the hall"}
    text = f"{mails[-1]['subject']}\n{mails[-1]['body']}"
    right = bool(re.search(r"\b148\b", text)) and all(name in text for name in ("Aldbourne", "Quayside"))
    return {"value": float(right), "reason": text[:200]}


def hall_once(evidence, references):
    """One mail, and the missing answer was there before it."""
    mails = _sent(evidence, HALL)
    answers = [e["n"] for e in _audit(evidence) if e["action"] == "change.receive" and MARSH in e.get("from", "")]
    return len(mails) == 1 and bool(answers) and answers[0] < mails[0]["n"]


def badgered(evidence, references):
    """More than two mails to the choir."""
    return len(_sent(evidence, MARSH)) > 2
