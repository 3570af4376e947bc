"""Imported tasks: what is kept as written, what is missing, and which rubric holds."""

import json
import os
from collections import Counter
from pathlib import Path

import pytest
from suite_makers import RUBRIC, Checkout

from uniclaw.assets import Assets
from uniclaw.errors import UserError
from uniclaw.suites import load_suite
from uniclaw.suites.bundle import Suite, TaskBundle
from uniclaw.suites.report import report

COMPLETE = {
    "101": "02 05 06 07 11 12 13 14 24 25 26 27 31 32 37 38",
    "102": "13 16 17 19 21 22 35 36 37 38",
    "103": "23 24 26",
    "104": "06 30",
    "105": "38 39",
    "201": "06 12",
    "202": "13",
    "205": "38",
}


def one(checkout: Checkout, assets: Assets, **options: bool) -> TaskBundle:
    (bundle,) = load_suite(
        checkout.uri, assets=assets, snapshot=options.get("snapshot", False)
    ).tasks
    return bundle


def codes(bundle: TaskBundle, severity: str = "error") -> set[str]:
    return {f.code for f in bundle.findings if f.severity == severity}


def test_an_imported_task_keeps_its_budgets_and_gets_the_places_of_the_reference(
    checkout: Checkout, no_assets: Assets
) -> None:
    bundle = one(checkout, no_assets)
    task = bundle.task
    assert task.task_id == "task_101_99_sum"
    assert (task.capability, task.language, task.family) == ("skill_usage", "en", "01_99_sum")
    assert (task.budget.turn_s, task.budget.executor_s, task.budget.feedback_rounds) == (60, 90, 2)
    assert (task.user, task.environment, task.workspace) == ("root", "office", "/tmp_workspace")
    assert task.sources_dir == "/tmp_workspace/clawbench/sources"
    assert task.skills_dir == "/root/skills"
    assert task.artifact_roots == ("/tmp_workspace/results",)
    assert task.network == "none"
    assert task.sources == ("n.csv",)
    assert bundle.runnable
    loaded = bundle.load_rubric()
    assert loaded.source == "imported"
    assert loaded.rubric.threshold == 0.9
    assert loaded.rubric.references == ("references/eval_rule.md",)
    assert loaded.reference_root == checkout.injection
    assert "Weights sum to 1.00" in loaded.raw_texts[0]
    assert loaded.rubric.checkpoints[0].artifact == "report.md"


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"timeout_seconds": -1}, "timeout_seconds"),
        ({"timeout_seconds": "60"}, "timeout_seconds"),
        ({"success_threshold": 7.0}, "success_threshold"),
        ({"codex": {"max_user_followups": -3}}, "codex.max_user_followups"),
        ({"pre_exec_parallel_safe": "false"}, "pre_exec_parallel_safe"),
        ({"services": [{"name": "a", "start": "x", "oneshot": "false"}]}, "services[0].oneshot"),
        ({"services": [{"name": "../a", "start": "x"}]}, "services[0].name"),
        ({"references": ["../../secret"]}, "references[0]"),
        ({"sources": ["/etc/passwd"]}, "sources[0]"),
        ({"skills": ["../x"]}, "skills[0]"),
        ({"recording": "loud"}, "recording"),
        ({"task": " "}, "task"),
        ({"task": None}, "task"),
        ({"task_id": "../x"}, "task_id"),
        ({"task_id": "another"}, "task_id"),
        ({"category": "102_exploration"}, "category"),
        ({"privacy": ["KEY"]}, "privacy"),
    ],
)
def test_wrong_types_and_ranges_of_imported_tasks_are_refused(
    checkout: Checkout, no_assets: Assets, changes: dict[str, object], field: str
) -> None:
    checkout.task(**changes)
    with pytest.raises(UserError) as caught:
        one(checkout, no_assets)
    assert caught.value.field == field
    assert caught.value.file is not None


def test_unknown_keys_of_imported_tasks_are_reported(checkout: Checkout, no_assets: Assets) -> None:
    checkout.task(sucess_threshold=0.5, codex={"max_user_followups": 1, "colour": "red"})
    bundle = one(checkout, no_assets)
    unknown = [f.message for f in bundle.findings if f.code == "unknown-key"]
    assert [m.split(":")[0] for m in unknown] == ["sucess_threshold", "codex.colour"]
    assert bundle.load_rubric().rubric.threshold == 0.9


def test_every_missing_resource_is_named(checkout: Checkout, no_assets: Assets) -> None:
    checkout.task(
        sources=["n.csv", "gone.csv", "folder/"],
        references=["references/eval_rule.md", "references/blog/"],
        skills=["adder"],
        services=[{"name": "setup", "path": "setup", "start": "bash install.sh"}],
        pre_exec=["prepare.sh"],
    )
    bundle = one(checkout, no_assets)
    assert not bundle.runnable
    messages = " ".join(f.message for f in bundle.findings if f.severity == "error")
    for name in (
        *("sources/gone.csv", "sources/folder", "references/blog", "skills/adder"),
        *("services/setup", "prepare.sh"),
    ):
        assert name in messages
    assert codes(bundle) >= {
        *("missing-source", "missing-reference", "missing-skill", "missing-service", "pre-exec"),
    }
    reasons = report(bundle).reasons
    assert any(reason.startswith("missing-source: sources/gone.csv") for reason in reasons)


def test_directory_references_are_followed(checkout: Checkout, no_assets: Assets) -> None:
    checkout.task(sources=["packet/"], references=["references/eval_rule.md", "references/blog/"])
    checkout.put("sources/packet/deep/a.ics", "BEGIN")
    checkout.put("references/blog/img/x.svg", "<svg/>")
    checkout.put("references/extra.json", "{}")
    bundle = one(checkout, no_assets)
    assert bundle.runnable
    assert "packet/deep/a.ics" in bundle.task.sources
    assert bundle.load_rubric().rubric.references == (
        "references/eval_rule.md",
        "references/blog",
    )
    assert "undeclared-reference" in codes(bundle, "note")


def test_pointers_links_and_placeholders_are_reported(
    checkout: Checkout, no_assets: Assets
) -> None:
    checkout.task(
        skills=["adder"],
        services=[{"name": "s", "start": "bash install.sh", "oneshot": True}],
    )
    checkout.put("sources/n.csv", "version https://git-lfs.github.com/spec/v1\noid sha256:0\n")
    (checkout.injection / "references/hop").symlink_to("/etc/passwd")
    checkout.put("services/s/install.sh", "#!/bin/bash\n# nothing\nexit 0\n")
    checkout.put("skills/adder/SKILL.md", "Run `python scripts/add.py`.")
    bundle = one(checkout, no_assets)
    assert codes(bundle) == {"lfs-pointer", "link"}
    assert "missing-skill-file" in codes(bundle, "warning")
    assert "installer-placeholder" in codes(bundle, "note")
    assert bundle.task.services[0].oneshot is True
    assert bundle.services["s"].is_dir()


def test_needed_credentials_are_named_unless_provided(
    checkout: Checkout, no_assets: Assets
) -> None:
    checkout.put(".privacy", "# names\nAPI_TOKEN\n\nSNAPSHOT_MODE\n")
    checkout.put("sources/board_snapshot.json", "{}")
    live = one(checkout, no_assets)
    assert "needs-credentials" in codes(live)
    assert "board_snapshot.json" not in live.sources
    frozen = one(checkout, no_assets, snapshot=True)
    assert "needs-credentials" in codes(frozen, "note")
    assert "board_snapshot.json" in frozen.sources
    (given,) = load_suite(
        checkout.uri, assets=no_assets, credentials=frozenset({"API_TOKEN"})
    ).tasks
    assert "needs-credentials" not in codes(given)


def test_an_unparsed_rule_is_an_error_with_its_reason(
    checkout: Checkout, no_assets: Assets
) -> None:
    checkout.put("references/eval_rule.md", "## Checkpoint Rubric\n\n- 0.5 — a\n- 0.3 — b\n")
    bundle = one(checkout, no_assets)
    assert "unparsed-rubric" in codes(bundle)
    summed = report(bundle)
    assert (summed.runnable, summed.weights_sum, summed.checkpoints) == (False, 0.8, 2)
    with pytest.raises(UserError, match=r"sum to 0\.8"):
        bundle.load_rubric()


def test_a_missing_rule_is_an_error(checkout: Checkout, no_assets: Assets) -> None:
    (checkout.injection / "references/eval_rule.md").unlink()
    bundle = one(checkout, no_assets)
    assert "missing-rule" in codes(bundle)
    assert report(bundle).weights_sum is None


def test_an_overlay_replaces_the_imported_rule_whole(checkout: Checkout, tmp_path: Path) -> None:
    overlay = tmp_path / "assets/rubrics/uniclawbench/task_101_99_sum"
    overlay.mkdir(parents=True)
    (overlay / "solution").mkdir()
    (overlay / "rubric.yaml").write_text(json.dumps(RUBRIC), encoding="utf-8")
    checkout.put("references/eval_rule.md", "## Checkpoint Rubric\n\nno weights\n")
    bundle = one(checkout, Assets(roots=(tmp_path / "assets",)))
    assert bundle.runnable
    assert "unparsed-rubric" in codes(bundle, "note")
    loaded = bundle.load_rubric()
    assert loaded.source == "overlay"
    assert loaded.root == overlay
    assert loaded.reference_root == checkout.injection
    assert [c.id for c in loaded.rubric.checkpoints] == ["present", "total"]
    assert "no weights" in loaded.raw_texts[-1]
    assert bundle.solution == overlay / "solution"


def test_a_broken_overlay_is_an_error_of_its_task(checkout: Checkout, tmp_path: Path) -> None:
    overlay = tmp_path / "assets/rubrics/uniclawbench/task_101_99_sum"
    overlay.mkdir(parents=True)
    (overlay / "rubric.yaml").write_text("threshold: 2", encoding="utf-8")
    bundle = one(checkout, Assets(roots=(tmp_path / "assets",)))
    assert "bad-rubric" in codes(bundle)


def test_template_and_smoke_tests_are_no_tasks(checkout: Checkout, no_assets: Assets) -> None:
    extra = checkout.root / "tasks/000_template/task_000_example.yaml"
    extra.parent.mkdir()
    extra.write_text("[", encoding="utf-8")
    assert one(checkout, no_assets).task_id == "task_101_99_sum"


# --- the real checkout -------------------------------------------------------------------


@pytest.fixture(scope="module")
def everything(request: pytest.FixtureRequest) -> Suite:
    root = Path(os.environ["UNICLAW_REFERENCE_DATA"]) / "uniclawbench"
    return load_suite(f"uniclawbench:{root}", assets=Assets(roots=()))


@pytest.mark.reference
def test_all_400_tasks_load_or_say_what_is_missing(everything: Suite) -> None:
    assert len(everything.tasks) == 400
    assert {b.task_id[5:11] for b in everything.tasks if b.runnable} == {
        f"{category}_{n}" for category, numbers in COMPLETE.items() for n in numbers.split()
    }
    assert all(report(b).reasons for b in everything.tasks if not b.runnable)
    budgets = Counter((b.task.budget.turn_s, b.task.budget.executor_s) for b in everything.tasks)
    assert budgets == {(1200, 1800): 320, (1800, 2700): 80}
    assert {b.task.budget.feedback_rounds for b in everything.tasks} == {2}
    assert sum(b.task.snapshot_instruction is not None for b in everything.tasks) == 12
    assert Counter(b.task.language for b in everything.tasks) == {"en": 200, "zh": 200}
    assert set(Counter(b.task.capability for b in everything.tasks).values()) == {80}
    families = Counter(b.task.family for b in everything.tasks)
    assert set(families.values()) == {2}
    services = [s for b in everything.tasks for s in b.task.services]
    assert (len(services), sum(s.oneshot for s in services)) == (152, 138)
    found = Counter(f.code for b in everything.tasks for f in b.findings)
    assert found["unparsed-rubric"] == 10
    assert found["unknown-key"] == 0
    assert found["pre-exec"] == 16


@pytest.mark.reference
def test_the_sums_of_the_real_weights_are_reported_as_written(everything: Suite) -> None:
    sums = [report(b).weights_sum for b in everything.tasks]
    assert sum(s is not None and abs(s - 1) <= 0.01 for s in sums) == 390
    assert sums.count(None) == 10


@pytest.mark.reference
def test_output_names_that_the_instruction_does_not_hold_are_found(everything: Suite) -> None:
    found = {
        f.task_id[5:11]
        for b in everything.tasks
        for f in b.findings
        if f.code == "output-name-mismatch"
    }
    assert {"105_27", "105_32", "205_27", "205_32"} <= found
    assert len(found) <= 8
    paths = {
        f.task_id[5:11] for b in everything.tasks for f in b.findings if f.code == "prompt-path"
    }
    assert paths == {"102_12", "102_24", "202_12", "202_24"}


@pytest.mark.reference
def test_snapshot_mode_changes_the_instruction_alone(reference_data: Path) -> None:
    uri = f"uniclawbench:{reference_data / 'uniclawbench'}"
    (live,) = load_suite(uri, assets=Assets(roots=()), tasks=["task_101_16_*"]).tasks
    (frozen,) = load_suite(
        uri, assets=Assets(roots=()), tasks=["task_101_16_*"], snapshot=True
    ).tasks
    assert frozen.task.instruction == live.task.snapshot_instruction
    assert frozen.task.instruction != live.task.instruction
    assert frozen.task.budget == live.task.budget
