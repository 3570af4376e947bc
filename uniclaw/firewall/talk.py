"""Talk about how the work is assessed: scores, counts of faults, oracle hints, the rubric itself.

Works on wording alone; the wordings are data, in `firewall/background/talk.yaml`. What the policy
released may be said, and so may what the task itself is about.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Final, NamedTuple

from uniclaw.assets import Assets, default_roots
from uniclaw.errors import UserError
from uniclaw.firewall.decision import Hit, HitKind
from uniclaw.firewall.policy import Policy, ScoreRelease
from uniclaw.firewall.stance import asked
from uniclaw.records import Progress, Record
from uniclaw.yamlio import parse_record, parse_yaml

TALK_FILE = "firewall/background/talk.yaml"


class _File(Record):
    parts: Mapping[str, str]
    score: tuple[str, ...]
    band: tuple[str, ...]
    count: tuple[str, ...]
    oracle: tuple[str, ...]
    rubric_talk: tuple[str, ...]
    sight: tuple[str, ...]
    wish: tuple[str, ...]
    countable: tuple[str, ...]
    grounded: tuple[str, ...]
    listed: tuple[str, ...]


class Wordings(NamedTuple):
    """Compiled wordings."""

    kinds: Mapping[str, tuple[re.Pattern[str], ...]]
    sight: re.Pattern[str]
    wish: re.Pattern[str]
    countable: re.Pattern[str]
    grounded: re.Pattern[str]
    listed: re.Pattern[str]


_LABEL = re.compile(
    r"(?:\b(?:version|row|line|step|page|question|file|option|part|section|item|number|no\.|round"
    r"|chapter|table|figure|column|receipt|photo|note|sheet)\s*|#|第|v|d-)$"
)
_ROLE = re.compile(
    r"(?:reviewer|examiner|marker|checker|grader|judge|assessor|evaluator|referee|scorer|jury|panel)s?"
)
"""Somebody of that name may belong to the task itself."""
_KINDS: Final[tuple[tuple[str, HitKind, str], ...]] = (
    ("score", "score", "score in words"),
    ("band", "score", "band in words"),
    ("count", "count", "count of faults"),
    ("oracle", "oracle", "oracle hint"),
    ("rubric_talk", "rubric_talk", "talk of the rubric"),
)


@cache
def wordings() -> Wordings:
    """The wordings of the default asset places, read once.

    Raises:
        UserError: the file is broken, or one of its patterns is.
    """
    assets = Assets(default_roots(None))
    text = assets.read_text(TALK_FILE)
    file = assets.taken[TALK_FILE]
    data = parse_record(_File, parse_yaml(text, file=file), file=file)
    lists = {name: getattr(data, name) for name, _, _ in _KINDS}

    def compiled(pattern: str) -> re.Pattern[str]:
        for _ in range(2):  # a part may name another
            for name, part in data.parts.items():
                pattern = pattern.replace(f"<{name}>", f"(?:{part})")
        try:
            return re.compile(pattern, re.IGNORECASE)
        except re.error as error:
            raise UserError(f"broken pattern: {error}", file=file, value=pattern) from error

    return Wordings(
        kinds={name: tuple(map(compiled, patterns)) for name, patterns in lists.items()},
        sight=compiled("|".join(data.sight)),
        wish=compiled("|".join(data.wish)),
        countable=compiled("|".join(data.countable)),
        grounded=compiled("|".join(data.grounded)),
        listed=compiled("|".join(data.listed)),
    )


def talk(folded: str, *, policy: Policy, progress: Progress, public: str) -> Iterator[Hit]:
    """Hits for wording that carries what the policy hides.

    Args:
        folded: the message, number words as digits.
        policy: what it releases may be said.
        progress: what was released this time.
        public: folded public text; wording of the task itself is no talk about its assessment.
    """
    known = wordings()
    for name, kind, label in _KINDS:
        if _released(name, policy):
            continue
        for pattern in known.kinds[name]:
            match = next(
                (m for m in pattern.finditer(folded) if not _excused(name, m, folded, public)), None
            )
            if match is not None and not _told(name, match.group(), progress):
                yield Hit(kind=kind, matched=match.group().strip()[:120], where=label)
                break


def _released(name: str, policy: Policy) -> bool:
    release = policy.release
    if release.lines or release.rationale:
        return name != "rubric_talk"
    if name == "score":
        return release.score is ScoreRelease.EXACT
    return name == "band" and release.score is not ScoreRelease.NONE


def _told(name: str, text: str, progress: Progress) -> bool:
    """A released score may be repeated."""
    if name != "score" or progress.score is None:
        return False
    return any(
        abs(float(n) - progress.score) < 0.006 or abs(float(n) / 100 - progress.score) < 0.006
        for n in re.findall(r"\d+(?:\.\d+)?", text)
    )


def _excused(name: str, match: re.Match[str], folded: str, public: str) -> bool:
    """Wording that the task uses itself, or that rests on what is visible."""
    text = match.group().strip()
    if text in public:
        return True
    sentence = _sentence_of(folded, match)
    if name == "rubric_talk":
        head = _ROLE.match(text)
        return asked(sentence) or (head is not None and head.group() in public)
    if name == "count":
        return _count_excused(match, sentence, folded)
    if name == "oracle":
        known = wordings()
        rest = sentence.replace(match.group(), " ")
        return bool(known.grounded.search(rest) or known.sight.search(sentence))
    if name == "score":
        topic = r"scor|grad|rat(?:ed|ing)|mark|points?|[得评总]?分|权重|阈值|threshold"
        head = re.search(topic, text)
        mine = re.search(r"\byour?\b|你", sentence)
        return head is not None and head.group() in public and mine is None
    return False


def _count_excused(match: re.Match[str], sentence: str, folded: str) -> bool:
    """A wish, a question, a list of wishes, or a count of what anybody can see."""
    known = wordings()
    after = folded[match.end() : match.end() + 60].lstrip(" .")
    if _LABEL.search(folded[: match.start()]):
        return True
    rest = sentence.replace(match.group(), " ")
    asks = folded[match.end() :].lstrip().startswith("?") or sentence.rstrip().endswith("?")
    return bool(
        asks
        or known.grounded.search(rest)
        or known.wish.search(sentence)
        or known.countable.search(match.group())
        or known.listed.match(after)
    )


def _sentence_of(text: str, match: re.Match[str]) -> str:
    start = max(text.rfind(mark, 0, match.start()) for mark in (". ", "\n", "! ", "? ")) + 1
    ends = [at for mark in (". ", "\n", "!", "?") if (at := text.find(mark, match.end())) >= 0]
    return text[start : min(ends, default=len(text)) + 1]
