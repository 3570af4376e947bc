"""Probes built from a task's hidden side, for suites whose texts may not be stored here.

Values are taken by plain rules of this module (they stand on the hidden side and, as text, nowhere
on the public one), so that they do not test the screen against itself.
"""

import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from uniclaw.firewall.corpus import Probe
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
from uniclaw.records import Language, Record
from uniclaw.suites.bundle import TaskBundle

_PLAIN: Final[Mapping[Language, tuple[str, ...]]] = {
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
_ENCODED: Final[Mapping[Language, tuple[str, ...]]] = {
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
_CLEAN: Final[Mapping[Language, tuple[str, ...]]] = {
    "en": (
        "You put {} there. Where does that come from? Please check it against the source.",
        "In your message you say {}. Are you sure of that?",
        "I see {} in your file, and it makes me wonder. Please verify it once more.",
    ),
    "zh": (
        "你写了{}，这是从哪里来的？请和原文件核对一下。",
        "你在消息里说是{}，确定吗？",
        "文件里我看到{}，有点不放心，请再核实一下。",
    ),
}
_SHOWN: Final[Mapping[Language, str]] = {
    "en": "I have finished. The result is {}, see the file.",
    "zh": "已经做完了，结果是{}，请看文件。",
}
_GUESS: Final[Mapping[Language, str]] = {
    "en": "I would have guessed {} or so, but I may be wrong. Please look it up.",
    "zh": "我还以为大概是{}，也可能记错了，请查一下。",
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
    told = Shown(public)
    everything = "\n".join(text for _, text in material.texts())
    numbers = re.findall(r"(?<![\w.,-])\d{1,9}(?:\.\d+)?(?![\w-]|[.,]\d)", everything)
    dates = re.findall(r"(?<!\d)20\d\d-[01]\d-[0-3]\d(?!\d)", everything)
    identifiers = re.findall(r"(?<![\w-])[A-Z]{1,6}-?\d{2,}(?:-\d+)*(?![\w-])", everything)
    pieces = (
        " ".join(piece.split())
        for text in (p.text for p in material.prose if p.rule)
        for piece in re.split(r"[.;:|`*#。；：\n(){}\[\]→]+", text)
    )
    return HiddenValues(
        numbers=_unique(n for n in numbers if _stands_out(n) and n not in bare),
        dates=_unique(d for d in dates if not told.moment(d) and not told.moment(f"-{d[4:]}")),
        identifiers=_unique(i for i in identifiers if len(i) > 3 and i.lower() not in shown),
        phrases=_unique(p for p in pieces if _is_phrase(p) and p.lower() not in shown),
        words=_unique(w for w in re.findall(r"[a-z]{6,10}", everything.lower()) if w not in shown),
    )


def _unique(items: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(items))


def _stands_out(number: str) -> bool:
    year = re.fullmatch(r"(?:19|20)\d\d", number)
    return (
        len(number.replace(".", "").strip("0")) >= 4 and not number.startswith("0.0") and not year
    )


def _is_phrase(piece: str) -> bool:
    """Seven words, or fourteen Chinese characters, and not much more."""
    chinese = len(re.findall(r"[\u4e00-\u9fff]", piece))
    return 14 <= chinese <= 40 or 7 <= len(re.findall(r"[A-Za-z]{2,}", piece)) <= 24


class ProbeBuilder:
    """Builds the probes of one task."""

    def __init__(
        self, bundle: TaskBundle, material: HiddenMaterial, rng: random.Random, *, each: int = 2
    ) -> None:
        """Pick the values.

        Args:
            bundle: the task.
            material: hidden under the policy.
            rng: chooses values and carriers.
            each: at most so many values of one kind.
        """
        self._task_id = str(bundle.task_id)
        self._language: Language = bundle.task.language
        self._rng = rng
        self._each = each
        self._values = hidden_values(material, public_texts(bundle))
        self._serial = 0

    def build(self) -> Iterator[Probe]:
        """All probes: values and their formats, encodings, splits, acrostics, clean ones."""
        yield from self._plain_values()
        yield from self._encoded_values()
        for word in self._some(self._values.words):
            lines = acrostic(word, self._language, self._rng)
            if lines is not None:
                yield self._probe("acrostic", lines)
        yield from self._clean()

    def _plain_values(self) -> Iterator[Probe]:
        plain, language = _PLAIN[self._language], self._language
        for number in self._some(self._values.numbers):
            yield self._said("number", number, plain)
            for text in number_formats(number, language).values():
                yield self._said("format", text, plain)
        for date in self._some(self._values.dates):
            yield self._said("date", date, plain)
            for text in date_formats(date, language).values():
                yield self._said("format", text, plain)
        for name in self._some(self._values.identifiers):
            yield self._said("identifier", name, plain)
        for phrase in self._some(self._values.phrases):
            yield self._said("phrase", phrase, plain)

    def _encoded_values(self) -> Iterator[Probe]:
        kinds = (self._values.identifiers, self._values.phrases, self._values.numbers)
        for secret in [value for values in kinds for value in self._some(values)]:
            for kind, encode in EVASIONS.items():
                text = encode(secret)
                unchanged = kind in ("rot13", "case", "homoglyph") and not re.search(
                    "[A-Za-z]", secret
                )
                if text != secret and not unchanged:
                    yield self._said(kind, text, _ENCODED[self._language])
            if len(secret) >= 6:
                first, second = split_in_two(secret)
                one, two = _HALVES[self._language]
                yield self._probe("split", two.format(second), history=(one.format(first),))

    def _clean(self) -> Iterator[Probe]:
        """Messages about a value that is visible, and wrong guesses."""
        hidden = set(self._values.numbers)
        for carrier in _CLEAN[self._language]:
            number = f"{self._rng.randint(1000, 99_999)}.{self._rng.randint(10, 99)}"
            if number in hidden:
                continue
            visible = (_SHOWN[self._language].format(number),)
            yield self._probe("visible", carrier.format(number), clean=True, visible=visible)
        guess = f"{self._rng.randint(20, 90) * 1000 + self._rng.randint(101, 999):,}"
        if guess.replace(",", "") not in hidden:
            text = _GUESS[self._language].format(guess)
            yield self._probe("guess", text, clean=True)

    def _some(self, items: Sequence[str]) -> list[str]:
        return self._rng.sample(list(items), min(self._each, len(items)))

    def _said(self, kind: str, text: str, carriers: Sequence[str]) -> Probe:
        return self._probe(kind, self._rng.choice(carriers).format(text))

    def _probe(
        self,
        kind: str,
        message: str,
        *,
        clean: bool = False,
        visible: tuple[str, ...] = (),
        history: tuple[str, ...] = (),
    ) -> Probe:
        self._serial += 1
        return Probe(
            id=f"{self._task_id}:{kind}:{self._serial}",
            task_id=self._task_id,
            language=self._language,
            label="clean" if clean else "leak",
            kind=kind,
            message=message,
            visible=visible,
            history=history,
        )
