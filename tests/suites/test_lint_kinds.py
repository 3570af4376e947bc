"""Lints at load: readable answers, unreachable lines, sums, ground truth; and their report."""

import json
import subprocess
from pathlib import Path

import pytest
from suite_makers import Checkout, NativeSuite

from uniclaw.assets import Assets
from uniclaw.runner.validate import Plan, validate_suite
from uniclaw.suites import load_suite
from uniclaw.suites.bundle import Finding
from uniclaw.suites.report import lints, told

QUOTE = "The harbour office counted forty-two boats in the inner basin. " * 5


def findings(suite: NativeSuite | Checkout, code: str) -> list[Finding]:
    uri = suite.uri if isinstance(suite, Checkout) else str(suite.root)
    loaded = load_suite(uri, assets=Assets(roots=()))
    return [f for bundle in loaded.tasks for f in bundle.findings if f.code == code]


def check(**keys: object) -> list[dict[str, object]]:
    return [{"id": "line", "weight": 1.0, "description": "It holds.", "check": keys}]


# --- what the agent can read -------------------------------------------------------------


def test_a_source_that_says_or_quotes_a_reference_is_found(suite: NativeSuite) -> None:
    references = suite.rubrics / "sum_en/references"
    sources = suite.root / "sum_en/sources"
    suite.text(references / "truth.json", '{"total": 42, "boats": ["ada", "bo"]}')
    suite.text(references / "essay.txt", QUOTE)
    suite.text(sources / "copy.json", '{\n "boats": ["ada", "bo"],\n "total": 42\n}\n')
    suite.text(sources / "page.html", f"<p>{QUOTE}</p>")
    suite.rubric(references=["references/truth.json", "references/essay.txt"])
    said = [f.message for f in findings(suite, "answer-leak")]
    assert said == [
        "sources/copy.json says the same as references/truth.json",
        "sources/page.html quotes all of references/essay.txt",
    ]


def test_skills_and_installers_are_looked_at_too(suite: NativeSuite) -> None:
    task = suite.root / "sum_en"
    suite.text(suite.rubrics / "sum_en/references/truth.txt", QUOTE)
    suite.text(task / "skills/adder/hint.txt", QUOTE)
    suite.text(task / "services/tools/install.sh", "true\n")
    suite.text(task / "services/tools/note.txt", QUOTE)
    suite.task(services=[{"name": "tools", "start": "sh install.sh", "oneshot": True}])
    suite.rubric(references=["references/truth.txt"])
    assert {f.message.split(" ")[0] for f in findings(suite, "answer-leak")} == {
        "skills/adder/hint.txt",
        "services/tools/note.txt",
    }


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("answers.json", True),
        ("ground_truth.csv", True),
        ("q1-solution.txt", True),
        ("expected_totals.csv", True),
        ("eval_rule.md", True),
        ("resolution.txt", False),
        ("golden_gate.jpg", False),
        ("numbers.csv", False),
    ],
)
def test_a_file_that_is_named_like_an_answer_is_found(
    suite: NativeSuite, name: str, found: bool
) -> None:
    suite.text(suite.root / "sum_en/sources" / name, "x\n")
    assert bool(findings(suite, "answer-name")) is found


def git(repository: Path, *words: str) -> str:
    identity = ["-c", "user.name=a", "-c", "user.email=a@b.test", "-c", "gc.auto=0"]
    command = ["git", "-C", str(repository), *identity, *words]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def commit(repository: Path, text: str) -> str:
    (repository / "f.txt").write_text(text, encoding="utf-8")
    git(repository, "add", "f.txt")
    git(repository, "commit", "-q", "-m", text)
    return git(repository, "rev-parse", "HEAD")


@pytest.mark.parametrize("place", ["tag", "branch", "reflog", "stash", "dangling", "none"])
def test_fault_1_a_repository_that_holds_the_fix_beside_its_head_is_found(
    suite: NativeSuite, place: str
) -> None:
    repository = suite.root / "sum_en/sources/repo"
    repository.mkdir()
    git(repository, "init", "-q", "-b", "main")
    base = commit(repository, "base")
    if place != "none":
        commit(repository, "the fix")
    if place == "stash":
        (repository / "f.txt").write_text("the fix again", encoding="utf-8")
        git(repository, "stash", "-q")
    if place in {"tag", "branch"}:
        git(repository, place, "later")
    git(repository, "reset", "-q", "--hard", base)
    if place not in {"reflog", "stash", "none"}:
        git(repository, "reflog", "expire", "--expire=now", "--all")
    for left in ("ORIG_HEAD",):
        (repository / ".git" / left).unlink(missing_ok=True)
    if place == "none":
        git(repository, "reflog", "expire", "--expire=now", "--all")
    said = [f.message for f in findings(suite, "history-leak")]
    if place == "none":
        assert said == []
        return
    assert len(said) == 1
    wanted = {
        "tag": "refs/tags/later",
        "branch": "refs/heads/later",
        "reflog": "logs",
        "stash": "refs/stash",
        "dangling": "objects that HEAD does not reach",
    }
    assert said[0].startswith("sources/repo/.git holds more than its HEAD")
    assert wanted[place] in said[0]


# --- lines that nothing can meet ---------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ({"kind": "file", "path": "/workspace/sources/x"}, "outside what is frozen"),
        ({"kind": "json", "path": "/etc/x", "asserts": [{"pointer": "/a"}]}, "outside"),
        ({"kind": "text", "path": "report.md", "min_words": 9, "max_words": 3}, "at least 9"),
        ({"kind": "trace", "tool": "x", "rounds": [7]}, "the last is 3"),
        ({"kind": "state", "probe": "gone", "contains": ["x"]}, "no probe 'gone'"),
        ({"kind": "state", "service": "mail", "contains": ["x"]}, "no background service 'mail'"),
        (
            {
                "kind": "all",
                "of": [
                    {"kind": "file", "path": "report.md"},
                    {"kind": "file", "path": "/workspace/x"},
                ],
            },
            "outside",
        ),
    ],
)
def test_a_line_that_nothing_can_meet_is_found(
    suite: NativeSuite, line: dict[str, object], words: str
) -> None:
    suite.rubric(checkpoints=check(**line))
    (found,) = findings(suite, "unreachable")
    assert found.message.startswith("checkpoint line: ")
    assert words in found.message
    assert found.severity == ("error" if line["kind"] == "state" else "warning")


@pytest.mark.parametrize(
    "line",
    [
        {"kind": "file", "path": "/workspace/results/x"},
        {"kind": "file", "path": "/workspace/*/x"},
        {"kind": "file", "path": "/workspace/sources/x", "exists": False},
        {"kind": "not", "check": {"kind": "file", "path": "/workspace/x"}},
        {
            "kind": "any",
            "of": [
                {"kind": "file", "path": "report.md"},
                {"kind": "file", "path": "/workspace/x"},
            ],
        },
    ],
)
def test_a_line_that_something_can_meet_is_not(suite: NativeSuite, line: dict[str, object]) -> None:
    suite.rubric(checkpoints=check(**line))
    assert not findings(suite, "unreachable")


# --- sums and ground truth ---------------------------------------------------------------


def test_weights_that_do_not_sum_are_found(suite: NativeSuite, checkout: Checkout) -> None:
    rule = "## Checkpoint Rubric\n\n- 0.5 — a\n- 0.3 — b\n"
    checkout.put("references/eval_rule.md", rule)
    (found,) = findings(checkout, "weights-sum")
    assert (found.severity, found.message) == (
        "warning",
        "weights as written sum to 0.8; expected 1 (± 0.01)",
    )
    line = {"id": "x", "weight": 0.995, "description": "d", "check": {"kind": "judge"}}
    suite.rubric(checkpoints=[line])
    (found,) = findings(suite, "weights-sum")
    assert (found.severity, "0.995" in found.message) == ("note", True)


def test_ground_truth_that_is_not_there_is_found(suite: NativeSuite, checkout: Checkout) -> None:
    rule = (checkout.injection / "references/eval_rule.md").read_text(encoding="utf-8")
    checkout.put("references/eval_rule.md", f"{rule}\nCompare with `references/truth.json`.\n")
    (found,) = findings(checkout, "missing-ground-truth")
    assert "references/truth.json" in found.message
    checkout.put("references/truth.json", "{}")
    assert not findings(checkout, "missing-ground-truth")
    suite.rubric(checkpoints=check(kind="judge"))
    (found,) = findings(suite, "missing-ground-truth")
    assert "no reference to judge by" in found.message


# --- the report --------------------------------------------------------------------------


def test_the_report_groups_by_kind_and_puts_what_is_grave_first() -> None:
    found = lints(
        (
            Finding("a", "note", "needs-judge", "1 of 2"),
            Finding("b", "note", "needs-judge", "2 of 2"),
            Finding("a", "error", "missing-source", "sources/x: gone"),
            Finding("b", "error", "missing-skill", "skills/y: gone"),
            Finding("a", "warning", "some-other-code", "odd"),
        )
    )
    assert [(x.severity, x.title, x.tasks) for x in found] == [
        ("error", "A declared file is missing", 2),
        ("warning", "Some other code", 1),
        ("note", "A judge model is needed", 2),
    ]
    assert list(told(found, shown=1)) == [
        "error: A declared file is missing (2 tasks)",
        "    a: sources/x: gone",
        "    and 1 more",
        "warning: Some other code (1 task)",
        "    a: odd",
        "note: A judge model is needed (2 tasks)",
        "    a: 1 of 2",
        "    and 1 more",
    ]


def test_fault_8_validate_says_what_the_null_agent_scores_without_a_solution(
    suite: NativeSuite,
) -> None:
    absent = {"kind": "file", "path": "bad.txt", "exists": False}
    suite.rubric(checkpoints=check(**absent))
    report = validate_suite(str(suite.root), Plan(environment="process"), notify=lambda _: None)
    (task,) = report.tasks
    assert task.null_score == 1.0
    assert task.problems[0] == "the null agent scores 1.0"
    assert report.lints[0].title == "An agent that does nothing gets points"
    document = json.loads(json.dumps(report.document()))
    assert document["lints"][0]["remarks"] == [["sum_en", "the null agent scores 1"]]


def test_validate_names_what_keeps_a_task_from_running(checkout: Checkout) -> None:
    checkout.task(sources=["gone.csv"])
    report = validate_suite(checkout.uri, Plan(play=False), notify=lambda _: None)
    (task,) = report.tasks
    assert task.why_not == ("missing-source: sources/gone.csv: declared, not there",)
