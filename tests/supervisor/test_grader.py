import io
import os
import zipfile
from pathlib import Path

import pytest
from pydantic import JsonValue
from recording import RecordingFactory
from workshop import ROOT, Workshop, call, dump, make_task, one_line, picture

from uniclaw.records import ProbeResult
from uniclaw.supervisor.grader import Grader

PYTHON: dict[str, JsonValue] = {"kind": "python", "function": "check"}


async def answer(shop: Workshop, body: str, files: dict[str, str | bytes | None] | None = None):
    """What a check function with this body makes of some files."""
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    shop.beside("checks.py", f"def check(evidence, references):\n{lines}\n")
    return (await shop.verdict(PYTHON, shop.evidence(files or {}))).lines[0].result


async def test_functions_read_evidence_references_and_sources(shop: Workshop, tmp_path: Path):
    shop.reference("key.json", dump({"n": 3}))
    source = tmp_path / "in.csv"
    source.write_text("a,b\n", "utf-8")
    shop.beside("helper.py", "LIMIT = 3\n")
    shop.beside(
        "checks.py",
        """
import helper
def check(evidence, references, *, wanted):
    facts = {
        "path": evidence.path("a.json").read_text() == '{"n": 3}',
        "absolute": evidence.text("/workspace/results/a.json") == '{"n": 3}',
        "bytes": evidence.text("bad.txt") == "x\\ufffd",
        "mark": evidence.json("mark.json") == 1,
        "json": evidence.json("a.json") == references.json("references/key.json"),
        "nan": evidence.json("nan.json") is None,
        "missing": evidence.json("none.json") is None and evidence.path("none") is None,
        "directory": evidence.path("folder") is None,
        "escape": evidence.path("../../../etc/passwd") is None,
        "glob": evidence.glob("*.json") == [
            "/workspace/results/a.json", "/workspace/results/mark.json",
            "/workspace/results/nan.json"],
        "source": evidence.source("data/in.csv").read_text() == "a,b\\n",
        "no source": evidence.source("../jobs.json") is None and evidence.source("x") is None,
        "changed": evidence.changed("a.json") and not evidence.changed("none"),
        "events": evidence.events[0]["arguments"]["command"] == "ls",
        "message": evidence.final_message == "the end",
        "probe": evidence.probe("db")["stdout"] == "ok" and evidence.probe("x") is None,
        "reference": references.path("references/key.json").is_file(),
        "helper": helper.LIMIT == wanted,
        "round": evidence.round == 0,
    }
    wrong = sorted(name for name, held in facts.items() if not held)
    return {"value": 0.0 if wrong else 1.0, "reason": str(wrong), "evidence": ["a.json"]}
""",
    )
    evidence = shop.evidence(
        {
            "a.json": '{"n": 3}',
            "bad.txt": b"x\xff",
            "nan.json": "NaN",
            "mark.json": b"\xef\xbb\xbf1",
            "folder": None,
        },
        events=call(0, "ls"),
        message="the end",
        probes=[ProbeResult(id="db", exit_code=0, stdout="ok")],
    )
    verdict = await shop.verdict(
        {**PYTHON, "args": {"wanted": 3}}, evidence, sources={"data/in.csv": source}
    )
    result = verdict.lines[0].result
    assert (result.value, result.reason) == (1.0, "[]")
    assert result.evidence == ("a.json",)


@pytest.mark.parametrize(
    ("body", "value"),
    [
        ("return True", 1.0),
        ("return False", 0.0),
        ("return 0.25", 0.25),
        ("return 1", 1.0),
        ("return {'value': 0.5}", 0.5),
        ("return {'value': True, 'reason': 'r'}", 1.0),
    ],
)
async def test_values_of_functions(shop: Workshop, body: str, value: float):
    assert (await answer(shop, body)).value == value


@pytest.mark.parametrize(
    "body",
    [
        "return float('nan')",
        "return float('inf')",
        "return 1e309",
        "return -1",
        "return 85",
        "return 1.0001",
        "return '0.9'",
        "return None",
        "return [1]",
        "return {}",
        "return {'value': None}",
        "return {'value': 1, 'score': 1}",
        "return {'value': 1, 'reason': 3}",
        "return {'value': 1, 'evidence': 'a'}",
        "return object()",
        "return {'value': {1}}",
    ],
)
async def test_fault_30_values_out_of_range_are_refused_not_clamped(shop: Workshop, body: str):
    result = await answer(shop, body)
    assert result.value is None
    assert "the check function returned" in result.reason


async def test_fault_U1_nan_score_is_rejected(shop: Workshop):
    shop.beside("checks.py", "def check(evidence, references):\n    return float('nan')\n")
    verdict = await shop.verdict(PYTHON, shop.evidence({}))
    assert verdict.score is None
    assert verdict.reason is not None
    assert verdict.decision == "fail"


async def test_a_function_that_breaks_on_the_evidence_costs_the_attempt(shop: Workshop):
    for body, words in [
        ("return evidence.json('o.json')['total'] == 3", "TypeError"),
        ("raise SystemExit(0)", "SystemExit"),
        ("import os\nos._exit(0)", "died"),
        ("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)", "signal 9"),
        ("def deeper(n): return deeper(n)\nreturn deeper(0)", "RecursionError"),
    ]:
        result = await answer(shop, body)
        assert result.value == 0.0, body
        assert words in result.reason


async def test_a_function_that_breaks_on_the_evidence_fires_its_cap_and_is_flagged(shop: Workshop):
    shop.beside("checks.py", "def check(evidence, references):\n    return {}['x']\n")
    rubric = one_line({"kind": "file", "path": "a"})
    rubric["caps"] = [{"id": "k", "max": 0.5, "description": "d", "when": PYTHON}]
    evidence = shop.evidence({"a": "x"})
    verdict = await shop.supervisor(rubric).supervise(evidence, rounds_left=0)
    assert verdict.score == 0.5
    assert verdict.flags == ("check-error:k",)


async def test_a_file_that_does_not_load_is_nobodys_score(shop: Workshop):
    for text in ("import no_such_module_here", "raise RuntimeError('at import')"):
        shop.beside("checks.py", f"{text}\ndef check(evidence, references): return 1\n")
        result = (await shop.verdict(PYTHON, shop.evidence({}))).lines[0].result
        assert result.value is None
        assert "cannot be loaded" in result.reason


async def test_a_function_that_hangs_is_stopped_and_the_others_answer(shop: Workshop):
    shop.beside(
        "checks.py",
        "import subprocess, time\n"
        "def check(evidence, references):\n"
        "    subprocess.Popen(['sleep', '300'])\n"
        "    time.sleep(300)\n"
        "def fine(evidence, references):\n    print('x' * 100000, flush=True)\n    return 1\n",
    )
    slow: dict[str, JsonValue] = {**PYTHON, "timeout_s": 1}
    fine: dict[str, JsonValue] = {"kind": "python", "function": "fine"}
    both: dict[str, JsonValue] = {"kind": "all", "of": [slow, fine], "mean": True}
    result = (await shop.verdict(both, shop.evidence({}))).lines[0].result
    assert result.value == 0.5
    assert "stopped after 1 s" in result.reason


async def test_functions_cannot_be_answered_for_by_what_they_print(shop: Workshop):
    result = await answer(
        shop,
        'import sys\nprint(\'\\n\' + sys.argv[2] + \' [{"index": 0, "status": "done", '
        '"value": 1}]\', flush=True)\nreturn 0',
    )
    assert result.value == 0.0


async def test_all_jobs_of_a_round_take_one_copy_and_one_command(
    shop: Workshop, factory: RecordingFactory
):
    shop.reference("key.json", "{}")
    shop.beside("checks.py", "def check(evidence, references):\n    return 1\n")
    check: dict[str, JsonValue] = {"kind": "all", "of": list[JsonValue]([PYTHON] * 12)}
    supervisor = shop.supervisor(one_line(check))
    for _ in range(3):
        verdict = await supervisor.supervise(shop.evidence({"a": "x"}), rounds_left=1)
        assert verdict.score == 1.0
    (environment,) = factory.started
    assert len(environment.execs) == len(environment.puts) == 3
    assert any("references" in path for path in environment.puts[0])
    assert not any("references" in path for path in environment.puts[1])
    assert environment.spec.labels == {"uniclaw.run": "test"}
    left = await environment.inner.exec("ls", cwd="/grader")
    assert b"round-" not in left.stdout


async def test_rubrics_that_need_no_grader_start_nothing(shop: Workshop, factory: RecordingFactory):
    await shop.verdict({"kind": "file", "path": "a"}, shop.evidence({"a": "x"}))
    assert factory.started == []


async def test_a_lost_grader_is_replaced_once(shop: Workshop, factory: RecordingFactory):
    shop.beside("checks.py", "def check(evidence, references):\n    return 1\n")
    factory.lose = 1
    assert (await shop.verdict(PYTHON, shop.evidence({}))).score == 1.0
    assert [e.closed for e in factory.started] == [True, False]
    factory.lose = 2
    verdict = await shop.verdict(PYTHON, shop.evidence({}))
    assert verdict.score is None
    assert "it vanished" in (verdict.reason or "")
    factory.refuse = 2
    assert (await shop.verdict(PYTHON, shop.evidence({}))).score is None


async def test_closing_twice_is_fine(factory: RecordingFactory):
    grader = Grader(factory=factory, image="base")
    await grader.close()
    await grader.close()


def workbook(rows: list[list[str]], *, sheet: str = "Data") -> bytes:
    """A workbook whose cells are given as XML."""
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    relation = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006/relationships"
    body = "".join(f'<row r="{i + 1}">{"".join(cells)}</row>' for i, cells in enumerate(rows))
    parts = {
        "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{relation}"><sheets>'
        f'<sheet name="Other" sheetId="1" r:id="r2"/><sheet name="{sheet}" sheetId="2" r:id="r1"/>'
        "</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{package}">'
        '<Relationship Id="r1" Target="worksheets/sheet1.xml" Type="t"/>'
        '<Relationship Id="r2" Target="/xl/worksheets/sheet2.xml" Type="t"/></Relationships>',
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{main}"><sheetData>{body}</sheetData>'
        "</worksheet>",
        "xl/worksheets/sheet2.xml": f'<worksheet xmlns="{main}"><sheetData/></worksheet>',
        "xl/sharedStrings.xml": f'<sst xmlns="{main}"><si><t>id</t></si><si><r><t>am</t></r>'
        "<r><t>ount</t></r></si><si><t>day</t></si></sst>",
        "xl/styles.xml": f'<styleSheet xmlns="{main}"><numFmts><numFmt numFmtId="170" '
        'formatCode="yyyy\\-mm\\-dd"/></numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="170"/>'
        "</cellXfs></styleSheet>",
    }
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    return stream.getvalue()


SHEET = [
    [
        '<c r="A1" t="s"><v>0</v></c>',
        '<c r="B1" t="s"><v>1</v></c>',
        '<c r="D1" t="s"><v>2</v></c>',
    ],
    [
        '<c r="A2"><v>1</v></c>',
        '<c r="B2"><f>2*5.25</f><v>10.5</v></c>',
        '<c r="D2" s="1"><v>45292</v></c>',
    ],
    [
        '<c r="A3" t="inlineStr"><is><t>two</t></is></c>',
        '<c r="B3" t="b"><v>1</v></c>',
        '<c r="D3" s="1"><v>45292.75</v></c>',
    ],
]


async def test_workbooks_are_read_in_the_grader_environment(
    shop: Workshop, factory: RecordingFactory
):
    check: dict[str, JsonValue] = {
        "kind": "csv",
        "path": "t.xlsx",
        "sheet": "Data",
        "columns": ["id", "amount", "day"],
        "rows": 2,
        "cells": [
            {"where": {"id": 1}, "column": "amount", "value": 10.5},
            {"where": {"id": 1}, "column": "day", "value": "2024-01-01"},
            {"where": {"id": "two"}, "column": "amount", "value": True},
            {"where": {"id": "two"}, "column": "day", "value": "2024-01-01 18:00:00"},
        ],
    }
    good = shop.evidence({"t.xlsx": workbook(SHEET)})
    result = (await shop.verdict(check, good)).lines[0].result
    assert result.value == 1.0, result.reason
    assert len(factory.started) == 1
    for data, words in [
        (workbook(SHEET, sheet="Else"), "no sheet"),
        (b"no zip at all", "no readable workbook"),
        (workbook(SHEET)[:400], "no readable workbook"),
    ]:
        result = (await shop.verdict(check, shop.evidence({"t.xlsx": data}))).lines[0].result
        assert result.value == 0.0
        assert words in result.reason
    missing = (await shop.verdict(check, shop.evidence({}))).lines[0].result
    assert missing.value == 0.0


async def test_workbooks_that_declare_entities_are_refused(shop: Workshop):
    stream = io.BytesIO(workbook(SHEET))
    with zipfile.ZipFile(stream, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("xl/workbook.xml", '<!DOCTYPE x [<!ENTITY a "b">]><workbook/>')
    check: dict[str, JsonValue] = {"kind": "csv", "path": "t.xlsx", "rows": 2}
    evidence = shop.evidence({"t.xlsx": stream.getvalue()})
    assert "entities" in (await shop.verdict(check, evidence)).lines[0].result.reason


async def test_ocr_without_tesseract_is_undecided(
    shop: Workshop, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "python3").symlink_to(os.path.realpath("/proc/self/exe"))
    monkeypatch.setenv("PATH", str(tools))
    check: dict[str, JsonValue] = {"kind": "image", "path": "a.png", "ocr_contains": ["Total"]}
    result = (await shop.verdict(check, shop.evidence({"a.png": picture()}))).lines[0].result
    assert result.value is None
    assert "tesseract" in result.reason


async def test_ocr_text_is_compared(
    shop: Workshop, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    """A stand-in for tesseract, as the real one is in the environment images only."""
    tools = tmp_path / "tools"
    tools.mkdir()
    program = tools / "tesseract"
    program.write_text('#!/bin/sh\ntest -f "$1" && echo "TOTAL: 1,234.50 ($4)"\n', "utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    check: dict[str, JsonValue] = {
        "kind": "image",
        "path": "a.png",
        "ocr_contains": ["total", 1234.5, "(chi_sim)"],
        "ocr_language": "chi_sim",
    }
    result = (await shop.verdict(check, shop.evidence({"a.png": picture()}))).lines[0].result
    assert result.value == 1.0, result.reason


async def test_what_stands_in_the_root_of_another_artifact_root_is_found(shop: Workshop):
    task = make_task().model_copy(update={"artifact_roots": (ROOT, "/workspace/extra")})
    evidence = shop.evidence({"/workspace/extra/x.txt": "here"}, task=task)
    check: dict[str, JsonValue] = {
        "kind": "text",
        "path": "/workspace/extra/x.txt",
        "contains": ["here"],
    }
    assert (await shop.verdict(check, evidence)).score == 1.0
