from decimal import Decimal

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from uniclaw.firewall.evasions import chinese_number, in_chinese, in_words, spoken_number
from uniclaw.firewall.mentions import mentions, readable
from uniclaw.firewall.normal import fold
from uniclaw.firewall.values import canonical


def forms(text: str) -> set[str]:
    return {form for m in mentions(readable(fold(text))) for form in (*m.forms, m.base) if form}


@pytest.mark.parametrize(
    "text",
    [
        "9130438.08", "9,130,438.08", "9 130 438.08", "9.130.438,08", "9'130'438.08",
        "$9,130,438.08",
        "９１３０４３８．０８", "９，１３０，４３８.０８", "913.043808万", "9.13043808 million",
        "nine million one hundred and thirty thousand four hundred and thirty-eight point zero"
        " eight",
        "九百一十三万零四百三十八点零八", "总收入9130438.08元",
    ],
)  # fmt: skip
def test_a_number_is_the_same_in_every_format(text: str) -> None:
    assert "9130438.08" in forms(f"The total is {text}.")


@pytest.mark.parametrize(
    "text",
    [
        "2024-03-05", "2024/3/5", "March 5, 2024", "5 March 2024", "the 5th of March 2024",
        "5 Mar 2024",
        "20240305", "2024年3月5日", "二〇二四年三月五日", "3/5/2024", "05.03.2024",
    ],
)  # fmt: skip
def test_a_date_is_the_same_in_every_format(text: str) -> None:
    assert "2024-03-05" in forms(f"It ends on {text}.")


@pytest.mark.parametrize(
    "text",
    ["14:30", "2:30 pm", "2:30PM", "half past two", "下午两点半", "14点30分"],
)
def test_a_time_is_the_same_in_every_format(text: str) -> None:
    assert "t14:30" in forms(f"Start at {text} please")


@pytest.mark.parametrize(
    ("one", "other"),
    [("150 minutes", "2.5 hours"), ("1.5 km", "1500 metres"), ("2 kg", "2000 g"),
     ("12.5%", "0.125"),
     ("八成", "80%"), ("五百三十四块四", "534.40"), ("a dozen", "12"),
     ("half a million", "500000")],
)  # fmt: skip
def test_units_and_shares_are_compared_by_what_they_mean(one: str, other: str) -> None:
    assert forms(one) & forms(other)


@given(st.integers(13, 99_999_999))
def test_number_words_are_read_back(number: int) -> None:
    assert str(number) in forms(f"it is {in_words(number)} here")
    assert str(number) in forms(f"共有{in_chinese(number)}个")


@given(st.decimals(min_value=13, max_value=99_999, places=2))
def test_spoken_decimals_are_read_back(number: Decimal) -> None:
    assume(number % 1)
    text = canonical(number)
    assert text in forms(f"it is {spoken_number(text)} here")
    assert text in forms(f"一共{chinese_number(text)}元")


@given(st.text(max_size=300))
def test_any_text_can_be_folded_and_read(text: str) -> None:
    folded = fold(text)
    assert fold(folded) == folded or len(folded) <= len(text) * 12
    mentions(readable(folded))


@given(st.integers(1, 10**9), st.integers(0, 99))
def test_grouping_does_not_change_a_number(whole: int, cents: int) -> None:
    plain = canonical(Decimal(f"{whole}.{cents:02}"))
    assert plain in forms(f"x {whole:,}.{cents:02} y")
    assert plain in forms(f"x {whole}.{cents:02} y")


@pytest.mark.parametrize(
    ("text", "expected"),
    [("Ｔｏｔａｌ", "total"), ("tоtаl", "total"), ("to\u200btal", "total"), ("José", "jose"),
     ("TOTAL", "total"), ("總計", "总计"), ("𝐭𝐨𝐭𝐚𝐥", "total"), ("ΤΟΤΑL", "total")],
)  # fmt: skip
def test_look_alikes_fold_to_one_form(text: str, expected: str) -> None:
    assert fold(text) == expected
