"""The suite `search`: answers that need more than one place, and questions without an answer."""

import json
from collections import Counter
from pathlib import Path

import pytest
import suite_reader

from uniclaw.hidden.rubric import PythonCheck
from uniclaw.yamlio import read_yaml

SUITE = "search"
TASK_IDS = suite_reader.task_ids(SUITE)
UNANSWERABLE = {"cold_restore_en", "teapot_kiln_zh"}


def _seeds(task_id: str) -> dict[str, dict[str, object]]:
    found = (suite_reader.public(SUITE) / task_id / "services").glob("*/seed.json")
    return {f.parent.name: json.loads(f.read_text(encoding="utf-8")) for f in found}


def test_four_tasks_two_without_an_answer_in_each_language_one() -> None:
    tasks = [b.task for b in suite_reader.loaded(SUITE).tasks]
    assert Counter(t.language for t in tasks) == {"en": 2, "zh": 2}
    assert Counter(t.language for t in tasks if t.task_id in UNANSWERABLE) == {"en": 1, "zh": 1}
    assert len({t.family for t in tasks}) == 4
    assert {t.capability for t in tasks} == {"search"}


def test_all_four_sites_are_used() -> None:
    assert {name for task_id in TASK_IDS for name in _seeds(task_id)} == {
        "docs",
        "forum",
        "shop",
        "tickets",
    }


@pytest.mark.parametrize("task_id", TASK_IDS)
def test_search_task_is_ready_and_decided_by_code(task_id: str) -> None:
    bundle = suite_reader.bundle_of(SUITE, task_id)
    suite_reader.assert_ready(bundle)
    suite_reader.assert_decided_by_code(bundle)


def test_search_files_are_small_and_parse() -> None:
    suite_reader.assert_small_and_parseable(SUITE)


@pytest.mark.parametrize("task_id", TASK_IDS)
def test_every_site_has_a_budget_that_the_instruction_names(task_id: str) -> None:
    instruction = suite_reader.bundle_of(SUITE, task_id).task.instruction
    limits = [seed["search_limit"] for seed in _seeds(task_id).values()]
    assert len(limits) == 2
    assert all(isinstance(limit, int) and 2 <= limit <= 4 for limit in limits)
    assert all(str(limit) in instruction for limit in limits)


@pytest.mark.parametrize("task_id", TASK_IDS)
def test_searching_beyond_the_budget_and_unread_sources_are_capped(task_id: str) -> None:
    caps = {c.id for c in suite_reader.bundle_of(SUITE, task_id).load_rubric().rubric.caps}
    assert caps >= {"over-budget", "unread-source"}


@pytest.mark.parametrize("task_id", sorted(UNANSWERABLE))
def test_inventing_an_answer_is_capped_far_below_the_threshold(task_id: str) -> None:
    rubric = suite_reader.bundle_of(SUITE, task_id).load_rubric().rubric
    invented = next(cap for cap in rubric.caps if cap.id == "invented")
    assert isinstance(invented.when, PythonCheck)
    assert invented.max <= 0.3
    assert "unsettled" in rubric.pass_requires.checkpoints


@pytest.mark.parametrize("task_id", TASK_IDS)
def test_pages_that_the_rubric_wants_opened_exist(task_id: str) -> None:
    seeds = _seeds(task_id)
    for check in suite_reader.checks_of(suite_reader.bundle_of(SUITE, task_id)):
        pages = check.args.get("pages") if isinstance(check, PythonCheck) else None
        for page in pages if isinstance(pages, list) else []:
            site, _, name = str(page).partition(":")
            assert json.dumps(name.split("/")[-1]) in json.dumps(seeds[site])


def test_every_answer_has_the_same_form_so_that_it_gives_nothing_away() -> None:
    for task_id in TASK_IDS:
        task = read_yaml(Path(suite_reader.public(SUITE) / task_id / "task.yaml"))
        assert isinstance(task, dict)
        for word in ("results/answer.json", '"settled"', "null", '"sources"', '"note"'):
            assert word in str(task["instruction"]), (task_id, word)


@pytest.mark.docker
@pytest.mark.slow
@pytest.mark.parametrize("task_id", TASK_IDS)
def test_search_task_is_as_its_rubric_says(task_id: str) -> None:
    suite_reader.assert_as_declared(suite_reader.validated(SUITE, task_id))
