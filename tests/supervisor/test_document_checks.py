import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue
from workshop import Workshop, dump

from uniclaw.records import ProbeResult
from uniclaw.supervisor.checks.values import Tolerance, equal, parse_json, read_number


def holds(
    shop: Workshop, document: JsonValue, op: str, value: JsonValue = None, **more: JsonValue
) -> bool:
    statement: dict[str, JsonValue] = {"pointer": "/v", "op": op, "value": value, **more}
    check: dict[str, JsonValue] = {"kind": "json", "path": "o.json", "asserts": [statement]}
    return shop.run(check, shop.evidence({"o.json": dump({"v": document})})).value == 1.0


@pytest.mark.parametrize(
    ("actual", "op", "value", "held"),
    [
        (3, "equals", 3.0, True),
        ("3", "equals", 3, False),
        (3, "equals", "3", False),
        (None, "equals", 0, False),
        ("", "equals", 0, False),
        (False, "equals", 0, False),
        (True, "equals", 1, False),
        (10**30, "equals", 10**30 + 1, False),
        (10**30, "equals", 10**30, True),
        ([1, {"a": 2}], "equals", [1.0, {"a": 2}], True),
        ([1, 2], "equals", [2, 1], False),
        ({"a": 1, "b": 2}, "equals", {"b": 2, "a": 1}, True),
        ({"a": 1, "b": 2}, "equals", {"a": 1}, False),
        ("Ä", "equals", "A\u0308", True),
        (4, "not_equals", 3, True),
        (3, "not_equals", 3, False),
        (1.0000001, "approx", 1, True),
        (1.1, "approx", 1, False),
        ("1", "approx", 1, False),
        (None, "approx", 0, False),
        (5, "at_least", 5, True),
        (4, "at_least", 5, False),
        (5, "at_most", 5, True),
        (10**400, "at_most", 5, False),
        (True, "at_least", 0, False),
        ([1, 2], "length", 2, True),
        ("abc", "length", 3, True),
        (3, "length", 3, False),
        (3, "type", "integer", True),
        (3.0, "type", "integer", True),
        (3, "type", "number", True),
        (3.5, "type", "integer", False),
        (None, "type", "null", True),
        (True, "type", "boolean", True),
        ([1, 2], "contains", 2, True),
        ([1, 2], "contains", "2", False),
        ("hello world", "contains", "world", True),
        ({"key": 1}, "contains", "key", True),
        (12, "contains", 1, False),
        (["a", "b", "c"], "contains_all", ["c", "a"], True),
        (["a", "b"], "contains_all", ["c", "a"], False),
        ([2, 1, 1.0], "set_equals", [1, 2], True),
        ([1, 2, 3], "set_equals", [1, 2], False),
        ([1], "set_equals", [1, 2], False),
        ("ab", "set_equals", ["a", "b"], False),
        ([1], "subset_of", [1, 2], True),
        ([3], "subset_of", [1, 2], False),
        ("2024-01-02", "matches", r"^\d{4}-\d\d-\d\d$", True),
        (20240102, "matches", r"\d+", False),
        (None, "exists", None, True),
    ],
)
def test_operators(shop: Workshop, actual: JsonValue, op: str, value: JsonValue, held: bool):
    assert holds(shop, actual, op, value) is held


def test_tolerances_and_case(shop: Workshop):
    assert holds(shop, 14.155, "approx", 14.15, abs_tol=0.005)
    assert not holds(shop, 14.156, "approx", 14.15, abs_tol=0.005)
    assert holds(shop, 101, "equals", 100, rel_tol=0.01)
    assert holds(shop, [1.01, 2], "equals", [1, 2], abs_tol=0.02)
    assert holds(shop, "YES ", "equals", "yes", ignore_case=True)
    assert not holds(shop, "YES", "equals", "yes")


def test_missing_places_meet_nothing_but_absence(shop: Workshop):
    def run(document: JsonValue, pointer: str, op: str, value: JsonValue = None) -> float | None:
        statement: dict[str, JsonValue] = {"pointer": pointer, "op": op, "value": value}
        check: dict[str, JsonValue] = {"kind": "json", "path": "o.json", "asserts": [statement]}
        return shop.run(check, shop.evidence({"o.json": dump(document)})).value

    assert run({}, "/a", "absent") == 1.0
    assert run({"a": None}, "/a", "absent") == 0.0
    assert run({}, "/a", "not_equals", 3) == 0.0
    assert run({}, "/a", "exists") == 0.0
    assert run({"a": [{"n": 1}, {"n": 1}]}, "/a/*/n", "equals", 1) == 1.0
    assert run({"a": [{"n": 1}, {}]}, "/a/*/n", "equals", 1) == 0.0
    assert run({"a": [{"n": 1}, {}]}, "/a/*/n", "absent") == 0.0


def test_fault_29_a_statement_over_nothing_does_not_hold(shop: Workshop):
    statement: dict[str, JsonValue] = {"pointer": "/items/*/ok", "value": True}
    check: dict[str, JsonValue] = {"kind": "json", "path": "o.json", "asserts": [statement]}
    result = shop.run(check, shop.evidence({"o.json": '{"items": []}'}))
    assert result.value == 0.0
    assert "ranges over nothing" in result.reason


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        '{"v": NaN}',
        '{"v": -Infinity}',
        '{"v": 1e400}',
        "[" * 100_000,
        "[" * 500 + "]" * 500,
        '{"v": ' + "9" * 10_000 + "}",
        b"\xff\xfe\x00",
        "{'v': 1}",
    ],
)
def test_what_is_not_json_is_not_met(shop: Workshop, text: str | bytes):
    statement: dict[str, JsonValue] = {"pointer": "", "op": "exists"}
    check: dict[str, JsonValue] = {"kind": "json", "path": "o.json", "asserts": [statement]}
    result = shop.run(check, shop.evidence({"o.json": text}))
    assert result.value == 0.0
    assert "does not parse" in result.reason


@pytest.mark.parametrize("answer", ["null", '""', '"NaN"', "NaN", "\"__import__('os')\"", "false"])
def test_fault_7_answers_are_neither_evaluated_nor_coerced(shop: Workshop, answer: str):
    for op in ("equals", "approx", "at_most"):
        statement: dict[str, JsonValue] = {"pointer": "/v", "op": op, "value": 0}
        check: dict[str, JsonValue] = {"kind": "json", "path": "o.json", "asserts": [statement]}
        result = shop.run(check, shop.evidence({"o.json": f'{{"v": {answer}}}'}))
        assert result.value == 0.0


def test_fifty_levels_marks_and_repeated_keys(shop: Workshop):
    deep = '{"a":' * 50 + "1" + "}" * 50
    statement: dict[str, JsonValue] = {"pointer": "/a" * 50, "value": 1}
    check: dict[str, JsonValue] = {"kind": "json", "path": "o.json", "asserts": [statement]}
    assert shop.run(check, shop.evidence({"o.json": deep})).value == 1.0
    assert shop.run(check, shop.evidence({"o.json": b"\xef\xbb\xbf" + deep.encode()})).value == 1.0
    assert shop.run(check, shop.evidence({"o.json": deep.encode("utf-16")})).value == 1.0
    twice: dict[str, JsonValue] = {
        "kind": "json",
        "path": "o.json",
        "asserts": [{"pointer": "/a", "value": 2}],
    }
    result = shop.run(twice, shop.evidence({"o.json": '{"a": 1, "a": 2}'}))
    assert result.value == 1.0
    assert "stand twice" in result.reason


def test_bad_bytes_inside_text_become_replacement_characters(shop: Workshop):
    statement: dict[str, JsonValue] = {"pointer": "/v", "value": "a\ufffdb"}
    check: dict[str, JsonValue] = {"kind": "json", "path": "o.json", "asserts": [statement]}
    assert shop.run(check, shop.evidence({"o.json": b'{"v": "a\xffb"}'})).value == 1.0


def test_partial_credit_is_a_share(shop: Workshop):
    statements: list[JsonValue] = [{"pointer": f"/{k}", "value": 1} for k in "abcd"]
    check: dict[str, JsonValue] = {"kind": "json", "path": "o.json", "asserts": statements}
    evidence = shop.evidence({"o.json": '{"a": 1, "b": 1, "c": 1, "d": 2}'})
    assert shop.run(check, evidence).value == 0.0
    assert shop.run({**check, "partial": True}, evidence).value == 0.75


def test_the_best_of_several_files_counts(shop: Workshop):
    check: dict[str, JsonValue] = {
        "kind": "json",
        "path": "*.json",
        "asserts": [{"pointer": "/a", "value": 1}],
    }
    evidence = shop.evidence({"x.json": "{", "y.json": '{"a": 1}', "z.json": '{"a": 2}'})
    result = shop.run(check, evidence)
    assert result.value == 1.0
    assert result.evidence == ("/workspace/results/y.json",)
    many = shop.evidence({f"{i}.json": '{"a": 1}' for i in range(51)})
    assert shop.run(check, many).value == 0.0


def test_files_too_large_to_read_are_said(shop: Workshop):
    evidence = shop.evidence({"o.json": b"1" * 20_000_001})
    check: dict[str, JsonValue] = {"kind": "json", "path": "o.json", "asserts": [{"op": "exists"}]}
    assert "20000001 bytes" in shop.run(check, evidence).reason


def test_probes_are_read_as_text_and_as_json(shop: Workshop):
    probe = ProbeResult(id="db", exit_code=0, stdout='{"rows": 3, "sha": "abc"}')
    evidence = shop.evidence({}, probes=[probe])
    cases: list[tuple[dict[str, JsonValue], float]] = [
        ({"asserts": [{"pointer": "/rows", "value": 3}]}, 1.0),
        ({"contains": ["abc"], "exit_code": 0}, 1.0),
        ({"contains": ["ABC"]}, 0.0),
        ({"exit_code": 1}, 0.0),
        ({"contains": ["abc", "zzz"], "partial": True}, 0.5),
    ]
    for statement, value in cases:
        result = shop.run({"kind": "state", "probe": "db", **statement}, evidence)
        assert result.value == value, statement
        assert result.evidence == ("probe:db",)
    bad = shop.evidence({}, probes=[ProbeResult(id="db", exit_code=1, stdout="oops")])
    asserting: JsonValue = [{"pointer": "/rows", "value": 3}]
    assert shop.run({"kind": "state", "probe": "db", "asserts": asserting}, bad).value == 0.0


def test_a_probe_without_a_result_is_undecided_also_under_not(shop: Workshop):
    check: dict[str, JsonValue] = {"kind": "state", "probe": "db", "exit_code": 0}
    assert shop.run(check, shop.evidence({})).value is None
    assert shop.run({"kind": "not", "check": check}, shop.evidence({})).value is None


def test_service_logs_come_as_probes(shop: Workshop):
    log = ProbeResult(id="service:mail", exit_code=0, stdout="sent 3")
    check: dict[str, JsonValue] = {"kind": "state", "service": "mail", "contains": ["sent 3"]}
    assert shop.run(check, shop.evidence({}, probes=[log])).value == 1.0


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)


@given(json_values)
def test_every_value_equals_itself_after_a_round_trip(value: JsonValue):
    assert equal(parse_json(dump(value)).value, value)


@given(json_values, json_values)
def test_equality_is_symmetric(left: JsonValue, right: JsonValue):
    assert equal(left, right) == equal(right, left)


@given(st.floats(-1e9, 1e9), st.floats(0, 10), st.floats(0, 2))
def test_tolerances_hold_up_to_their_width(value: float, width: float, factor: float):
    held = equal(value + width * factor, value, Tolerance(absolute=width))
    if factor <= 1:
        assert held
    if factor > 1.01 and width > 1e-3:
        assert not held


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1,234.50", 1234.5),
        ("１２３", 123),
        ("-0.5", -0.5),
        ("1e3", 1000),
        ("007", None),
        ("1,23", None),
        ("nan", None),
        ("inf", None),
        ("", None),
        ("1 2", None),
        ("12%", None),
        ("9" * 100, None),
    ],
)
def test_numbers_in_tables(text: str, number: float | None):
    assert read_number(text) == number
