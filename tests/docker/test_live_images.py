"""A browser task and a desktop task, played for real by the oracle, and filmed. Heavy images."""

import json
import subprocess
from pathlib import Path

import pytest
from player import only, run
from pydantic import JsonValue
from suite_builder import write_task

from uniclaw.assets import Assets, default_roots
from uniclaw.environments.images import Images
from uniclaw.episode.staging import Recording
from uniclaw.records import Outcome

pytestmark = [pytest.mark.docker, pytest.mark.slow, pytest.mark.timeout(900)]

PAGE = """<meta charset=utf-8><title>Harbour</title><form action=/><label for=q>Boat</label>
<input id=q name=q><button>Ask</button></form><p id=a></p>
<script>const q=new URLSearchParams(location.search).get('q');
if(q)a.innerText=q==='ada'?'berth 7':'unknown';</script>"""

BROWSER = """(setsid python3 -m http.server -d sources 8031 > /dev/null 2>&1 < /dev/null &)
until curl -s -o /dev/null http://localhost:8031/; do :; done
#---
browse open http://localhost:8031/ && browse type '#q' {boat} && browse click text=Ask
#---
browse text '#a' > results/answer.txt && browse screenshot results/page.png
#: It is written down.
"""
DESKTOP = """soffice --headless --convert-to xlsx --outdir results sources/boats.csv
#---
desk start soffice --norestore --nologo --calc results/boats.xlsx && desk wait boats.xlsx
#---
desk click B4 --role 'table cell' && desk type '{formula}' && desk key Return ctrl+s
#---
desk screenshot results/desk.png && desk close boats.xlsx
#: The sum stands in B4.
"""


def _build(name: str) -> None:
    Images(Assets(default_roots(None))).build(name)


def _seconds(film: Path) -> float:
    """By the recorder's own image: this machine may have no ffprobe."""
    tag = Images(Assets(default_roots(None))).resolve("office").tag
    command = ["docker", "run", "--rm", "-i", "--network", "none", tag]
    probe = ["ffprobe", "-v", "error", "-show_entries", "format=duration", "-of", "csv=p=0", "-"]
    with film.open("rb") as data:
        done = subprocess.run([*command, *probe], stdin=data, capture_output=True, check=True)
    said = done.stdout.decode().strip()
    return float(said) if said not in {"", "N/A"} else 0.0


def _recording(root: Path, number: int) -> Recording:
    path = root / "rounds" / str(number) / "recording.json"
    return Recording.model_validate(json.loads(path.read_text(encoding="utf-8")))


def _line(check: JsonValue) -> JsonValue:
    return {
        "threshold": 1.0,
        "checkpoints": [{"id": "right", "weight": 1.0, "description": "Right.", "check": check}],
    }


def test_a_browser_task_is_played_and_filmed(tmp_path: Path, unique: str) -> None:
    _build("browser")
    right: JsonValue = {
        "kind": "all",
        "of": [
            {"kind": "text", "path": "answer.txt", "contains": ["berth 7"]},
            {"kind": "image", "path": "page.png", "min_width": 800, "ocr_contains": ["berth 7"]},
        ],
    }
    rubric = _line(right)
    assert isinstance(rubric, dict)
    suite = write_task(
        tmp_path,
        task={"environment": "browser", "recording": "high"},
        rubric=rubric,
        rounds=(BROWSER.format(boat="bo"), BROWSER.format(boat="ada")),
        sources={"index.html": PAGE.encode()},
    )
    result = run(suite, tmp_path / "runs", environment="docker", run=unique)
    record = only(result)
    assert record.outcome is Outcome.PASS, record.reason
    assert len(record.rounds) == 2
    root = result.root / "episodes" / record.episode_id
    recording = _recording(root, 1)
    assert recording.problem is None
    assert recording.file == "rounds/1/recording.mp4"
    assert _seconds(root / recording.file) > 0.2


def test_a_desktop_task_is_played_and_filmed(tmp_path: Path, unique: str) -> None:
    _build("desktop")
    right: JsonValue = {
        "kind": "csv",
        "path": "boats.xlsx",
        "cells": [{"where": {"boat": "all"}, "column": "metres", "value": 31.5, "abs_tol": 0.01}],
    }
    rubric = _line(right)
    assert isinstance(rubric, dict)
    suite = write_task(
        tmp_path,
        task={
            "environment": "desktop",
            "recording": "high",
            "budget": {"turn_s": 120, "feedback_rounds": 1},
        },
        rubric=rubric,
        rounds=(DESKTOP.format(formula="=SUM(B2:B2)"), DESKTOP.format(formula="=SUM(B2:B3)")),
        sources={"boats.csv": b"boat,metres\nada,12.5\nbo,19\nall,\n"},
    )
    result = run(suite, tmp_path / "runs", environment="docker", run=unique)
    record = only(result)
    root = result.root / "episodes" / record.episode_id
    assert record.outcome is Outcome.PASS, record.reason
    assert len(record.rounds) == 2
    for number in (0, 1):
        recording = _recording(root, number)
        assert recording.problem is None
        assert recording.session_problem is None
        assert recording.file is not None
        assert _seconds(root / recording.file) > 1.0
