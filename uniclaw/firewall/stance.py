"""How a sentence stands to what it says: asked, guessed, quoted from the work, or stated.

What is asked, guessed or quoted tells less than what is stated. Works on folded text.
"""

import re
from typing import Final

_ASKED: Final = re.compile(
    r"\?|\b(?:are|is|was|were|do|did|does|can|could|would|have|has|how|where|why|what|which|who)"
    r" (?:you|it|that|this|they|there|i)\b[^.!?\n]*\?"
    r"|(?:吗|呢|是不是|有没有|怎么|为什么|哪里|哪儿|多少)[^.!?\n]{0,6}$"
)
_TAG: Final = re.compile(
    r",? (?:(?:is|was|are|were|do|does|did|has|have|should|would)n't (?:it|that|they|he|she"
    r"|you|there)|right|no|correct|ok|okay)\?"
    r"|,? ?(?:对吧|是吧|对不对|不是吗|没错吧)\?? ?$"
)
"""What turns a statement into a question in form only."""
_GUESSED: Final = re.compile(
    r"\b(?:i(?:'d| would) have (?:guessed|thought|expected|said)|my (?:guess|memory)|vaguely"
    r"|i guess"
    r"|making (?:that|it|this) up|(?:could|may|might|can) (?:well )?be (?:wrong|mistaken"
    r"|misremember\w*)"
    r"|not (?:at all )?(?:sure|certain)|no idea|off the top|if i (?:remember|recall)"
    r"|i (?:seem to )?(?:remember|recall)"
    r"|i (?:had )?(?:thought|assumed|imagined|expected|figured|guessed)|ballpark"
    r"|don't (?:quite )?(?:remember|recall|know))\b"
    r"|印象|记不[准清太]|记错|以为|我猜|猜的|瞎猜|不确定|不太确定|说不准|拿不准|凭感觉|好像是"
)
_QUOTED: Final = re.compile(
    r"\byou (?:say|said|wrote|write|put|list|listed|mention|mentioned|claim|claimed|report"
    r"|reported|state|stated"
    r"|give|gave|have|chose|choose|picked|pick|show|showed|named|name|used|count|counted|keep"
    r"|kept|note|noted|set)\b"
    r"|\byou've (?:got|put|written|listed|chosen|used|counted|given)\b|\b(?:your"
    r"|the) (?:own )?(?:message|summary|table|report|note|file)\b[^.!?\n]{0,20}\b(?:says?"
    r"|shows?|lists?|gives?|has)\b"
    r"|\bi (?:see|saw|notice|noticed|read)\b|\bas i (?:said|wrote|told|asked)\b|\bi (?:asked"
    r"|said|told|wrote)\b"
    r"|你(?:自己)?(?:说|写|列|提到|报告|填|给|选|用|标|算出|把|的)|我看到|我(?:要求|说过|开头"
    r"|前面说|问的|原来)|如我所说"
)
_ENDS: Final = re.compile(r"[.!?;]+(?=\s|$)|\n+|[!?](?=[\u3400-\u9fff])")


def sentence_at(folded: str, start: int, end: int) -> str:
    """The sentence around a place, its closing mark included."""
    low, high = 0, len(folded)
    for match in _ENDS.finditer(folded):
        if match.end() <= start:
            low = match.end()
        elif match.start() >= end:
            high = match.end()
            break
    return folded[low:high]


def asked(sentence: str) -> bool:
    """Whether a sentence is a question."""
    return _ASKED.search(_TAG.sub(".", sentence)) is not None


def guessed(sentence: str) -> bool:
    """Whether somebody says that he does not know it."""
    return _GUESSED.search(sentence) is not None


def quoted(sentence: str) -> bool:
    """Whether a sentence rests on what the other one did or on what was asked before."""
    return _QUOTED.search(sentence) is not None


def stated(folded: str, start: int, end: int) -> bool:
    """Whether the sentence around a place says it as a fact or as an order."""
    sentence = sentence_at(folded, start, end)
    return not (asked(sentence) or guessed(sentence) or quoted(sentence))
