import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from pydantic import JsonValue

from uniclaw.errors import UserError
from uniclaw.hidden.load import load_rubric
from uniclaw.hidden.references import References, resolve_pointer
from uniclaw.hidden.rubric import LoadedRubric, Ref

FILE_CHECK: dict[str, JsonValue] = {"kind": "file", "path": "out.json"}
POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"


def checkpoint(**changes: JsonValue) -> dict[str, JsonValue]:
    return {"id": "a", "weight": 1, "description": "d", "check": FILE_CHECK, **changes}


def rubric(*checkpoints: Mapping[str, JsonValue], **changes: JsonValue) -> dict[str, JsonValue]:
    lines = [dict(c) for c in checkpoints] or [checkpoint()]
    return {"threshold": 0.8, "checkpoints": list[JsonValue](lines), **changes}


def load(directory: Path, data: Mapping[str, JsonValue] | str) -> LoadedRubric:
    file = directory / "rubric.yaml"
    file.write_text(data if isinstance(data, str) else json.dumps(dict(data)), "utf-8")
    return load_rubric(file, reference_root=directory, source="native")


def refusal(directory: Path, data: Mapping[str, JsonValue] | str) -> UserError:
    with pytest.raises(UserError) as caught:
        load(directory, data)
    assert str(directory) in str(caught.value)
    return caught.value


def with_check(**check: JsonValue) -> dict[str, JsonValue]:
    return rubric(checkpoint(check=check))


def test_a_good_rubric_loads(tmp_path: Path):
    loaded = load(tmp_path, rubric())
    assert loaded.rubric.threshold == 0.8
    assert loaded.root == tmp_path


@pytest.mark.parametrize(
    ("change", "field", "value"),
    [
        ({"threshold": 7.0}, "threshold", 7.0),
        ({"threshold": -0.1}, "threshold", -0.1),
        ({"threshold": True}, "threshold", True),
        ({"sucess_threshold": 1}, "sucess_threshold", 1),
        ({"null_floor": 2}, "null_floor", 2),
    ],
)
def test_bad_fields_are_named_with_their_value(
    tmp_path: Path, change: dict[str, JsonValue], field: str, value: object
):
    error = refusal(tmp_path, {**rubric(), **change})
    assert (error.field, error.value) == (field, value)
    assert repr(value) in str(error)


@pytest.mark.parametrize("weight", [0, -1, True, "1"])
def test_fault_31_bad_weights_are_refused_at_load(tmp_path: Path, weight: JsonValue):
    error = refusal(tmp_path, rubric(checkpoint(weight=weight)))
    assert error.field == "checkpoints[0].weight"


@pytest.mark.parametrize("weight", [".nan", ".inf", "-.inf", "1e999"])
def test_fault_31_weights_that_are_not_finite_are_refused_at_load(tmp_path: Path, weight: str):
    text = (
        "threshold: 0.8\ncheckpoints:\n"
        f"- {{id: a, weight: {weight}, description: d, check: {{kind: file, path: x}}}}\n"
    )
    error = refusal(tmp_path, text)
    assert error.field == "checkpoints[0].weight"
    assert weight in str(error)


@pytest.mark.parametrize("weights", [(0.5, 0.4), (0.5, 0.52), (1, 1)])
def test_fault_31_weights_must_sum_to_1_as_written(tmp_path: Path, weights: tuple[float, float]):
    lines = [checkpoint(id=f"c{i}", weight=w) for i, w in enumerate(weights)]
    error = refusal(tmp_path, rubric(*lines))
    assert error.field == "checkpoints"
    assert f"{sum(weights):g}" in str(error)


def test_weights_within_a_hundredth_are_kept_as_written(tmp_path: Path):
    lines = [checkpoint(id=f"c{i}", weight=0.33) for i in range(3)]
    assert load(tmp_path, rubric(*lines)).rubric.weights_sum == pytest.approx(0.99)


def test_a_threshold_that_no_attempt_can_reach_is_refused(tmp_path: Path):
    lines = [checkpoint(id=f"c{i}", weight=0.33) for i in range(3)]
    error = refusal(tmp_path, {**rubric(*lines), "threshold": 1})
    assert error.field == "threshold"


def test_fault_31_duplicate_ids_are_refused(tmp_path: Path):
    lines = [checkpoint(weight=0.5), checkpoint(weight=0.5)]
    assert "['a']" in str(refusal(tmp_path, rubric(*lines)))
    caps: list[JsonValue] = [{"id": "a", "max": 0.5, "when": FILE_CHECK}]
    assert "['a']" in str(refusal(tmp_path, rubric(caps=caps)))


def test_ids_kept_for_prose_requirements_are_refused(tmp_path: Path):
    data = rubric(checkpoint(id="requires-1"), pass_requires={"judge": ["be kind"]})
    assert refusal(tmp_path, data).field == "checkpoints[0].id"


def test_duplicate_keys_are_refused(tmp_path: Path):
    error = refusal(tmp_path, "threshold: 0.1\nthreshold: 0.9\n")
    assert "twice" in str(error)
    assert error.field == "threshold"


@pytest.mark.parametrize("text", ["threshold: [", "a: b: c", "\tx", "- &a [*a]", "", "[]", "3"])
def test_broken_yaml_is_refused(tmp_path: Path, text: str):
    refusal(tmp_path, text)


@pytest.mark.parametrize("path", ["../x", "a/../../x", "/workspace/../etc/passwd", ""])
def test_escaping_paths_are_refused(tmp_path: Path, path: str):
    error = refusal(tmp_path, with_check(kind="file", path=path))
    assert error.field == "checkpoints[0].check.path"


@pytest.mark.parametrize("path", ["references/x.json", "../x", "/etc/passwd", "a\\b"])
def test_missing_and_escaping_references_are_refused(tmp_path: Path, path: str):
    error = refusal(tmp_path, rubric(references=[path]))
    assert (error.field, error.value) == ("references[0]", path)


def test_references_that_a_link_leads_out_of_the_rubric_are_refused(tmp_path: Path):
    home = tmp_path / "rubric"
    (home / "references").mkdir(parents=True)
    (tmp_path / "secret.json").write_text("{}", "utf-8")
    (home / "references" / "x.json").symlink_to(tmp_path / "secret.json")
    refusal(home, rubric(references=["references/x.json"]))


def test_unresolved_lfs_pointers_among_references_are_refused(tmp_path: Path):
    (tmp_path / "references" / "deep").mkdir(parents=True)
    (tmp_path / "references" / "deep" / "x.pdf").write_text(POINTER, "utf-8")
    assert "LFS" in str(refusal(tmp_path, rubric(references=["references"])))
    assert "LFS" in str(refusal(tmp_path, rubric()))
    assert "LFS" in str(refusal(tmp_path, POINTER))


def test_values_that_refer_to_nothing_are_refused(tmp_path: Path):
    (tmp_path / "references").mkdir()
    (tmp_path / "references" / "x.json").write_text('{"a": 1}', "utf-8")

    def asserting(value: JsonValue) -> dict[str, JsonValue]:
        return with_check(kind="json", path="o.json", asserts=[{"pointer": "/a", "value": value}])

    load(tmp_path, asserting({"ref": "references/x.json", "pointer": "/a"}))
    wrong: list[dict[str, JsonValue]] = [
        {"ref": "references/x.json", "pointer": "/b"},
        {"ref": "references/y.json", "pointer": "/a"},
        {"ref": "../x.json"},
        {"ref": "references/x.json", "ptr": "/a"},
    ]
    for value in wrong:
        refusal(tmp_path, asserting(value))


def test_a_function_that_is_not_there_is_refused_without_running_the_file(tmp_path: Path):
    (tmp_path / "checks.py").write_text(
        "raise SystemExit('ran')\ndef there(evidence, references): ...\n", "utf-8"
    )
    load(tmp_path, with_check(kind="python", function="there"))
    error = refusal(tmp_path, with_check(kind="python", function="gone"))
    assert error.field == "checkpoints[0].check.function"
    assert "there" in str(error)
    refusal(tmp_path, with_check(kind="python", function="there", file="../checks.py"))
    refusal(tmp_path, with_check(kind="python", function="there", file="other.py"))
    (tmp_path / "checks.py").write_text("def there(:", "utf-8")
    assert "not valid Python" in str(refusal(tmp_path, with_check(kind="python", function="there")))


@pytest.mark.parametrize(
    "check",
    [
        {"kind": "text", "path": "a.md"},
        {"kind": "csv", "path": "a.csv"},
        {"kind": "state", "probe": "p"},
        {"kind": "command", "run": "true", "exit_code": None},
        {"kind": "text", "path": "a.md", "regex": ["("]},
        {"kind": "trace", "arguments": "["},
        {"kind": "trace", "message": "x", "tool": "y"},
        {"kind": "trace", "min_count": 3, "max_count": 2},
        {"kind": "json", "path": "a", "asserts": [{"pointer": "a"}]},
        {"kind": "json", "path": "a", "asserts": [{"op": "length", "value": -1}]},
        {"kind": "json", "path": "a", "asserts": [{"op": "approx", "value": "3"}]},
        {"kind": "json", "path": "a", "asserts": [{"op": "matches", "value": "("}]},
        {"kind": "json", "path": "a", "asserts": []},
        {"kind": "file", "path": "a", "min_bytes": 5, "max_bytes": 2},
        {"kind": "file", "path": "a", "sha256": "abc"},
        {"kind": "command", "run": "true", "files": {"/x": "../secret"}},
        {"kind": "command", "run": "true", "files": {"x": "fixture"}},
        {
            "kind": "command",
            "run": "true",
            "then": {"kind": "command", "run": "true"},
        },
        {"kind": "command", "run": "true", "then": {"kind": "judge", "criterion": "c"}},
        {"kind": "image", "path": "a.png", "similar_to": "references/none.png"},
        {"kind": "all", "of": []},
        {"kind": "nonsense"},
        {"kind": "not", "check": {"kind": "file", "path": "../x"}},
    ],
)
def test_checks_that_cannot_be_carried_out_are_refused(tmp_path: Path, check: dict[str, JsonValue]):
    error = refusal(tmp_path, with_check(**check))
    assert error.field is not None
    assert error.field.startswith("checkpoints[0].check")


def test_an_overlay_reads_references_of_the_task_and_of_its_own(tmp_path: Path):
    imported, overlay = tmp_path / "task", tmp_path / "overlay"
    for home, text in ((imported, '{"a": 1}'), (overlay, '{"a": 2}')):
        (home / "references").mkdir(parents=True)
        (home / "references" / "key.json").write_text(text, "utf-8")
    (overlay / "references" / "own.txt").write_text("mine\n", "utf-8")
    file = overlay / "rubric.yaml"
    file.write_text(json.dumps(rubric()), "utf-8")
    loaded = load_rubric(file, reference_root=imported, source="overlay")
    references = References.of(loaded)
    assert references.value(Ref(ref="references/key.json", pointer="/a")) == 1
    assert references.value(Ref(ref="references/own.txt")) == "mine"
    assert references.files(loaded.rubric) == {
        "references/key.json": imported / "references" / "key.json",
        "references/own.txt": overlay / "references" / "own.txt",
    }


def test_pointers_range_over_members():
    document: JsonValue = {"a": [{"b": 1}, {"b": 2}, {}], "x/y": {"~": 3}}
    assert [m.value for m in resolve_pointer(document, "/a/*/b")] == [1, 2, None]
    assert [m.found for m in resolve_pointer(document, "/a/*/b")] == [True, True, False]
    assert [m.pointer for m in resolve_pointer(document, "/x~1y/*")] == ["/x~1y/~0"]
    assert resolve_pointer(document, "/x~1y/~0")[0].value == 3
    assert not resolve_pointer(document, "/a/01/b")[0].found
    assert resolve_pointer({"a": []}, "/a/*") == ()
    assert resolve_pointer(document, "")[0].value == document
