"""Reads a bundled suite and states what holds for all of them."""

import csv
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from uniclaw.assets import Assets
from uniclaw.hidden.rubric import Check
from uniclaw.runner.shortcuts import read_mutants
from uniclaw.runner.validate import Plan, TaskReport, validate_suite
from uniclaw.suites.bundle import Suite, TaskBundle
from uniclaw.suites.lints import lint, parts_of
from uniclaw.suites.native import load_native
from uniclaw.yamlio import read_yaml

CHECKOUT = Path(__file__).resolve().parents[1]
MAX_FILE_BYTES = 50_000
MAX_SUITE_BYTES = 400_000
_PUBLIC_NAMES = {"task.yaml", "brief.yaml", "sources", "skills", "services"}


def public(suite: str) -> Path:
    """The side of a suite that agents see."""
    return CHECKOUT / "examples" / suite


def hidden(suite: str) -> Path:
    """The side of a suite that they do not see."""
    return CHECKOUT / "rubrics" / suite


def task_ids(suite: str) -> list[str]:
    """Ids of its tasks, from the directories."""
    return sorted(file.parent.name for file in public(suite).glob("*/task.yaml"))


@cache
def loaded(suite: str) -> Suite:
    """The suite as the command line loads it."""
    assets = Assets(roots=(CHECKOUT,))
    return load_native(public(suite), uri=f"examples/{suite}", assets=assets)


def bundle_of(suite: str, task_id: str) -> TaskBundle:
    """One of its tasks."""
    return next(b for b in loaded(suite).tasks if b.task_id == task_id)


def checks_of(bundle: TaskBundle) -> Iterator[Check]:
    """All checks of a task's rubric, with those inside others."""
    rubric = bundle.load_rubric().rubric
    for check in (*(c.check for c in rubric.checkpoints), *(c.when for c in rubric.caps)):
        yield from parts_of(check)


def files_of(suite: str) -> list[Path]:
    """Every file of both sides."""
    found = (f for root in (public(suite), hidden(suite)) for f in root.rglob("*"))
    return [f for f in found if f.is_file() and "__pycache__" not in f.parts]


def assert_ready(bundle: TaskBundle) -> None:
    """It runs as it is, and says what an author has to say of it."""
    assert bundle.runnable
    assert bundle.findings == ()
    assert lint(bundle) == ()
    assert len(bundle.brief.facts) >= 2
    assert all(fact.topics for fact in bundle.brief.facts)
    persona = f"{bundle.brief.persona}.{bundle.task.language}.md"
    assert (CHECKOUT / "roles" / "personas" / persona).is_file()
    task = bundle.task
    assert task.task_id == f"{task.family}_{task.language}"
    assert task.budget.turn_s is not None
    assert task.modality
    assert task.domain
    assert {path.name for path in bundle.root.iterdir()} <= _PUBLIC_NAMES
    head = (bundle.root / "task.yaml").read_text(encoding="utf-8").split("task_id:")[0]
    assert "# Difficulty:" in head or "# 难度：" in head or "# 难度（" in head
    assert "Expected failures:" in head or "# 常见失误：" in head


def assert_decided_by_code(bundle: TaskBundle) -> None:
    """Its rubric adds up, needs no judge, and each line has a mutant of its own."""
    rubric = bundle.load_rubric().rubric
    assert 4 <= len(rubric.checkpoints) <= 7
    assert 2 <= len(rubric.caps) <= 4
    assert abs(rubric.weights_sum - 1) < 1e-9
    assert rubric.null_floor == 0
    assert rubric.pass_requires.no_cap
    assert all(cap.max < rubric.threshold for cap in rubric.caps)
    assert "judge" not in {check.kind for check in checks_of(bundle)}
    tags = read_yaml(CHECKOUT / "roles" / "tags.yaml")
    assert isinstance(tags, dict)
    assert {c.tag for c in rubric.checkpoints} <= tags.keys()
    lines = {x.id for x in (*rubric.checkpoints, *rubric.caps)}
    assert {m.line for m in read_mutants(bundle.mutants)} == lines


def assert_small_and_parseable(suite: str) -> None:
    """Files of both sides are small; JSON and CSV among them parse."""
    sizes = {file: file.stat().st_size for file in files_of(suite)}
    assert {f for f, size in sizes.items() if size > MAX_FILE_BYTES} == set()
    assert sum(sizes.values()) < MAX_SUITE_BYTES
    for file in sizes:
        if file.suffix == ".json":
            json.loads(file.read_text(encoding="utf-8"))
        elif file.suffix == ".csv":
            with file.open(encoding="utf-8-sig", newline="") as stream:
                rows = list(csv.reader(stream, strict=True))
            assert len({len(row) for row in rows}) == 1, file


def validated(suite: str, task_id: str) -> TaskReport:
    """What `uniclaw validate` says of one task, in Docker."""
    plan = Plan(tasks=(task_id,), parallel=1)
    (report,) = validate_suite(str(public(suite)), plan, notify=lambda _: None).tasks
    return report


def assert_as_declared(report: TaskReport) -> None:
    """Null scores nothing, the solution everything, and mutants lose their line alone."""
    assert report.problems == ()
    assert report.null_score == 0
    assert report.solution_score == 1
    assert report.solution_passes
