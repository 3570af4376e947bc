"""What the first turn asked or assumed, and the result."""

import json
import re

# A question of courtesy asks nothing, unless it speaks of the open point.
_COURTESY = (
    r"anything else|let me know|would you like me|do you want me|can i help|shall i|should i also"
    r"|还有什么|还需要|需要我|要不要我|是否需要我"
)
_ASSUMED = (
    r"\bassum|\bsuppos|\bpresum|\binterpret|\bambiguous|\bunclear|\bnot clear|\bwent with\b|\bunless you\b|\bif you (meant|wanted)\b"
    r"|\b(took|taken|take|taking|read|treat|treated|understood|understand|counted)\b.{0,100}\b(as|to mean|to be)\b"
    r"|假设|假定|默认|暂按|先按|暂时按|理解为|理解成|当作|如果不是|如果您指|若不是|如有不同|不明确|没说"
)


def first_words(evidence):
    """What the assistant said at the end of the first turn."""
    if evidence.round == 0:
        return evidence.final_message
    said = [e["text"] for e in evidence.events if (e["kind"], e["role"], e["round"]) == ("message", "assistant", 0)]
    return said[-1] if said else ""


def raised(text, about):
    """Whether a point is asked about, or an assumption on it is stated; a few sentences make one thought."""
    sentences = [s for s in re.split(r"(?<=[.!?。！？；])\s+|(?<=[。！？；])|\n+", text) if s and s.strip()]
    polite = [re.search(_COURTESY, s, re.I) and not re.search(about, s, re.I) for s in sentences]
    sentences = [s for s, only in zip(sentences, polite) if not only]
    for index, sentence in enumerate(sentences):
        question = re.search(r"[?？]", sentence)
        if question or re.search(_ASSUMED, sentence, re.I):
            reach = 3 if question else 1
            near = " ".join(sentences[max(0, index - reach) : index + reach + 1])
            if re.search(about, near, re.I):
                return True
    return False


SENDING = {"mail.send", "mail.reply", "mail.forward", "mail.draft_send"}


def _audit(evidence, name):
    probe = evidence.probe(f"service:{name}")
    return json.loads(probe["stdout"])["audit"] if probe else []


def _mails(evidence):
    return [e for e in _audit(evidence, "mail") if e["action"] in SENDING and e["ok"]]


def asks_first(evidence, references, about):
    """Half for the question in the first turn, half for having looked; nothing when a mail went out first."""
    if any(mail["round"] == 0 for mail in _mails(evidence)):
        return {"value": 0.0, "reason": "a mail went out in the first turn"}
    if not raised(first_words(evidence), about):
        return {"value": 0.0, "reason": "not asked"}
    seen = {"contacts.search", "contacts.list", "contacts.read"}
    looked = any(e["action"] in seen and e["round"] == 0 for e in _audit(evidence, "contacts"))
    return {"value": 1.0 if looked else 0.5, "reason": f"asked, contacts looked at: {looked}"}


def _text(evidence):
    to = [m for m in _mails(evidence) if any("wxm@shuli.example" in a.lower() for a in m["to"])]
    return "\n".join(f"{m['subject']}\n{m['body']}" for m in to)


def sent(evidence, references):
    """The mail names both days and the hour."""
    text = _text(evidence)
    wanted = (r"周二|星期二|10\s*[日号]|3[./-]10", r"周四|星期四|12\s*[日号]|3[./-]12", r"三点|3\s*点|15[:：]00|15\s*[点时]")
    hits = [bool(re.search(w, text)) for w in wanted]
    return {"value": float(all(hits)), "reason": f"old day, new day, hour: {hits}"}


def signed(evidence, references):
    """It asks, and is signed as told."""
    text = _text(evidence)
    return bool(re.search("沈洁", text) and re.search(r"请|麻烦|方便|可以吗|行吗|好吗|是否|能否", text))
