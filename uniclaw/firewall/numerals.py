"""Numbers written in words, English and Chinese, turned into digits in place.

Works on folded text. `one` and 一 alone stay words: they are rarely meant as numbers.
"""

import re
from typing import Final

_BELOW_TWENTY: Final = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
    " fifteen sixteen seventeen eighteen nineteen"
)
_BY_TEN: Final = "twenty thirty forty fifty sixty seventy eighty ninety"
_UNITS: Final = {
    **{word: value for value, word in enumerate(_BELOW_TWENTY.split())},
    "oh": 0,
    "dozen": 12,
}
_TENS: Final = {word: (index + 2) * 10 for index, word in enumerate(_BY_TEN.split())}
_SCALES: Final = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9}
_ORDINALS: Final = {
    "first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7,
    "eighth": 8, "ninth": 9, "tenth": 10, "eleventh": 11, "twelfth": 12, "thirteenth": 13,
    "fourteenth": 14, "fifteenth": 15, "sixteenth": 16, "seventeenth": 17, "eighteenth": 18,
    "nineteenth": 19, "twentieth": 20, "thirtieth": 30,
}  # fmt: skip
_WORD = "|".join(sorted((*_UNITS, *_TENS, *_SCALES), key=len, reverse=True))
_RUN = re.compile(
    rf"(?<![a-z])(?:(?:a|half\s+a)\s+(?=(?:hundred|thousand|million|billion|dozen)\b))?"
    rf"(?:{_WORD})(?:(?:[\s,-]+(?:and\s+)?|\s+)(?:{_WORD}|point|dot)(?![a-z]))*(?![a-z])"
)
_DIGITS_ZH: Final = dict(zip("零〇一二两三四五六七八九", "001223456789", strict=True))
_FORMAL = str.maketrans("壹贰叁肆伍陆柒捌玖拾佰仟萬億贰", "一二三四五六七八九十百千万亿二")
_SCALES_ZH: Final = {"十": 10, "百": 100, "千": 1000}
_RUN_ZH = re.compile(r"[零〇一二两三四五六七八九十百千万亿]+(?:点[零〇一二三四五六七八九]+)?")
_HOUR = "[一二两三四五六七八九十]{1,3}"
_CLOCK_ZH = re.compile(
    rf"(?P<part>上午|下午|晚上|早上|中午"
    rf"|凌晨)(?P<h>{_HOUR})点(?P<m>[零一二三四五六七八九十]{{1,3}}(?!刻))?(?P<rest>分|半|整"
    rf"|[一三]刻)?"
    rf"|(?<![零一二三四五六七八九十百千万])(?P<h2>{_HOUR})点(?P<rest2>半|钟|[一三]刻|整)"
)
_COINS_ZH = re.compile(r"(\d+)[块元](\d)[毛角]?(?:(\d)分?)?(?!\d|\.\d)")
_COINS = re.compile(
    r"(?<![\d.,])(\d{1,6}) (?:pounds?|dollars?|euros?|quid|bucks)(?: and)?"
    r" (\d\d)(?!\d|[.,]\d|\s*(?:%|percent))"
)
_ROMAN = re.compile(
    r"(?<![a-z0-9-])(?=[ivxlcdm]{3,9}(?![a-z0-9]))m{0,3}(?:cm|cd|d?c{0,3})(?:xc|xl|l?x{0,3})"
    r"(?:ix|iv|v?i{0,3})(?![a-z0-9'-])"
)
_ROMAN_SIGNS: Final = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100, "d": 500, "m": 1000}
_ROMAN_WORD_LIST: Final = "mix mil dim mid vim did lid mild mill dill mmm vii"
_ROMAN_WORDS: Final = frozenset(_ROMAN_WORD_LIST.split())
_BELOW_TEN = "|".join(word for word, number in _ORDINALS.items() if number < 10)
_COMPOUND_DAY = re.compile(rf"(?<![a-z])(twenty|thirty)[\s-]({_BELOW_TEN})(?![a-z])")
_ORDINAL_RUN = re.compile(
    r"(?<![a-z])(?:(twenty|thirty)[\s-])?(" + "|".join(_ORDINALS) + r")(?![a-z])"
)


def digits_for_words(folded: str) -> str:
    """Write number words as digits: `nine hundred and twelve` -> `912`, 九百一十二 -> 912."""
    folded = _CLOCK_ZH.sub(_clock, folded)
    folded = folded.replace("一两", "几")
    folded = re.sub(r"两(?=[个项处条行张份次年月天家位块])", "2", folded)
    folded = _COMPOUND_DAY.sub(lambda m: f"{_TENS[m[1]] + _ORDINALS[m[2]]}th", folded)
    text = _RUN.sub(lambda m: _english(m.group()), folded)
    text = _ROMAN.sub(_roman, _COINS.sub(r"\1.\2 ", text))
    text = _RUN_ZH.sub(lambda m: _chinese(m.group()), text.translate(_FORMAL))
    return _COINS_ZH.sub(lambda m: f"{m[1]}.{m[2]}{m[3] or ''}元", text)


def ordinal_days(folded: str) -> str:
    """Write ordinal words as numbers with `th`, for dates: `the fifth of march` -> `5th`."""

    def number(match: re.Match[str]) -> str:
        tens = _TENS.get(match[1] or "", 0)
        return f"{tens + _ORDINALS[match[2]]}th"

    return _ORDINAL_RUN.sub(number, folded)


def _roman(match: re.Match[str]) -> str:
    """A Roman numeral of three signs or more; shorter ones are often something else."""
    word = match.group()
    if word in _ROMAN_WORDS:
        return word
    signs = [_ROMAN_SIGNS[c] for c in word]
    after = [*signs[1:], 0]
    return str(sum(-a if a < b else a for a, b in zip(signs, after, strict=True)))


def _clock(match: re.Match[str]) -> str:
    hour = _chinese(match["h"] or match["h2"]).replace("两", "2").replace("一", "1")
    minute = _chinese(match["m"]) if match["m"] else ""
    rest = (match["rest"] or match["rest2"] or "").replace("三刻", "45分")
    return f"{match['part'] or ''}{hour}点{minute}{rest}"


def _english(run: str) -> str:
    words = re.findall(r"[a-z]+", run)
    half = words[:2] == ["half", "a"]
    words = [w for w in words if w not in ("and", "a", "half")]
    if len(words) == 1 and words[0] in ("one", "oh", "hundred", "thousand", "million", "billion"):
        if half and words[0] in _SCALES:
            return str(_SCALES[words[0]] // 2)
        return f"{_SCALES[words[0]]}" if run.startswith("a ") and words[0] in _SCALES else run
    for mark in ("point", "dot"):
        if mark in words:
            at = words.index(mark)
            whole, part = _whole(words[:at]), _spelled(words[at + 1 :])
            return f"{whole}.{part}" if whole and part else run
    value = _whole(words)
    if half and value:
        return str(int(value) // 2)
    return value or run


def _spelled(words: list[str]) -> str:
    """Digits said one by one."""
    parts = [str(_UNITS[w]) if w in _UNITS else str(_TENS[w]) if w in _TENS else "" for w in words]
    return "" if "" in parts else "".join(parts)


def _whole(words: list[str]) -> str:
    """A whole number in words, or digits said one by one."""
    if not words:
        return ""
    small = [w in _UNITS and _UNITS[w] < 10 for w in words]
    if len(words) > 1 and all(small):
        return _spelled(words)
    total, current = 0, 0
    for word in words:
        if word in _UNITS or word in _TENS:
            if word == "dozen":
                current = max(current, 1) * 12
            else:
                current += _UNITS.get(word, _TENS.get(word, 0))
        elif word == "hundred":
            current = max(current, 1) * 100
        elif word in _SCALES:
            total += max(current, 1) * _SCALES[word]
            current = 0
        else:
            return ""
    return str(total + current)


def _chinese(run: str) -> str:
    if run in ("一", "万", "千", "百", "十", "亿", "两", "零", "〇"):
        return "10" if run == "十" else run
    whole, _, part = run.partition("点")
    tail = "." + "".join(_DIGITS_ZH[c] for c in part) if part else ""
    if not any(c in "十百千万亿" for c in whole):
        return "".join(_DIGITS_ZH[c] for c in whole) + tail
    if whole[0] in "万亿千百" or not any(c in _DIGITS_ZH or c == "十" for c in whole):
        return run  # a multiplier that follows digits, such as 913万
    return f"{_chinese_value(whole)}{tail}"


def _chinese_value(whole: str) -> int:
    total, section, digit, last = 0, 0, 0, 1
    for char in whole:
        if char in _DIGITS_ZH:
            digit = int(_DIGITS_ZH[char])
        elif char in _SCALES_ZH:
            last = _SCALES_ZH[char]
            section += (digit or 1) * last
            digit = 0
        else:
            last = 10_000 if char == "万" else 10**8
            total = (total + section + digit) * last
            section, digit = 0, 0
    if digit and last >= 100 and not whole.endswith(tuple("零〇")) and whole[-2] not in "零〇":
        digit *= last // 10  # 三百五 is 350
    return total + section + digit
