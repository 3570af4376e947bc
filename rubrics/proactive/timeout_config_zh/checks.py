"""What the first turn asked or assumed, and the result."""

import re
import tomllib

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


def _config(evidence):
    try:
        return tomllib.loads(evidence.text("gateway.toml") or "")
    except tomllib.TOMLDecodeError:
        return {}


def _orders(evidence):
    upstream = _config(evidence).get("upstream")
    orders = upstream.get("orders") if isinstance(upstream, dict) else None
    return orders if isinstance(orders, dict) else {}


def value(evidence, references):
    """90 seconds."""
    found = _orders(evidence).get("read_timeout")
    return {"value": float(found == 90), "reason": f"read_timeout = {found}"}


def _other_lines(text):
    """All lines but the one that may change, without spacing."""
    section, kept = "", []
    for line in text.splitlines():
        bare = " ".join(line.split())
        section = bare if bare.startswith("[") else section
        mine = section.startswith("[upstream.orders]") and bare.startswith("read_timeout")
        if bare and not mine:
            kept.append(bare)
    return kept


def rest(evidence, references):
    """Nothing else differs; a further comment is no difference."""
    text = evidence.text("gateway.toml")
    if text is None or not _orders(evidence):
        return {"value": 0.0, "reason": "no configuration"}
    before = _other_lines(evidence.source("gateway.toml").read_text(encoding="utf-8"))
    after = [line for line in _other_lines(text) if line in before or not line.startswith("#")]
    return {"value": float(before == after), "reason": f"lines that differ: {sorted(set(before) ^ set(after))}"}


def retries_on(evidence, references):
    """More than none."""
    return _orders(evidence).get("retries", 0) != 0
