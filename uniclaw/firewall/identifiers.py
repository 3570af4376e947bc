"""Identifiers, file names, code and paths in folded text; their form without separators."""

import re
from collections.abc import Iterator
from typing import Final

from uniclaw.firewall.values import Mention

_EXTENSION = (
    "csv|tsv|json|jsonl|ya?ml|xml|md|txt|log|pdf|docx?|xlsx?|pptx?|od[tsp]|py|js|ts|sh|sql|db|html?"
    "|svg|png|jpe?g|gif|webp|ics|eml|zip|tar|gz|ini|toml|cfg|conf|parquet|mp3|mp4|wav|tex|bib|rtf"
)
_FILE = re.compile(rf"(?<![\w])[\w\u3400-\u9fff./-]*[\w\u3400-\u9fff-]\.(?:{_EXTENSION})(?![\w])")
_ID: Final = re.compile(
    r"(?<![\w@])(?:"
    r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"  # mail
    r"|https?://[^\s<>\"')]+"
    r"|\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?"  # IPv4
    r"|(?!\d{1,3}(?:\.\d{3})+(?!\.?\d))v?\d+\.\d+\.\d+"  # version
    r"(?:[-.+][a-z0-9]+(?:\.[a-z0-9]+)*)?"
    r"|[a-z]{1,12}[-_#/.:]?\d[a-z0-9]*(?:[-_./][a-z0-9]+)*"  # inv-2031, c00040, sku-0134
    r"|\d+[a-z]+\d*[a-z0-9]*(?:[-_][a-z0-9]+)*"  # 4f2a9c, 12b
    r"|\d+(?:-\d+)*-[a-z]+[a-z0-9-]*"
    r"|\d{2,}-\d{2,}(?:-\d+)*"  # 2031-07 that is no date
    r"|[a-z][a-z0-9]*(?:_[a-z0-9]+)+"  # snake_case
    r"|[a-z]+(?:-[a-z]+){2,}"
    r")(?![\w])"
)
_SEPARATOR = re.compile(r"[\s_./:#@+-]+")
_PLAIN_WORD = re.compile(
    r"\d+(?:st|nd|rd|th|s|k|m|mb|kb|gb|am|pm|h|min|ms|x|px|pt|cm|mm|km|kg|g|d|p|b|bn|dpi)"
    r"|(?:q[1-4]|h[12]|v\d|round\d?|step\d?|top\d+|mp[34]|utf-?\d+|a[345]|b2b|e2e|p\d\d?|w\d\d?)"
    r"|x\d+|co2|h2o|[a-z]\d"
)


def compact(text: str) -> str:
    """An identifier without its separators."""
    return _SEPARATOR.sub("", text)


def identifiers(folded: str) -> Iterator[Mention]:
    """Tokens that name one thing: codes, mails, addresses, versions, snake_case names."""
    for match in _ID.finditer(folded):
        text = match.group().rstrip(".:/-")
        if len(compact(text)) >= 3 and not _PLAIN_WORD.fullmatch(compact(text)):
            yield Mention("identifier", text, match.start(), match.end(), (compact(text),))


def file_names(folded: str) -> Iterator[Mention]:
    """File names and paths, by their last part."""
    for match in _FILE.finditer(folded):
        name = match.group().rsplit("/", 1)[-1]
        yield Mention("file_name", name, match.start(), match.end(), (name,))
