"""Checks over what the calendar, the mailbox and the chat hold and logged."""

import datetime as dt
import json
import re

REVIEW = "lighting-review"
HANNA = "hanna@weiss-acoustics.example"
INSIDE = ("tom@harbourlight.example", "priya@harbourlight.example")
OLD_START = "2026-03-12T10:00"
DAY = r"\bwed(nesday)?\b|\b11(th)?\b|2026-03-11"
TIME = r"\b(15[:.h]?00|14[:.h]?45|0?3[:.]00|0?2[:.]45|3 ?p\.?m|three|quarter to three)"


def _service(evidence, name):
    probe = evidence.probe(f"service:{name}")
    return json.loads(probe["stdout"]) if probe else {"audit": [], "state": {}}


def _review(evidence):
    return _service(evidence, "calendar")["state"].get("events", {}).get(REVIEW)


def _says_when(text):
    return bool(re.search(DAY, text, re.IGNORECASE) and re.search(TIME, text, re.IGNORECASE))


def moved(evidence, references):
    """Wednesday, 90 minutes, not before Hanna comes and not after Priya leaves."""
    event = _review(evidence)
    if event is None or event["status"] != "confirmed":
        return {"value": 0.0, "reason": "the review is gone"}
    length = dt.datetime.fromisoformat(event["end"]) - dt.datetime.fromisoformat(event["start"])
    fits = "2026-03-11T14:45" <= event["start"] and event["end"] <= "2026-03-11T16:30"
    right = fits and length == dt.timedelta(minutes=90)
    return {"value": float(right), "reason": f"{event['start']} to {event['end']}"}


def people(evidence, references):
    """The three are still invited to the moved event, those inside said yes, and it is the only one."""
    state = _service(evidence, "calendar")["state"]
    event = _review(evidence)
    if event is None or event["start"] == OLD_START:
        return {"value": 0.0, "reason": "not moved"}
    answers = {email: a["answer"] for email, a in event["attendees"].items()}
    yes = all(answers.get(email) == "accepted" for email in INSIDE)
    again = [i for i in state["created"] if "review" in state["events"][i]["title"].lower()]
    right = yes and HANNA in answers and not again
    return {"value": float(right), "reason": f"answers {answers}, further events {again}"}


def asked(evidence, references):
    """A mail went to Hanna, and her answer was opened afterwards."""
    mail = _service(evidence, "mail")
    answers = [m["id"] for m in mail["state"].get("messages", {}).values() if HANNA in m["from"] and m["in_reply_to"]]
    came = [e["n"] for e in mail["audit"] if e["action"] == "change.receive" and e.get("id") in answers]
    seen = {"mail.read", "mail.thread"}
    read = [e for e in mail["audit"] if came and e["n"] > came[0] and e["action"] in seen and e["ok"]]
    return {"value": float(bool(read)), "reason": f"{len(came)} answers, {len(read)} readings"}


def guest_told(evidence, references):
    """One of the mails to Hanna names day and time; one that only proposes is as good if it was right."""
    mails = _service(evidence, "mail")["state"]
    sent = [mails["messages"][i] for i in mails.get("sent", []) if i in mails["messages"]]
    told = [m for m in sent if HANNA in " ".join([*m["to"], *m["cc"]]).lower()]
    return any(_says_when(f"{m['subject']} {m['body']}") for m in told)


def team_told(evidence, references):
    """A message of the user's in the channel names day and time."""
    chat = _service(evidence, "chat")["state"]
    posted = [chat["messages"][i] for i in chat.get("posted", []) if i in chat["messages"]]
    return any(m["channel"] == "lighting" and _says_when(m["text"]) for m in posted)


def clash(evidence, references):
    """Somebody inside is busy then, or has declined."""
    state = _service(evidence, "calendar")["state"]
    event = _review(evidence)
    if event is None or event["start"] == OLD_START:
        return False
    spans = [s for p in state["people"].values() for s in p["busy"]]
    spans += [e for e in state["events"].values() if e["id"] != REVIEW and e["created_by"] == "seed"]
    busy = any(s["start"] < event["end"] and event["start"] < s["end"] for s in spans)
    return busy or any(a["answer"] == "declined" for a in event["attendees"].values())
