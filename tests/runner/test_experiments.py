"""Experiment files, axes, budgets of runs and cells, and what `plan` says."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from player import run
from pydantic import JsonValue
from suite_builder import RIGHT, write_script, write_task

from uniclaw.assets import Assets, default_roots
from uniclaw.config import Budgets, RunSettings, Spend
from uniclaw.errors import UserError
from uniclaw.experiment import budget_of, cells, plan
from uniclaw.records import Outcome, Task, TaskId
from uniclaw.runner.experiment_file import find_experiment, read_experiment
from uniclaw.runner.ledger import Ledger
from uniclaw.runner.start import outline
from uniclaw.suites import load_suite
from uniclaw.yamlio import parse_yaml

QUICK = "examples/experiments/quick.yaml"


def write(path: Path, document: Mapping[str, JsonValue]) -> Path:
    import json

    path.write_text(json.dumps(document), encoding="utf-8")
    assert parse_yaml(path.read_text(encoding="utf-8")) == document
    return path


def test_a_file_is_played_as_it_says(tmp_path: Path) -> None:
    suite = write_task(tmp_path)
    file = write(
        tmp_path / "x.yaml",
        {
            "name": "x",
            "suite": str(suite),
            "axes": {"executor": ["oracle", "null"], "budget": ["half", "double"]},
            "trials": 2,
            "parallel": {"episodes": 3},
        },
    )
    result = run(file, tmp_path / "runs")
    assert len(result.records) == 8
    assert {r.budget.turn_s for r in result.records} == {30.0, 120.0}
    assert len({(r.task_id, r.cell, r.trial) for r in result.records}) == 8


def test_the_command_line_overrides_the_file(tmp_path: Path) -> None:
    file = write(tmp_path / "x.yaml", {"suite": str(write_task(tmp_path)), "trials": 5})
    assert len(run(file, tmp_path / "runs", trials=1).records) == 1


@pytest.mark.parametrize(
    ("document", "named"),
    [
        ({"trials": 2}, "suite"),
        ({"suite": "s", "trails": 2}, "trails"),
        ({"suite": "s", "axes": {"colour": ["red"]}}, r"axes\.colour"),
        ({"suite": "s", "axes": {"executor": []}}, r"axes\.executor"),
        ({"suite": "s", "axes": {"harness": ["loop"]}}, r"axes\.model"),
        ({"suite": "s", "firewall": "open", "axes": {"firewall": ["coarse"]}}, "firewall"),
        ({"suite": "s", "axes": ["executor"]}, "axes"),
        ({"suite": "s", "parallel": {"gpus": 2}}, r"parallel\.gpus"),
    ],
)
def test_a_file_is_validated_strictly(
    tmp_path: Path, document: Mapping[str, JsonValue], named: str
) -> None:
    with pytest.raises(UserError, match=named):
        read_experiment(write(tmp_path / "x.yaml", document))


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"trials": 0}, "trials"),
        ({"budgets": {"run": {"usd": -1}}}, r"budgets"),
        ({"axes": {"budget": [0]}}, "axes"),
        ({"axes": {"executor": ["oracle", "oracle"]}}, "cell twice"),
        ({"axes": {"temperature": [0.5]}}, "temperature needs a model"),
        ({"languages": ["zh"]}, "languages"),
        ({"axes": {"skills": ["/nowhere/at/all"]}}, "skills"),
        ({"axes": {"firewall": ["none-such"]}}, "none-such"),
    ],
)
def test_an_impossible_matrix_is_refused_before_anything_is_played(
    tmp_path: Path, change: Mapping[str, JsonValue], named: str
) -> None:
    file = write(tmp_path / "x.yaml", {"suite": str(write_task(tmp_path)), **change})
    with pytest.raises(UserError, match=named):
        run(file, tmp_path / "runs")
    assert not (tmp_path / "runs").exists()


def test_every_axis_makes_cells() -> None:
    settings = RunSettings.model_validate(
        {
            "suite": "s",
            "executor": ["loop:scripted/a", "loop:scripted/b"],
            "firewall": ["sealed", "open"],
            "axes": {
                "persona": ["default", "terse"],
                "feedback_rounds": [0, 3],
                "budget": [0.5, 1, 2],
                "temperature": [0, 1],
                "skills": [[], ["x"]],
            },
        }
    )
    found = cells(settings)
    assert len(found) == 2 * 2 * 2 * 2 * 3 * 2 * 2
    assert len({axes.cell for axes in found}) == len(found)


def test_a_factor_scales_the_executors_budgets_and_not_the_rounds() -> None:
    task = Task(
        task_id=TaskId("t"),
        suite="s",
        instruction="x",
        family="f",
        budget={"turn_s": 10, "tokens": 101, "cost_usd": 1.0, "feedback_rounds": 3},  # pyright: ignore[reportArgumentType] - parsed
    )
    settings = RunSettings.model_validate({"suite": "s", "axes": {"budget": [0.5]}})
    budget = budget_of(settings, task, cells(settings)[0])
    assert (budget.turn_s, budget.tokens, budget.cost_usd) == (5.0, 50, 0.5)
    assert budget.feedback_rounds == 3


def test_long_tasks_come_first_and_cells_stand_together(tmp_path: Path) -> None:
    for name, seconds in (("short", 10), ("long", 500), ("middle", 50)):
        suite = write_task(tmp_path, task_id=name, task={"budget": {"executor_s": seconds}})
    settings = RunSettings(suite=str(suite), executor=("oracle", "null"), trials=2)
    planned = plan("r", settings, load_suite(str(suite), assets=Assets(default_roots(None))))
    order = ["long", "long", "middle", "middle", "short", "short"]
    assert [p.bundle.task_id for p in planned] == order * 2
    for first, second in zip(planned[::2], planned[1::2], strict=True):
        assert {first.axes.executor, second.axes.executor} == {"oracle", "null"}


def test_a_run_stops_starting_episodes_when_its_budget_is_used_up(tmp_path: Path) -> None:
    user = write_script(
        tmp_path / "u.yaml", [{"when": {}, "reply": {"json": {"message": "Count again."}}}]
    )
    file = write(
        tmp_path / "x.yaml",
        {
            "suite": str(write_task(tmp_path)),
            "user_simulator": user,
            "trials": 5,
            "parallel": 1,
            "budgets": {"run": {"tokens": 1}},
        },
    )
    result = run(file, tmp_path / "runs")
    assert len(result.records) == 1
    assert result.records[0].outcome is Outcome.PASS
    assert result.exit_code == 1
    assert result.stopped["run"].startswith("tokens: ")
    assert "4 not played (run: tokens" in result.headline


def test_a_cells_budget_stops_that_cell_alone() -> None:
    ledger = Ledger(Budgets(cell=Spend(hours=1)), clock=lambda: 0.0)
    ledger.load([{"cell": "a", "wall_s": 3600.0, "paid": {}}])
    assert ledger.refuses("a") == "hours: 1 of 1 used"
    assert ledger.refuses("b") is None
    assert set(ledger.stopped) == {"a"}


def test_a_budget_in_usd_needs_the_price_of_every_model(tmp_path: Path) -> None:
    document: dict[str, JsonValue] = {
        "suite": str(write_task(tmp_path)),
        "user_simulator": "openai/nobody-knows-this-one",
        "budgets": {"run": {"usd": 1}},
    }
    given = {"suite": str(write(tmp_path / "x.yaml", document)), "runs_dir": tmp_path / "runs"}
    environ = {"OPENAI_API_KEY": "x"}
    with pytest.raises(UserError, match="nobody-knows-this-one"):
        outline(given, environ=environ)
    write(tmp_path / "x.yaml", {**document, "allow_unknown_prices": True})
    assert (
        outline(given, environ=environ).remarks[-1] == "no price for openai/nobody-knows-this-one"
    )


def test_plan_expects_what_was_seen_before_and_else_what_budgets_allow(tmp_path: Path) -> None:
    suite, runs = write_task(tmp_path, rounds=(RIGHT,)), tmp_path / "runs"
    given: dict[str, object] = {
        "suite": str(suite),
        "environment": "process",
        "runs_dir": runs,
        "trials": 3,
    }
    before = outline(given, environ={})
    assert (before.episodes, before.expected.basis) == (3, "bound")
    assert before.remarks[0].startswith("upper bound: some of this was never played here")
    assert before.expected.seconds == 3 * 60 * 3
    run(suite, runs)
    after = outline(given, environ={})
    assert (after.expected.basis, after.expected.usd) == ("history", 0.0)
    assert after.remarks == ()
    assert after.expected.seconds is not None
    assert after.expected.seconds < 60


def test_the_shipped_example_is_sound() -> None:
    assets = Assets(default_roots(None))
    file = find_experiment(QUICK, assets)
    assert file is not None
    found = outline({"suite": str(file)}, environ={})
    assert (found.episodes, len(found.cells), found.expected.usd) == (2 * found.tasks, 2, 0.0)
