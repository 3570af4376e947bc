"""Whether a simulated user keeps to its persona and to its task."""

import pytest

from uniclaw.assets import Assets, default_roots
from uniclaw.firewall.adherence import Said, adherence_rows, faults, load_measures, outside
from uniclaw.records import Language
from uniclaw.user_simulator.personas import persona_names

ASSETS = Assets(default_roots(None))
MEASURES = load_measures(ASSETS)
KNOWN = ("Sum the orders in sources/orders.csv by region.", "I used json for the 42 rows.")


def said(message: str, persona: str | None = "default", language: Language = "en") -> Said:
    return Said(policy="coarse", persona=persona, language=language, message=message, known=KNOWN)


def test_every_shipped_persona_can_be_measured() -> None:
    assert set(MEASURES) == set(persona_names(ASSETS, "en"))


@pytest.mark.parametrize(
    ("message", "persona", "expected"),
    [
        ("That is not what I asked for. Please look again.", "default", ()),
        ("No. Again. Now. Please!", "terse", ("sentences:many",)),
        ("Fix it.", "detailed", ("sentences:few", "words:few")),
        ("The json looks odd to me, please check it.", "non-technical", ()),
        ("Your regex looks odd to me, please check it.", "non-technical", ("avoided-word",)),
        ("As an AI I think that the work is not done.", "default", ("out-of-role",)),
        ("这和我要的不一样，请再看一遍。", "default", ("other-language",)),
        ("Anything at all, from somebody unknown.", None, ()),
    ],
)
def test_what_does_not_fit_is_named(
    message: str, persona: str | None, expected: tuple[str, ...]
) -> None:
    assert faults(said(message, persona), MEASURES) == expected


def test_chinese_is_measured_in_characters() -> None:
    assert faults(said("这和我要的不一样，请再看一遍。", "terse", "zh"), MEASURES) == ()
    assert faults(said("请" * 60, "terse", "zh"), MEASURES) == ("words:many",)


def test_what_stands_nowhere_in_sight_is_outside() -> None:
    assert outside(said("Please also check orders.csv and the 42 rows.")) == ()
    assert outside(said('Please also write budget.xlsx for "Project Kestrel", about 7731.')) == (
        "budget.xlsx",
        "Project Kestrel",
        "7731",
    )


def test_rows_count_by_policy_and_persona() -> None:
    rows = adherence_rows(
        [said("Please look again."), said("As an AI, no."), said("See plan.docx.", "terse")],
        MEASURES,
    )
    assert [(row.persona, row.messages, row.adhering, row.outside) for row in rows] == [
        ("default", 2, 1, 0),
        ("terse", 1, 1, 1),
    ]
    assert rows[0].faults == {"out-of-role": 1}
    assert rows[1].examples == ("plan.docx",)
