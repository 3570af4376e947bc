"""Exports: rows in three forms, ATIF trajectories, Inspect logs."""

import csv
import json
import zipfile
from pathlib import Path

import pytest
from player import run
from pydantic import JsonValue
from suite_builder import RIGHT, WRONG, write_script, write_task

from uniclaw.errors import UserError
from uniclaw.runner.export import (
    write_atif,
    write_rows_csv,
    write_rows_jsonl,
    write_rows_parquet,
)
from uniclaw.runner.inspect_log import write_inspect
from uniclaw.store.run_store import RunStore


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two tasks; one of them ends without a score."""
    root = tmp_path_factory.mktemp("export")
    write_task(root, rounds=(WRONG, RIGHT))
    rubric: dict[str, JsonValue] = {
        "threshold": 0.9,
        "checkpoints": [
            {"id": "x", "weight": 1.0, "description": "Polite.", "check": {"kind": "judge"}}
        ],
    }
    suite = write_task(root, task_id="other", rubric=rubric, rounds=(RIGHT,))
    judge = write_script(root / "j.yaml", [{"when": {}, "reply": {"text": "Who knows."}}])
    return run(suite, root / "runs", supervisor=(judge,), max_attempts=1).root


def test_rows_are_written_as_csv_and_json_lines(played: Path, tmp_path: Path) -> None:
    with RunStore.open(played) as store:
        assert write_rows_csv(store, tmp_path / "x.csv") == 2
        assert write_rows_jsonl(store, tmp_path / "x.jsonl") == 2
    with (tmp_path / "x.csv").open(encoding="utf-8", newline="") as file:
        rows = {row["task_id"]: row for row in csv.DictReader(file)}
    assert rows["count"]["final_score"] == "1.0"
    assert rows["count"]["passed"] == "True"
    assert rows["count"]["axes.executor"] == "oracle"
    assert rows["other"]["final_score"] == ""
    lines = [json.loads(x) for x in (tmp_path / "x.jsonl").read_text("utf-8").splitlines()]
    assert {line["outcome"] for line in lines} == {"pass", "judge_error"}


def test_parquet_needs_pyarrow_and_says_so(
    played: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType] - as if absent
    with RunStore.open(played) as store, pytest.raises(UserError, match="pip install pyarrow"):
        write_rows_parquet(store, tmp_path / "x.parquet")


def test_parquet_rows_come_back(played: Path, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="pyarrow is optional")
    import pandas as pd

    with RunStore.open(played) as store:
        write_rows_parquet(store, tmp_path / "x.parquet")
    frame = pd.read_parquet(tmp_path / "x.parquet")  # pyright: ignore[reportUnknownMemberType]
    assert set(frame["task_id"].tolist()) == {"count", "other"}  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType, reportAttributeAccessIssue]


def test_atif_steps_are_numbered_and_results_name_their_calls(played: Path, tmp_path: Path) -> None:
    with RunStore.open(played) as store:
        assert write_atif(store, tmp_path / "atif") == 2
        record = next(r for r in store.episodes() if r.task_id == "count")
    text = (tmp_path / "atif" / f"{record.episode_id}.json").read_text(encoding="utf-8")
    document = json.loads(text)
    steps = document["steps"]
    assert document["schema_version"].startswith("ATIF-v1.")
    assert [s["step_id"] for s in steps] == list(range(1, len(steps) + 1))
    assert [s["source"] for s in steps].count("user") == 2
    for step in steps:
        calls = {c["tool_call_id"] for c in step.get("tool_calls", [])}
        results = step.get("observation", {}).get("results", [])
        assert {r["source_call_id"] for r in results if "source_call_id" in r} <= calls
        assert step["source"] == "agent" or not calls
    assert document["final_metrics"]["total_steps"] == len(steps)
    assert document["extra"]["outcome"] == "pass"
    assert "Vantongeren" not in text


def test_an_inspect_log_holds_a_sample_per_episode(played: Path, tmp_path: Path) -> None:
    path = tmp_path / "x.eval"
    with RunStore.open(played) as store:
        assert write_inspect(store, path) == 2
    with zipfile.ZipFile(path) as archive:
        names = set(archive.namelist())
        header = json.loads(archive.read("header.json"))
        other = json.loads(archive.read("samples/other_epoch_1.json"))
    assert {"_journal/start.json", "summaries.json", "samples/count_epoch_1.json"} <= names
    assert header["results"]["completed_samples"] == 1
    assert other["scores"] == {}
    assert "error" in other


def test_inspects_own_reader_opens_the_log(played: Path, tmp_path: Path) -> None:
    reader = pytest.importorskip("inspect_ai.log", reason="inspect_ai is optional")
    path = tmp_path / "x.eval"
    with RunStore.open(played) as store:
        write_inspect(store, path)
    log = reader.read_eval_log(str(path))
    by_id = {sample.id: sample for sample in log.samples}
    assert by_id["count"].scores["uniclaw"].value == 1.0
    assert by_id["other"].error is not None
