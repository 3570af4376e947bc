"""The simulator's prompts: files under `roles/user_simulator`, rendered from a view.

All that the executor or its tools wrote is fenced as untrusted.
"""

import json
from collections.abc import Mapping
from typing import NamedTuple

from uniclaw.assets import Assets
from uniclaw.prompts import new_nonce, render, untrusted
from uniclaw.records import Event, EventKind, Language, Progress, Record, UserView, VisibleFile
from uniclaw.yamlio import parse_record, parse_yaml

PROMPT_DIRECTORY = "roles/user_simulator"
TAGS_FILE = "roles/tags.yaml"
_PARTS = ("system", "view", "reminder", "retry")


class TagText(Record):
    """What a guidance tag says, by language."""

    en: str
    zh: str


class _Tags(Record):
    tags: Mapping[str, TagText]


def load_tags(assets: Assets) -> Mapping[str, TagText]:
    """The guidance tags of `roles/tags.yaml`.

    Raises:
        UserError: the file is missing or not as expected.
    """
    text = assets.read_text(TAGS_FILE)
    file = assets.taken[TAGS_FILE]
    return parse_record(_Tags, {"tags": parse_yaml(text, file=file)}, file=file).tags


class PromptSet(NamedTuple):
    """The prompt sources of one language."""

    system: str
    view: str
    reminder: str
    retry: str


class RenderedView(NamedTuple):
    """The two messages that a draft starts from."""

    system: str
    user: str


class SimulatorPrompts:
    """Prompt sources in both languages, with the guidance tags."""

    def __init__(
        self, sources: Mapping[Language, PromptSet], tags: Mapping[str, TagText] | None = None
    ) -> None:
        """Take the sources as they stand.

        Args:
            sources: prompt sources by language.
            tags: texts of guidance tags; a tag without a text is shown by its name.
        """
        self._sources = sources
        self._tags = tags or {}

    @classmethod
    def load(cls, assets: Assets) -> "SimulatorPrompts":
        """Read all prompt files; each is hashed into the record of used assets.

        Raises:
            UserError: a file is missing or not UTF-8.
        """
        languages: tuple[Language, ...] = ("en", "zh")
        sources: dict[Language, PromptSet] = {
            language: PromptSet(
                *(assets.read_text(f"{PROMPT_DIRECTORY}/{part}.{language}.md") for part in _PARTS)
            )
            for language in languages
        }
        return cls(sources, load_tags(assets))

    def reminder(self, language: Language) -> str:
        """The fixed reminder after a blocked draft; names no match."""
        return self._sources[language].reminder.strip()

    def retry(self, language: Language) -> str:
        """What is asked when an answer had no usable form."""
        return self._sources[language].retry.strip()

    def rendered(self, view: UserView) -> RenderedView:
        """System and user message for a view.

        Raises:
            UserError: a prompt file names a value that does not exist.
        """
        source = self._sources[view.language]
        nonce = new_nonce()
        system = render(
            source.system,
            file=f"{PROMPT_DIRECTORY}/system.{view.language}.md",
            persona=view.persona,
        )
        rounds = [
            {
                "number": shown.round,
                "user_message": shown.user_message,
                "final_message": untrusted(shown.final_message, nonce=nonce, label="message"),
                "events": _events(shown.events, nonce),
                "files": [_file(file, nonce) for file in shown.files],
            }
            for shown in view.rounds
        ]
        user = render(
            source.view,
            file=f"{PROMPT_DIRECTORY}/view.{view.language}.md",
            instruction=view.instruction,
            facts=[fact.text for fact in view.brief.facts],
            rounds=rounds,
            progress=self._progress(view.progress, view.language),
            asked=view.asked,
            rounds_left=view.feedback_rounds_left,
        )
        return RenderedView(system, user)

    def _progress(self, progress: Progress, language: Language) -> list[str]:
        shown: dict[str, object] = progress.model_dump(mode="json", exclude_none=True)
        if progress.guidance_tags is not None:
            shown["guidance_tags"] = [self._tag(tag, language) for tag in progress.guidance_tags]
        return [f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in shown.items()]

    def _tag(self, tag: str, language: Language) -> str:
        text = self._tags.get(tag)
        return tag if text is None else (text.en if language == "en" else text.zh)


def _events(events: tuple[Event, ...], nonce: str) -> str:
    lines = [_event_line(event) for event in events]
    return untrusted("\n".join(lines), nonce=nonce, label="steps") if lines else ""


def _event_line(event: Event) -> str:
    if event.kind is EventKind.TOOL_CALL:
        arguments = json.dumps(dict(event.arguments or {}), ensure_ascii=False)
        return f"[{event.id}] {event.tool}: {arguments}"
    cut = " [...]" if event.truncated else ""
    return f"[{event.id}] {event.kind.value}: {event.text}{cut}"


def _file(file: VisibleFile, nonce: str) -> str:
    note = f" ({file.size} bytes{', cut' if file.truncated else ''})"
    body = file.text if file.text is not None else "[binary]"
    if file.pictures:
        body += f"\n[{len(file.pictures)} picture(s) of it below]"
    return untrusted(f"{file.path}{note}\n{body}", nonce=nonce, label="file")
