import pytest
from pydantic import JsonValue
from workshop import Workshop, parse_check

from uniclaw.errors import JudgeError
from uniclaw.supervisor.lines import Line, decided_by, parts

MET: dict[str, JsonValue] = {"kind": "file", "path": "there"}
UNMET: dict[str, JsonValue] = {"kind": "file", "path": "gone"}
UNKNOWN: dict[str, JsonValue] = {"kind": "state", "probe": "none", "exit_code": 0}
HALF: dict[str, JsonValue] = {
    "kind": "text",
    "path": "there",
    "contains": ["x", "y"],
    "partial": True,
}


@pytest.mark.parametrize(
    ("kind", "of", "value"),
    [
        ("all", [MET, MET], 1.0),
        ("all", [MET, HALF], 0.5),
        ("all", [MET, UNMET], 0.0),
        ("all", [MET, UNKNOWN], None),
        ("all", [UNMET, UNKNOWN], 0.0),
        ("mean", [MET, UNMET], 0.5),
        ("mean", [MET, UNMET, UNKNOWN], None),
        ("any", [UNMET, MET], 1.0),
        ("any", [UNMET, HALF], 0.5),
        ("any", [UNMET, UNMET], 0.0),
        ("any", [UNMET, UNKNOWN], None),
        ("any", [MET, UNKNOWN], 1.0),
        ("not", [MET], 0.0),
        ("not", [HALF], 0.5),
        ("not", [UNMET], 1.0),
        ("not", [UNKNOWN], None),
    ],
)
def test_values_combine(shop: Workshop, kind: str, of: list[JsonValue], value: float | None):
    check: dict[str, JsonValue] = {"kind": kind, "of": of}
    if kind == "mean":
        check = {"kind": "all", "of": of, "mean": True}
    if kind == "not":
        check = {"kind": "not", "check": of[0]}
    result = shop.run(check, shop.evidence({"there": "x"}))
    assert result.value == value
    assert result.reason


def test_reasons_name_what_decided(shop: Workshop):
    check: dict[str, JsonValue] = {"kind": "all", "of": [MET, UNMET]}
    assert "gone is missing" in shop.run(check, shop.evidence({"there": "x"})).reason


def test_terminal_fires_at_0_in_a_checkpoint_and_when_met_in_a_cap(shop: Workshop):
    check: dict[str, JsonValue] = {**MET, "terminal": True}
    here, nothing = shop.evidence({"there": "x"}), shop.evidence({})
    assert not shop.run_line(check, here).result.terminal
    assert shop.run_line(check, nothing).result.terminal
    assert shop.run_line(check, here, cap=True).result.terminal
    assert not shop.run_line(check, nothing, cap=True).result.terminal
    nested: dict[str, JsonValue] = {"kind": "not", "check": check}
    assert shop.run_line(nested, here).result.terminal
    assert not shop.run_line(nested, nothing).result.terminal


def test_approximate_parts_mark_their_line(shop: Workshop):
    check: dict[str, JsonValue] = {
        "kind": "all",
        "of": [{**MET, "approximate": "by name only"}, MET],
        "approximate": "roughly",
    }
    result = shop.run(check, shop.evidence({"there": "x"}))
    assert result.approximate == "roughly; by name only"


def test_ids_and_who_decides():
    judge: dict[str, JsonValue] = {"kind": "judge", "criterion": "c"}
    command: dict[str, JsonValue] = {"kind": "command", "run": "true", "then": MET}
    check = parse_check({"kind": "any", "of": [MET, {"kind": "not", "check": judge}, command]})
    line = Line(id="l", kind="cap", description="d", check=check)
    found = [(p.id, p.positive, p.in_command) for p in parts(line)]
    assert found == [
        ("l", False, None),
        ("l/0", False, None),
        ("l/1", False, None),
        ("l/1/0", True, None),
        ("l/2", False, None),
        ("l/2/then", False, "l/2"),
    ]
    assert decided_by(line) == "both"
    assert (
        decided_by(Line(id="l", kind="cap", description="d", check=parse_check(judge))) == "judge"
    )
    assert decided_by(Line(id="l", kind="cap", description="d", check=parse_check(MET))) == "code"


def test_a_judge_line_without_a_result_is_a_judge_error(shop: Workshop):
    with pytest.raises(JudgeError, match="'x'"):
        shop.run({"kind": "judge", "criterion": "c"}, shop.evidence({}))
