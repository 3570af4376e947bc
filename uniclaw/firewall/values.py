"""Values in folded text: numbers with units, dates, times, identifiers, file names.

Each mention carries canonical forms; two mentions of one value share one, whatever the format.
"""

import re
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from typing import Final, NamedTuple

_GROUPED = r"\d{1,3}(?:[,'_ ]\d{3})+(?:[.]\d+)?"
_GROUPED_EU = r"\d{1,3}(?:[.]\d{3})+,\d+|\d{1,3}(?:[.]\d{3}){2,}"
_SIMPLE = r"\d+(?:[.,]\d+)?(?:e[+-]?\d+)?"
_UNIT_WORDS: Final = {
    "k": 10**3, "thousand": 10**3, "千": 10**3, "m": 10**6, "mn": 10**6, "mio": 10**6,
    "million": 10**6, "millions": 10**6, "百万": 10**6, "万": 10**4, "十万": 10**5, "千万": 10**7,
    "bn": 10**9, "billion": 10**9, "亿": 10**8, "b": 10**9,
}  # fmt: skip
_FAMILIES: Final = {
    "ms": ("time", "0.001"), "s": ("time", "1"), "sec": ("time", "1"), "secs": ("time", "1"),
    "second": ("time", "1"), "seconds": ("time", "1"), "秒": ("time", "1"),
    "min": ("time", "60"), "mins": ("time", "60"), "minute": ("time", "60"),
    "minutes": ("time", "60"), "分钟": ("time", "60"), "h": ("time", "3600"),
    "hr": ("time", "3600"), "hrs": ("time", "3600"), "hour": ("time", "3600"),
    "hours": ("time", "3600"), "小时": ("time", "3600"), "钟头": ("time", "3600"),
    "day": ("time", "86400"), "days": ("time", "86400"), "天": ("time", "86400"),
    "week": ("time", "604800"), "weeks": ("time", "604800"),
    "kb": ("bytes", "1000"), "mb": ("bytes", "1000000"), "gb": ("bytes", "1000000000"),
    "bytes": ("bytes", "1"), "byte": ("bytes", "1"), "字节": ("bytes", "1"),
    "mm": ("length", "0.001"), "cm": ("length", "0.01"), "metre": ("length", "1"),
    "metres": ("length", "1"), "meter": ("length", "1"), "meters": ("length", "1"),
    "米": ("length", "1"), "km": ("length", "1000"), "kilometres": ("length", "1000"),
    "kilometers": ("length", "1000"), "公里": ("length", "1000"), "千米": ("length", "1000"),
    "厘米": ("length", "0.01"), "毫米": ("length", "0.001"),
    "g": ("mass", "1"), "gram": ("mass", "1"), "grams": ("mass", "1"), "克": ("mass", "1"),
    "kg": ("mass", "1000"), "kilos": ("mass", "1000"), "公斤": ("mass", "1000"),
    "千克": ("mass", "1000"), "吨": ("mass", "1000000"), "tonnes": ("mass", "1000000"),
    "cents": ("money", "0.01"), "cent": ("money", "0.01"), "pence": ("money", "0.01"),
    "分钱": ("money", "0.01"), "角": ("money", "0.1"),
    "dollars": ("money", "1"), "euros": ("money", "1"), "yuan": ("money", "1"),
    "usd": ("money", "1"), "eur": ("money", "1"), "gbp": ("money", "1"), "cny": ("money", "1"),
    "元": ("money", "1"), "块": ("money", "1"), "pounds": ("money", "1"),
}  # fmt: skip
_MULTIPLIER = "|".join(sorted(_UNIT_WORDS, key=len, reverse=True))
_UNIT = "|".join(sorted(map(re.escape, _FAMILIES), key=len, reverse=True))
_NUMBER = re.compile(
    rf"(?<![a-z0-9_/])(?<![a-z0-9]-)(?<!\d[.,])(?P<about>(?:about|around|roughly|approximately|approx\.?|nearly|almost|some|ca\.?"
    rf"|circa|just (?:over|under)|~|≈|约|大约|大概|差不多|将近|接近|左右)\s*)?"
    rf"(?P<sign>[+-])?(?:[$€£¥₩]|usd|eur|cny|rmb|gbp)?\s*"
    rf"(?P<number>(?:{_GROUPED_EU}|{_GROUPED})(?!,?\d)|{_SIMPLE})"
    rf"(?:\s*(?P<times>{_MULTIPLIER})(?![a-z]))?"
    rf"(?:\s*(?P<percent>%|percent\b|per\s*cent\b|pct\b|百分点|个百分点|‰)"
    rf"|\s*-?(?P<unit>{_UNIT})(?![a-z]))?",
)
_PERCENT_ZH = re.compile(r"百分之\s*(\d+(?:\.\d+)?)")
_TENTHS_ZH = re.compile(r"(?<!\d)(\d)成(?:(\d)|半)?(?![功本为员果])")
_FRACTION = re.compile(r"(?<![\w./])(\d{1,3})\s*/\s*(\d{1,4})(?![\w./])")


class Mention(NamedTuple):
    """A value that stands in a text."""

    kind: str
    """`number`, `date`, `time`, `identifier`, `file_name`."""
    text: str
    start: int
    end: int
    forms: tuple[str, ...]
    """Canonical forms; the first is the likeliest reading."""
    significant: int = 0
    """Significant digits of a number, trailing zeros of whole numbers not counted."""
    rounded: bool = False
    """Said with `about`, with a multiplier, or as a whole number that ends in zeros."""
    base: str = ""
    """`family:value` in base units, where a unit stands."""


def canonical(number: Decimal) -> str:
    """One spelling for equal numbers."""
    text = f"{number:f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text in ("", "-0", "-") else text.lstrip("+")


def significant(form: str) -> int:
    """Significant digits, without trailing zeros of whole numbers."""
    digits = form.lstrip("-").replace(".", "").lstrip("0")
    return len(digits if "." in form else digits.rstrip("0"))


def _readings(text: str) -> list[Decimal]:
    """What a digit group may mean; decimal commas make it ambiguous."""
    plain = re.sub(r"[,'_ ]", "", text)
    out: list[str] = []
    if re.fullmatch(r"\d{1,3}(?:[.]\d{3})+,\d+|\d{1,3}(?:[.]\d{3}){2,}", text):
        out.append(text.replace(".", "").replace(",", "."))
    elif re.fullmatch(r"\d+,\d{1,2}|0,\d+", text):
        out.append(text.replace(",", "."))
    elif "," in text and not re.fullmatch(r"\d{1,3}(?:[,'_ ]\d{3})+(?:[.]\d+)?", text):
        out += [text.replace(",", "."), plain]
    else:
        out.append(plain)
        if re.fullmatch(r"\d{1,3}[.]\d{3}", text):
            out.append(text.replace(".", ""))
    numbers: list[Decimal] = []
    for item in out:
        try:
            number = Decimal(item)
        except InvalidOperation:
            continue
        if abs(number.adjusted()) < 30:
            numbers.append(number)
    return numbers


def numbers(folded: str) -> Iterator[Mention]:
    """Numbers of a folded text in which number words were written as digits."""
    for match in _NUMBER.finditer(folded):
        mention = _number(match)
        if mention is not None:
            yield mention
    for match in _PERCENT_ZH.finditer(folded):
        value = Decimal(match[1])
        yield _simple(match, value, (canonical(value), canonical(value / 100)))
    for match in _TENTHS_ZH.finditer(folded):
        value = Decimal(match[1]) * 10 + (int(match[2]) if match[2] else 5 * ("半" in match[0]))
        yield _simple(match, value, (canonical(value), canonical(value / 100)))
    for match in _FRACTION.finditer(folded):
        if int(match[2]):
            value = Decimal(match[1]) / Decimal(match[2])
            yield _simple(match, value, (canonical(round(value, 4)),))


def _simple(match: re.Match[str], value: Decimal, forms: tuple[str, ...]) -> Mention:
    return Mention(
        "number", match.group(), match.start(), match.end(), forms, significant(canonical(value))
    )


def _number(match: re.Match[str]) -> Mention | None:
    readings = _readings(match["number"])
    if not readings:
        return None
    times = Decimal(_UNIT_WORDS[match["times"]]) if match["times"] else Decimal(1)
    values = [reading * times for reading in readings]
    forms = [canonical(value) for value in values]
    if match["percent"]:
        forms.append(canonical(values[0] / (1000 if match["percent"] == "‰" else 100)))
    if match["sign"] == "-":
        forms = [f"-{form}" for form in forms] + forms
    base = ""
    if match["unit"]:
        family, factor = _FAMILIES[match["unit"]]
        base = f"{family}:{canonical(values[0] * Decimal(factor))}"
    first = canonical(readings[0])
    loose = bool(match["about"] or match["times"])
    zeros = "." not in first and first.endswith("00")
    count = significant(first)
    start = match.start("number") if not match["sign"] else match.start("sign")
    return Mention(
        "number", match.group().strip(), start, match.end(), tuple(dict.fromkeys(forms)), count,
        loose or zeros, base,
    )  # fmt: skip
