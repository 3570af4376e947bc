import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue
from workshop import Workshop, call, dump

from uniclaw.records import Event, EventKind
from uniclaw.supervisor.checks.regexes import Search, search_all
from uniclaw.supervisor.checks.texts import count_words
from uniclaw.supervisor.frozen import decode

REPORT = "The total   is\n1,234.50 EUR, of 12 ROWS.\n合计１２３元（含税）\n"


@pytest.mark.parametrize(
    ("check", "value"),
    [
        ({"contains": ["the total is"]}, 1.0),
        ({"contains": ["the total is"], "ignore_case": False}, 0.0),
        ({"contains": [1234.5, 12, 123]}, 1.0),
        ({"contains": [23]}, 0.0),
        ({"contains": ["合计123元(含税)"]}, 1.0),
        ({"contains": [""]}, 0.0),
        ({"contains": [None]}, 0.0),
        ({"any_of": ["nope", "rows"]}, 1.0),
        ({"any_of": ["nope", "never"]}, 0.0),
        ({"regex": [r"^The total"]}, 1.0),
        ({"regex": [r"rows\.$"]}, 1.0),
        ({"regex": [r"^total"]}, 0.0),
        ({"absent": ["secret"]}, 1.0),
        ({"absent": ["EUR"]}, 0.0),
        ({"min_words": 14}, 1.0),
        ({"min_words": 15}, 0.0),
        ({"max_words": 14}, 1.0),
        ({"max_words": 13}, 0.0),
    ],
)
def test_statements(shop: Workshop, check: dict[str, JsonValue], value: float):
    evidence = shop.evidence({"r.md": REPORT})
    assert shop.run({"kind": "text", "path": "r.md", **check}, evidence).value == value
    said = shop.evidence({}, message=REPORT)
    assert shop.run({"kind": "text", **check}, said).value == value


def test_values_may_come_from_references_also_as_lists(shop: Workshop):
    shop.reference("k.json", dump({"names": ["Ada", "Bob"], "n": 7}))
    check: dict[str, JsonValue] = {
        "kind": "text",
        "path": "r.md",
        "contains": [
            {"ref": "references/k.json", "pointer": "/names"},
            {"ref": "references/k.json", "pointer": "/n"},
        ],
    }
    assert shop.run(check, shop.evidence({"r.md": "ada, bob: 7"})).value == 1.0
    assert shop.run(check, shop.evidence({"r.md": "ada: 7"})).value == 0.0


def test_fault_8_absence_alone_earns_no_share(shop: Workshop):
    check: dict[str, JsonValue] = {
        "kind": "text",
        "path": "r.md",
        "contains": ["alpha", "beta"],
        "absent": ["secret", "password"],
        "partial": True,
    }
    assert shop.run(check, shop.evidence({"r.md": "nothing"})).value == 0.0
    assert shop.run(check, shop.evidence({"r.md": "alpha"})).value == 0.5
    assert shop.run(check, shop.evidence({"r.md": "alpha beta secret"})).value == 0.0
    assert shop.run(check, shop.evidence({})).value == 0.0


def test_what_must_be_absent_must_be_absent_from_every_file(shop: Workshop):
    evidence = shop.evidence({"a.md": "fine", "b.md": "a secret"})
    check: dict[str, JsonValue] = {"kind": "text", "path": "*.md", "absent": ["secret"]}
    assert shop.run(check, evidence).value == 0.0
    found: dict[str, JsonValue] = {"kind": "text", "path": "*.md", "contains": ["fine"]}
    assert shop.run(found, evidence).value == 1.0


def test_fault_22_bad_bytes_do_not_end_a_check(shop: Workshop):
    evidence = shop.evidence({"r.md": b"ok \xff\xfe half \xe5\x90 \x00 end"})
    check: dict[str, JsonValue] = {"kind": "text", "path": "r.md", "contains": ["half", "end"]}
    assert shop.run(check, evidence).value == 1.0
    reason = shop.run({**check, "contains": ["\x00 end\ufffd"]}, evidence).reason
    assert "does not say" in reason


def test_byte_order_marks_and_line_ends():
    assert decode("\ufeffa\r\nb\rc".encode()) == "a\nb\nc"
    assert decode("ä\r\n".encode("utf-16")) == "ä\n"


def test_files_too_large_are_not_met(shop: Workshop):
    evidence = shop.evidence({"r.md": b"x" * 5_000_001})
    check: dict[str, JsonValue] = {"kind": "text", "path": "r.md", "contains": ["x"]}
    assert shop.run(check, evidence).value == 0.0


def test_words_of_both_scripts():
    assert count_words("don't stop 3.5 times, 你好 world") == 7
    assert count_words("") == 0


@given(st.text(), st.text())
def test_words_add_up(left: str, right: str):
    assert count_words(f"{left}\n\n{right}") == count_words(left) + count_words(right)


def test_patterns_that_would_take_for_ever_are_stopped():
    started = time.monotonic()
    searches = [
        Search("(a+)+$", "a" * 50 + "b"),
        Search("(x|y)+z", "xyz"),
        Search("plain", "y" * 1_000_000 + "plain"),
        Search(r"\d+ rows", "12 rows"),
    ]
    assert search_all(searches) == (None, True, True, True)
    assert time.monotonic() - started < 15


def message(text: str, *, role: str = "assistant", number: int = 0) -> Event:
    return Event.model_validate(
        {
            "id": f"r{number}.m",
            "round": number,
            "kind": EventKind.MESSAGE,
            "role": role,
            "text": text,
        }
    )


def test_calls_are_matched_by_name_arguments_and_result(shop: Workshop):
    events = [
        *call(0, "cat skills/rules/SKILL.md", "Go through the day"),
        *call(1, "ls skills", "rules"),
        *call(2, "cat x", round_number=1),
        message("I read the rules"),
        message("please read the rules", role="user"),
    ]
    evidence = shop.evidence({}, events=events)
    cases: list[tuple[dict[str, JsonValue], float]] = [
        ({"arguments": "SKILL", "result": "Go through"}, 1.0),
        ({"arguments": "SKILL", "result": "rules$"}, 0.0),
        ({"tool": "^shell$"}, 1.0),
        ({"tool": "^browser$"}, 0.0),
        ({"tool": "shell", "min_count": 4}, 0.0),
        ({"tool": "shell", "min_count": 0, "max_count": 2}, 0.0),
        ({"arguments": "cat x", "rounds": [0]}, 0.0),
        ({"arguments": "cat x", "rounds": [1]}, 1.0),
        ({"message": "read the rules", "max_count": 1}, 1.0),
        ({"arguments": '"command": "ls'}, 1.0),
    ]
    for check, value in cases:
        assert shop.run({"kind": "trace", **check}, evidence).value == value, check
    cited = shop.run({"kind": "trace", "arguments": "SKILL"}, evidence).evidence
    assert cited == ("r0.e0",)
