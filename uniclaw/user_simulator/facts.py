"""Which facts of the brief a question touches, and what a message claims that nobody knows.

Pure functions over public records.
"""

import re

from uniclaw.records import Brief, Fact, UserView

_SENTENCE = re.compile(r"[^.!?。！？\n]*[.!?。！？\n]?")
_NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?%?(?!\w)")
_NAME = re.compile(r"(?<=[a-z,;:] )[A-Z][\w'-]+(?: [A-Z][\w'-]+)*")
_QUESTION_WORD = re.compile(
    r"\b(?:what|which|who|whom|whose|when|where|why|how|should|shall|could|would|can|do|does|did|is"
    r"|are|may|please (?:tell|confirm|clarify|let me know)|let me know)\b|吗|呢|什么|哪|谁|何时|几"
    r"|多少|怎么|是否|请问|请确认|请告诉",
    re.IGNORECASE,
)


def question_part(message: str) -> str:
    """The sentences of a message that ask something; all of it when none is marked as such."""
    sentences = [s for s in _SENTENCE.findall(message) if s.strip()]
    asking = [s for s in sentences if s.rstrip().endswith(("?", "？"))]
    if not asking:
        asking = [s for s in sentences[-3:] if _QUESTION_WORD.search(s)]
    return " ".join(asking) if asking else message


def matching_facts(brief: Brief, question: str) -> tuple[Fact, ...]:
    """Facts whose topics stand in the question, best match first, at most three."""
    asked = question_part(question)
    scored = [(sum(touches(topic, asked) for topic in fact.topics), fact) for fact in brief.facts]
    hits = [(count, fact) for count, fact in scored if count]
    hits.sort(key=lambda pair: -pair[0])
    return tuple(fact for _, fact in hits[:3])


def touches(topic: str, text: str) -> bool:
    """Whether a topic word or phrase stands in a text; whole words where the script has them."""
    if not topic.strip():
        return False
    if topic.isascii():
        stem = re.escape(topic.strip())
        return re.search(rf"(?<!\w){stem}(?:s|es)?(?!\w)", text, re.IGNORECASE) is not None
    return topic.strip().casefold() in text.casefold()


def unsupported(message: str, view: UserView) -> tuple[str, ...]:
    """Numbers and names of a message that stand nowhere in the view: the simulator made them up.

    A measure of the simulator, not a reason to block: a wrong guess is no leak.
    """
    texts = [view.instruction, view.persona, *(fact.text for fact in view.brief.facts)]
    for shown in view.rounds:
        texts += [shown.user_message, shown.final_message, *(e.text for e in shown.events)]
        texts += [f"{file.path} {file.text or ''}" for file in shown.files]
    texts.append(view.progress.model_dump_json(exclude_none=True))
    known = "\n".join(texts).replace(",", "").casefold()
    claims = [m.group() for m in _NUMBER.finditer(message)]
    claims += [m.group() for m in _NAME.finditer(message)]
    return tuple(
        dict.fromkeys(
            claim
            for claim in claims
            if not re.search(rf"(?<!\w){re.escape(claim.replace(',', '').casefold())}(?!\w)", known)
        )
    )
