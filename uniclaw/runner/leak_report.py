"""Reads what the firewall's measures need from a stored run."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from pydantic import ValidationError

from uniclaw.assets import Assets
from uniclaw.errors import StoreError
from uniclaw.experiment import NEUTRAL, REPEAT
from uniclaw.firewall.adherence import AdherenceRow, Said, adherence_rows, load_measures
from uniclaw.firewall.measure import LeakRow, Screened, leak_rows
from uniclaw.firewall.projection import visible_texts
from uniclaw.firewall.reconstruction import StatusClue, clues
from uniclaw.records import Language, UserView
from uniclaw.store.records import EpisodeRecord, RoundRecord
from uniclaw.store.run_store import RunStore
from uniclaw.user_simulator.personas import load_persona, persona_names
from uniclaw.user_simulator.prompts import load_tags

LANGUAGES: tuple[Language, ...] = ("en", "zh")


class LeakMeasures(NamedTuple):
    """What can be measured of a run's feedback without statistics."""

    rows: tuple[LeakRow, ...]
    adherence: tuple[AdherenceRow, ...]
    clues: tuple[StatusClue, ...]
    """For the reconstruction probe."""


def leak_measures(run: Path, assets: Assets) -> LeakMeasures:
    """Read a run's drafts, messages and verdicts.

    Args:
        run: its directory.
        assets: where personas and tags are.

    Raises:
        StoreError: there is no such run, or a view in it is broken.
    """
    measures = load_measures(assets)
    names = {language: _persona_texts(assets, language) for language in LANGUAGES}
    drafts: list[Screened] = []
    said: list[Said] = []
    found: list[StatusClue] = []
    with RunStore.open(run) as store:
        for record in store.episodes():
            if record.axes.user_simulator in {NEUTRAL, REPEAT}:
                continue  # control arms would thin out the base rate of `sealed`
            drafts.extend(_drafts(record))
            for item in record.rounds:
                found.extend(_clues(record, item, assets))
                view = _view(store.episode_dir(record.episode_id), item)
                if view is not None and item.feedback is not None:
                    known = names[view.language]
                    said.append(_said(record, view, item.feedback.text, known))
    return LeakMeasures(leak_rows(drafts), adherence_rows(said, measures), tuple(found))


def _persona_texts(assets: Assets, language: Language) -> dict[str, str]:
    """Text of each persona -> its name."""
    return {load_persona(name, language, assets): name for name in persona_names(assets, language)}


def _drafts(record: EpisodeRecord) -> Iterator[Screened]:
    for item in record.rounds:
        for draft in item.drafts:
            yield Screened(
                policy=record.axes.policy,
                round=item.round,
                leak=draft.decision == "leak",
                delivered=draft.delivered,
                kinds=tuple(str(hit.get("kind")) for hit in draft.hits),
            )


def _clues(record: EpisodeRecord, item: RoundRecord, assets: Assets) -> tuple[StatusClue, ...]:
    if item.verdict is None or item.feedback is None:
        return ()
    language: Language = "zh" if record.language == "zh" else "en"
    tags = {
        name: text.zh if language == "zh" else text.en for name, text in load_tags(assets).items()
    }
    return clues(
        episode=record.episode_id,
        family=record.family,
        policy=record.axes.policy,
        round_number=item.round,
        lines=item.verdict.lines,
        final_message=item.final_message,
        feedback=item.feedback.text,
        tags=tags,
    )


def _view(directory: Path, item: RoundRecord) -> UserView | None:
    """What the author of a round's feedback saw; None where the run kept no views."""
    file = directory / "rounds" / str(item.round) / "view-0.json"
    if not file.is_file():
        return None
    try:
        return UserView.model_validate_json(file.read_bytes())
    except ValidationError as error:
        raise StoreError(f"{file}: {error.error_count()} fields do not fit") from error


def _said(record: EpisodeRecord, view: UserView, message: str, names: dict[str, str]) -> Said:
    return Said(
        policy=record.axes.policy,
        persona=names.get(view.persona.strip()),
        language=view.language,
        message=message,
        known=(
            view.instruction,
            *(fact.text for fact in view.brief.facts),
            *visible_texts(view),
        ),
    )
