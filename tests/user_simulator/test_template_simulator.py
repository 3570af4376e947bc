from pathlib import Path

import pytest
from view_case import ASSETS, BRIEF, view

from uniclaw.assets import Assets, default_roots
from uniclaw.errors import UserError
from uniclaw.records import (
    AttemptState,
    Brief,
    Fact,
    Language,
    Progress,
    ReleasedLine,
    ScoreBand,
)
from uniclaw.user_simulator import (
    Templates,
    TemplateSimulator,
    load_persona,
    neutral_message,
    persona_names,
)
from uniclaw.user_simulator.facts import matching_facts, question_part

SIMULATOR = TemplateSimulator.load(ASSETS, seed=1)
LANGUAGES: tuple[Language, ...] = ("en", "zh")


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("state", AttemptState)
def test_there_are_several_phrasings_for_every_state(
    language: Language, state: AttemptState
) -> None:
    said = {
        TemplateSimulator.load(ASSETS, seed=seed).message(
            view(language=language, progress=Progress(attempt_state=state))
        )
        for seed in range(30)
    }
    assert len(said) >= 2
    assert all(("。" in text or "，" in text) == (language == "zh") for text in said)


def test_the_same_view_and_seed_give_the_same_message() -> None:
    seen = view(progress=Progress(attempt_state=AttemptState.INCOMPLETE))
    assert SIMULATOR.message(seen) == TemplateSimulator.load(ASSETS, seed=1).message(seen)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_sealed_view_and_a_blocked_draft_give_neutral_messages(language: Language) -> None:
    templates = Templates.load(language, ASSETS)
    full = Progress(
        attempt_state=AttemptState.INCOMPLETE, score_band=ScoreBand.LOW, rationale="the sum is off"
    )
    for seen in (view(language=language), view(language=language, progress=full, reminder=True)):
        assert SIMULATOR.message(seen) in templates.neutral
    control = TemplateSimulator.load(ASSETS, neutral=True)
    assert control.message(view(language=language, progress=full)) in templates.neutral


def test_it_tells_as_much_as_its_view_holds() -> None:
    text = SIMULATOR.message(
        view(
            progress=Progress(
                attempt_state=AttemptState.COMPLETE_BUT_FAILED,
                score=0.4,
                guidance_tags=("check_totals",),
                missing_artifacts=("b.csv",),
                rationale="the sum is off",
                lines=(
                    ReleasedLine(description="Totals are right", value=0.0, weight=0.5),
                    ReleasedLine(description="File is there", value=1.0, weight=0.5),
                ),
            )
        )
    )
    for told in (
        "0.40",
        "Work out the totals again.",
        "b.csv",
        "the sum is off",
        "Totals are right",
    ):
        assert told in text
    assert "File is there" not in text


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_question_is_answered_from_the_brief(language: Language) -> None:
    question = {"en": "All done. What is the deadline?", "zh": "做好了。期限是什么时候？"}[language]
    text = SIMULATOR.message(view(language=language, asked=True, final=question))
    assert "Payroll closes on Monday." in text


@pytest.mark.parametrize("language", LANGUAGES)
def test_fault_40_what_the_brief_does_not_hold_is_not_known(language: Language) -> None:
    question = {"en": "Which colour do you like?", "zh": "你喜欢什么颜色？"}[language]
    text = SIMULATOR.message(view(language=language, asked=True, final=question))
    assert text in Templates.load(language, ASSETS).unknown


def test_topics_are_whole_words_of_the_question() -> None:
    brief = Brief(
        facts=(Fact(id="a", text="A", topics=("rate",)), Fact(id="b", text="B", topics=("单价",)))
    )
    assert [f.id for f in matching_facts(brief, "Which rates apply?")] == ["a"]
    assert matching_facts(brief, "Should I separate them?") == ()
    assert [f.id for f in matching_facts(brief, "请问单价是多少？")] == ["b"]
    said = "The exchange rate file is done. Which deadline do you have?"
    assert question_part(said).strip() == "Which deadline do you have?"
    assert [f.id for f in matching_facts(BRIEF, said)] == ["d"]


def test_the_neutral_message_needs_no_view() -> None:
    templates = Templates.load("en", ASSETS)
    assert neutral_message(templates, "en", asked=False, brief=BRIEF) in templates.neutral
    answer = neutral_message(
        templates, "en", asked=True, brief=BRIEF, question="What exchange rate?"
    )
    assert "The rates come from finance." in answer


@pytest.mark.parametrize("language", LANGUAGES)
def test_all_personas_exist_in_both_languages(language: Language) -> None:
    names = {"default", "terse", "detailed", "impatient", "non-technical"}
    assert names <= set(persona_names(ASSETS, language))
    texts = {load_persona(name, language, ASSETS) for name in names}
    assert len(texts) == len(names)


def test_a_persona_is_added_by_adding_a_file(tmp_path: Path) -> None:
    folder = tmp_path / "roles" / "personas"
    folder.mkdir(parents=True)
    (folder / "poet.en.md").write_text("You write in rhymes.\n", encoding="utf-8")
    own = Assets((tmp_path, *default_roots(None)))
    assert load_persona("poet", "en", own) == "You write in rhymes."
    assert load_persona("terse", "en", own)
    with pytest.raises(UserError, match="poet"):
        load_persona("poet", "zh", own)


@pytest.mark.parametrize("name", ["nosuch", "../../secret", "", "a/b"])
def test_an_unknown_persona_names_the_known_ones(name: str) -> None:
    with pytest.raises(UserError, match="terse"):
        load_persona(name, "en", ASSETS)


def test_a_broken_template_file_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "roles" / "templates"
    folder.mkdir(parents=True)
    (folder / "en.yaml").write_text("neutral: []\n", encoding="utf-8")
    with pytest.raises(UserError, match=r"en\.yaml"):
        Templates.load("en", Assets((tmp_path,)))
