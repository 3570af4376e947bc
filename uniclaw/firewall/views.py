"""Other readings of a message: decoded, reversed, shifted, joined, acrostic.

A view is text that somebody who knows the trick would read. Nothing here knows what is hidden.
"""

import base64
import binascii
import codecs
import html
import re
import string
import unicodedata
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Final, NamedTuple
from urllib.parse import unquote

from uniclaw.firewall.background import background
from uniclaw.firewall.normal import fold, is_cjk, shown


class View(NamedTuple):
    """One reading of a message."""

    name: str
    text: str
    """Folded."""
    kind: str
    """`text` is read like a message, `decoded` too and its numbers count, `squeezed` has no
    word borders, `initials` is an acrostic."""


_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{3,}(?:\s*\n\s*[A-Za-z0-9+/_-]{4,})*={0,2}")
_BASE64_SPACED = re.compile(r"(?:[A-Za-z0-9+/_-]{2,8}={0,2}[ .|]){3,}[A-Za-z0-9+/_-]{1,8}={0,2}")
_BASE32 = re.compile(r"(?<![A-Za-z0-9])[A-Za-z2-7]{8,}={0,6}(?![A-Za-z0-9])")
_HEX = re.compile(r"(?:(?:0x|\\x|%|#)?[0-9a-fA-F]{2}[\s,:-]*){3,}")
_CODES = re.compile(r"(?<!\d)(?:\d{2,3}[\s,;.-]+){2,}\d{2,3}(?!\d)")
_BITS = re.compile(r"(?:[01]{7,8}[\s,.-]*){2,}")
_ESCAPES = re.compile(
    r"(?:\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|&#x?[0-9a-fA-F]+;|%[0-9a-fA-F]{2}|U\+[0-9A-F]{4,5})"
)
_MORSE = re.compile(r"(?:[.\-·−–]{1,5}[ /|]+){3,}[.\-·−–]{1,5}")
_SINGLES = re.compile(
    r"(?<![a-z0-9])[\"']?(?:[a-z0-9][\"']?(?:[\s,.\-_/|*+~·:;>]|and )+[\"']?){2,}"
    r"[a-z0-9](?![a-z0-9])"
)
_SINGLES_ZH = re.compile(
    r"(?<![\u3400-\u9fff])(?:[\u3400-\u9fff][\s,.\-_/|*+~·]+){2,}[\u3400-\u9fff]"
)
_MORSE_SIGNS: Final = (
    ".- -... -.-. -.. . ..-. --. .... .. .--- -.- .-.. -- -. --- .--. --.- .-. ... - ..- ...- .--"
    " -..- -.-- --.. ----- .---- ..--- ...-- ....- ..... -.... --... ---.. ----."
)
_MORSE_CODE: Final[dict[str, str]] = dict(
    zip(_MORSE_SIGNS.split(), string.ascii_lowercase + string.digits, strict=True)
)
_NATO_WORDS: Final = (
    "alpha alfa bravo charlie delta echo foxtrot golf hotel india juliet juliett kilo lima mike"
    " november oscar papa quebec romeo sierra tango uniform victor whiskey whisky xray x-ray yankee"
    " zulu"
)
_NATO: Final = frozenset(_NATO_WORDS.split())
_SYMBOLS: Final = {
    "dash": "-", "hyphen": "-", "minus": "-", "underscore": "_", "dot": ".", "point": ".",
    "slash": "/", "colon": ":", "comma": ",", "space": " ", "横杠": "-", "下划线": "_", "斜杠": "/",
}  # fmt: skip
_SHORT: Final = 2_000
"""Characters of a message whose readings are remembered."""
_LEET = str.maketrans("013457@$!|", "oieastasil")
_LETTERS = string.ascii_lowercase
_ATBASH = str.maketrans(_LETTERS, _LETTERS[::-1])


def views(message: str) -> Iterator[View]:
    """Every reading of a message beside the plain one.

    Short ones are remembered: fixed phrases of a template come again in every episode.

    Args:
        message: as it was drafted, case kept.
    """
    yield from _of_short(message) if len(message) <= _SHORT else _views(message, deep=True)


@lru_cache(maxsize=64)
def _of_short(message: str) -> tuple[View, ...]:
    return tuple(_views(message, deep=True))


def _views(message: str, *, deep: bool) -> Iterator[View]:
    """The readings; `deep` also reads what decoding gave, once."""
    case = shown(message)
    folded = fold(message)
    for name, text in _decoded(case):
        yield View(name, fold(text), "decoded")
        if deep:
            yield from (
                view._replace(name=f"{name}+{view.name}")
                for view in _views(text, deep=False)
                if view.kind != "initials" and view.name not in ("shifted", "atbash")
            )
    yield from _turned(folded)
    yield from _joined(folded)
    yield from _initials(case)


def _printable(data: bytes) -> str | None:
    """Text that bytes stand for, or None when they stand for none."""
    for encoding in ("utf-8", "utf-16", "gb18030"):
        if encoding == "utf-16" and (len(data) % 2 or b"\0" not in data):
            continue
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        good = sum(
            (c.isalnum() and (c.isascii() or is_cjk(c)))
            or c in " .,:;!?()[]{}'\"/_%$+-=\n\t，。：；、！？“”（）《》·"
            for c in text
        )
        if len(text) >= 2 and good >= 0.95 * len(text):
            return text
    return None


def _decoded(case: str) -> Iterator[tuple[str, str]]:
    for name, pattern, decode in _DECODERS:
        pieces = [text for m in pattern.finditer(case) if (text := decode(m.group())) is not None]
        yield from ((name, piece) for piece in pieces)
        if len(pieces) > 1:
            yield name, "".join(pieces)
            yield name, " ".join(pieces)
    if _ESCAPES.search(case):
        escaped = re.sub(
            r"(?:\\u|U\+)([0-9a-fA-F]{4,5})|\\x([0-9a-fA-F]{2})",
            lambda m: chr(int(m[1] or m[2], 16)),
            html.unescape(unquote(case, errors="replace")),
        )
        if escaped != case:
            yield "escapes", escaped


def _from_base64(run: str) -> str | None:
    packed = re.sub(r"[\s.|]+", "", run).rstrip("=").replace("-", "+").replace("_", "/")
    if len(packed) % 4 == 1:
        packed = packed[:-1]
    try:
        return _printable(base64.b64decode(packed + "=" * (-len(packed) % 4), validate=True))
    except (binascii.Error, ValueError):
        return None


def _from_base32(run: str) -> str | None:
    packed = run.rstrip("=").upper()
    try:
        return _printable(base64.b32decode(packed + "=" * (-len(packed) % 8)))
    except (binascii.Error, ValueError):
        return None


def _from_hex(run: str) -> str | None:
    packed = re.sub(r"0x|\\x|[^0-9a-fA-F]", "", run)
    packed = packed[: len(packed) // 2 * 2]
    return _printable(bytes.fromhex(packed))


def _from_codes(run: str) -> str | None:
    codes = [int(n) for n in re.findall(r"\d+", run)]
    if all(32 <= n < 127 for n in codes):
        return "".join(map(chr, codes))
    return None


def _from_letters(run: str) -> str | None:
    """1-26 for a-z."""
    codes = [int(n) for n in re.findall(r"\d+", run)]
    return "".join(_LETTERS[n - 1] for n in codes) if all(1 <= n <= 26 for n in codes) else None


def _from_bits(run: str) -> str | None:
    bits = re.findall(r"[01]{7,8}", run)
    return _printable(bytes(int(b, 2) for b in bits))


def _from_morse(run: str) -> str | None:
    flat = re.sub(r"[·]", ".", re.sub(r"[−–]", "-", run))
    words = [
        "".join(_MORSE_CODE.get(code, "") for code in word.split())
        for word in re.split(r"\s*[/|]\s*|\s{3,}", flat)
    ]
    return " ".join(words) if any(words) else None


_DECODERS: Final[tuple[tuple[str, re.Pattern[str], Callable[[str], str | None]], ...]] = (
    ("base64", _BASE64, _from_base64),
    ("base64", _BASE64_SPACED, _from_base64),
    ("base32", _BASE32, _from_base32),
    ("hex", _HEX, _from_hex),
    ("codes", _CODES, _from_codes),
    ("letters", re.compile(r"(?<!\d)(?:\d{1,2}[\s,;.-]+){3,}\d{1,2}(?!\d)"), _from_letters),
    ("bits", _BITS, _from_bits),
    ("morse", _MORSE, _from_morse),
)


def _turned(folded: str) -> Iterator[View]:
    yield View("reversed", folded[::-1], "text")
    yield View("words reversed", re.sub(r"[a-z0-9]+", lambda m: m[0][::-1], folded), "text")
    words = folded.split()
    yield View("order reversed", " ".join(words[::-1]), "text")
    unknown = [w for w in re.findall(r"[a-z]{3,}", folded) if not background().common(w)]
    if not unknown:
        return
    yield View("rot13", codecs.encode(folded, "rot13"), "text")
    yield View("atbash", folded.translate(_ATBASH), "text")
    joined = " ".join(unknown)
    tables = (str.maketrans(_LETTERS, _LETTERS[n:] + _LETTERS[:n]) for n in range(1, 26))
    yield View("shifted", "\n".join(joined.translate(table) for table in tables), "text")
    if re.search(r"[a-z][013457@$!|]|[013457@$!|][a-z]", folded):
        yield View("leet", folded.translate(_LEET), "text")


def _joined(folded: str) -> Iterator[View]:
    spoken = re.sub(r"[a-z\u3400-\u9fff-]+", lambda m: _spoken(m[0]), folded)
    for name, text in (("spelled", folded), ("spoken", spoken)):
        for pattern in (_SINGLES, _SINGLES_ZH):
            runs = [re.sub(r"\band\b|[\W_]+", "", m.group()) for m in pattern.finditer(text)]
            yield from (View(name, run, "squeezed") for run in runs if len(run) >= 3)
            for match in pattern.finditer(text):
                kept = re.sub(r"(?<=\w)[\s,\-_/|*+~·:;>\"']+|\band\b", "", match.group())
                if any(map(str.isdigit, kept)):
                    yield View(name, re.sub(r"\s*\.\s*", ".", kept), "decoded")
            if len(runs) > 1:
                yield View(name, "".join(runs), "squeezed")
    if spoken != folded:
        glued = re.sub(r"\s*([-_./:])\s*", r"\1", spoken)
        yield View("spoken", glued, "decoded")
    for pattern in (_SINGLES, _SINGLES_ZH):
        if pattern.search(folded):
            loose = re.sub(r"(?<=\w)[ ,.\-_/|*+~·](?=\w(?:\W|$))", "", folded)
            yield View("spaced", loose, "text")
            break


def _spoken(word: str) -> str:
    if word in _NATO:
        return word[0]
    return _SYMBOLS.get(word, word)


def _initials(case: str) -> Iterator[View]:
    lines = [line for line in case.splitlines() if line.strip()]
    sentences = [s for s in re.split(r"(?<=[.!?;。！？；])\s*|\n+", case) if s.strip()]
    clauses = [s for s in re.split(r"[,.!?;:，。！？；：\n]+", case) if s.strip()]
    words = re.findall(r"[\w\u3400-\u9fff]+", case)
    for name, parts in (
        ("lines", lines), ("sentences", sentences), ("clauses", clauses), ("words", words),
    ):  # fmt: skip
        if len(parts) < 3:
            continue
        firsts = "".join(filter(None, (_edge(part) for part in parts)))
        yield View(f"acrostic of {name}", fold(firsts), "initials")
        if name != "words":
            lasts = "".join(filter(None, (_edge(part[::-1]) for part in parts)))
            yield View(f"last letters of {name}", fold(lasts), "initials")
            heads = [re.findall(r"[\w\u3400-\u9fff]+", part)[:1] for part in parts]
            yield View(f"first words of {name}", fold(" ".join(h[0] for h in heads if h)), "text")
    odd = "".join(re.findall(r"(?<=[a-z])[A-Z]", case))
    if len(odd) >= 4:
        yield View("odd capitals", fold(odd), "initials")


def _edge(part: str) -> str:
    """The first letter or digit of a part, after bullets and numbering."""
    bare = re.sub(r"^\s*(?:[-*•>]+|\(?\d{1,2}[.)、])\s*", "", part)
    return next((c for c in bare if unicodedata.category(c)[0] in "LN"), "")
