"""Statements that go beyond what is known: facts and demands about the task that nobody said yet.

A simulated user who may say no more than that something is not right has nothing new to state
about the task; questions, requests to look again, guesses, and repetitions of the instruction, the
brief or the work are free. Whether a sentence is such a statement is a weighted sum of what can be
seen in it, fitted on labelled messages (`firewall/probes`).
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Final

from uniclaw.firewall.against import Against, quality
from uniclaw.firewall.decision import Hit
from uniclaw.firewall.normal import is_cjk
from uniclaw.firewall.stance import asked, guessed, quoted
from uniclaw.firewall.terms import Term, related, terms, tokens

WEIGHTS: Final[Mapping[str, float]] = {
    "cue": 1.14, "covered": 0.96, "known": 0.6, "near": 0.55, "hidden": 0.37, "new": -0.11,
    "new_weight": 0.95, "asked": -4.33, "guessed": -0.66, "quoted": -1.73, "request": -1.96,
    "first_person": -4.3, "looks": -2.01, "soft": -0.9, "you": -0.16, "short": -1.17,
    "spoken_before": 0.44, "bias": -2.9,
}  # fmt: skip
THRESHOLD: Final = 0.9
REPEATED: Final = 0.55
"""A sentence of which one known sentence holds so much repeats it."""
_CUE: Final = re.compile(
    r"\b(?:should(?:n't)?|must(?:n't)?|ought|belongs?|has to|have to|needs? to|is to be"
    r"|are to be|leave"
    r"|instead|rather than|not just|only count|don't count|counts?|forgot|missed|missing|short"
    r"|turns? out|actually|really|in fact|wasn't|weren't|isn't|aren't|didn't|doesn't|don't|can't"
    r"|cannot|couldn't|never|nobody|no one|none|without|neither|nowhere|still|is the|are the"
    r"|was the"
    r"|were the|comes? from|goes? to|went|take|use|put|list|drop|remove|include|exclude|split|treat"
    r"|mark|pick|choose|go with|look at|watch out|beware|trap|wrong|there(?:'s| is| are)|fell for"
    r"|knock|fold|add|subtract|ignore|skip|keep|also|too|as well|both|each|every|all|only"
    r"|until|once"
    r"|later|earlier|afterwards|elsewhere|another|different|other|real|true|fake|bogus|hidden"
    r"|secret"
    r"|already|no longer|not|changed|moved|corrected|raised|took|became|was|were|had|has|been"
    r"|else)\b"
    r"|应该?|必须|得|要|不能|不得|不许|别|不要|才|其实|实际|漏|少了|多了|没|算|不算|不是|而是"
    r"|就是|属于"
    r"|不行|根本|后来|已经|早就|并没|假|另|先|藏|挪|只|都|被|最新|真正|须|以.{1,12}为准|按|改"
    r"|陷阱|留|空|减|加|除"
)
_REQUEST: Final = re.compile(
    r"\b(?:please|could you|can you|would you|check|re-?check|double-check|verify|re-?read|read"
    r"|look (?:again|at|over|through)|go (?:over|through|back)|apply|compare|review|confirm"
    r"|make sure"
    r"|try again|redo|once more|again)\b"
    r"|请|麻烦|检查|核对|核实|再看|多读|翻|对照|确认|重新|仔细|认真|快点|发我|发给|告诉我"
    r"|好吗|改好|等着|快一点|快些|抓紧"
)
_FIRST: Final = re.compile(r"\b(?:i|i'm|i'd|i've|me|mine)\b|我")
_LOOKS: Final = re.compile(
    r"\b(?:chart|axis|font|label|heading|typo|spell\w*|layout|margin|screen|print\w*|colou?r"
    r"|readable"
    r"|sentence|paragraph|wording|tone|logo|picture|button|format\w*)s?\b"
    r"|排版|字体|图|坐标|错别字|打印|页|格式|措辞|语气|大白话|全名|版"
)
_SOFT: Final = re.compile(
    r"\b(?:perhaps|maybe|seems?|looks?|feels?|somehow|probably|would be (?:better|nice|good)"
    r"|might|may"
    r"|wonder|suppose|if)\b|好像|似乎|可能|估摸|感觉|觉得|大概|如果|要是|会更好|好多了"
)
_YOU: Final = re.compile(r"\byou(?:r|'ve|'re)?\b|你")
_SENTENCE: Final = re.compile(r"(?<=[.!?;\n])\s*")
_CHAT_WORDS: Final = (
    "check recheck verify look read review careful carefully slow slowly message again once pass"
    " work thank quick help trust sure worry hope hurry today tomorrow morning evening week meeting"
    " boss day time glad happy sorry tired busy wait need want feel think believe know say tell"
    " explain show understand thing something anything everything nothing point step part place way"
    " try attempt job task request ask question answer version draft result finish ready done miss"
    " detail full whole start beginning end first last line file folder open send reply"
    " 检查 核对 再看 仔细 认真 一遍 麻烦 谢谢 辛苦 消息 文件 要求 问题 地方 东西 感觉 放心"
    " 确认 核实 对照"
    " 结果 内容 重新 完成 今天 明天 时间 老板 着急 发给 回复 说明 解释 明白 清楚 遗漏 整体"
    " 开头 原来"
    " 发现 疏漏 顺手 样子 达到 领导 报告 出错 快点"
)


@cache
def _chat() -> frozenset[str]:
    """Terms of any conversation about work."""
    return quality() | {t.key for word in _CHAT_WORDS.split() for t in terms(word)}


def statement_hits(folded: str, against: Against, *, view: str = "plain") -> Iterator[Hit]:
    """Sentences that state something about the task which nobody said before."""
    for sentence in _SENTENCE.split(folded):
        seen = features(sentence, against)
        if seen is not None and score(seen) >= THRESHOLD:
            matched = sentence.strip()[:120]
            yield Hit(kind="paraphrase", matched=matched, where="a new statement", view=view)
            return


def score(seen: Mapping[str, float]) -> float:
    """How much a sentence is a new statement; above `THRESHOLD` it counts."""
    return sum(WEIGHTS[name] * value for name, value in seen.items())


def features(sentence: str, against: Against) -> dict[str, float] | None:
    """What can be seen in a sentence, or None where it says too little."""
    said = {t.key: t for t in reversed(terms(sentence)) if t.key not in _chat()}
    if len(said) < 2:
        return None
    index = against.index
    known = {k for k, t in said.items() if k in index.known_keys or against.visible.term(t.word)}
    near = {k for k in said if k not in known and related(k).keys() & index.known_keys}
    hidden = [k for k in said if k not in known and related(k).keys() & index.by_term.keys()]
    new = said.keys() - known - near
    covered = _covered(sentence, said, against)
    if covered >= REPEATED:
        return None
    return {
        "cue": min(3.0, len(set(_CUE.findall(sentence)))),
        "covered": covered,
        "spoken_before": _spoken_before(sentence, against),
        "known": min(4.0, len(known)),
        "near": min(4.0, len(near)),
        "hidden": min(4.0, len(hidden)),
        "new": min(4.0, len(new)),
        "new_weight": min(2.0, sum(said[key].weight for key in new)),
        "asked": asked(sentence),
        "guessed": guessed(sentence),
        "quoted": quoted(sentence),
        "request": _REQUEST.search(sentence) is not None,
        "first_person": _FIRST.search(sentence) is not None,
        "looks": _LOOKS.search(sentence) is not None,
        "soft": _SOFT.search(sentence) is not None,
        "you": _YOU.search(sentence) is not None,
        "short": len(said) < 4,
        "bias": 1.0,
    }


def _covered(sentence: str, said: Mapping[str, Term], against: Against) -> float:
    """The share of a sentence that one sentence of the instruction or the brief holds."""
    total = sum(t.weight for t in said.values()) or 1.0
    best = 0.0
    for piece in against.index.known_pieces:
        if not piece.isdisjoint(said):
            held = (
                t.weight * max((f for k, f in related(t.key).items() if k in piece), default=0.0)
                for t in said.values()
            )
            best = max(best, sum(held) / total)
    return max(best, _same_characters(sentence, against))


def _same_characters(sentence: str, against: Against) -> float:
    """The share of a Chinese sentence's characters that one known sentence holds."""
    signs = {c for c in sentence if is_cjk(c)}
    if len(signs) < 5:
        return 0.0
    return max((len(signs & known) for known in against.index.known_signs), default=0) / len(signs)


def _spoken_before(sentence: str, against: Against) -> float:
    """The share of its pairs of characters (English: of its words) that are known texts'."""
    words = tokens(sentence)
    if sum(is_cjk(word[0]) for word in words) > len(words) / 2:
        bare = "".join(word for word in words if is_cjk(word[0]))
        pairs = [bare[i : i + 2] for i in range(len(bare) - 1)]
        return sum(pair in against.known.folded for pair in pairs) / max(1, len(pairs))
    return sum(map(against.known.word, words)) / max(1, len(words))
