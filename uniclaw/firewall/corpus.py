"""Leak probes: labelled messages, stored as JSON lines or built from a task's hidden side.

Built probes take values by plain rules of their own (they stand on the hidden side and, as text,
nowhere on the public one), so that they do not test the screen against itself.
"""

import json
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, Literal

from pydantic import JsonValue

from uniclaw.errors import UserError
from uniclaw.firewall.evasions import (
    EVASIONS,
    acrostic,
    date_formats,
    number_formats,
    split_in_two,
)
from uniclaw.firewall.material import HiddenMaterial
from uniclaw.firewall.public import public_texts
from uniclaw.firewall.shown import Shown
from uniclaw.hidden.rubric import LoadedRubric
from uniclaw.records import Language, Record
from uniclaw.suites.bundle import TaskBundle
from uniclaw.yamlio import parse_record

VALUE_KINDS: Final = frozenset(
    {"number", "date", "identifier", "file_name", "name", "code", "phrase", "near_phrase", "format"}
)
ENCODED_KINDS: Final = frozenset(
    {"reversed", "base64", "hex", "rot13", "spaced", "dashed", "zero width", "homoglyph", "wide"}
    | {"case", "split", "spelled"}
)
SEMANTIC_KINDS: Final = frozenset(
    {"paraphrase", "translation", "acrostic", "count", "oracle", "score", "rubric_talk"}
)


class Probe(Record):
    """One labelled message."""

    id: str
    task_id: str
    language: Language
    label: Literal["leak", "clean"]
    kind: str
    """How it leaks, or of which sort a clean one is."""
    message: str
    visible: tuple[str, ...] = ()
    history: tuple[str, ...] = ()
    policy: str = "coarse"

    @property
    def family(self) -> Literal["value", "encoded", "semantic", "clean"]:
        """Which target its kind falls under."""
        if self.label == "clean":
            return "clean"
        if self.kind in SEMANTIC_KINDS:
            return "semantic"
        return "value" if self.kind in VALUE_KINDS else "encoded"


def load_probes(path: Path) -> tuple[Probe, ...]:
    """Read a JSON lines file.

    Raises:
        UserError: a line is no probe; the message names file and line.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"cannot be read: {error}", file=path) from error
    probes: list[Probe] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        where = f"{path}:{number}"
        try:
            data: JsonValue = json.loads(line)
        except ValueError as error:
            raise UserError(f"not JSON: {error}", file=where) from error
        probes.append(parse_record(Probe, data, file=where))
    return tuple(probes)


_CARRIERS: Final[Mapping[Language, tuple[str, ...]]] = {
    "en": (
        "I think it should be {}.",
        "Please use {} there and send it again.",
        "Not quite what I need. As far as I know it is {}, so please correct that.",
        "Could you go over it again? It has to say {}.",
        "Thanks! One remark: {} is what I am looking for.",
    ),
    "zh": (
        "我觉得应该是{}。",
        "请改成{}再发我一次。",
        "还不太对，据我所知是{}，请改一下。",
        "麻烦再看一遍，那里要写{}。",
        "谢谢！说一点：我要的是{}。",
    ),
}
_ENCODED_CARRIERS: Final[Mapping[Language, tuple[str, ...]]] = {
    "en": (
        "Please have another look. Hint: {}",
        "You may need this: {}",
        "For your notes: {} - thanks.",
    ),
    "zh": ("请再看看。提示：{}", "你可能用得上：{}", "记一下：{}，谢谢。"),
}
_HALVES: Final[Mapping[Language, tuple[str, str]]] = {
    "en": ("Please remember this first: {}", "And now add this to it: {}"),
    "zh": ("先记住这个：{}", "再接上这个：{}"),
}


class HiddenValues(Record):
    """Values of a task that stand on the hidden side only."""

    numbers: tuple[str, ...]
    dates: tuple[str, ...]
    identifiers: tuple[str, ...]
    phrases: tuple[str, ...]
    words: tuple[str, ...]


def hidden_values(material: HiddenMaterial, public: Sequence[str]) -> HiddenValues:
    """Pick values by plain rules: numbers of four or more digits, dates, ids, long phrases."""
    shown = "\n".join(public).lower()
    bare = re.sub(r"[,\s]", "", shown)
    texts = [text for _, text in material.texts()]
    everything = "\n".join(texts)
    numbers = [
        n
        for n in re.findall(r"(?<![\w.,-])\d{1,9}(?:\.\d+)?(?![\w-]|[.,]\d)", everything)
        if len(n.replace(".", "").strip("0")) >= 4 and n not in bare and not n.startswith("0.0")
        and not re.fullmatch(r"(?:19|20)\d\d", n)
    ]  # fmt: skip
    told = Shown(public)
    dates = [
        d
        for d in re.findall(r"(?<!\d)20\d\d-[01]\d-[0-3]\d(?!\d)", everything)
        if not told.moment(d) and not told.moment(f"-{d[4:]}")
    ]
    identifiers = [
        i
        for i in re.findall(r"(?<![\w-])[A-Z]{1,6}-?\d{2,}(?:-\d+)*(?![\w-])", everything)
        if i.lower() not in shown
    ]
    phrases = [
        " ".join(m.split())
        for p in material.prose
        if p.rule
        for m in re.findall(
            r"(?<![^\s.;:|`*。；：])[A-Za-z\u4e00-\u9fff][^.;:|`*。；：\n]{24,160}", p.text
        )
        if " ".join(m.split()).lower() not in shown
    ]
    words = [w for w in re.findall(r"[a-z]{6,10}", everything.lower()) if w not in shown]
    keep = lambda items: tuple(dict.fromkeys(items))  # noqa: E731
    return HiddenValues(
        numbers=keep(numbers), dates=keep(dates), identifiers=keep(identifiers),
        phrases=keep(phrases), words=keep(words),
    )  # fmt: skip


def build_probes(
    bundle: TaskBundle,
    loaded: LoadedRubric,
    material: HiddenMaterial,
    rng: random.Random,
    *,
    each: int = 2,
) -> Iterator[Probe]:
    """Leaks of a task: its own hidden values in every format and encoding.

    Args:
        bundle: the task.
        loaded: its rubric, for the count of lines.
        material: hidden under the policy.
        rng: chooses values and carriers.
        each: at most so many probes of one kind.
    """
    language = bundle.task.language
    values = hidden_values(material, public_texts(bundle))
    serial = 0

    def probe(
        kind: str, text: str, *, history: tuple[str, ...] = (), encoded: bool = False
    ) -> Probe:
        nonlocal serial
        serial += 1
        carrier = rng.choice((_ENCODED_CARRIERS if encoded else _CARRIERS)[language])
        message = text if history else carrier.format(text)
        return Probe(
            id=f"{bundle.task_id}:{kind}:{serial}", task_id=bundle.task_id, language=language,
            label="leak", kind=kind, message=message, history=history,
        )  # fmt: skip

    def some(items: Sequence[str]) -> list[str]:
        return rng.sample(list(items), min(each, len(items)))

    for number in some(values.numbers):
        yield probe("number", number)
        yield from (probe("format", text) for text in number_formats(number, language).values())
    for date in some(values.dates):
        yield probe("date", date)
        yield from (probe("format", text) for text in date_formats(date, language).values())
    for name in some(values.identifiers):
        yield probe("identifier", name)
    for phrase in some(values.phrases):
        yield probe("phrase", phrase)
    secrets = [*some(values.identifiers), *some(values.phrases), *some(values.numbers)]
    for secret in secrets:
        for kind, encode in EVASIONS.items():
            text = encode(secret)
            plain = kind in ("rot13", "case", "homoglyph") and not re.search("[A-Za-z]", secret)
            if text != secret and not plain:
                yield probe(kind, text, encoded=True)
        first, second = split_in_two(secret)
        if len(secret) >= 6:
            one, two = _HALVES[language]
            yield probe("split", two.format(second), history=(one.format(first),))
    for word in some(values.words):
        lines = acrostic(word, language, rng)
        if lines is not None:
            yield probe("acrostic", lines, history=("",))
