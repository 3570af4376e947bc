from pathlib import Path

import pytest
from pydantic import JsonValue

from uniclaw.errors import UserError
from uniclaw.records import Budget, Record, Task
from uniclaw.yamlio import parse_record, parse_yaml, read_yaml


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("no", "no"),
        ("on", "on"),
        ("true", True),
        ("007", "007"),
        ("1:30", "1:30"),
        ("2024-01-02", "2024-01-02"),
        ("1e3", 1000.0),
        (".5", 0.5),
        ("-3", -3),
        ("~", None),
        ("0x10", "0x10"),
        ("'5'", "5"),
    ],
)
def test_plain_scalars_are_what_they_look_like(text: str, value: JsonValue):
    assert parse_yaml(f"a: {text}") == {"a": value}


@pytest.mark.parametrize(
    "text",
    [
        "a: !!python/object/apply:os.system [true]",
        "a: !!binary aGk=",
        "1: x",
        "true: x",
        "? [a]\n: b",
        "a: 1\n---\nb: 2",
        "a: &x [*x]",
        "a: .nan",
        "a: " + "[" * 100 + "]" * 100,
        "a: 'open",
        "a: " + "9" * 5000,
    ],
)
def test_what_json_does_not_have_is_refused(text: str):
    with pytest.raises(UserError):
        parse_yaml(text, file="f.yaml")


def test_aliases_cannot_blow_a_document_up():
    text = "a: &a [x,x,x,x,x,x,x,x,x,x]\n"
    for name, inner in zip("bcdefg", "abcdef", strict=True):
        text += f"{name}: &{name} [{','.join([f'*{inner}'] * 10)}]\n"
    with pytest.raises(UserError, match="aliases"):
        parse_yaml(text)


def test_files_are_refused_by_name(tmp_path: Path):
    for name, data in {
        "pointer": b"version https://git-lfs.github.com/spec/v1\n",
        "bytes": b"a: \xff\xfe",
        "huge": b"#" * 10_000_001,
    }.items():
        path = tmp_path / name
        path.write_bytes(data)
        with pytest.raises(UserError, match=name):
            read_yaml(path)
    with pytest.raises(UserError, match="absent"):
        read_yaml(tmp_path / "absent")
    with pytest.raises(UserError):
        read_yaml(tmp_path)


def test_records_name_the_field_the_value_and_what_was_expected():
    with pytest.raises(UserError) as caught:
        parse_record(Budget, {"turn_s": -5, "tokens": "many", "tokns": 3}, file="task.yaml")
    message = str(caught.value)
    assert message.startswith("task.yaml: `turn_s`: ")
    assert "-5" in message
    assert "`tokens`" in message
    assert "`tokns`: unknown key; expected one of" in message
    assert (caught.value.field, caught.value.value) == ("turn_s", -5)


class _Flag(Record):
    on: bool
    share: float


@pytest.mark.parametrize("data", [{"on": 1, "share": 1}, {"on": True, "share": True}, [], None])
def test_records_are_strict(data: JsonValue):
    with pytest.raises(UserError):
        parse_record(_Flag, data)


def test_missing_fields_are_named():
    with pytest.raises(UserError, match="`family`: missing"):
        parse_record(Task, {"task_id": "a", "suite": "s", "instruction": "i"})


def test_long_values_are_cut_in_messages():
    with pytest.raises(UserError) as caught:
        parse_record(_Flag, {"on": "x" * 10_000, "share": 1})
    assert len(str(caught.value)) < 400
