"""The screen: compares a message with what is hidden, not public, not visible and not in the brief.

Deterministic; one index per task and policy, then a few milliseconds per message.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from uniclaw.firewall.against import Against
from uniclaw.firewall.decision import CLEAN, Hit, ScreenDecision
from uniclaw.firewall.index import HiddenIndex
from uniclaw.firewall.match_text import (
    code_hits,
    paraphrase_hits,
    phrase_hits,
    piece_hits,
    run_hits,
    squeezed_run_hits,
)
from uniclaw.firewall.match_values import value_hits
from uniclaw.firewall.material import HiddenMaterial
from uniclaw.firewall.mentions import readable
from uniclaw.firewall.normal import fold, is_cjk, squeeze
from uniclaw.firewall.policy import Policy
from uniclaw.firewall.projection import released_texts
from uniclaw.firewall.shown import Shown
from uniclaw.firewall.split import split_hits
from uniclaw.firewall.statements import statement_hits
from uniclaw.firewall.talk import talk
from uniclaw.firewall.terms import tokens
from uniclaw.firewall.views import View, views
from uniclaw.records import Brief, Progress

_BACKWARDS = re.compile(r"backward|revers|mirror|right to left|flip|倒|反过来|反着|颠倒|从后往前")
_NOTHING = Shown(())
"""Stands for public files in readings of spelled-out text: nobody spells out what he may say."""
_HOLDS_VALUE = re.compile(r"\d|[a-z]_[a-z]|\w\.[a-z]{2,5}\b")
_MAX_HITS = 12
_PART = 16_000
_OVERLAP = 1_000


class Screen:
    """Screens the messages of one task under one policy."""

    def __init__(
        self,
        material: HiddenMaterial,
        *,
        public: Sequence[str],
        brief: Brief,
        policy: Policy,
        whole_work: bool = True,
    ) -> None:
        """Build the index.

        Args:
            material: hidden under the policy.
            public: the instruction first, then the texts (and paths) of public files.
            brief: never screened.
            policy: the policy in force.
            whole_work: whether what is called visible is all that was: where parts of the work
                are missing, a statement that looks new may only repeat one of them.
        """
        self._whole_work = whole_work
        known = [*public[:1], *(fact.text for fact in brief.facts)]
        self._policy = policy
        self._known = Shown(known)
        self._files = Shown(public[1:])
        self._index = HiddenIndex(material, known=known)
        self._files.prepare()
        self._index.prepare()
        self._last: tuple[tuple[str, ...], Shown] | None = None

    def check(
        self,
        message: str,
        *,
        visible: Sequence[str],
        progress: Progress,
        history: Sequence[str] = (),
    ) -> ScreenDecision:
        """Decide on one message.

        Args:
            message: the draft, exactly as it would be delivered.
            visible: texts of the executor's work so far, and its messages.
            progress: what the policy released this time.
            history: earlier feedback of the episode, oldest first.
        """
        against = Against(
            index=self._index,
            known=self._known,
            files=self._files,
            visible=self._visible((*visible, *released_texts(progress))),
        )
        hits: list[Hit] = []
        for start in range(0, max(1, len(message)), _PART):
            part = message[start : start + _PART + _OVERLAP]
            hits.extend(self._plain(part, against, progress, history))
            if not hits:
                hits.extend(self._turned(part, against))
        if not hits:
            return CLEAN
        unique = list(dict.fromkeys(hits))[:_MAX_HITS]
        return ScreenDecision(decision="leak", hits=tuple(unique))

    def _visible(self, texts: tuple[str, ...]) -> Shown:
        """The known texts of a round are prepared once for all of its drafts."""
        if self._last is None or self._last[0] != texts:
            self._last = (texts, Shown(texts))
        return self._last[1]

    def _plain(
        self, message: str, against: Against, progress: Progress, history: Sequence[str]
    ) -> Iterator[Hit]:
        folded = fold(message)
        said = readable(folded)
        yield from value_hits(said, against)
        yield from phrase_hits(folded, against)
        yield from run_hits(tokens(folded), against)
        yield from code_hits(folded, against)
        yield from piece_hits(folded, against)
        yield from paraphrase_hits(folded, against)
        told = self._policy.release.lines or self._policy.release.rationale
        if self._whole_work and not told:
            yield from statement_hits(folded, against)
        public = self._known.folded
        yield from talk(said, policy=self._policy, progress=progress, public=public)
        yield from self._compact(View("joined", squeeze(folded), "squeezed"), against)
        yield from split_hits(folded, [fold(text) for text in history], against)

    def _turned(self, message: str, against: Against) -> Iterator[Hit]:
        backwards = _BACKWARDS.search(fold(message)) is not None
        bare = replace(against, files=_NOTHING)
        for view in views(message):
            if view.kind == "squeezed":
                spelled = view.name in ("spelled", "spoken")
                whole = against.index.phrases_whole(view.text) if spelled and view.text else None
                if whole and not against.run_known(whole.text_words):
                    yield Hit(kind="name", matched=whole.text, where=whole.where, view=view.name)
                yield from self._compact(view, bare if spelled else against)
                yield from squeezed_run_hits(view.text, against, view=view.name)
            elif view.kind == "initials":
                yield from self._initials(view, against)
            else:
                yield from self._text(view, against, backwards=backwards)

    def _text(self, view: View, against: Against, *, backwards: bool) -> Iterator[Hit]:
        yield from phrase_hits(view.text, against, view=view.name)
        yield from run_hits(tokens(view.text), against, view=view.name)
        yield from code_hits(view.text, against, view=view.name)
        yield from piece_hits(view.text, against, view=view.name)
        if view.kind == "decoded":
            yield from value_hits(readable(view.text), against, view=view.name)
            yield from paraphrase_hits(view.text, against, view=view.name)
        elif view.name != "order reversed" and _HOLDS_VALUE.search(view.text):
            for hit in value_hits(view.text, against, view=view.name):
                if hit.kind not in ("number", "date") or self._turned_number(
                    hit, view, against, backwards=backwards
                ):
                    yield hit

    @staticmethod
    def _turned_number(hit: Hit, view: View, against: Against, *, backwards: bool) -> bool:
        """Digits look like digits from both ends: only what stands for nothing else counts."""
        digits = sum(c.isdigit() for c in hit.matched)
        if "reversed" not in view.name or digits < (2 if backwards else 4):
            return False
        mirrored = hit.matched.strip()[::-1]
        return not (against.visible.word(mirrored) or against.known.word(mirrored))

    def _compact(self, view: View, against: Against) -> Iterator[Hit]:
        """Distinctive values in text without word borders."""
        for start, bare, (form, kind) in against.index.compacts.found(view.text):
            end = start + len(bare)
            mixed = any(c.isdigit() for c in bare) and any(c.isalpha() for c in bare)
            if view.name == "joined" and not mixed:
                continue
            if bare[0].isdigit() and view.text[max(0, start - 1) : start].isdigit():
                continue
            if bare[-1].isdigit() and view.text[end : end + 1].isdigit():
                continue
            public = against.files.number(form) if kind == "number" else None
            if public is None:
                public = bare in against.files.squeezed
            if public or against.identifier_known(form.strip(), bare):
                continue
            yield Hit.model_validate(
                {"kind": kind, "matched": form.strip(), "where": "value", "view": view.name}
            )

    def _initials(self, view: View, against: Against) -> Iterator[Hit]:
        """Hidden words in first or last letters."""
        by_words = view.name == "acrostic of words"
        least = 6 if by_words else 5
        text = squeeze(view.text)
        for _, bare, (form, kind) in against.index.compacts.found(text):
            if len(bare) >= least and not against.identifier_known(form.strip(), bare):
                yield Hit.model_validate(
                    {"kind": kind, "matched": form.strip(), "where": "value", "view": view.name}
                )
        whole = against.index.phrases_whole(text) if 2 <= len(text) <= 8 else None
        if whole and not by_words and not against.run_known(whole.text_words):
            yield Hit(kind="name", matched=whole.text, where=whole.where, view=view.name)
        if any(map(is_cjk, text)):
            yield from self._chinese_initials(text, view.name, against)
        for size in range(least + by_words, min(len(text), 14) + 1):
            for start in range(len(text) - size + 1):
                word = text[start : start + size]
                if word in against.index.vocabulary and not against.run_known([word]):
                    where = against.index.vocabulary[word]
                    yield Hit(kind="phrase", matched=word, where=where, view=view.name)

    def _chinese_initials(self, text: str, name: str, against: Against) -> Iterator[Hit]:
        for start in range(len(text) - 3):
            run = text[start : start + 4]
            if not all(map(is_cjk, run)):
                continue
            known = (against.known, against.visible)
            if run in self._index.squeezed and not any(run in k.squeezed for k in known):
                yield Hit(kind="phrase", matched=run, where="text", view=name)
