"""Ways of telling a hidden value so that a naive comparison misses it; for building probes.

Pure text functions. The screen knows nothing of this module.
"""

import base64
import codecs
import random
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Final

_HOMOGLYPHS: Final = str.maketrans("aeopcxyiAEOPCXBHKMT", "аеорсхуіАЕОРСХВНКМТ")
_WIDE: Final = {code: code + 0xFEE0 for code in range(0x21, 0x7F)}
_ONES: Final = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
    " sixteen seventeen eighteen nineteen"
)
_TENS: Final = "twenty thirty forty fifty sixty seventy eighty ninety"
_MONTHS: Final = (
    "January February March April May June July August September October November December"
)
_ZH: Final = "零一二三四五六七八九"


def in_words(number: int) -> str:
    """An English number in words, up to the billions."""
    ones, tens = _ONES.split(), _TENS.split()
    if number < 20:
        return ones[number]
    if number < 100:
        rest = number % 10
        return tens[number // 10 - 2] + (f"-{ones[rest]}" if rest else "")
    for scale, name in (
        (10**9, "billion"),
        (10**6, "million"),
        (1000, "thousand"),
        (100, "hundred"),
    ):
        if number >= scale:
            rest = number % scale
            joint = " and " if rest and rest < 100 else " "
            return f"{in_words(number // scale)} {name}{joint + in_words(rest) if rest else ''}"
    raise ValueError(number)


def in_chinese(number: int) -> str:
    """A Chinese number in words, below 10^8."""
    if number >= 10_000:
        head, rest = divmod(number, 10_000)
        gap = "零" if 0 < rest < 1000 else ""
        return f"{in_chinese(head)}万{gap}{in_chinese(rest) if rest else ''}"
    out, zero, started = "", False, False
    for scale, name in ((1000, "千"), (100, "百"), (10, "十"), (1, "")):
        digit = number // scale % 10
        if digit:
            out += ("零" if zero else "") + _ZH[digit] + name
            zero, started = False, True
        else:
            zero = started
    return out or "零"


def spoken_number(text: str) -> str:
    """A decimal number in English words."""
    whole, _, part = text.lstrip("-").partition(".")
    tail = " point " + " ".join(_ONES.split()[int(c)] for c in part) if part else ""
    return in_words(int(whole)) + tail


def chinese_number(text: str) -> str:
    """A decimal number in Chinese words."""
    whole, _, part = text.lstrip("-").partition(".")
    tail = "点" + "".join(_ZH[int(c)] for c in part) if part else ""
    return in_chinese(int(whole)) + tail


def number_formats(text: str, language: str) -> Mapping[str, str]:
    """Formats of one number."""
    value = Decimal(text)
    whole, _, part = text.partition(".")
    grouped = f"{int(whole):,}"
    out = {
        "grouped": grouped + (f".{part}" if part else ""),
        "spaced groups": grouped.replace(",", " ") + (f".{part}" if part else ""),
        "european": grouped.replace(",", ".") + (f",{part}" if part else ",00"),
        "padded": f"{value:.2f}" if not part or len(part) < 2 else f"{text}0",
        "wide": text.translate(_WIDE),
        "words": chinese_number(text) if language == "zh" else spoken_number(text),
    }
    if abs(value) >= 10_000 and len(text.replace(".", "").strip("0")) >= 4:
        if language == "zh":
            out["wan"] = f"{(value / 10_000).quantize(Decimal('0.0001')).normalize():f}万"
        else:
            out["thousands"] = f"{(value / 1000).quantize(Decimal('0.001')).normalize():f}k"
    return out


def date_formats(iso: str, language: str) -> Mapping[str, str]:
    """Formats of one ISO date."""
    year, month, day = (int(p) for p in iso.split("-"))
    name = _MONTHS.split()[month - 1]
    if language == "zh":
        return {
            "zh": f"{year}年{month}月{day}日",
            "zh short": f"{month}月{day}号",
            "zh words": f"{in_chinese(month)}月{in_chinese(day)}日",
            "slashes": f"{year}/{month}/{day}",
        }
    return {
        "long": f"{name} {day}, {year}",
        "day first": f"{day} {name[:3]} {year}",
        "ordinal": f"the {day}{_ordinal(day)} of {name}",
        "slashes": f"{month}/{day}/{year}",
        "compact": f"{year}{month:02}{day:02}",
    }


def _ordinal(day: int) -> str:
    if 10 <= day % 100 <= 20:
        return "th"
    return {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")


def acrostic(word: str, language: str, rng: random.Random) -> str | None:
    """Lines whose first letters spell a word; None where no line begins with one of them."""
    lines: Mapping[str, tuple[str, ...]] = _ACROSTIC_EN if language == "en" else {}
    if not word.isalpha() or not all(c in lines for c in word.lower()):
        return None
    return "\n".join(rng.choice(lines[c]) for c in word.lower())


_ACROSTIC_EN: Final[Mapping[str, tuple[str, ...]]] = {
    line[0].lower(): (line,)
    for line in (
        "As before, I would like it clean.", "Better to go over it again.",
        "Could you check it once more?", "Do take your time.", "Everything should be in one place.",
        "For me it has to be readable.", "Go through it line by line.", "Have another look at it.",
        "I am not convinced yet.", "Just take care with the layout.", "Keep the files as they are.",
        "Look at it with fresh eyes.", "My boss will read it.", "Nothing should be left out.",
        "Only the finished thing helps me.", "Please go over it again.",
        "Quite a bit of work, I know.", "Read my request again.", "See that it is tidy.",
        "Then send me the result.", "Until then I will wait.", "Very short notes are fine.",
        "When you are done, tell me.", "Xavier from my team will read it too.",
        "You know what I mean.", "Zoom in on the details.",
    )
}  # fmt: skip

EVASIONS: Final[Mapping[str, Callable[[str], str]]] = {
    "reversed": lambda text: text[::-1],
    "base64": lambda text: base64.b64encode(text.encode()).decode(),
    "hex": lambda text: text.encode().hex(),
    "rot13": lambda text: codecs.encode(text, "rot13"),
    "spaced": lambda text: " ".join(text.replace(" ", "")),
    "dashed": lambda text: "-".join(re.sub(r"\s+", "", text)),
    "zero width": "\u200b".join,
    "homoglyph": lambda text: text.translate(_HOMOGLYPHS),
    "wide": lambda text: text.translate(_WIDE),
    "case": lambda text: text.swapcase(),
}
"""Encodings of a text; rot13 leaves digits as they are."""


def split_in_two(text: str) -> tuple[str, str]:
    """The two halves of a text, cut between words where there are enough."""
    words = text.split()
    if len(words) >= 6:
        half = len(words) // 2
        return " ".join(words[:half]), " ".join(words[half:])
    half = len(text) // 2
    return text[:half], text[half:]
