"""Normal form of text for comparison: width, case, invisible and look-alike characters, script.

Folding never fails and keeps line breaks. Knows nothing of what is hidden.
"""

import re
import unicodedata
from functools import cache
from typing import cast

from uniclaw.firewall.background import background

_SPACE = re.compile(r"[^\S\n]+")
_PUNCTUATION = {
    **dict.fromkeys("‘’‚‛′`´＇", "'"),
    **dict.fromkeys("“”„‟″«»「」『』＂", '"'),
    **dict.fromkeys("‐‑‒–—―−－﹣", "-"),
    **dict.fromkeys("⁄∕／", "/"),
    **dict.fromkeys("。", ". "),
    **dict.fromkeys("、", ", "),
    **dict.fromkeys("：", ": "),
    **dict.fromkeys("；", "; "),
    **dict.fromkeys("！", "! "),
    **dict.fromkeys("？", "? "),
    **dict.fromkeys("，", ", "),
    **dict.fromkeys("（", " ("),
    **dict.fromkeys("）", ") "),
    **dict.fromkeys("·•・∙", "."),
    **dict.fromkeys("\u3000\u00a0\u2007\u202f\u2009\u200a", " "),
}
_ROMAN_TWINS = {"ı": "i", "ł": "l", "ø": "o", "đ": "d", "ß": "ss", "æ": "ae", "œ": "oe", "ɡ": "g"}
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f"
    "\u202a-\u202e\u2060-\u206f\u3164\ud800-\udfff\ue000-\uf8ff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U000e0000-\U000e0fff]"
)
_MARKS = re.compile("[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]")
_WIDE_GROUP = re.compile(r"(?<=\d)，(?=\d{3}(?!\d))")


@cache
def _twins() -> dict[int, str]:
    """Look-alikes of Latin letters and digits (Unicode confusables) -> what they look like."""
    from confusable_homoglyphs import confusables

    data = cast("dict[str, list[dict[str, str]]]", getattr(confusables, "confusables_data"))  # noqa: B009 - untyped module
    table: dict[int, str] = {}
    for char, twins in data.items():
        if len(char) != 1 or char.isascii() or "\u2e80" <= char <= "\u9fff":
            continue
        for twin in twins:
            plain = twin["c"]
            if len(plain) == 1 and plain.isascii() and plain.isalnum():
                table[ord(char)] = plain
                break
    table.update({ord(char): plain for char, plain in _ROMAN_TWINS.items()})
    return table


@cache
def _table() -> dict[int, str]:
    """One translation table for `fold`; applied after NFKC and case folding."""
    table = dict(_twins())
    table.update({ord(char): plain for char, plain in _PUNCTUATION.items()})
    table.update({ord(old): new for old, new in background().simplified.items()})
    return table


def visible_only(text: str) -> str:
    """Drop zero-width, bidi and other format characters, variation selectors and control codes."""
    return _UNSEEN.sub("", text)


def unaccented(text: str) -> str:
    """Drop combining marks (José -> Jose); other scripts stay whole."""
    if text.isascii():
        return text
    return unicodedata.normalize("NFC", _MARKS.sub("", unicodedata.normalize("NFD", text)))


def shown(text: str) -> str:
    """Text with case kept: width, invisible characters and accents normalised."""
    punctuation = {ord(char): plain for char, plain in _PUNCTUATION.items()}
    seen = _WIDE_GROUP.sub(",", visible_only(text))
    flat = unicodedata.normalize("NFKC", seen.translate(punctuation))
    return unaccented(flat.translate(punctuation))


def fold(text: str) -> str:
    """The form in which texts are compared."""
    if text.isascii():
        return _SPACE.sub(" ", visible_only(text.lower()))
    flat = shown(text).translate(_twins()).casefold().translate(_table())
    return _SPACE.sub(" ", flat)


def squeeze(text: str) -> str:
    """Only letters and digits of a folded text (Chinese characters count as letters)."""
    return "".join(filter(str.isalnum, text))


def is_cjk(char: str) -> bool:
    """Whether a character is a Chinese one."""
    return "\u3400" <= char <= "\u9fff" or "\uf900" <= char <= "\ufaff"
