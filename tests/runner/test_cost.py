"""A run's cost is computed anew from what it stored."""

import json
from pathlib import Path

import pytest
from player import run
from suite_builder import RIGHT, WRONG, Json, write_script, write_task
from typer.testing import CliRunner

from uniclaw.cli import app
from uniclaw.pricing import ModelPrice, PriceTable, default_prices
from uniclaw.records import Usage
from uniclaw.runner.cost import cost
from uniclaw.store.run_store import RunStore

FEEDBACK: list[Json] = [
    {"when": {}, "reply": {"json": {"message": "I do not think that this is right yet."}}}
]


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One episode of two rounds, with a user simulator that is a model."""
    root = tmp_path_factory.mktemp("cost")
    suite = write_task(root, rounds=(WRONG, RIGHT))
    simulator = write_script(root / "user.yaml", FEEDBACK)
    return run(suite, root / "runs", user_simulator=(simulator,)).root


def _table(price: ModelPrice) -> PriceTable:
    return PriceTable(version="t", source="a test", models={"scripted/*": price})


def test_the_default_table_gives_what_was_counted_during_the_run(played: Path) -> None:
    with RunStore.open(played) as store:
        report = cost(store, default_prices())
    assert report.cost_usd == report.recorded_usd == 0.0
    assert [line.role for line in report.lines] == ["user_simulator"]
    assert report.lines[0].calls == 1


def test_another_table_prices_the_same_usage(played: Path) -> None:
    with RunStore.open(played) as store:
        usage = cost(store, default_prices()).lines[0].usage
        report = cost(
            store, _table(ModelPrice(input=2.0, output=10.0, cache_read=0, cache_write=0))
        )
    assert usage.total > 0
    expected = (2.0 * usage.input + 10.0 * (usage.output + usage.reasoning)) / 1e6
    assert report.cost_usd == pytest.approx(expected)
    assert report.recorded_usd == 0.0


def test_a_model_without_a_price_has_an_unknown_cost_and_is_named(played: Path) -> None:
    empty = PriceTable(version="e", source="a test", models={})
    with RunStore.open(played) as store:
        report = cost(store, empty)
    assert report.cost_usd is None
    assert report.known_usd == 0.0
    assert report.unpriced == (report.lines[0].model,)
    assert report.lines[0].usage != Usage()


def test_the_command_prints_the_report(played: Path, tmp_path: Path) -> None:
    file = tmp_path / "prices.json"
    file.write_text(_table(ModelPrice(input=1e6, output=0)).model_dump_json(), encoding="utf-8")
    arguments = ["cost", "r", "--runs-dir", str(played.parent), "--prices", str(file), "--json"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0
    document = json.loads(result.stdout)
    assert document["cost_usd"] == document["lines"][0]["usage"]["input"]
    assert document["prices"].startswith("t+")
