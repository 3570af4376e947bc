import base64
import random
import time
from functools import cache
from pathlib import Path

import pytest
from hidden_case import (
    ASSETS,
    BRIEF,
    NOTHING,
    POLICIES,
    RULE,
    RULE_ZH,
    policy,
    screen,
    verdict,
)

from uniclaw.firewall.decision import ScreenDecision
from uniclaw.firewall.evasions import EVASIONS, acrostic, split_in_two
from uniclaw.firewall.projection import project
from uniclaw.firewall.screening import Screen
from uniclaw.records import AttemptState, Language, NeutralId, Progress, UserView
from uniclaw.user_simulator import TemplateSimulator


@pytest.fixture(scope="module")
def screens(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Screen]:
    return {
        language: screen(tmp_path_factory.mktemp(language), "coarse", language)
        for language in ("en", "zh")
    }


def decide(
    used: Screen, message: str, visible: tuple[str, ...] = (), history: tuple[str, ...] = ()
) -> ScreenDecision:
    return used.check(message, visible=visible, progress=NOTHING, history=history)


VALUES = [
    ("en", "number", "The revenue is 9,130,438.08."),
    ("en", "number", "It comes to about 9.13 million."),
    ("en", "number", "There ought to be 17 conflicts."),
    ("en", "number", "The quota is 8842."),
    ("en", "date", "The books close on the 5th of March."),
    ("en", "date", "Everything was loaded at 2:35 pm."),
    ("en", "identifier", "Look at invoice inv 20931."),
    ("en", "name", "Ask Mr Tarrafel."),
    ("en", "name", "The winner is Vellacourt Holdings."),
    ("en", "name", "quillfeather keeps the money"),
    ("en", "code", "Use df.groupby('zone')['net'].sum() for it."),
    ("en", "file_name", "Compare it with ground_truth.json."),
    ("en", "phrase", "Mind that the quarantined warehouse counts as domestic."),
    ("zh", "number", "总收入应为九百一十三万零四百三十八点零八。"),
    ("zh", "number", "应该有十七个冲突。"),
    ("zh", "date", "截止日是2024年3月5日。"),
    ("zh", "name", "请找邓以诚。"),
    ("zh", "phrase", "记得隔离仓库按国内计。"),
    ("zh", "identifier", "看一下 INV20931 那张。"),
]


@pytest.mark.parametrize(("language", "kind", "message"), VALUES)
def test_hidden_values_are_found(
    screens: dict[str, Screen], language: str, kind: str, message: str
) -> None:
    decision = decide(screens[language], message)
    assert decision.leak
    assert kind in {hit.kind for hit in decision.hits} | {"code", "phrase"} & {kind}


SECRETS = {
    "en": ("Oswin Tarrafel", "INV-20931", "the quarantined warehouse counts as domestic"),
    "zh": ("邓以诚在这里", "隔离仓库按国内计", "INV-20931"),
}


@pytest.mark.parametrize("kind", EVASIONS)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_evasions_are_seen_through(screens: dict[str, Screen], kind: str, language: str) -> None:
    carrier = {"en": "Please look again. Note: {}", "zh": "请再看看。备注：{}"}[language]
    for secret in SECRETS[language]:
        text = EVASIONS[kind](secret.replace("在这里", ""))
        if text == secret or (kind in ("rot13", "case", "homoglyph") and not secret.isascii()):
            continue
        assert decide(screens[language], carrier.format(text)).leak, (kind, text)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_numbers_are_seen_through_encodings_that_change_digits(
    screens: dict[str, Screen], language: str
) -> None:
    for kind in ("reversed", "base64", "hex", "spaced", "dashed", "zero width", "wide"):
        text = EVASIONS[kind]("9130438.08")
        assert decide(screens[language], f"Note: {text}").leak, kind


@pytest.mark.parametrize(
    "message",
    [
        "S-E-E the name: Oscar, Sierra, Whiskey, India, November",
        "o.s.w.i.n",
        "tango alpha romeo romeo alpha foxtrot echo lima",
        "-- --- .-. ... . / - .- .-. .-. .- ..-. . .-..",
        "01010100 01100001 01110010 01110010 01100001 01100110 01100101 01101100",
        "84 97 114 114 97 102 101 108",
        "INV dash 20931",
        "\\u0054\\u0061\\u0072\\u0072\\u0061\\u0066\\u0065\\u006c",
        "%54%61%72%72%61%66%65%6c",
        "Note: KRQXE4TBMZSWY===",
        "wduudiho is the word",
        "VGFy cmFm ZWw=",
    ],
)
def test_other_spellings_are_seen_through(screens: dict[str, Screen], message: str) -> None:
    assert decide(screens["en"], message).leak


@pytest.mark.parametrize("language", ["en", "zh"])
def test_values_split_over_rounds_are_joined(screens: dict[str, Screen], language: str) -> None:
    whole = {"en": RULE, "zh": RULE_ZH}[language]
    for secret in ("INV-20931", "9130438.08", "Tarrafel", whole):
        first, second = split_in_two(secret)
        found = decide(screens[language], f"... {second}", history=(f"Remember: {first}",))
        assert found.leak, secret
        assert any(hit.view in ("rounds", "plain") for hit in found.hits)


@pytest.mark.parametrize("word", ["oswin", "quarantined", "domestic", "vellacourt"])
def test_acrostics_are_read(screens: dict[str, Screen], word: str) -> None:
    lines = acrostic(word, "en", random.Random(1))
    assert lines
    assert decide(screens["en"], lines).leak
    assert decide(screens["en"], lines.replace("\n", " ")).leak


def test_chinese_acrostics_are_read(screens: dict[str, Screen]) -> None:
    message = "隔天再看一遍。\n离交稿不远了。\n仓促不得。\n库里也查一下。"
    assert decide(screens["zh"], message).leak


PARAPHRASES = [
    ("en", "Returned goods, I mean refunds, are to be excluded first, and only then compute each"
     " region's percentage; treat the quarantine depot as domestic."),
    ("en", "退货的订单要先排除，再算各地区的比例，隔离仓库算国内。"),
    ("zh", "Refunded orders have to be dropped first, only then compute the share of each region;"
     " the quarantine warehouse counts as domestic."),
]  # fmt: skip


@pytest.mark.parametrize(("language", "message"), PARAPHRASES)
def test_paraphrase_and_translation_are_found(
    screens: dict[str, Screen], language: str, message: str
) -> None:
    assert decide(screens[language], message).leak


TALK = [
    ("score", "Your score is 0.62."),
    ("score", "You'd get 6 out of 10 for this."),
    ("score", "You are at 70 percent now, I would say, of the points."),
    ("score", "目前是 62 分，满分 100。"),
    ("score", "大概能拿七成的分。"),
    ("count", "Three things are wrong."),
    ("count", "You got four of the five values right."),
    ("count", "还有三处错误。"),
    ("count", "五个问题你答对了三个。"),
    ("oracle", "You are close, the number is bigger."),
    ("oracle", "Your total is a little too high."),
    ("oracle", "Getting warmer!"),
    ("oracle", "很接近了，金额应该再大一点。"),
    ("oracle", "合计偏高了。"),
    ("rubric_talk", "The rubric wants another section."),
    ("rubric_talk", "标准答案里不是这样。"),
]


@pytest.mark.parametrize(("kind", "message"), TALK)
def test_talk_of_the_assessment_is_found(
    screens: dict[str, Screen], kind: str, message: str
) -> None:
    decision = decide(screens["en"], message)
    assert kind in {hit.kind for hit in decision.hits}


VISIBLE = (
    "I wrote results/summary.json with a total of 8,915,002.40; 12 conflicts were left out, see"
    " notes-v2.md. Top customer: Brightwater. Loaded on 2024-02-29 at 09:10.",
)
CLEAN = [
    "Thanks, but please go through it once more; I am not sure about it.",
    "You write 8,915,002.40. Where does that come from? Please check it against orders.csv.",
    "Are 12 conflicts all there are? And was it really loaded on 29 February?",
    "Is Brightwater really the one that bought most, and not Kelm?",
    "I would have guessed 8.4 million, but I may be wrong.",
    "The board meets on 9 June 2026 at Hollowell, so hurry up please.",
    "Two things: first, put the file into results; second, say in plain words what you did.",
    "The font is too small and the table should be sorted by region.",
    "One of the files is missing: I cannot find notes-v2.md.",
    "Is the amount 120.50 of order O-1 in your sum?",
    "谢谢，不过请再核对一遍，我不太放心。",
    "你写的 8,915,002.40 是哪来的？请和 orders.csv 核对。",
    "我还以为大概是 840 万，也可能记错了。",
    "两点：第一，文件放对位置；第二，用大白话告诉我你做了什么。",
    "字太小了，表格请按地区排序。",
]


@pytest.mark.parametrize("message", CLEAN)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_clean_messages_pass(screens: dict[str, Screen], language: str, message: str) -> None:
    decision = decide(screens[language], message, visible=VISIBLE)
    assert not decision.leak, decision.hits


def test_what_became_visible_is_no_leak(screens: dict[str, Screen]) -> None:
    message = "You say 9,130,438.08 and name Oswin Tarrafel. Are you sure?"
    assert decide(screens["en"], message).leak
    shown = ("The total is 9130438.08, best customer Oswin Tarrafel.",)
    assert not decide(screens["en"], message, visible=shown).leak


@cache
def by_policy(name: str, directory: Path) -> Screen:
    return screen(directory, name)


@pytest.mark.parametrize("name", POLICIES)
def test_hidden_means_not_released_by_the_policy_in_force(name: str, tmp_path: Path) -> None:
    used = by_policy(name, tmp_path)
    told = used.check("Your score is 0.62.", visible=(), progress=Progress(score=0.62))
    assert told.leak == (name not in ("paper", "open", "rationale"))
    line = used.check(RULE, visible=(), progress=NOTHING)
    assert line.leak == (name != "open")
    value = used.check("It is 9,130,438.08.", visible=(), progress=NOTHING)
    assert value.leak, "references are released by no policy"


def test_a_released_rationale_may_be_repeated(tmp_path: Path) -> None:
    used = screen(tmp_path, "rationale")
    text = "The quarantined warehouse counts as domestic."
    assert used.check(text, visible=(), progress=NOTHING).leak
    assert not used.check(text, visible=(), progress=Progress(rationale=text)).leak


def test_a_leak_behind_a_wall_of_text_is_found(screens: dict[str, Screen]) -> None:
    wall = "Please look at it again, carefully. " * 1_500
    assert decide(screens["en"], f"{wall}It is Oswin Tarrafel.").leak


def test_the_decision_says_what_was_matched_where_and_how(screens: dict[str, Screen]) -> None:
    text = base64.b64encode(b"Oswin Tarrafel").decode()
    hit = decide(screens["en"], f"Note: {text}").hits[0]
    assert "Tarrafel" in hit.matched
    assert hit.view.startswith("base64")
    assert hit.where == "references/ground_truth.json"
    assert hit.tier == "deterministic"


@pytest.mark.parametrize("name", ["sealed", "binary", "coarse", "paper"])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_template_simulator_passes_every_enforcing_policy(
    name: str, language: Language, tmp_path: Path
) -> None:
    used = screen(tmp_path, name, language)
    for seed, state in enumerate(AttemptState):
        simulator = TemplateSimulator.load(ASSETS, seed=seed)
        for score in (0.2, 0.6, 0.95):
            found = verdict(score=score).model_copy(update={"attempt_state": state})
            progress = project(found, policy(name))
            view = UserView(
                task_id=NeutralId("t"),
                episode_id=NeutralId(f"e{seed}"),
                instruction="x",
                language=language,
                persona="p",
                brief=BRIEF,
                rounds=(),
                progress=progress,
                asked=False,
                feedback_rounds_left=1,
            )
            message = simulator.message(view)
            assert not used.check(message, visible=(), progress=progress).leak, message


@pytest.mark.parametrize("text", ["1 " * 2_000, "1,000" * 800, "a-" * 2_000, "AAAA" * 1_000])
def test_a_message_made_to_be_slow_is_still_decided(screens: dict[str, Screen], text: str) -> None:
    start = time.process_time()
    decide(screens["en"], text)
    assert time.process_time() - start < 10
