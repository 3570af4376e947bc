"""The suite `proactive`: requests that leave out what decides, and users who tell when asked."""

import runpy
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import player
import pytest
import suite_reader

from uniclaw.harnesses.events import ends_in_question
from uniclaw.harnesses.solution import Solution, read_script, read_solution
from uniclaw.hidden.rubric import PythonCheck
from uniclaw.records import Decision
from uniclaw.user_simulator.facts import matching_facts

SUITE = "proactive"
TASK_IDS = suite_reader.task_ids(SUITE)
ONLY_ASKS = "teacher_mail_zh"
"""A mail cannot be taken back, so that an assumption is no way out."""
ASSUMES = [task_id for task_id in TASK_IDS if task_id != ONLY_ASKS]

Raised = Callable[..., Mapping[str, object]]


def _stage(task_id: str, number: int) -> Solution:
    directory = suite_reader.bundle_of(SUITE, task_id).solution
    assert directory is not None
    stage = read_solution(directory, number)
    assert stage is not None
    return stage


def _asks(task_id: str, message: str) -> float:
    """What the line `asks` gives for a first turn that ends with this message."""
    rubric = suite_reader.bundle_of(SUITE, task_id).load_rubric().rubric
    check = next(c.check for c in rubric.checkpoints if c.id == "asks")
    assert isinstance(check, PythonCheck)
    path = suite_reader.hidden(SUITE) / task_id / "checks.py"
    function = cast("Raised", runpy.run_path(str(path))["asks"])
    evidence = SimpleNamespace(round=0, final_message=message, events=[])
    value = function(evidence, None, **check.args)["value"]
    assert isinstance(value, float)
    return value


def test_six_tasks_of_their_own_families_half_of_them_chinese() -> None:
    tasks = [b.task for b in suite_reader.loaded(SUITE).tasks]
    assert Counter(t.language for t in tasks) == {"en": 3, "zh": 3}
    assert len({t.family for t in tasks}) == 6
    assert {t.capability for t in tasks} == {"proactive"}


@pytest.mark.parametrize("task_id", TASK_IDS)
def test_proactive_task_is_ready_and_decided_by_code(task_id: str) -> None:
    bundle = suite_reader.bundle_of(SUITE, task_id)
    suite_reader.assert_ready(bundle)
    suite_reader.assert_decided_by_code(bundle)


def test_proactive_files_are_small_and_parse() -> None:
    suite_reader.assert_small_and_parseable(SUITE)


@pytest.mark.parametrize("task_id", TASK_IDS)
def test_the_solution_asks_first_and_the_brief_answers(task_id: str) -> None:
    message = _stage(task_id, 0).message
    assert ends_in_question(message)
    bundle = suite_reader.bundle_of(SUITE, task_id)
    facts = matching_facts(bundle.brief, message)
    assert bundle.brief.facts[0] in facts


@pytest.mark.parametrize("task_id", TASK_IDS)
def test_what_the_brief_knows_stands_nowhere_else(task_id: str) -> None:
    bundle = suite_reader.bundle_of(SUITE, task_id)
    readable = bundle.task.instruction + "".join(
        path.read_text(encoding="utf-8") for path in bundle.sources.values()
    )
    assert bundle.brief.facts[0].text not in readable


@pytest.mark.parametrize("task_id", ASSUMES)
def test_the_line_counts_the_question_and_the_stated_assumption(task_id: str) -> None:
    directory = suite_reader.bundle_of(SUITE, task_id).solution
    assert directory is not None
    assert _asks(task_id, _stage(task_id, 0).message) == 1
    assert _asks(task_id, read_script(directory / "full.sh").message) == 1


@pytest.mark.parametrize(
    ("task_id", "message", "value"),
    [
        ("report_period_en", "Which Q1 do you mean, Jan-Mar or Feb-Apr?", 1),
        ("report_period_en", "One thing first:\n- calendar quarter\n- financial quarter\n?", 1),
        ("report_period_en", "I went with the financial year. If you meant another, say so.", 1),
        ("report_period_en", "Done for the calendar quarter. Anything else?", 0),
        ("report_period_en", "Should returns count in the month of the sale?", 0),
        ("purge_customers_en", 'How would you like me to define "inactive"? By orders?', 1),
        ("purge_customers_en", "I treated whoever has not ordered for a year as inactive.", 1),
        ("purge_customers_en", "Five are gone. Would you like me to send the list?", 0),
        ("date_order_en", "For Callow & Finch the dates fit both ways. DD/MM or MM/DD?", 1),
        ("date_order_en", "All ten are renamed.", 0),
        ("split_bill_zh", "请问怎么分？", 1),
        ("split_bill_zh", "我按大人平摊来算，如果不是这样请告诉我。", 1),
        ("split_bill_zh", "按人头平摊，每人 121 元。还有什么需要吗？", 0),
        ("timeout_config_zh", "请问要调哪一个，调到多少？", 1),
        ("timeout_config_zh", "请问要改哪个？", 0.5),
        ("timeout_config_zh", "已把所有超时翻倍。", 0),
    ],
)
def test_other_words_for_asking_assuming_and_guessing(
    task_id: str, message: str, value: float
) -> None:
    assert _asks(task_id, message) == value


def test_the_reading_of_the_first_turn_is_the_same_code_everywhere() -> None:
    def shared(task_id: str) -> str:
        path = suite_reader.hidden(SUITE) / task_id / "checks.py"
        text = path.read_text(encoding="utf-8")
        start = text.index("# A question of courtesy")
        return text[start : text.index("                return True\n    return False", start)]

    assert len({shared(task_id) for task_id in TASK_IDS}) == 1


def test_a_question_is_answered_from_the_brief_and_the_answer_mends_the_result(
    tmp_path: Path,
) -> None:
    result = player.run(
        suite_reader.public(SUITE),
        tmp_path,
        tasks=["split_bill_zh", "timeout_config_zh"],
        executor="oracle",
        firewall="sealed",
    )
    for record in result.records:
        assert [r.verdict.decision for r in record.rounds if r.verdict] == [
            Decision.CONTINUE,
            Decision.PASS,
        ]


@pytest.mark.docker
@pytest.mark.slow
@pytest.mark.parametrize("task_id", TASK_IDS)
def test_proactive_task_is_as_its_rubric_says(task_id: str) -> None:
    suite_reader.assert_as_declared(suite_reader.validated(SUITE, task_id))
