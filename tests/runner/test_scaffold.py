"""Skeletons: what `uniclaw new` writes works as it is, and replaces nothing."""

from pathlib import Path

import pytest
from player import only, run
from typer.testing import CliRunner

from uniclaw.assets import Assets, default_roots
from uniclaw.cli import app
from uniclaw.environments.recipe import load_recipe
from uniclaw.errors import UserError
from uniclaw.firewall.policy import load_policy
from uniclaw.harnesses.command import load_template
from uniclaw.records import Outcome
from uniclaw.runner.scaffold import scaffold
from uniclaw.runner.validate import Plan, validate_suite


def _assets(*roots: Path) -> Assets:
    return Assets((*roots, *default_roots(None)))


def _quiet(_: str) -> None: ...


def test_a_new_task_validates_and_is_passed_after_one_round_of_feedback(tmp_path: Path) -> None:
    suite = tmp_path / "examples" / "mine"
    written = scaffold("task", "my-task", _assets(), root=tmp_path, suite=suite)
    assert all(path.is_file() for path in written)
    report = validate_suite(str(suite), Plan(environment="process"), notify=_quiet)
    assert report.ok, report.document()
    record = only(run(suite, tmp_path / "runs", user_simulator=("template",)))
    assert record.outcome is Outcome.PASS
    assert len(record.rounds) == 2


def test_a_second_task_joins_the_suite_and_its_rubric_root(tmp_path: Path) -> None:
    (tmp_path / "rubrics").mkdir()
    suite = tmp_path / "examples" / "mine"
    scaffold("task", "one", _assets(), root=tmp_path, suite=suite)
    scaffold("task", "two", _assets(), root=tmp_path, suite=suite)
    for name in ("one", "two"):
        assert (tmp_path / "rubrics" / "mine" / name / "rubric.yaml").is_file()
    report = validate_suite(str(suite), Plan(play=False), notify=_quiet)
    assert report.ok


def test_a_new_rubric_replaces_a_task_s_hidden_side_and_validates(tmp_path: Path) -> None:
    suite = tmp_path / "mine"
    for path in scaffold("task", "one", _assets(), root=tmp_path, suite=suite):
        if "mine-rubrics" in path.parts:
            path.unlink()
    scaffold("rubric", "one", _assets(), root=tmp_path, suite=suite)
    report = validate_suite(str(suite), Plan(environment="process"), notify=_quiet)
    assert report.ok, report.document()


def test_a_persona_a_policy_and_a_harness_load(tmp_path: Path) -> None:
    for kind in ("persona", "policy", "harness"):
        scaffold(kind, "fresh", _assets(), root=tmp_path, suite=None)
    assets = _assets(tmp_path)
    assert load_policy("fresh", assets).name == "fresh"
    assert assets.read_text("roles/personas/fresh.zh.md").strip()
    assert load_template("fresh", assets).first.argv == ("fresh",)
    assert load_recipe("fresh", tmp_path / "environments" / "harness" / "fresh").steps


def test_nothing_that_exists_is_replaced(tmp_path: Path) -> None:
    suite = tmp_path / "mine"
    scaffold("task", "one", _assets(), root=tmp_path, suite=suite)
    task = suite / "one" / "task.yaml"
    task.write_text("mine: true\n", encoding="utf-8")
    with pytest.raises(UserError, match="exists already"):
        scaffold("task", "one", _assets(), root=tmp_path, suite=suite)
    assert task.read_text(encoding="utf-8") == "mine: true\n"


@pytest.mark.parametrize("name", ["../up", "a/b", "", ".hidden", "x\0y"])
def test_a_name_that_leaves_its_place_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UserError):
        scaffold("task", name, _assets(), root=tmp_path, suite=tmp_path / "mine")
    assert list(tmp_path.iterdir()) == []


def test_a_task_without_a_suite_is_the_user_s_mistake() -> None:
    result = CliRunner().invoke(app, ["new", "task", "x"])
    assert isinstance(result.exception, UserError)
