"""A run as a document."""

import csv
import io
import json
import re
from pathlib import Path

import pytest
from player import run
from pydantic import JsonValue
from row_builder import row
from suite_builder import RIGHT, WRONG, write_script, write_task
from typer.testing import CliRunner

from uniclaw.assets import Assets, default_roots
from uniclaw.cli import app
from uniclaw.errors import UserError
from uniclaw.report.axes import short, varying_axes
from uniclaw.report.build import build_report
from uniclaw.report.model import Report, Table
from uniclaw.report.write import FORMATS, to_csv, to_html, to_latex, to_markdown, write_report
from uniclaw.statistics.stored import write_rows

ASSETS = Assets(default_roots(None))
HOSTILE = "<script>alert(1)</script> & 50% of_it #1 | x"


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two tasks under two policies, with feedback from a model."""
    root = tmp_path_factory.mktemp("report")
    write_task(root, rounds=(WRONG, RIGHT))
    suite = write_task(root, task_id="other", task={"capability": "search"}, rounds=(WRONG,))
    answer: dict[str, JsonValue] = {
        "when": {},
        "reply": {"json": {"message": "I do not think this is right yet."}},
    }
    user = write_script(root / "u.yaml", [answer])
    policies = ("coarse", "open")
    return run(suite, root / "runs", user_simulator=(user,), firewall=policies).root


@pytest.fixture(scope="module")
def report(played: Path) -> Report:
    return build_report(played, ASSETS, resamples=500)


def test_a_report_has_what_a_paper_needs(report: Report) -> None:
    tables = {table.name: table for table in report.tables}
    assert {"results", "by-capability", "comparisons", "rounds", "missing", "leaks"} <= set(tables)
    assert [r[:3] for r in tables["results"].rows] == [
        ("oracle", "–", "coarse"),
        ("oracle", "–", "open"),
    ]
    assert tables["results"].rows[0][4].startswith("0.500")
    assert {"average-score", "pass-rate", "rounds"} <= {figure.name for figure in report.figures}
    assert [row[0] for row in tables["leaks"].rows] == ["coarse", "open"]


def test_the_methods_name_what_shaped_the_results(report: Report) -> None:
    text = " ".join(report.methods)
    for part in ("oracle", "coarse, open", "scripted/u.yaml", "seed 0", "uniclaw 0.1.0", "process"):
        assert part in text, part
    assert str(Path.home()) not in text


def test_every_form_is_written_and_agrees(report: Report, tmp_path: Path) -> None:
    files = write_report(report, tmp_path / "out", FORMATS)
    names = {str(path.relative_to(tmp_path / "out")) for path in files}
    for name in ("report.html", "report.md", "tables/results.tex", "tables/results.csv"):
        assert name in names
    for ending in ("svg", "png", "pdf", "csv", "vl.json"):
        assert f"figures/pass-rate.{ending}" in names
    assert (tmp_path / "out/figures/pass-rate.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "out/figures/pass-rate.pdf").read_bytes().startswith(b"%PDF")
    rate = report.tables[0].rows[0][4]
    for name in ("report.html", "report.md", "tables/results.tex", "tables/results.csv"):
        assert rate in (tmp_path / "out" / name).read_text(encoding="utf-8"), name
    linked = re.findall(r"\]\((figures/[^)]+)\)", (tmp_path / "out/report.md").read_text("utf-8"))
    assert linked
    assert all((tmp_path / "out" / name).is_file() for name in linked)


def test_a_figure_comes_with_its_data(report: Report) -> None:
    figure = next(f for f in report.figures if f.name == "pass-rate")
    assert [r["cell"] for r in figure.rows] == ["oracle · coarse", "oracle · open"]
    assert [r["value"] for r in figure.rows] == [0.5, 0.5]


def test_the_html_loads_nothing_and_runs_nothing(report: Report) -> None:
    text = to_html(report, {figure.name: "<svg></svg>" for figure in report.figures})
    assert "default-src 'none'" in text
    assert "<script" not in text
    assert "http" not in re.sub(r'http-equiv="[^"]*"|xmlns="[^"]*"', "", text)


def test_names_from_outside_stay_text_in_every_form() -> None:
    table = Table(
        name="t",
        title=HOSTILE,
        columns=("a", "b"),
        numeric=(False, True),
        rows=((HOSTILE, "=1+1"),),
    )
    report = Report(title=HOSTILE, summary=(), methods=(), tables=(table,), figures=())
    assert "<script>" not in to_html(report, {})
    assert "<script>" not in to_markdown(report).partition("\n")[2].replace(f"## {HOSTILE}", "")
    latex = to_latex(table)
    assert r"50\% of\_it \#1" in latex
    (_, line) = csv.reader(io.StringIO(to_csv(table).decode()))
    assert line == [HOSTILE, "'=1+1"]


def test_imported_rows_are_reported_without_what_they_do_not_hold(tmp_path: Path) -> None:
    rows = [
        row(f"t{i}", harness=harness, model="m", cell=harness, passed=bool(i % 2), run="imp")
        for i in range(12)
        for harness in ("a", "b")
    ]
    write_rows(tmp_path / "imp", rows)
    report = build_report(tmp_path / "imp", ASSETS, resamples=500)
    assert "imported" in " ".join(report.methods)
    assert "rounds" not in {table.name for table in report.tables}
    assert "leaks" not in {table.name for table in report.tables}


def test_the_command_writes_and_prints(played: Path, tmp_path: Path) -> None:
    words = ["report", "r", "--runs-dir", str(played.parent), "--out", str(tmp_path / "o")]
    result = CliRunner().invoke(app, [*words, "--format", "md", "--resamples", "300", "--json"])
    assert result.exit_code == 0, result.output
    document = json.loads(result.stdout)
    assert document["tables"][0]["name"] == "results"
    assert any(name.endswith("report.md") for name in document["files"])
    assert not (tmp_path / "o" / "report.html").exists()


@pytest.mark.parametrize("extra", [["--format", "docx"], ["--score", "mean"], ["--format", ""]])
def test_a_form_that_is_none_is_the_user_s_mistake(
    played: Path, tmp_path: Path, extra: list[str]
) -> None:
    words = ["report", "r", "--runs-dir", str(played.parent), "--out", str(tmp_path / "o")]
    result = CliRunner().invoke(app, [*words, *extra])
    assert isinstance(result.exception, UserError)
    assert not (tmp_path / "o").exists()


def test_files_of_models_are_named_without_their_place() -> None:
    assert short("scripted//home/someone/x.yaml") == "scripted/x.yaml"
    assert short("openai/org/model") == "openai/org/model"


def test_cells_that_the_axes_would_pool_are_told_apart() -> None:
    rows = [row("t", cell=cell, harness="h", model="m") for cell in ("one", "two")]
    assert varying_axes(rows) == ("cell",)
