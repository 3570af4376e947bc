"""The template simulator: fixed phrasings by progress, and the brief's facts when asked.

Needs no model. Which phrasing is used depends on the episode's seed and the round only.
"""

import hashlib
import random
from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from uniclaw.assets import Assets
from uniclaw.prompts import render
from uniclaw.records import AttemptState, Brief, Language, Progress, Record, ScoreBand, UserView
from uniclaw.user_simulator.facts import matching_facts
from uniclaw.user_simulator.prompts import TagText, load_tags
from uniclaw.yamlio import parse_record, parse_yaml

TEMPLATE_DIRECTORY = "roles/templates"

Phrasings = Annotated[tuple[str, ...], Field(min_length=1)]


class Templates(Record):
    """The phrasings of one language."""

    neutral: Phrasings
    """Says nothing of the progress."""
    unknown: Phrasings
    """An answer to what the brief does not hold."""
    answer: Phrasings
    """Jinja; `facts` is the text of the facts that were asked for."""
    progress: Mapping[AttemptState, Phrasings]
    band: Mapping[ScoreBand, str]
    tags: str
    missing: str
    rationale: str
    lines: str
    score: str

    @classmethod
    def load(cls, language: Language, assets: Assets) -> "Templates":
        """Read `roles/templates/<language>.yaml`.

        Raises:
            UserError: missing, unknown key, empty list.
        """
        relative = f"{TEMPLATE_DIRECTORY}/{language}.yaml"
        text = assets.read_text(relative)
        file = assets.taken[relative]
        return parse_record(cls, parse_yaml(text, file=file), file=file)


def pick(phrasings: tuple[str, ...], *key: object) -> str:
    """One of several phrasings, the same for the same key."""
    digest = hashlib.sha256("\0".join(map(str, key)).encode()).digest()
    return random.Random(int.from_bytes(digest[:8], "big")).choice(phrasings)


def neutral_message(
    templates: Templates,
    language: Language,
    *,
    asked: bool,
    brief: Brief,
    question: str = "",
    key: object = 0,
) -> str:
    """A message that carries nothing of the verdict; answers from the brief where it was asked.

    Args:
        templates: of the language.
        language: joins several facts as it is usual.
        asked: the last turn ended in a question.
        brief: what the user knows.
        question: the executor's last message.
        key: chooses among the phrasings.
    """
    if not asked:
        return pick(templates.neutral, key, "neutral")
    facts = matching_facts(brief, question)
    if not facts:
        return pick(templates.unknown, key, "unknown")
    joined = ("" if language == "zh" else " ").join(fact.text.strip() for fact in facts)
    template = pick(templates.answer, key, "answer")
    return render(template, file=f"{TEMPLATE_DIRECTORY}/{language}.yaml", facts=joined).strip()


class TemplateSimulator:
    """Plays the user without a model."""

    def __init__(
        self,
        templates: Mapping[Language, Templates],
        *,
        seed: int = 0,
        tags: Mapping[str, TagText] | None = None,
        neutral: bool = False,
    ) -> None:
        """Bind the phrasings.

        Args:
            templates: by language.
            seed: chooses among the phrasings.
            tags: texts of guidance tags.
            neutral: never speak of the progress (the control arm of the ablation).
        """
        self._templates = templates
        self._seed = seed
        self._tags = tags or {}
        self._neutral = neutral

    @classmethod
    def load(cls, assets: Assets, *, seed: int = 0, neutral: bool = False) -> "TemplateSimulator":
        """With the phrasings of the asset path.

        Raises:
            UserError: a template file is missing or not as expected.
        """
        languages: tuple[Language, ...] = ("en", "zh")
        templates: dict[Language, Templates] = {
            language: Templates.load(language, assets) for language in languages
        }
        return cls(templates, seed=seed, tags=load_tags(assets), neutral=neutral)

    async def draft(self, view: UserView) -> str:
        """One message, from the view's progress, or from the brief when the executor asked."""
        return self.message(view)

    def message(self, view: UserView) -> str:
        """Like `draft`, at once."""
        templates = self._templates[view.language]
        last = view.rounds[-1] if view.rounds else None
        # No id of the episode: the same seed gives the same messages in every run.
        key = (self._seed, last.round if last else 0)
        progress = view.progress
        if view.asked or self._neutral or view.reminder or progress.attempt_state is None:
            base = neutral_message(
                templates,
                view.language,
                asked=view.asked,
                brief=view.brief,
                question=last.final_message if last else "",
                key=key,
            )
        else:
            base = pick(templates.progress[progress.attempt_state], *key)
        silent = self._neutral or view.reminder or view.asked
        told = [] if silent else self._told(progress, view.language)
        return ("" if view.language == "zh" else " ").join([base, *told])

    def _told(self, progress: Progress, language: Language) -> list[str]:
        """Whatever the policy released, said plainly."""
        templates = self._templates[language]
        told: list[str] = []
        if progress.score_band is not None:
            told.append(templates.band[progress.score_band])
        if progress.score is not None:
            told.append(self._say(templates.score, language, score=f"{progress.score:.2f}"))
        if progress.guidance_tags:
            items = [self._tag(tag, language) for tag in progress.guidance_tags]
            told.append(self._say(templates.tags, language, items=" ".join(items)))
        if progress.missing_artifacts:
            items = list(progress.missing_artifacts)
            told.append(self._say(templates.missing, language, items=", ".join(items)))
        if progress.rationale:
            told.append(self._say(templates.rationale, language, text=progress.rationale))
        unmet = [line for line in progress.lines or () if line.weight and (line.value or 0) < 1]
        if unmet:
            items = [line.description for line in unmet]
            told.append(self._say(templates.lines, language, items="; ".join(items)))
        return told

    def _tag(self, tag: str, language: Language) -> str:
        text = self._tags.get(tag)
        return tag if text is None else (text.en if language == "en" else text.zh)

    @staticmethod
    def _say(template: str, language: Language, **values: object) -> str:
        return render(template, file=f"{TEMPLATE_DIRECTORY}/{language}.yaml", **values).strip()
