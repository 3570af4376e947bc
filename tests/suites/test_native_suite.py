"""Native suites: what an author may write, and what is refused with its place."""

import os
import re
from pathlib import Path

import pytest
from suite_makers import NativeSuite

from uniclaw.assets import Assets
from uniclaw.errors import UserError
from uniclaw.suites import load_suite
from uniclaw.suites.bundle import Suite


def load(suite: NativeSuite, *tasks: str) -> Suite:
    return load_suite(str(suite.root), assets=Assets(roots=()), tasks=tasks)


def refused(suite: NativeSuite, *words: str) -> UserError:
    with pytest.raises(UserError) as caught:
        load(suite)
    for word in words:
        assert word in str(caught.value)
    return caught.value


def test_a_task_gets_defaults_and_its_files_from_the_directories(suite: NativeSuite) -> None:
    suite.text(suite.root / "sum_en/skills/adder/SKILL.md", "# Adder")
    suite.text(suite.root / "sum_en/brief.yaml", "facts:\n- {id: f1, text: It is for Monday.}\n")
    suite.text(suite.rubrics / "sum_en/solution/round-0.sh", "true\n")
    loaded = load(suite)
    assert (loaded.name, loaded.format) == ("small", "native")
    (bundle,) = loaded.tasks
    task = bundle.task
    assert task.family == "sum"
    assert task.sources == ("numbers.csv",)
    assert task.skills == ("adder",)
    assert task.workspace == "/workspace"
    assert task.artifact_roots == ("/workspace/results",)
    assert task.budget.feedback_rounds == 3
    assert bundle.sources["numbers.csv"].read_text(encoding="utf-8").startswith("n\n")
    assert bundle.skills["adder"].is_dir()
    assert bundle.brief.facts[0].id == "f1"
    assert bundle.solution == suite.rubrics / "sum_en/solution"
    assert bundle.mutants is None
    assert bundle.runnable
    assert bundle.load_rubric().rubric.weights_sum == 1.0
    assert bundle.load_rubric() is bundle.load_rubric()


def test_paths_follow_the_workspace(suite: NativeSuite) -> None:
    suite.task(workspace="/home/agent/work")
    task = load(suite).tasks[0].task
    assert task.sources_dir == "/home/agent/work/sources"
    assert task.skills_dir == "/home/agent/work/skills"
    assert task.artifact_roots == ("/home/agent/work/results",)


def test_twins_share_a_family_and_an_author_may_name_it(suite: NativeSuite) -> None:
    for name in ("sum_zh", "other-en"):
        suite.add(name)
    suite.task("other-en", task_id="other-en", family="sum")
    assert {b.task.family for b in load(suite).tasks} == {"sum"}


def test_services_are_declared_and_found(suite: NativeSuite) -> None:
    suite.text(suite.root / "sum_en/services/api/run.sh", "true\n")
    suite.text(suite.root / "sum_en/services/extra/run.sh", "true\n")
    suite.task(services=[{"name": "api", "path": "api", "start": "sh run.sh", "oneshot": True}])
    (bundle,) = load(suite).tasks
    assert bundle.task.services[0].oneshot is True
    assert bundle.services["api"].name == "api"
    assert ("warning", "undeclared-service") in {(f.severity, f.code) for f in bundle.findings}


def test_listed_sources_are_checked_and_the_rest_is_reported(suite: NativeSuite) -> None:
    suite.text(suite.root / "sum_en/sources/more/extra.csv", "x\n")
    suite.task(sources=["numbers.csv"])
    (bundle,) = load(suite).tasks
    assert "more/extra.csv" in bundle.sources
    assert [f.code for f in bundle.findings if f.severity == "warning"] == ["unlisted-source"]
    suite.task(sources=["numbers.csv", "more/"])
    assert not load(suite).tasks[0].findings


def test_the_order_of_suite_yaml_is_kept(suite: NativeSuite) -> None:
    suite.add("b_task")
    suite.add("a_task")
    suite.suite(tasks=["sum_en", "b_task", "a_task"])
    assert [b.task_id for b in load(suite).tasks] == ["sum_en", "b_task", "a_task"]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"instrucktion": "x"}, ["task.yaml", "instrucktion", "unknown key"]),
        ({"instruction": ""}, ["instruction"]),
        ({"instruction": "  \n"}, ["instruction"]),
        ({"instruction": None}, ["instruction"]),
        ({"budget": {"turn_s": -1}}, ["budget.turn_s", "greater than or equal to 0", "-1"]),
        ({"budget": {"feedback_rounds": -3}}, ["budget.feedback_rounds", "-3"]),
        ({"budget": {"tokens": "many"}}, ["budget.tokens", "many"]),
        ({"budget": {"token": 5}}, ["budget.token", "unknown key"]),
        ({"language": "de"}, ["language", "de"]),
        ({"user": "admin"}, ["user", "admin"]),
        ({"task_id": "other"}, ["task_id", "sum_en", "other"]),
        ({"workspace": "work"}, ["workspace", "absolute"]),
        ({"artifact_roots": ["/workspace/../etc"]}, ["artifact_roots"]),
        ({"artifact_roots": []}, ["artifact_roots", "at least one"]),
        ({"sources": ["../../etc/passwd"]}, ["sources[0]", "stays inside"]),
        ({"sources": ["/etc/passwd"]}, ["sources[0]"]),
        ({"sources": ["missing.csv"]}, ["sources[0]", "no such file", "missing.csv"]),
        ({"skills": ["nope"]}, ["skills[0]", "no such directory"]),
        ({"skills": ["../x"]}, ["skills[0]"]),
        (
            {"services": [{"name": "a", "path": "../a", "start": "x"}]},
            ["services[0].path", "stays inside"],
        ),
        ({"services": [{"name": "a", "path": "a", "start": "x"}]}, ["services[0].path"]),
        (
            {"services": [{"name": "a", "path": "a", "start": "x", "oneshot": "false"}]},
            ["services[0].oneshot"],
        ),
        ({"environment": "../x"}, ["environment"]),
        ({"probes": [{"id": "p", "run": "x"}, {"id": "p", "run": "y"}]}, ["probes", "twice"]),
        ({"network": "everything"}, ["network"]),
    ],
)
def test_a_bad_task_is_refused_with_its_place(
    suite: NativeSuite, changes: dict[str, object], words: list[str]
) -> None:
    suite.task(**changes)
    error = refused(suite, *words)
    assert error.file is not None
    assert error.file.endswith("task.yaml")
    assert error.field is not None


@pytest.mark.parametrize("name", ["../x", "C:\\x", "a\0b", "x" * 300, "", "..", "a/b", "-x"])
def test_fault_19_task_id_that_is_no_name_is_refused(suite: NativeSuite, name: str) -> None:
    suite.task(task_id=name)
    assert refused(suite).field == "task_id"
    suite.task()
    suite.suite(tasks=["sum_en", name])
    assert refused(suite).field == "tasks[1]"


@pytest.mark.parametrize(
    ("file", "text", "words"),
    [
        ("suite.yaml", "name: [", ["broken YAML"]),
        ("suite.yaml", "rubrics: ../hidden", ["name", "missing"]),
        ("suite.yaml", "name: a\nrubrics: ../nowhere", ["rubrics", "nowhere"]),
        ("suite.yaml", "name: a\nrubrics: ../hidden\nx: 1", ["x", "unknown key"]),
        ("suite.yaml", "name: a\nrubrics: ../hidden\ntasks: [sum_en, sum_en]", ["twice", "sum_en"]),
        ("suite.yaml", "name: a\nrubrics: ../hidden\ntasks: [gone]", ["tasks[0]", "gone"]),
        ("suite.yaml", "name: a\nname: b\nrubrics: ../hidden", ["name", "twice"]),
        ("sum_en/task.yaml", "task_id: sum_en\n\tx: 1", ["broken YAML"]),
        ("sum_en/task.yaml", "- a\n", ["task.yaml"]),
        ("sum_en/brief.yaml", "facts: 3", ["facts"]),
        ("sum_en/brief.yaml", "facts: [{id: a, text: x}, {id: a, text: y}]", ["facts", "twice"]),
    ],
)
def test_a_bad_file_is_refused(suite: NativeSuite, file: str, text: str, words: list[str]) -> None:
    suite.text(suite.root / file, text)
    refused(suite, *words)


def test_bad_rubrics_are_refused_at_load(suite: NativeSuite) -> None:
    suite.rubric(threshold=1.2)
    refused(suite, "rubric.yaml", "threshold", "1.2")
    suite.rubric()
    (suite.rubrics / "sum_en/rubric.yaml").unlink()
    refused(suite, "rubric.yaml")


def test_fault_18_links_in_inputs_are_refused(suite: NativeSuite) -> None:
    for place in ("sources/hop", "skills/s/hop", "services/v/hop"):
        link = suite.root / "sum_en" / place
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to("/etc")
        refused(suite, "links are not allowed", str(link))
        link.unlink()
    directory = suite.root / "sum_en/sources"
    directory.rename(suite.root / "elsewhere")
    directory.symlink_to(suite.root / "elsewhere")
    refused(suite, "a link", str(directory))


def test_a_special_file_is_refused(suite: NativeSuite) -> None:
    os.mkfifo(suite.root / "sum_en/sources/pipe")
    refused(suite, "regular files", "pipe")


def test_an_lfs_pointer_is_refused(suite: NativeSuite) -> None:
    suite.text(
        suite.root / "sum_en/sources/big.bin",
        "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n",
    )
    refused(suite, "big.bin", "Git LFS pointer")


def test_a_suite_without_tasks_or_without_its_file_is_refused(
    suite: NativeSuite, tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError, match=re.escape("suite.yaml")):
        load_suite(str(tmp_path / "empty"), assets=Assets(roots=()))
    (suite.root / "sum_en/task.yaml").unlink()
    refused(suite, "no task found")


def test_only_chosen_tasks_are_read(suite: NativeSuite) -> None:
    suite.add("broken")
    suite.text(suite.root / "broken/task.yaml", "[")
    assert [b.task_id for b in load(suite, "sum*").tasks] == ["sum_en"]
