"""Rows become tasks; what is wrong with one row stays with that row."""

import json
from pathlib import Path

import pytest

from uniclaw.assets import Assets, default_roots
from uniclaw.errors import UserError
from uniclaw.suites import load_suite
from uniclaw.suites.bundle import TaskBundle
from uniclaw.suites.claw_swe import SweOptions

INSTANCES = Path(__file__).parents[1] / "claw_swe/instances.jsonl"


def row(**changed: object) -> dict[str, object]:
    made = json.loads(INSTANCES.read_text().splitlines()[0])
    made["repository"] = str(INSTANCES.parent / made["repository"])
    return {**made, **changed}


def load(path: Path, **options: object) -> dict[str, TaskBundle]:
    suite = load_suite(
        f"claw-swe:{path}",
        assets=Assets(default_roots(None)),
        swe=SweOptions.model_validate(options),
    )
    assert suite.format == "claw-swe"
    return {bundle.task_id: bundle for bundle in suite.tasks}


def write(path: Path, *lines: object) -> Path:
    texts = (line if isinstance(line, str) else json.dumps(line) for line in lines)
    path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    return path


def refusal(bundle: TaskBundle) -> str:
    (finding,) = (f for f in bundle.findings if f.code == "refused")
    assert not bundle.runnable
    return finding.message


def test_rows_become_tasks_without_their_hidden_side() -> None:
    bundles = load(INSTANCES)
    assert len(bundles) == 4
    for name, bundle in bundles.items():
        found = next(
            r for r in map(json.loads, INSTANCES.read_text().splitlines()) if name in r.values()
        )
        public = bundle.task.model_dump_json() + bundle.brief.model_dump_json()
        for test in json.loads(found["FAIL_TO_PASS"]):
            assert test not in public
        assert found["problem_statement"].splitlines()[0] in bundle.task.instruction
        assert found["base_commit"] in bundle.task.instruction
        assert bundle.task.workspace == "/testbed"
        assert bundle.sources == {}
        assert bundle.runnable
    assert {b.task.domain for b in bundles.values()} == {("python",), ("javascript",), ("c",)}


def test_both_prompt_shapes_hold_the_issue_and_the_rules() -> None:
    long, short = load(INSTANCES), load(INSTANCES, prompt="short")
    for name, bundle in long.items():
        other = short[name].task.instruction
        assert len(other) < len(bundle.task.instruction)
        for text in (other, bundle.task.instruction):
            assert "no network" in text
            assert "existing tests" in text.lower()
    shown = load(INSTANCES, patch_source="model")["textkit__slug-1"].task.instruction
    assert "fenced block" in shown


def test_a_json_array_and_a_single_row_are_read_as_well(tmp_path: Path) -> None:
    array = tmp_path / "rows.json"
    array.write_text(json.dumps([row(), row(instance_id="other-1")]))
    assert list(load(array)) == ["textkit__slug-1", "other-1"]


def test_bad_rows_are_refused_alone(tmp_path: Path) -> None:
    file = write(
        tmp_path / "rows.jsonl",
        row(),
        '{"instance_id": "cut',
        "[1]",
        row(instance_id="../../etc"),
        row(instance_id="short-base", base_commit="abc123"),
        row(instance_id="no-tests", FAIL_TO_PASS="[]"),
        row(instance_id="bad-tests", FAIL_TO_PASS="[1"),
        row(instance_id="no-runner", language="fortran"),
        row(instance_id="no-command", runner="junit"),
        row(instance_id="no-report", test_command="pytest"),
        row(instance_id="gone", repository="nowhere.bundle"),
        row(instance_id="twice"),
        row(instance_id="twice", patch=""),
    )
    bundles = load(file)
    good = bundles.pop("textkit__slug-1")
    assert good.runnable
    said = {name: refusal(bundle) for name, bundle in bundles.items()}
    assert said["row-2"].startswith("row 2 is not JSON")
    assert said["row-3"] == "row 3 is no object"
    assert "instance_id" in said["row-4"]
    assert "base_commit" in said["short-base"]
    assert "FAIL_TO_PASS" in said["no-tests"]
    assert "not a JSON list" in said["bad-tests"]
    assert "fortran" in said["no-runner"]
    assert "test_command" in said["no-command"]
    assert "{report}" in said["no-report"]
    assert "no such file" in said["gone"]
    assert said["twice"] == "the instance stands in rows 12, 13"


def test_an_unresolved_lfs_pointer_is_refused(tmp_path: Path) -> None:
    (tmp_path / "r.bundle").write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\n")
    file = write(tmp_path / "rows.jsonl", row(repository="r.bundle"))
    assert "LFS" in refusal(load(file)["textkit__slug-1"])


@pytest.mark.parametrize("text", ["", "[not json", "\n\n"])
def test_a_file_without_rows_is_the_users_mistake(text: str, tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text(text)
    with pytest.raises(UserError) as error:
        load(file)
    assert error.value.file == str(file)


def test_a_directory_is_no_file_of_rows(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="not a file"):
        load(tmp_path)
