"""Imported rules become checkpoints, caps and pass requirements, or are reported."""

import statistics
from collections.abc import Callable
from pathlib import Path

import pytest

from uniclaw.errors import UserError
from uniclaw.hidden.rubric import JudgeCheck
from uniclaw.suites.eval_rule import RuleReport, parse_rule

BULLETS = """# Rule

## 5. Checkpoint Rubric

- **0.25 — Files (strict).** `a.csv` and `b.md` exist:
    - 2/2 → 0.25
    - less → 0
- 0.35 — The sum in `a.csv` is right.
- **0.4** — the notes cite it.

Sum: 0.25 + 0.35 + 0.4 = 1.00.

## 6. Score Caps

- **Cap 0.30 — Nothing.** Neither file exists.
- **Wrong sum** — off by half: cap total at
  **0.50**.
- cap at `0.60` if one is empty. If both are empty, cap at 0.45.
- **0.20 — Leak.** A key is shown.
- Only notes -> 0.40.
- Empty notes -> cap the notes checkpoint at 0.
- Do not apply the `0.60` cap merely because a row is blank, cap at 0.10 or not.

Surface answers should not exceed 0.55. If a row is invented, cap at 0.65.

Do **not** cap because:

- the order differs, cap at 0.11.

Pass requires score >= 0.90, no cap fired, and the sum cited in words.
"""


def caps_of(report: RuleReport) -> list[float]:
    return [cap.max for cap in report.caps]


def weights_of(report: RuleReport) -> list[float]:
    return [line.weight for line in report.checkpoints]


def test_bullets_give_weights_as_written_and_nested_grades_stay_prose() -> None:
    report = parse_rule(BULLETS, outputs=("a.csv", "b.md"))
    assert report.reason is None
    assert report.form == "bullets"
    assert weights_of(report) == [0.25, 0.35, 0.4]
    assert report.weights_sum == 1.0
    assert [c.id for c in report.checkpoints] == ["c01", "c02", "c03"]
    first = report.checkpoints[0]
    assert first.description == "Files (strict)."
    assert isinstance(first.check, JudgeCheck)
    assert first.check.criterion is not None
    assert "2/2 → 0.25" in first.check.criterion
    assert first.check.files == ("a.csv", "b.md")
    assert first.artifact is None
    assert report.checkpoints[1].artifact == "a.csv"


def test_caps_are_found_in_every_form_and_guards_are_not_caps() -> None:
    report = parse_rule(BULLETS)
    assert caps_of(report) == [0.3, 0.5, 0.6, 0.45, 0.2, 0.4, 0.55, 0.65]
    assert [cap.id for cap in report.caps][:2] == ["cap01", "cap02"]
    third = report.caps[2].when
    assert isinstance(third, JudgeCheck)
    assert third.criterion is not None
    assert third.criterion.startswith("Only what leads to the bound 0.6 in this:")


def test_bounds_of_single_lines_go_to_the_lines() -> None:
    for line in parse_rule(BULLETS).checkpoints:
        assert isinstance(line.check, JudgeCheck)
        assert line.check.criterion is not None
        assert "cap the notes checkpoint at 0" in line.check.criterion


def test_prose_requirements_stay_prose_and_no_cap_is_code() -> None:
    requires = parse_rule(BULLETS).pass_requires
    assert requires.no_cap
    assert requires.checkpoints == ()
    assert len(requires.judge) == 1
    assert "the sum cited in words" in requires.judge[0]


def test_a_table_keeps_explicit_ids_and_named_requirements_become_code() -> None:
    report = parse_rule(
        "## Checkpoint Rubric\n\n"
        "| ID | What matters | Weight |\n| --- | :-- | ---: |\n"
        "| CP1 | Exact set, `a|b` | 0.60 |\n| CP2 | Evidence | 0.40 |\n| | Total | 1.00 |\n\n"
        "## Score Caps\n\n| Condition | Cap |\n| -- | -- |\n| Nothing saved | 0.30 |\n\n"
        "Pass requirements (`score >= 0.90`):\n\n"
        "- CP1 satisfied (all of it),\n- CP2 satisfied,\n- no cap fired.\n"
    )
    assert [(c.id, c.weight) for c in report.checkpoints] == [("CP1", 0.6), ("CP2", 0.4)]
    assert report.checkpoints[0].description == "Exact set, a|b"
    assert caps_of(report) == [0.3]
    assert report.pass_requires.checkpoints == ("CP1", "CP2")
    assert report.pass_requires.no_cap
    assert report.pass_requires.judge == ()
    assert report.stated_threshold == 0.9


def test_subheadings_with_percentages_are_lines_and_their_bullets_are_grades() -> None:
    report = parse_rule(
        "## 5. Checkpoint Rubric\n\n### 5.1 (40%) Shape\n\n- 40% if all\n- 20% if half\n\n"
        "### 5.2 (60%) Values\n\n| d | weight portion |\n| - | - |\n| 0 | 60% |\n"
    )
    assert report.form == "sub-headings"
    assert weights_of(report) == [0.4, 0.6]
    assert report.checkpoints[0].description == "Shape"


def test_a_cited_checkpoint_range_and_ordinals_are_named_checkpoints() -> None:
    rule = (
        "## Checkpoint Rubric\n\n- 0.5 — One.\n- 0.25 — Two.\n- 0.25 — Three.\n\n"
        "## Score Caps\n\nPass requires checkpoints 1, 3 (one + three) all satisfied.\n"
    )
    assert parse_rule(rule).pass_requires.checkpoints == ("c01", "c03")
    ranged = "## Checkpoint Rubric\n\n" + "".join(
        f"- **CP{n} — Line (0.25).** Text.\n" for n in range(1, 5)
    )
    ranged += "\n## Caps\n\nPass requires CP2–CP4 satisfied and no cap triggered.\n"
    report = parse_rule(ranged)
    assert report.pass_requires.checkpoints == ("CP2", "CP3", "CP4")
    assert report.pass_requires.judge == ()


def test_an_unknown_checkpoint_in_a_requirement_keeps_it_as_prose() -> None:
    rule = (
        "## Checkpoint Rubric\n\n- **CP1 — A (0.5).** x\n- **CP2 — B (0.5).** y\n\n"
        "## Caps\n\nPass requires CP1 and CP7 satisfied.\n"
    )
    requires = parse_rule(rule).pass_requires
    assert requires.checkpoints == ()
    assert len(requires.judge) == 1


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("- 0.5 — One.\n- 0.4 — Two.\n", "sum to 0.9"),
        ("- 0.5 — One.\n- 0.58 — Two.\n", "sum to 1.08"),
        ("The score is cells / 81.\n", "no weighted checkpoints"),
        ("- 1.00 — One.\n", "only one"),
        ("- 0.00 — Zero.\n- 0.5 — One.\n- 0.5 — Two.\n", "not positive"),
        ("| Weight | Line |\n| - | - |\n| some | a |\n| 0.5 | b |\n", "no weighted"),
    ],
)
def test_what_is_no_rubric_is_reported_and_never_guessed(body: str, words: str) -> None:
    report = parse_rule(f"## Checkpoint Rubric\n\n{body}")
    assert report.reason is not None
    assert words in report.reason
    with pytest.raises(UserError, match="Checkpoint Rubric"):
        report.rubric(0.9, file="eval_rule.md")


def test_headings_inside_code_fences_are_text() -> None:
    report = parse_rule(
        "## Checkpoint Rubric\n\n```\n## x\n- 0.9 — no\n```\n\n- 0.5 — a\n- 0.5 — b\n"
    )
    assert weights_of(report) == [0.5, 0.5]


def test_fault_31_weights_of_zero_or_wrong_sum_are_refused_before_any_call() -> None:
    for weights in (("0.00", "1.00"), ("0.50", "0.20")):
        body = "".join(f"- {w} — line\n" for w in weights)
        with pytest.raises(UserError):
            parse_rule(f"## Checkpoint Rubric\n\n{body}").rubric(0.9)


# --- the real rules ----------------------------------------------------------------------


@pytest.mark.reference
def test_at_least_386_of_400_rules_parse_and_the_others_say_why(reference_data: Path) -> None:
    files = sorted(
        (reference_data / "uniclawbench/injection").glob("[12]0[1-5]_*/*/references/eval_rule.md")
    )
    assert len(files) == 400
    reports = {f.parts[-3]: parse_rule(f.read_text(encoding="utf-8")) for f in files}
    good = {name for name, report in reports.items() if report.reason is None}
    assert len(good) == 390
    for name in good:
        rubric = reports[name].rubric(0.9)
        assert abs(rubric.weights_sum - 1) <= 0.01
        assert 3 <= len(rubric.checkpoints) <= 13
    bad = {name[5:11] for name in reports.keys() - good}
    assert bad == {f"{s}03_{n}" for s in "12" for n in range(36, 41)}
    caps = [len(report.caps) for report in reports.values()]
    assert sum(n > 0 for n in caps) >= 388
    assert statistics.median(caps) == 6


@pytest.mark.reference
@pytest.mark.parametrize(
    ("number", "weights", "caps"),
    [
        ("101_03", [0.05, 0.16, 0.15, 0.06, 0.11, 0.12, 0.11, 0.12, 0.08, 0.04], 6),
        ("101_06", [0.1, 0.15, 0.15, 0.15, 0.15, 0.1, 0.1, 0.1], [0.3, 0.65, 0.5, 0.2]),
        (
            "101_12",
            [0.08, 0.07, 0.125, 0.1, 0.1, 0.12, 0.1, 0.08, 0.05, 0.125, 0.05],
            [0.3, 0.3, 0.6, 0.6, 0.55, 0.7],
        ),
        ("101_16", 12, [0.3, 0.3, 0.3, 0.5, 0.6, 0.4, 0.65, 0.55, 0.7]),
        (
            "101_25",
            [0.15, 0.1, 0.3, 0.2, 0.1, 0.05, 0.05, 0.05],
            [0.3, 0.2, 0.4, 0.5, 0.7],
        ),
        (
            "101_36",
            [0.05, 0.12, 0.1, 0.08, 0.1, 0.12, 0.1, 0.1, 0.08, 0.06, 0.05, 0.04],
            [0.3, 0.3, 0.3, 0.4, 0.4, 0.5, 0.7],
        ),
        ("102_13", [0.35, 0.25, 0.2, 0.1, 0.1], [0.45, 0.55, 0.6, 0.7, 0.75, 0.3]),
        ("102_39", [0.1, 0.1, 0.8], [0.0, 0.1]),
        ("103_09", 6, [0.65, 0.3, 0.65, 0.7]),
        ("104_09", [0.1, 0.25, 0.05, 0.1, 0.4, 0.1], 16),
        (
            "104_25",
            6,
            [
                *(0.3, 0.35, 0.45, 0.55, 0.4, 0.74, 0.6, 0.7, 0.55),
                *(0.4, 0.8, 0.65, 0.7, 0.5, 0.35, 0.75, 0.6, 0.45),
            ],
        ),
        ("105_02", 7, [0.0, 0.4, 0.55, 0.65, 0.7, 0.75, 0.8, 0.87, 0.9, 0.95]),
        ("105_31", [0.15, 0.15, 0.2, 0.25, 0.15, 0.1], [0.7, 0.55, 0.5, 0.4]),
        ("105_33", 8, [0.3, 0.45, 0.65, 0.55, 0.8, 0.5, 0.55, 0.85, 0.85]),
        ("205_34", 7, [0.45, 0.4, 0.3, 0.65, 0.7, 0.75]),
    ],
)
def test_rules_read_by_hand(
    rule_of: Callable[[str], str],
    number: str,
    weights: list[float] | int,
    caps: list[float] | int,
) -> None:
    report = parse_rule(rule_of(number))
    found = weights_of(report)
    assert (len(found) if isinstance(weights, int) else found) == weights
    bounds = caps_of(report)
    assert (len(bounds) if isinstance(caps, int) else bounds) == caps


@pytest.mark.reference
@pytest.mark.parametrize(
    ("number", "checkpoints", "no_cap", "prose"),
    [
        ("101_06", (), False, 1),
        ("101_26", (), True, 0),
        ("101_31", (), True, 0),
        ("101_33", (), True, 0),
        ("101_40", (), True, 1),
        ("102_01", ("CP1", "CP2", "CP3", "CP4", "CP5"), True, 0),
        ("102_13", ("CP1", "CP2", "CP3", "CP4"), True, 0),
        ("102_24", ("CP2", "CP3", "CP4"), True, 0),
        ("102_35", ("CP1", "CP2", "CP3"), True, 0),
        ("104_03", (), False, 0),
        ("104_18", (), False, 1),
        ("105_24", ("c01", "c02", "c03"), False, 0),
    ],
)
def test_pass_requirements_read_by_hand(
    rule_of: Callable[[str], str],
    number: str,
    checkpoints: tuple[str, ...],
    no_cap: bool,
    prose: int,
) -> None:
    requires = parse_rule(rule_of(number)).pass_requires
    assert requires.checkpoints == checkpoints
    assert requires.no_cap is no_cap
    assert len(requires.judge) == prose


@pytest.mark.reference
def test_a_threshold_that_the_prose_names_is_kept_apart(rule_of: Callable[[str], str]) -> None:
    assert parse_rule(rule_of("101_01")).stated_threshold == 0.85
    assert parse_rule(rule_of("105_15")).stated_threshold == 0.88
    assert parse_rule(rule_of("102_13")).stated_threshold == 0.9
