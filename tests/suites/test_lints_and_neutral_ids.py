"""Lints at load, the suite address, and ids that carry no meaning."""

import re
from pathlib import Path

import pytest
from suite_makers import Checkout, NativeSuite

from uniclaw.assets import Assets
from uniclaw.errors import UserError
from uniclaw.suites import load_suite, neutral_id, neutral_task
from uniclaw.suites.bundle import Finding

NONE = Assets(roots=())


def findings(suite: NativeSuite | Checkout, code: str) -> list[Finding]:
    uri = suite.uri if isinstance(suite, Checkout) else str(suite.root)
    loaded = load_suite(uri, assets=NONE)
    return [f for bundle in loaded.tasks for f in bundle.findings if f.code == code]


def test_a_clean_suite_has_no_findings(suite: NativeSuite) -> None:
    assert all(not bundle.findings for bundle in load_suite(str(suite.root), assets=NONE).tasks)


def test_an_output_that_only_the_rubric_names_is_found(suite: NativeSuite) -> None:
    suite.task(instruction="Write results/summary.md.")
    (found,) = findings(suite, "output-name-mismatch")
    assert "report.md" in found.message
    assert found.severity == "warning"


def test_the_output_of_a_command_is_no_artifact(suite: NativeSuite) -> None:
    inner = {"kind": "text", "path": "stdout", "contains": ["42"]}
    check = {"kind": "command", "run": "cat report.md", "then": inner}
    line = {"id": "rerun", "weight": 1.0, "description": "It prints.", "check": check}
    suite.rubric(checkpoints=[line])
    assert not findings(suite, "output-name-mismatch")


def test_a_source_that_is_the_answer_is_found(suite: NativeSuite) -> None:
    answer = "the answer is forty-two\n"
    suite.text(suite.root / "sum_en/sources/notes.txt", answer)
    suite.text(suite.rubrics / "sum_en/references/expected.txt", answer)
    suite.rubric(references=["references/expected.txt"])
    (found,) = findings(suite, "answer-leak")
    assert "sources/notes.txt" in found.message


def test_undeclared_references_are_noted(suite: NativeSuite) -> None:
    suite.text(suite.rubrics / "sum_en/references/expected.txt", "42\n")
    (found,) = findings(suite, "undeclared-reference")
    assert found.severity == "note"


def test_a_rubric_that_needs_a_judge_says_how_many_lines(suite: NativeSuite) -> None:
    line = {"id": "style", "weight": 1.0, "description": "Reads well.", "check": {"kind": "judge"}}
    suite.rubric(checkpoints=[line])
    (found,) = findings(suite, "needs-judge")
    assert found.message.startswith("1 of 1 ")


def test_a_task_that_asks_for_the_network_cannot_run(suite: NativeSuite) -> None:
    suite.task(network="open")
    assert [f.severity for f in findings(suite, "needs-network")] == ["error"]
    suite.task(instruction="Read https://news.test/today and write results/report.md.")
    assert [f.severity for f in findings(suite, "needs-network")] == ["warning"]


def test_an_imported_task_with_a_public_address_needs_the_network(checkout: Checkout) -> None:
    text = "Read https://www.nps.gov and write /tmp_workspace/results/report.md"
    checkout.task(task=text)
    assert [f.severity for f in findings(checkout, "needs-network")] == ["error"]
    checkout.task(task="Do not search the internet. Write /tmp_workspace/results/report.md")
    assert not findings(checkout, "needs-network")
    checkout.put(
        "references/eval_rule.md",
        "## Checkpoint Rubric\n\n- 0.5 — a\n- 0.5 — b\n\n## Dynamic Content\n\nPages change.\n",
    )
    assert [f.severity for f in findings(checkout, "needs-network")] == ["warning"]


def test_a_secret_that_only_the_instruction_names_is_an_error(checkout: Checkout) -> None:
    checkout.task(task="Use $GITHUB_TOKEN. Write /tmp_workspace/results/report.md")
    assert [f.severity for f in findings(checkout, "needs-credentials")] == ["error"]


@pytest.mark.parametrize(
    ("uri", "words"),
    [
        ("harbor:x", "unknown format 'harbor'"),
        ("C:\\x", "unknown format 'C'"),
        ("nowhere", "no such directory"),
        ("native:", "expected a path"),
        ("native:a\0b", "expected a path"),
    ],
)
def test_a_bad_address_is_refused(uri: str, words: str) -> None:
    with pytest.raises(UserError, match=re.escape(words)):
        load_suite(uri, assets=NONE)


def test_a_file_is_no_suite(suite: NativeSuite) -> None:
    with pytest.raises(UserError, match="not a directory"):
        load_suite(str(suite.root / "suite.yaml"), assets=NONE)


def test_a_bundled_suite_is_found_among_the_assets(
    suite: NativeSuite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "examples").mkdir()
    suite.root.rename(tmp_path / "examples" / "small")
    suite.rubrics.rename(tmp_path / "examples" / "hidden")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    loaded = load_suite("examples/small", assets=Assets(roots=(tmp_path,)))
    assert loaded.root == tmp_path / "examples" / "small"


def test_globs_choose_tasks_and_each_must_match(suite: NativeSuite) -> None:
    suite.add("sum_zh")
    suite.add("other")
    loaded = load_suite(f"native:{suite.root}", assets=NONE, tasks=["sum_*", "*_zh"])
    assert [b.task_id for b in loaded.tasks] == ["sum_en", "sum_zh"]
    with pytest.raises(UserError, match=re.escape("'nope*'")):
        load_suite(str(suite.root), assets=NONE, tasks=["sum_*", "nope*"])


def test_the_snapshot_instruction_replaces_the_instruction(suite: NativeSuite) -> None:
    suite.task(snapshot_instruction="Use the frozen copy; write results/report.md.")
    (bundle,) = load_suite(str(suite.root), assets=NONE, snapshot=True).tasks
    assert bundle.task.instruction.startswith("Use the frozen copy")
    (live,) = load_suite(str(suite.root), assets=NONE).tasks
    assert live.task.instruction.startswith("Add the numbers")


def test_neutral_ids_hold_nothing_of_the_real_ones(suite: NativeSuite) -> None:
    task = load_suite(str(suite.root), assets=NONE).tasks[0].task
    neutral = neutral_task(task, "salt")
    assert re.fullmatch(r"task-[0-9a-f]{8}", neutral.task_id)
    for hidden in ("sum", "small"):
        assert hidden not in neutral.task_id + neutral.family + neutral.suite
    assert neutral.instruction == task.instruction
    assert neutral == neutral_task(task, "salt")
    assert neutral.task_id != neutral_task(task, "other salt").task_id
    assert neutral_id("seed", "episode").startswith("episode-")
