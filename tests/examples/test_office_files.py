"""The bundled suite as files: complete, small, parseable, twins in both languages."""

import csv
import json
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from uniclaw.assets import Assets, default_roots
from uniclaw.harnesses.solution import read_script
from uniclaw.hidden.rubric import Check
from uniclaw.models.script import load_script
from uniclaw.runner.shortcuts import read_mutants
from uniclaw.suites.bundle import Suite, TaskBundle
from uniclaw.suites.lints import parts_of
from uniclaw.suites.native import load_native
from uniclaw.yamlio import read_yaml

CHECKOUT = Path(__file__).resolve().parents[2]
PUBLIC = CHECKOUT / "examples" / "office"
HIDDEN = CHECKOUT / "rubrics" / "office"
CAPABILITIES = {"skill_usage", "exploration", "long_context", "multimodal", "cross_platform"}
CODE_KINDS = {
    "file",
    "json",
    "csv",
    "text",
    "image",
    "command",
    "python",
    "state",
    "trace",
}
MAX_FILE_BYTES = 200_000
MAX_SUITE_BYTES = 4_000_000
TASK_IDS = sorted(file.parent.name for file in PUBLIC.glob("*/task.yaml"))


@cache
def _suite() -> Suite:
    return load_native(PUBLIC, uri="examples/office", assets=Assets(default_roots(None)))


def _bundle(task_id: str) -> TaskBundle:
    return next(b for b in _suite().tasks if b.task_id == task_id)


def _checks(bundle: TaskBundle) -> list[Check]:
    rubric = bundle.load_rubric().rubric
    return [*(c.check for c in rubric.checkpoints), *(c.when for c in rubric.caps)]


def _files() -> list[Path]:
    return [f for root in (PUBLIC, HIDDEN) for f in root.rglob("*") if f.is_file()]


def test_forty_tasks_are_twins_over_five_capabilities() -> None:
    tasks = [b.task for b in _suite().tasks]
    assert len(tasks) == 40
    assert Counter((t.capability, t.language) for t in tasks) == {
        (c, language): 4 for c in CAPABILITIES for language in ("en", "zh")
    }
    for family in {t.family for t in tasks}:
        twins = [t for t in tasks if t.family == family]
        assert sorted(t.task_id for t in twins) == [f"{family}_en", f"{family}_zh"]
        assert len({(t.capability, t.environment) for t in twins}) == 1


@pytest.mark.parametrize("task_id", [t for t in TASK_IDS if t.endswith("_zh")])
def test_the_chinese_twin_has_chinese_text(task_id: str) -> None:
    bundle = _bundle(task_id)

    def chinese(text: str) -> bool:
        return sum("一" <= char <= "鿿" for char in text) > len(text) / 4

    assert chinese(bundle.task.instruction)
    assert all(chinese(fact.text) for fact in bundle.brief.facts)
    assert all(chinese(c.description) for c in bundle.load_rubric().rubric.checkpoints)


@pytest.mark.parametrize("task_id", TASK_IDS)
def test_task_is_runnable_and_has_persona_brief_and_budget(task_id: str) -> None:
    bundle = _bundle(task_id)
    assert bundle.runnable
    assert bundle.findings == ()
    assert len(bundle.brief.facts) >= 3
    assert all(fact.topics for fact in bundle.brief.facts)
    persona = f"{bundle.brief.persona}.{bundle.task.language}.md"
    assert (CHECKOUT / "roles" / "personas" / persona).is_file()
    assert bundle.task.budget.turn_s is not None
    assert bundle.task.modality
    assert bundle.task.domain


@pytest.mark.parametrize("task_id", TASK_IDS)
def test_rubric_is_hybrid_and_within_bounds(task_id: str) -> None:
    bundle = _bundle(task_id)
    rubric = bundle.load_rubric().rubric
    assert 4 <= len(rubric.checkpoints) <= 7
    assert 1 <= len(rubric.caps) <= 3
    assert rubric.weights_sum == pytest.approx(1.0)
    assert 0.8 <= rubric.threshold <= 0.9
    assert rubric.null_floor == 0
    assert rubric.pass_requires.checkpoints or rubric.pass_requires.no_cap
    kinds = {part.kind for check in _checks(bundle) for part in parts_of(check)}
    assert len(kinds & CODE_KINDS) >= 3
    assert "judge" not in kinds
    tags = read_yaml(CHECKOUT / "roles" / "tags.yaml")
    assert isinstance(tags, dict)
    assert {c.tag for c in rubric.checkpoints} <= tags.keys()


def test_every_code_check_kind_is_used() -> None:
    used = {p.kind for b in _suite().tasks for check in _checks(b) for p in parts_of(check)}
    assert used >= CODE_KINDS


@pytest.mark.parametrize("task_id", TASK_IDS)
def test_every_checkpoint_and_cap_has_a_mutant_and_no_mutant_is_astray(task_id: str) -> None:
    bundle = _bundle(task_id)
    rubric = bundle.load_rubric().rubric
    lines = {x.id for x in (*rubric.checkpoints, *rubric.caps)}
    assert {m.line for m in read_mutants(bundle.mutants)} == lines


@pytest.mark.parametrize("task_id", TASK_IDS)
def test_solution_rounds_are_contiguous_and_end_with_a_message(task_id: str) -> None:
    directory = _bundle(task_id).solution
    assert directory is not None
    rounds = sorted(directory.glob("round-*.sh"))
    assert [f.name for f in rounds] == [f"round-{n}.sh" for n in range(len(rounds))]
    assert all(read_script(file).message for file in directory.glob("*.sh"))


def test_one_episode_asks_and_one_has_a_solution_apart_from_its_stages() -> None:
    asked = [f for f in HIDDEN.glob("*/solution/round-0.sh") if read_script(f).message[-1] in "?？"]
    assert len(asked) == 1
    assert len(list(HIDDEN.glob("*/solution/full.sh"))) == 1


def test_files_are_small() -> None:
    sizes = {f: f.stat().st_size for f in _files()}
    assert {f for f, size in sizes.items() if size > MAX_FILE_BYTES} == set()
    assert sum(sizes.values()) < MAX_SUITE_BYTES


def test_json_and_csv_files_parse() -> None:
    for file in _files():
        if file.suffix == ".json":
            json.loads(file.read_text(encoding="utf-8"))
        elif file.suffix == ".csv":
            with file.open(encoding="utf-8-sig", newline="") as stream:
                rows = list(csv.reader(stream, strict=True))
            assert len(rows) > 1, file
            assert {len(row) for row in rows} == {len(rows[0])}, file


def test_nothing_of_the_hidden_side_lies_among_the_public_files() -> None:
    allowed = {"task.yaml", "brief.yaml", "sources", "skills", "services"}
    for task_id in TASK_IDS:
        assert {p.name for p in (PUBLIC / task_id).iterdir()} <= allowed


@pytest.mark.parametrize("name", ["model.yaml", "simulator.yaml"])
def test_scripted_models_load(name: str) -> None:
    assert load_script(PUBLIC / name).rules
