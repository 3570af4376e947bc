"""Dates and clock times in folded text, in any usual format, English and Chinese."""

import re
from collections.abc import Iterator
from typing import Final

from uniclaw.firewall.values import Mention

_MONTHS: Final = {
    name: index + 1
    for index, names in enumerate(
        (
            "january jan", "february feb", "march mar", "april apr", "may", "june jun", "july jul",
            "august aug", "september sept sep", "october oct", "november nov", "december dec",
        )
    )
    for name in names.split()
}  # fmt: skip
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_DAY = r"(?P<d>\d{1,2})(?:st|nd|rd|th)?"
_PATTERNS: Final = tuple(
    re.compile(pattern)
    for pattern in (
        r"(?<!\d)(?P<y>(?:19|20)\d\d)[-/.](?P<m>\d{1,2})[-/.](?P<d>\d{1,2})(?!\d|\.\d)",
        r"(?<!\d)(?P<y>(?:(?:19|20)\d|[0-3])\d)\s*年\s*(?P<m>\d{1,2})\s*月\s*(?P<d>\d{1,2})\s*[日号]?",
        r"(?<![\d年])(?P<m>\d{1,2})\s*月\s*(?P<d>\d{1,2})\s*[日号]?",
        rf"(?<!\w){_DAY}\s*(?:of\s+|-)?(?P<n>{_MONTH})(?![a-z])\.?(?:[\s,-]+(?P<y>(?:19|20)\d\d))?",
        rf"(?<!\w)(?P<n>{_MONTH})(?![a-z])\.?\s*(?:the\s+)?{_DAY}(?![\d:])(?:[\s,]+(?P<y>(?:19|20)\d\d))?",
        r"(?<!\d)(?P<y>(?:19|20)\d\d)(?P<m>0[1-9]|1[0-2])(?P<d>0[1-9]|[12]\d|3[01])(?!\d)",
    )
)
_AMBIGUOUS = re.compile(r"(?<![\d/.-])(\d{1,2})[/.-](\d{1,2})[/.-]((?:19|20)?\d\d)(?!\d|[/.-]\d)")
_CLOCK = re.compile(
    r"(?<![\d:.])(?P<h>\d{1,2})(?::(?P<m>\d\d)(?::\d\d)?)?\s*(?P<half>a\.?m\.?|p\.?m\.?)(?![a-z])"
    r"|(?<![\d:])(?P<h2>\d{1,2}):(?P<m2>\d\d)(?::(?P<s2>\d\d))?(?![\d:])"
    r"|(?P<zh>上午|下午|晚上|早上|中午|凌晨)?\s*(?P<h3>\d{1,2})\s*(?:点钟|点|时)"
    r"\s*(?:(?P<m3>\d{1,2})\s*分?|(?P<halfzh>半)|(?P<quarter>一刻))?(?!\d)"
    r"|(?P<rel>half past|quarter past|quarter to)\s+(?P<h4>\d{1,2})"
)


def dates(folded: str) -> Iterator[Mention]:
    """Dates as `2024-03-05`, or `--03-05` where no year is given."""
    for pattern in _PATTERNS:
        for match in pattern.finditer(folded):
            groups = match.groupdict()
            month = _MONTHS[groups["n"]] if groups.get("n") else int(groups["m"])
            forms = _date_forms(groups.get("y"), month, int(groups["d"]))
            if forms:
                yield Mention("date", match.group().strip(), match.start(), match.end(), forms)
    for match in _AMBIGUOUS.finditer(folded):
        year = match[3] if len(match[3]) == 4 else f"20{match[3]}"
        one, two = int(match[1]), int(match[2])
        forms = _date_forms(year, two, one) + _date_forms(year, one, two)
        if forms:
            yield Mention("date", match.group(), match.start(), match.end(), forms)


def _date_forms(year: str | None, month: int, day: int) -> tuple[str, ...]:
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return ()
    short = f"--{month:02}-{day:02}"
    if not year:
        return (short,)
    whole = int(year) + (2000 if len(year) == 2 else 0)
    return (f"{whole:04}-{month:02}-{day:02}", short)


def times(folded: str) -> Iterator[Mention]:
    """Clock times as `t14:30`; both halves of the day where none is said."""
    for match in _CLOCK.finditer(folded):
        forms = _time_forms(match.groupdict())
        if forms:
            yield Mention("time", match.group().strip(), match.start(), match.end(), forms)


def _time_forms(g: dict[str, str | None]) -> tuple[str, ...]:
    hour = next((int(h) for h in (g["h"], g["h2"], g["h3"], g["h4"]) if h), 0)
    minute = next((int(m) for m in (g["m"], g["m2"], g["m3"]) if m), 0)
    if g["halfzh"] or (g["rel"] or "").startswith("half"):
        minute = 30
    if g["quarter"] or g["rel"] == "quarter past":
        minute = 15
    if g["rel"] == "quarter to":
        hour, minute = hour - 1, 45
    if hour > 24 or minute > 59:
        return ()
    late = (g["half"] or "").startswith("p") or g["zh"] in ("下午", "晚上")
    early = (g["half"] or "").startswith("a") or g["zh"] in ("上午", "早上", "凌晨")
    if late and hour < 12:
        hour += 12
    if early and hour == 12:
        hour = 0
    forms = [f"t{hour:02}:{minute:02}"]
    vague = 0 < hour < 8 and not g["s2"] if g["m2"] else not late and not early and 0 < hour < 12
    if vague:
        forms.append(f"t{hour + 12:02}:{minute:02}")
    return tuple(forms)


def moment_formats(form: str) -> tuple[str, ...]:
    """How a date or time of canonical form is usually written, folded."""
    if form.startswith("t"):
        return _time_formats(int(form[1:3]), int(form[4:6]))
    year, month, day = form[:4], int(form[-5:-3]), int(form[-2:])
    names = [name for name, number in _MONTHS.items() if number == month]
    short = [f"{day} {name}" for name in names] + [f"{name} {day}" for name in names]
    short += [f"{day}th {name}" for name in names] + [f"{month}月{day}日", f"{month}月{day}号"]
    if form.startswith("--"):
        return (*short, f"-{month:02}-{day:02}", f"/{month:02}/{day:02}", f"/{month}/{day}")
    numeric = [f"{year}{mark}{month:02}{mark}{day:02}" for mark in ("-", "/", ".", "")]
    numeric += [f"{year}/{month}/{day}", f"{year}年{month}月{day}日"]
    for mark in ("/", ".", "-"):
        numeric += [
            f"{day:02}{mark}{month:02}{mark}{year}",
            f"{month:02}{mark}{day:02}{mark}{year}",
        ]
        numeric += [f"{day}{mark}{month}{mark}{year}", f"{month}{mark}{day}{mark}{year}"]
    words = [f"{text} {year}" for text in short] + [f"{text}, {year}" for text in short]
    return (*numeric, *words)


def _time_formats(hour: int, minute: int) -> tuple[str, ...]:
    half = "pm" if hour >= 12 else "am"
    twelve = hour % 12 or 12
    formats = [f"{hour:02}:{minute:02}", f"{hour}:{minute:02}", f"{hour}点{minute:02}"]
    formats += [f"{twelve}:{minute:02} {half}", f"{twelve}:{minute:02}{half}"]
    if minute == 0:
        formats += [f"{twelve} {half}", f"{twelve}{half}", f"{hour}点"]
    if minute == 30:
        formats += [f"{hour}点半", f"{twelve}点半"]
    return tuple(formats)
