"""The families that the suite grew by: skill usage, exploration and one of long context."""

import csv
import hashlib
import json
from datetime import date
from pathlib import Path

import pytest

from uniclaw.assets import Assets, default_roots
from uniclaw.suites.lints import parts_of
from uniclaw.suites.native import load_native

CHECKOUT = Path(__file__).resolve().parents[2]
PUBLIC = CHECKOUT / "examples" / "office"
HIDDEN = CHECKOUT / "rubrics" / "office"
FAMILIES = {
    "accession_skill": ("skill_usage", "base"),
    "quote_skill": ("skill_usage", "office"),
    "calendar_desktop_skill": ("skill_usage", "desktop"),
    "pantry_explore": ("exploration", "base"),
    "fares_explore": ("exploration", "dev"),
    "catalogue_browser_explore": ("exploration", "browser"),
    "lockbook_long": ("long_context", "base"),
}
LANGUAGES = ("en", "zh")
TASK_IDS = [f"{family}_{language}" for family in FAMILIES for language in LANGUAGES]


def _table(task_id: str, name: str) -> list[dict[str, str]]:
    path = HIDDEN / task_id / "references" / name
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _reference(task_id: str, name: str) -> dict[str, object]:
    return json.loads((HIDDEN / task_id / "references" / name).read_text(encoding="utf-8"))


@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_has_two_runnable_twins_of_the_same_weights(family: str) -> None:
    tasks = [f"{family}_{language}" for language in LANGUAGES]
    bundles = load_native(
        PUBLIC, uri="examples/office", globs=tasks, assets=Assets(default_roots(None))
    ).tasks
    assert [b.task_id for b in bundles] == tasks
    assert all(b.runnable and b.findings == () for b in bundles)
    assert {(b.task.capability, b.task.environment) for b in bundles} == {FAMILIES[family]}
    rubrics = [b.load_rubric().rubric for b in bundles]
    lines = [
        [
            (c.id, c.weight, c.tag, c.artifact, *(p.kind for p in parts_of(c.check)))
            for c in r.checkpoints
        ]
        for r in rubrics
    ]
    assert lines[0] == lines[1]
    assert [(c.id, c.max) for c in rubrics[0].caps] == [(c.id, c.max) for c in rubrics[1].caps]


@pytest.mark.parametrize("family", FAMILIES)
def test_one_twin_at_least_falls_short_at_first(family: str) -> None:
    rounds = [len([*(HIDDEN / f"{family}_{x}" / "solution").glob("round-*.sh")]) for x in LANGUAGES]
    assert max(rounds) >= 2


@pytest.mark.parametrize("language", LANGUAGES)
def test_check_letters_and_seal_of_the_register(language: str) -> None:
    task_id = f"accession_skill_{language}"
    numbers = [row["number"] for row in _table(task_id, "register.csv")]
    letters = "ABCDEFGHJKLMNPRSTUVWXYZ"
    for number in numbers:
        if not number.startswith("L."):
            digits = number[:-2].replace(".", "")
            assert letters[sum(int(d) * w for w, d in enumerate(digits, 1)) % 23] == number[-1]
    seal = hashlib.sha256("\n".join(numbers).encode()).hexdigest()[:8]
    assert _reference(task_id, "summary.json")["seal"] == seal


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_stretches_of_the_lock_book_lie_apart_and_inside_the_year(language: str) -> None:
    rows = _table(f"lockbook_long_{language}", "corrections.csv")
    stretches = [(date.fromisoformat(r["from"]), date.fromisoformat(r["to"])) for r in rows]
    assert stretches == sorted(stretches)
    assert all(first <= last for first, last in stretches)
    assert date(2024, 9, 1) <= stretches[0][0] <= stretches[-1][1] <= date(2025, 8, 31)
    assert len(_table(f"lockbook_long_{language}", "monthly.csv")) == 12


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_bundle_that_grades_is_the_one_that_is_given(language: str) -> None:
    task_id = f"fares_explore_{language}"
    given = (PUBLIC / task_id / "sources" / "fares.bundle").read_bytes()
    assert given == (HIDDEN / task_id / "fixtures" / "fares.bundle").read_bytes()
    expected = _reference(task_id, "expected.json")["bundle_sha256"]
    assert hashlib.sha256(given).hexdigest() == expected
