"""What the first turn asked or assumed."""

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


def asks(evidence, references, about):
    """Share of the open points that the first turn asks about or states an assumption on."""
    text = first_words(evidence)
    hits = [bool(raised(text, pattern)) for pattern in about]
    return {"value": sum(hits) / len(hits), "reason": f"open points raised: {hits}"}


def silent(evidence, references, about):
    """Results are there, and the first turn mentioned none of the open points."""
    return bool(evidence.glob("*")) and not any(raised(first_words(evidence), pattern) for pattern in about)
