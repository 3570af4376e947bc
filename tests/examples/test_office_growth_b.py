"""Eight families of the office suite: twins of one shape, staged, with answers that hold."""

import json
import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from uniclaw.assets import Assets
from uniclaw.harnesses.solution import read_script
from uniclaw.hidden.rubric import Rubric
from uniclaw.suites.bundle import TaskBundle
from uniclaw.suites.native import load_native

CHECKOUT = Path(__file__).resolve().parents[2]
PUBLIC = CHECKOUT / "examples" / "office"
HIDDEN = CHECKOUT / "rubrics" / "office"
FAMILIES = {
    "shelter_long": "long_context",
    "kitchen_long": "long_context",
    "meters_scan": "multimodal",
    "hall_scan": "multimodal",
    "queue_scan": "multimodal",
    "stock_cross": "cross_platform",
    "shifts_cross": "cross_platform",
    "upgrade_cross": "cross_platform",
}
TASKS = [f"{family}_{language}" for family in FAMILIES for language in ("en", "zh")]


@cache
def _bundles() -> dict[str, TaskBundle]:
    globs = [f"{family}_*" for family in FAMILIES]
    assets = Assets(roots=(CHECKOUT,))
    suite = load_native(PUBLIC, uri="examples/office", globs=globs, assets=assets)
    return {b.task_id: b for b in suite.tasks}


def _rubric(task_id: str) -> Rubric:
    return _bundles()[task_id].load_rubric().rubric


@pytest.mark.parametrize("family", FAMILIES)
def test_twins_have_the_same_lines_weights_services_and_sources(family: str) -> None:
    shapes: list[object] = []
    for language in ("en", "zh"):
        bundle = _bundles()[f"{family}_{language}"]
        rubric = _rubric(bundle.task_id)
        lines = [(c.id, c.weight, c.check.kind) for c in rubric.checkpoints]
        caps = [(c.id, c.max) for c in rubric.caps]
        kinds = sorted(Path(name).suffix for name in bundle.sources)
        services = [s.name for s in bundle.task.services]
        facts = [f.id for f in bundle.brief.facts]
        shapes.append((bundle.task.capability, lines, caps, kinds, services, facts))
        assert bundle.task.capability == FAMILIES[family]
    assert shapes[0] == shapes[1]


@pytest.mark.parametrize("task_id", TASKS)
def test_the_comment_states_difficulty_and_expected_failures(task_id: str) -> None:
    text = (PUBLIC / task_id / "task.yaml").read_text(encoding="utf-8")
    comment = "".join(line for line in text.splitlines(keepends=True) if line.startswith("#"))
    words = ("难度", "常见失误") if task_id.endswith("_zh") else ("Difficulty", "Expected failures")
    assert all(word in comment for word in words)


@pytest.mark.parametrize("task_id", TASKS)
def test_solution_mends_in_later_rounds(task_id: str) -> None:
    rounds = sorted((HIDDEN / task_id / "solution").glob("round-*.sh"))
    assert len(rounds) >= 2
    assert len({read_script(file).message for file in rounds}) == len(rounds)


@pytest.mark.parametrize("task_id", TASKS)
def test_public_side_does_not_hold_the_expected_answers(task_id: str) -> None:
    bundle = _bundles()[task_id]
    hidden = (HIDDEN / task_id / "references" / "expected.json").read_text(encoding="utf-8")
    digest = str(json.loads(hidden).get("inputs_sha256", "no digest"))
    public = [f for f in bundle.root.rglob("*") if f.suffix in {".yaml", ".json", ".csv", ".txt"}]
    assert all(digest not in file.read_text(encoding="utf-8") for file in public)


@pytest.mark.parametrize("family", ["shelter_long", "kitchen_long"])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_long_sources_are_long_and_hold_what_must_not_be_passed_on(
    family: str, language: str
) -> None:
    task_id = f"{family}_{language}"
    (source,) = _bundles()[task_id].sources.values()
    text = re.sub(r"\s+", " ", source.read_text(encoding="utf-8"))
    assert len(text.encode()) > 25_000
    hidden = HIDDEN / task_id / "references" / "expected.json"
    expected = json.loads(hidden.read_text(encoding="utf-8"))
    secrets = expected.get("private") or [expected["code"]]
    assert all(secret in text for secret in secrets)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_numbered_chat_only_refers_to_earlier_messages(language: str) -> None:
    (source,) = _bundles()[f"kitchen_long_{language}"].sources.values()
    for line in source.read_text(encoding="utf-8").splitlines():
        number, *meant = [int(n) for n in re.findall(r"#(\d+)", line)]
        assert all(other < number for other in meant), line


@pytest.mark.parametrize("language", ["en", "zh"])
def test_nobody_is_on_two_shifts_of_a_day_in_the_expected_rota(language: str) -> None:
    references = HIDDEN / f"shifts_cross_{language}" / "references"
    (rota,) = references.glob("*.csv")
    rows = [line.split(",") for line in rota.read_text(encoding="utf-8").splitlines()[1:]]
    assert max(Counter((row[0], row[5]) for row in rows).values()) == 1
    hours = json.loads((references / "expected.json").read_text(encoding="utf-8"))["hours"]
    assert {name: 4 * count for name, count in Counter(r[5] for r in rows).items()} == hours


@pytest.mark.parametrize("language", ["en", "zh"])
def test_what_is_bought_follows_from_packs(language: str) -> None:
    expected = HIDDEN / f"stock_cross_{language}" / "references" / "purchase.csv"
    packs = {"A01": 12, "A02": 10, "B01": 6, "B07": 4, "D01": 8}
    for line in expected.read_text(encoding="utf-8").splitlines()[1:]:
        sku, count, units = line.split(",")
        assert int(units) == int(count) * packs[sku]
