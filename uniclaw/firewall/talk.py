"""Talk about how the work is assessed: scores, counts of faults, oracle hints, the rubric itself.

Works on wording alone. What the policy released may be said; so may what the task itself is about.
"""

import re
from collections.abc import Iterator
from typing import Final

from uniclaw.firewall.decision import Hit, HitKind
from uniclaw.firewall.policy import Policy, ScoreRelease
from uniclaw.records import Progress

_N: Final = r"(?:\d+(?:\.\d+)?|a couple of|a few|several|half|most|all but \d+)"
_FAULT: Final = (
    r"(?:things?|points?|items?|parts?|places?|spots?|areas?|aspects?|issues?|problems?|errors?|mistakes?"
    r"|faults?|criteria|criterion|checks?|checkpoints?|requirements?|conditions?|gaps?|bugs?|questions?"
    r"|answers?|values?|numbers?|figures?|fields?|rows?|entries|lines?|tests?|boxes)"
)
_BAD: Final = (
    r"(?:wrong|incorrect|not right|not correct|off|missing|unmet|failing|failed|fail|broken|inaccurate"
    r"|unfulfilled|not met|not satisfied|unsatisfied|not passing|outstanding|not ok|not okay|to fix"
    r"|left to fix|to correct|still open)"
)
_BAD_ZH: Final = r"(?:错|不对|有误|不正确|不符|没达到|未达到|没满足|未满足|没过|未通过|不合格|缺失|没做到|有问题|要改|待改)"

_SCORE = (
    r"\b(?:your|the|its|current|overall|total|final)\s+(?:current\s+|overall\s+|final\s+)?"
    r"(?:score|grade|mark|rating|result)\b(?:\s+\w+){0,4}?\s*(?:is|was|at|of|:|=|stands|comes?|sits|now|to|about)"
    r"[^.\n]{0,30}?\d",
    r"\b(?:scored?|scoring|graded?|rated)\b[^.\n]{0,25}?\d+(?:\.\d+)?\s*(?:%|percent|points?|/|out of|of)?",
    r"\b\d+(?:\.\d+)?\s*(?:out of|/)\s*(?:10|100|1(?:\.0)?|5)\b(?!\s*(?:rows|files|items))",
    r"\b(?:pass mark|passing (?:score|grade|mark|threshold)|pass(?:ing)? threshold|threshold (?:is|of))\b",
    r"\b(?:worth|counts? for|carries|weighs?|weighted(?: at)?)\b[^.\n]{0,20}?\d+(?:\.\d+)?\s*(?:%|percent|points?)",
    r"\b(?:nine|eight|seven|six|five|four|three|two|\d+) (?:tenths|fifths|quarters|thirds)\b[^.\n]{0,30}(?:there|done|right|correct|score|marks)",
    r"\b(?:about|around|roughly|nearly|almost|only|just|at)?\s*\d+(?:\.\d+)?\s*(?:%|percent)\s*(?:of the way|there\b|done\b|complete\b|correct\b|right\b|of the (?:points|marks|credit|grade|score))",
    r"\b(?:three quarters|two thirds|a third|a quarter|a fifth|80 percent|90 percent) (?:of the way|of the (?:points|marks|credit|score)|there|done|right|correct)\b",
    r"(?:得分|分数|评分|总分|打分|成绩)[^。\n]{0,12}?\d",
    r"(?:得了?|拿了?|打了?|给了?|只有|才)\s*(?:约|大概|大约)?\s*\d+(?:\.\d+)?\s*分(?![钟之])",
    r"(?:及格线|通过线|合格线|门槛|阈值)[^。\n]{0,8}?(?:是|为|在|要|:|\d)",
    r"(?:完成|做对|达到|正确)[了率度]*[^。\n]{0,6}?(?:\d+(?:\.\d+)?\s*%|百分之\s*\d+|\d成)",
    r"(?:占|值|权重)[^。\n]{0,6}?\d+(?:\.\d+)?\s*(?:%|分(?![钟])|权重)",
    r"\d成(?:左右|多)?(?:对了|是对的|正确|完成)",
)
_NEAR = (
    r"\b(?:almost|nearly|practically|just about|very nearly) (?:a )?(?:there|perfect|full marks|passing|a pass|at the threshold|good enough to pass)\b",
    r"\b(?:just|barely|slightly|a (?:hair|whisker|touch|little)|well|far) (?:short of|below|under|above|over) (?:passing|the (?:pass|threshold|bar|mark|line|limit|cut-?off))\b",
    r"\b(?:below|above|past|over|under|less than|more than) (?:the )?(?:half(?:way)?|midpoint|threshold|pass mark|passing)\b(?! of (?:the )?(?:rows|files|page))",
    r"\b(?:top|highest|lowest|middle|bottom|low|high) (?:band|score|grade|marks|tier)\b",
    r"\b(?:full|maximum|perfect|top|partial|half) (?:marks|credit|points|score)\b",
    r"(?:接近|差一点就|马上就|快要|勉强|刚好|离)(?:满分|及格|通过|合格|达标)",
    r"(?:不到|超过|过了?)(?:一半|及格线|半数)(?:的分|了|分数|得分)?(?![行个份])",
    r"(?:满分|高分|低分|中等分|分数段|档位)",
)
_COUNT = (
    rf"\b(?:there (?:are|is)|i (?:see|count|found|find)|you (?:have|got|made|missed|failed|still have)|exactly|only|still|just|with|leaves?|leaving|remaining|at least|all)"
    rf"\s+(?:still |exactly |only |just |about |at least |another |got )*{_N}\s+(?:\w+\s+){{0,3}}?{_FAULT}\b[^.\n]{{0,25}}?\b{_BAD}",
    rf"\b{_N}\s+(?:of (?:the|your|my|these|those|them|its)\s+)?(?:\w+\s+){{0,2}}?(?:{_FAULT}\s+)?(?:are|is|were|was|remain|still|seem|look)\s+(?:still |all |completely |clearly )*{_BAD}\b",
    rf"\b{_N}\s+(?:out )?of\s+(?:the\s+|your\s+)?{_N}\b[^.\n]{{0,40}}?\b(?:right|correct|pass(?:ed|es|ing)?|met|done|satisf\w+|{_BAD[3:-1]})\b",
    rf"\b(?:got|get|have|missed|failed|passed|met|satisf\w+|fixed)\s+(?:only |just |exactly )?{_N}\s+(?:out )?of\s+(?:the\s+)?{_N}\b",
    rf"\b{_N}\s+(?:more |other |further |remaining |unresolved |separate )?(?:errors?|mistakes?|faults?|problems?|issues?|gaps?|bugs?)\s+(?:left|remain\w*|to go|in (?:it|there|your|the)|still)\b",
    rf"\b(?:made|contains?|has|have|are|were|with|remain\w*|found)\s+(?:exactly |still |only |just |at least )*{_N}\s+(?:more |other |remaining |serious |separate )*(?:errors?|mistakes?|faults?)\b",
    rf"\b{_N}\s+(?:checkpoints?|criteria|requirements|checks)\b[^.\n]{{0,30}}",
    rf"\b{_N}\s+(?:things?|points?|items?|parts?)\s+(?:left|to go|remaining|to fix|to correct|still to)\b",
    rf"\d+\s*(?:个|处|项|条|点|道|行|地方)\s*(?:\w{{0,4}}?)?(?:地方|问题|内容|要求|检查点|数字|答案|错误|条目|结果)?[^。,\n\d]{{0,4}}?(?:还|都|仍|是)?{_BAD_ZH}",
    r"(?:还|仍|只|一共|总共|至少)?(?:有|剩|差|错了?|缺了?|漏了?|对了)\s*\d+\s*(?:个|处|项|条|点|道)(?:(?:地方|问题|错误|缺陷|漏洞|检查点|要求|毛病)|(?=[,。;!\s]|$))",
    rf"\d+\s*(?:个|处|项|条|点)?(?:里|中|当中|之中)(?:面)?[^。\n]{{0,6}}?\d+\s*(?:个|处|项|条|点)?[^。\n]{{0,6}}?(?:对|正确|通过|满足|达到|{_BAD_ZH[3:-1]})",
)
_VALUE: Final = (
    r"(?:number|figure|total|sum|amount|value|count|answer|result|price|average|percentage|rate|score"
    r"|revenue|date|year|percent|guess|estimate|quantity|it|that|this|one|yours)"
)
_ORACLE = (
    rf"\b(?:the |your |my |that |real |right |true |actual |correct )*(?:{_VALUE})(?:'s| is| was| should be| needs to be| must be| has to be| ought to be| lies| sits| comes out)?"
    r"\s+(?:actually |really |in fact |a (?:bit|little|tad|touch|lot)|slightly |somewhat |much |quite |still |considerably |even |just )*\s*"
    r"(?:higher|lower|bigger|smaller|larger|greater|less|too (?:high|low|big|small|large)|earlier|later|more than (?:that|yours|you)|less than (?:that|yours|you)|further (?:up|down))\b(?! than (?:the|my|in|what|your) (?!answer|guess|figure|number|result|value|total))",
    r"\b(?:getting|you'?re|you are|your are|very|so|really|quite|pretty|now|that'?s) (?:\w+ )?(?:warm|warmer|cold|colder|hot|hotter)\b",
    r"\b(?:you'?re|you are|that(?:'s| is)|it(?:'s| is)|your (?:answer|number|total|figure|result|guess) is) (?:\w+ )?(?:close|near)\b[^.\n]{0,60}?\b(?:but|though|number|value|higher|lower|off|bigger|smaller|not quite|just|yet)",
    r"\b(?:close|nearly right|almost right|not quite)\b[^.\n]{0,40}\b(?:bigger|larger|smaller|higher|lower|greater|more|less|up|down|earlier|later)\b",
    r"\b(?:off by|out by|short by|too (?:high|low) by|over by|under by|differs? by|wrong by)\b",
    r"\b(?:go|try|aim|think|look|guess|count) (?:a (?:bit|little|touch) |slightly |somewhat )?(?:higher|lower|bigger|smaller|earlier|later)\b",
    r"\b(?:add|subtract|take off|knock off|shave off) (?:a (?:bit|little|few)|some|one|\d+)\b[^.\n]{0,20}\b(?:and you|to (?:get|reach)|you'?ll|from (?:your|that|the) (?:total|number|answer|figure))",
    r"\b(?:over|under)(?:count|stat|estimat|shoot)(?:ed|ing|s)?\b",
    r"\b(?:you'?ve|you have|you) (?:got|nailed|hit) (?:it|that|this|the \w+)(?: \w+){0,3}? (?:right|correct\w*|exactly)\b[^.\n]{0,60}\b(?:but|except|only|while|however)\b",
    r"\b(?:is|are|was|were) (?:right|correct|fine|spot on|exactly right)\b[^.\n]{0,20}?[,;]?\s*(?:but|while|whereas|however|only|yet)\b[^.\n]{0,60}?\b(?:is|are|was|were|isn'?t|aren'?t) (?:not|wrong|incorrect|off|right|correct|still)",
    r"\b(?:yes|no)[,.!]? (?:the|your|that|it) [^.\n]{0,40}?\b(?:is|was) (?:the )?(?:right|correct|wrong|incorrect) (?:one|answer|choice|number|value|pick|option)\b",
    r"\b(?:right|correct|expected|real|true|actual) (?:answer|value|number|total|figure|result|choice|option) (?:is|was|starts|ends|begins|has|contains|lies|would|should|must|comes|differs|=|:)",
    r"\b(?:starts?|ends?|begins?) (?:with|in) (?:a |an |the )?(?:digit |letter |number )?['\"]?(?:\d|[a-z]['\"]?(?![a-z]))",
    r"\b(?:the )?(?:first|last|middle|final|second|third) (?:digit|letter|character|number)s? (?:is|are|should|must|was)\b",
    r"\b(?:odd|even|prime|single-digit|double-digit|two-digit|three-digit|four-digit|five-digit|six-digit|divisible by|multiple of)\b[^.\n]{0,30}\b(?:number|value|answer|total|result)?",
    r"\b(?:between|somewhere (?:between|around|near|above|below))\s+[$€£¥]?\d[\d,.]*\s*(?:k|million|thousand)?\s*(?:and|to|-|or so)\s*[$€£¥]?\d",
    r"\b(?:more|fewer|less) than (?:you|what you) (?:have|found|listed|reported|wrote|think|said|counted|got|put)\b",
    r"(?:接近了|很接近|已经接近|差不多对了|就差一点)[^。\n]{0,20}?(?:大|小|高|低|多|少|早|晚|数)",
    r"(?:数字|数值|总数|总额|合计|金额|答案|结果|数|值|日期|数量|比例|价格|它)[^。,\n]{0,8}?(?:应该|应当|要|得|还要|其实|实际上?)[^。,\n]{0,6}?(?:再)?(?:更|偏)?(?:大|小|高|低|多|少|早|晚)(?:一点|一些|些|点)",
    r"(?:偏高|偏低|偏大|偏小|偏多|偏少)了?",
    r"(?:再|还要|还得|往)(?:大|小|高|低|多|少|早|晚|上|下)(?:一点|一些|点|些|调)?(?:试试|就对|才对|猜)",
    r"(?:多|少)(?:算|数|报|写|列|统计)了",
    r"(?:差|高出|低了|多出|少了|多了|高了)\s*\d+(?:\.\d+)?(?![个份]?(?:文件|附件))",
    r"(?:首位|末位|第\d位|最后一位|开头|第一个字|最后一个字)(?:数字|字母|是)[^。\n]{0,6}",
    r"(?:正确|标准|真正|预期|真实)(?:的)?(?:答案|结果|数字|数值|值|选项|总数|金额)(?:是|为|应|在|比|以|:|介于)",
    r"(?:是对的|没错|正确)[^。\n]{0,10}?(?:但|可|而|不过)[^。\n]{0,20}?(?:不对|错|有误)",
    r"(?:越来越近|很近了|方向对了|方向反了|离答案)",
    r"(?:奇数|偶数|质数|[一二三四五六七八九\d]位数)",
)
_RUBRIC = (
    r"\b(?:rubric|checkpoint|grader|grading|scoring (?:rule|guide|sheet|criteria)|marking (?:scheme|guide)|answer key|ground[ _-]?truth|gold(?:en)? (?:answer|standard|label)|reference (?:answer|solution|value|file|result)|expected (?:answer|value)s? (?:file|in the)|hidden (?:test|check|rule|reference|requirement|criteria|criterion)s?|eval[ _]?rule|supervisor'?s?|evaluator|the judge|auto-?grader|test suite behind|pass requirement|score cap|the checker|evaluation (?:rule|criteria|script|rubric))\b",
    r"(?:评分标准|评分规则|评分细则|评分点|评分表|检查点|标准答案|参考答案|参考结果|评测|评审规则|评估标准|裁判|监督者|判分|打分规则|隐藏的?(?:要求|规则|测试|答案|标准)|得分点|扣分|判定标准)",
)
_KINDS: Final[tuple[tuple[HitKind, str, tuple[str, ...]], ...]] = (
    ("score", "score in words", _SCORE),
    ("score", "band in words", _NEAR),
    ("count", "count of faults", _COUNT),
    ("oracle", "oracle hint", _ORACLE),
    ("rubric_talk", "talk of the rubric", _RUBRIC),
)
_COMPILED: Final = tuple(
    (kind, label, tuple(re.compile(p, re.IGNORECASE) for p in patterns))
    for kind, label, patterns in _KINDS
)
_GROUNDED = re.compile(
    r"\b(?:you (?:say|said|wrote|write|list|mention|claim|report|state)|your own|in your|in the (?:file|table|summary|report|message)|as you|according to|i (?:asked|said|wanted|told)|my (?:request|message|own|list|notes?)|the (?:file|source|sheet|log|instruction)s? (?:says?|shows?|lists?|has|have)|compared (?:with|to)|does ?n[o']t match|add(?:s)? up)\b"
    r"|你(?:自己)?(?:说|写|列|提到|报告)|你的(?:文件|消息|总结|表)|我(?:要求|说过|要的|原来|问的)|文件里|表里|原文|流水里|对不上|加起来"
)
_LISTED = re.compile(r"[:：]\s*(?:\n|first|1[.)]|\(1\)|一是|第一|①|the |please|rename|add|move|use)|\n\s*(?:[-*•]|\d[.)])", re.IGNORECASE)


def talk(folded: str, *, policy: Policy, progress: Progress, public: str) -> Iterator[Hit]:
    """Hits for wording that carries what the policy hides.

    Args:
        folded: the message, number words as digits.
        policy: what it releases may be said.
        progress: what was released this time.
        public: folded public text; wording of the task itself is no talk about its assessment.
    """
    for kind, label, patterns in _COMPILED:
        if _released(kind, label, policy, progress):
            continue
        for pattern in patterns:
            match = pattern.search(folded)
            if match and not _excused(kind, match, folded, public):
                yield Hit(kind=kind, matched=match.group().strip()[:120], where=label)
                break


def _released(kind: HitKind, label: str, policy: Policy, progress: Progress) -> bool:
    release = policy.release
    if release.lines or release.rationale:
        return kind != "rubric_talk"
    if kind == "score":
        if release.score is ScoreRelease.EXACT:
            return True
        return label == "band in words" and release.score is ScoreRelease.BAND
    return False


def _excused(kind: HitKind, match: re.Match[str], folded: str, public: str) -> bool:
    """Wording that the task uses itself, or that rests on what is visible."""
    text = match.group().strip()
    if text in public:
        return True
    sentence = _sentence_of(folded, match)
    if kind == "count":
        after = folded[match.end() : match.end() + 60]
        return bool(_GROUNDED.search(sentence) or _LISTED.match(after.lstrip(" .")))
    if kind == "oracle":
        return bool(_GROUNDED.search(sentence))
    if kind == "score":
        head = re.search(r"score|grade|rating|mark|points?|得分|分数|评分|打分|权重|阈值|threshold", text)
        return bool(head and head.group() in public and not re.search(r"\byour?\b|你", sentence))
    return kind == "rubric_talk" and any(w in public for w in re.findall(r"\w{5,}|[\u3400-\u9fff]{3,}", text))


def _sentence_of(text: str, match: re.Match[str]) -> str:
    start = max(text.rfind(mark, 0, match.start()) for mark in (".", "\n", "!", "?")) + 1
    ends = [at for mark in (".", "\n", "!", "?") if (at := text.find(mark, match.end())) >= 0]
    return text[start : min(ends, default=len(text))]
