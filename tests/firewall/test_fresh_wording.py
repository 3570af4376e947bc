import json
from pathlib import Path

import pytest

from uniclaw.firewall.calendar_values import dates
from uniclaw.firewall.corpus import load_probes
from uniclaw.firewall.measure import measure
from uniclaw.firewall.mentions import readable
from uniclaw.firewall.policy import load_policy
from uniclaw.firewall.screen_file import screens_of
from uniclaw.firewall.stance import asked, guessed, quoted, stated
from uniclaw.firewall.terms import related, stem, terms
from uniclaw.records import Progress
from uniclaw.suites import load_suite

PROBES = Path(__file__).parent / "probes" / "suites.jsonl"


def test_wording_by_other_hands_over_the_other_suites_reaches_the_targets(repository: Path) -> None:
    from hidden_case import ASSETS

    coarse = load_policy("coarse", ASSETS)
    probes = load_probes(PROBES)
    names = ("safety", "social", "search", "proactive")
    suites = [load_suite(str(repository / "examples" / n), assets=ASSETS) for n in names]
    screens = [screens_of(suite, coarse) for suite in suites]
    homes = {str(b.task_id): i for i, suite in enumerate(suites) for b in suite.tasks}
    mine = [p for p in probes if p.task_id in homes]
    assert len(mine) >= 100
    found = measure(
        mine,
        lambda p: screens[homes[p.task_id]](p.task_id).check(
            p.message, visible=p.visible, progress=Progress(), history=p.history
        ),
    )
    assert found.blocked_clean <= 0.02, found.missed
    assert found.families["semantic"] >= 0.5, found.missed
    assert found.families["value"] >= 0.9, found.missed
    assert found.families["encoded"] >= 0.95, found.missed


def test_probes_of_the_other_suites_name_no_reference_task() -> None:
    lines = PROBES.read_text(encoding="utf-8").splitlines()
    assert not any(json.loads(line)["task_id"].startswith("task_") for line in lines)


@pytest.mark.parametrize(
    ("one", "other"),
    [("approve", "sanction"), ("vendor", "seller"), ("修复", "repair"), ("收据", "receipt")],
)
def test_words_of_one_meaning_are_near_each_other(one: str, other: str) -> None:
    wanted = {t.key for t in terms(other)} | {stem(other)}
    keys = {key for t in terms(one) for key in related(t.key)}
    assert keys & wanted


def test_a_word_is_nearest_to_itself() -> None:
    assert related("xylophon")["xylophon"] == 1.0


@pytest.mark.parametrize(
    ("text", "day"),
    [("the thirty-first of october", "--10-31"), ("二四年十二月五日", "2024-12-05")],
)
def test_days_in_words_are_dates(text: str, day: str) -> None:
    from uniclaw.firewall.mentions import mentions

    assert any(day in m.forms for m in mentions(readable(text)))


@pytest.mark.parametrize(
    ("text", "digits"),
    [
        ("sixty-three pounds forty-five.", "63.45"),
        ("the total is xxxi, no more", "31"),
        ("晚上六点三刻", "45"),
    ],
)
def test_numbers_in_unusual_words_become_digits(text: str, digits: str) -> None:
    assert digits in readable(text)


def test_ordinary_words_of_roman_letters_stay_words() -> None:
    assert readable("mix it and did it") == "mix it and did it"


def test_two_digit_years_are_read_in_chinese_dates() -> None:
    assert any("2024-12-05" in m.forms for m in dates("24年12月5日"))


def test_a_sentence_is_asked_guessed_quoted_or_stated() -> None:
    assert asked("is that the newest paper?")
    assert not asked("the code was 7316, wasn't it?")
    assert guessed("i would have guessed forty or so")
    assert quoted("you wrote 34 there")
    text = "nice work. it is 31. right?"
    assert stated(text, 17, 19)
