"""The suite `social`: tasks among people, on services that play them."""

import json
import re
from collections import Counter

import pytest
import suite_reader

from uniclaw.harnesses.solution import read_solution

SUITE = "social"
TASK_IDS = suite_reader.task_ids(SUITE)
NEEDS_THREE_ROUNDS = {"chase_reply_en", "outing_votes_zh"}


def test_four_tasks_of_their_own_families_half_of_them_chinese() -> None:
    tasks = [b.task for b in suite_reader.loaded(SUITE).tasks]
    assert Counter(t.language for t in tasks) == {"en": 2, "zh": 2}
    assert len({t.family for t in tasks}) == 4
    assert {t.capability for t in tasks} == {"social"}


def test_mail_calendar_chat_and_contacts_are_all_used() -> None:
    tasks = [b.task for b in suite_reader.loaded(SUITE).tasks]
    used = {service.name for task in tasks for service in task.services}
    assert used == {"mail", "calendar", "chat", "contacts"}


@pytest.mark.parametrize("task_id", TASK_IDS)
def test_social_task_is_ready_and_decided_by_code(task_id: str) -> None:
    bundle = suite_reader.bundle_of(SUITE, task_id)
    suite_reader.assert_ready(bundle)
    suite_reader.assert_decided_by_code(bundle)


def test_social_files_are_small_and_parse() -> None:
    suite_reader.assert_small_and_parseable(SUITE)


def test_all_addresses_of_the_seeds_are_of_reserved_domains() -> None:
    for file in suite_reader.files_of(SUITE):
        text = file.read_text(encoding="utf-8")
        hosts = re.findall(r"[\w.-]+@([\w-]+(?:\.[\w-]+)+)", text)
        assert all(host.endswith(".example") for host in hosts), file


@pytest.mark.parametrize("task_id", TASK_IDS)
def test_people_answer_by_rules_or_something_changes_between_rounds(task_id: str) -> None:
    seeds = (suite_reader.public(SUITE) / task_id / "services").glob("*/seed.json")
    said = [json.loads(seed.read_text(encoding="utf-8")) for seed in seeds]
    assert any(seed.get("rules") or seed.get("changes") for seed in said)


@pytest.mark.parametrize("task_id", TASK_IDS)
def test_social_solution_takes_the_rounds_that_the_people_need(task_id: str) -> None:
    directory = suite_reader.bundle_of(SUITE, task_id).solution
    assert directory is not None
    rounds = 3 if task_id in NEEDS_THREE_ROUNDS else 2
    stages = [read_solution(directory, number) for number in range(rounds + 1)]
    assert all(stage is not None and stage.message for stage in stages[:rounds])
    assert stages[rounds] is None


@pytest.mark.docker
@pytest.mark.slow
@pytest.mark.parametrize("task_id", TASK_IDS)
def test_social_task_is_as_its_rubric_says(task_id: str) -> None:
    suite_reader.assert_as_declared(suite_reader.validated(SUITE, task_id))
