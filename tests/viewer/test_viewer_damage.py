"""Bad input gives a clear page and never an error of the server."""

import json
import os
import shutil
import sqlite3
from pathlib import Path

import pytest
from stage import client, copied, episodes, rewrite

from uniclaw.records import Event, EventKind
from uniclaw.viewer.access import Folder, NoSuchPage

PAGES = (
    "",
    "/episodes",
    "/matrix",
    "/tasks",
    "/tasks/count",
    "/compare",
    "/ablation",
    "/live.json",
)


@pytest.fixture
def mine(runs: Path, tmp_path: Path) -> Path:
    """Runs that may be damaged."""
    return copied(runs, tmp_path)


def folder(mine: Path) -> Path:
    return mine / "main" / "episodes" / episodes(mine)[0]


@pytest.mark.parametrize("damage", ["nothing", "garbage", "cut", "tables", "newer", "directory"])
def test_a_damaged_database_is_a_clear_page(mine: Path, damage: str) -> None:
    file = mine / "main" / "run.sqlite"
    for more in mine.glob("main/run.sqlite-*"):
        more.unlink()
    if damage == "nothing":
        file.write_bytes(b"")
    elif damage == "garbage":
        file.write_bytes(os.urandom(50_000))
    elif damage == "cut":
        file.write_bytes(file.read_bytes()[:9_000])
    elif damage == "directory":
        file.unlink()
        file.mkdir()
    else:
        with sqlite3.connect(file) as db:
            if damage == "tables":
                db.execute("DROP TABLE episodes")
            else:
                db.execute("UPDATE meta SET value = '99' WHERE key = 'schema_version'")
        db.close()
    app = client(mine)
    assert app.get("/").status_code == 200
    for page in PAGES:
        answer = app.get(f"/r/main{page}")
        assert answer.status_code in (200, 404, 409), (page, answer.status_code)
    if damage == "newer":
        assert "newer UniClaw" in app.get("/r/main").text
        assert "newer UniClaw" in app.get("/").text


@pytest.mark.parametrize(
    "name",
    [
        "episode.json",
        "trajectory.jsonl",
        "rounds/0/view-0.json",
        "rounds/0/frozen.json",
        "rounds/0/turn.json",
        "rounds/0/verdict.json",
    ],
)
@pytest.mark.parametrize("damage", ["missing", "garbage", "binary", "link", "pipe"])
def test_a_damaged_file_of_an_episode_is_said(mine: Path, name: str, damage: str) -> None:
    file = folder(mine) / name
    data = file.read_bytes()
    file.unlink()
    if damage == "garbage":
        file.write_bytes(data[: len(data) // 2])
    elif damage == "binary":
        file.write_bytes(b"\xff\x00{[" * 100)
    elif damage == "link":
        file.symlink_to("/etc/passwd")
    elif damage == "pipe":
        os.mkfifo(file)
    app = client(mine)
    for lens in ("", "executor", "simulator", "supervisor", "referee"):
        answer = app.get(f"/r/main/e/{file.relative_to(mine).parts[2]}?lens={lens}")
        assert answer.status_code == 200
        assert "root:" not in answer.text
    if name == "episode.json":
        assert "note warn" in app.get(f"/r/main/e/{folder(mine).name}").text


def test_an_episode_of_a_newer_version_says_so(mine: Path) -> None:
    rewrite(folder(mine) / "episode.json", schema_version=99, wonder="new")
    text = client(mine).get(f"/r/main/e/{folder(mine).name}").text
    assert "schema version 99" in text
    assert "Round 0" in text


def test_a_trajectory_of_50_mb_is_cut_and_says_how_much_is_left(mine: Path) -> None:
    file = folder(mine) / "trajectory.jsonl"
    with file.open("w", encoding="utf-8") as out:
        for number in range(2_000):
            size = 6_000_000 if number == 5 else 24_000
            event = Event(
                id=f"r0.e{number}",
                round=0,
                kind=EventKind.TOOL_RESULT,
                role="tool",
                text="<b>&'" * (size // 5),
            )
            out.write(event.model_dump_json() + "\n")
        out.write('{"id": "r0.e9999", "round": 0, "kind": "mess')
    app = client(mine)
    answer = app.get(f"/r/main/e/{folder(mine).name}")
    assert answer.status_code == 200
    assert len(answer.content) < 300_000
    assert "more events are not on this page" in answer.text
    page = app.get(f"/r/main/e/{folder(mine).name}/events/0?at=r0.e1234")
    assert 'id="r0.e1234"' in page.text
    assert len(page.content) < 300_000
    first = app.get(f"/r/main/e/{folder(mine).name}/events/0")
    assert "Too large to be shown" in first.text
    assert len(app.get(f"/r/main/e/{folder(mine).name}/event/r0.e5").content) > 5_000_000


def test_no_link_and_no_climbing_leads_out_of_the_runs(mine: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "s.txt").write_text("TOPSECRET", encoding="utf-8")
    (mine / "linked").symlink_to(mine / "main")
    evidence = folder(mine) / "evidence" / "0"
    (evidence / "link.txt").symlink_to(secret / "s.txt")
    (evidence / "dir").symlink_to(secret)
    app = client(mine)
    assert "linked" not in app.get("/").text
    base = f"/r/main/e/{folder(mine).name}"
    for address in (
        "/r/linked",
        f"{base}/raw/0/link.txt",
        f"{base}/raw/0/dir/s.txt",
        f"{base}/preview/0/dir/s.txt",
        f"{base}/raw/0/../../episode.json",
        f"{base}/raw/0/%2e%2e/%2e%2e/episode.json",
        f"{base}/raw/0/..%2f..%2fepisode.json",
        f"{base}/raw/0//etc/passwd",
        f"{base}/raw/0/%00",
        f"{base}/raw/999/x",
        f"{base}/image/r0.e0/0",
        "/r/..%2f..%2fsecret",
        "/r/main/e/..%2f..",
        "/static/..%2fapp.py",
        "/pair?a=main/../x&b=main/y",
    ):
        answer = app.get(address)
        assert answer.status_code in (403, 404), (address, answer.status_code)
        assert "TOPSECRET" not in answer.text
        assert '"schema_version"' not in answer.text


def test_a_folder_reads_regular_files_inside_alone(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "f").write_text("abc", encoding="utf-8")
    inside = Folder(tmp_path)
    assert inside.read("a/f", 2).cut
    assert inside.read("a/f", 3).text == "abc"
    for bad in (
        "",
        "/a/f",
        "a//f",
        "../x",
        "a/../a/f",
        "a",
        "a/f/x",
        "nothing",
        "a/\0",
        "x" * 5000,
    ):
        with pytest.raises(NoSuchPage):
            inside.read(bad, 10)


def test_a_deleted_artifact_and_a_deleted_episode_are_clear_pages(mine: Path) -> None:
    app = client(mine)
    name = folder(mine).name
    shutil.rmtree(folder(mine) / "evidence")
    assert app.get(f"/r/main/e/{name}").status_code == 200
    gone = app.get(f"/r/main/e/{name}/preview/0/workspace/results/out.json")
    assert gone.status_code == 404
    assert "not there" in gone.text
    shutil.rmtree(folder(mine))
    assert app.get(f"/r/main/e/{name}").status_code == 200


def test_a_run_that_disappears_while_it_is_open(mine: Path) -> None:
    app = client(mine)
    name = folder(mine).name
    assert app.get("/r/main").status_code == 200
    shutil.rmtree(mine / "main")
    for page in (*PAGES, f"/e/{name}", f"/e/{name}/events/0", f"/e/{name}/live.json"):
        assert app.get(f"/r/main{page}").status_code in (404, 410), page
    assert app.get("/").status_code == 200
    assert json.loads(app.get("/r/main/live.json").text)["open"] is False
    shutil.rmtree(mine)
    assert app.get("/").status_code == 200


def test_half_made_runs_and_other_files_are_left_out(mine: Path) -> None:
    (mine / ".new-123456").mkdir()
    (mine / "empty").mkdir()
    (mine / "note.txt").write_text("x", encoding="utf-8")
    (mine / "rows").mkdir()
    (mine / "rows" / "rows.jsonl").write_text("{}\n", encoding="utf-8")
    app = client(mine)
    text = app.get("/").text
    assert "new-123456" not in text
    assert "note.txt" not in text
    assert "uniclaw stats" in text
    assert app.get("/r/empty").status_code == 404
    assert app.get("/r/rows").status_code in (404, 409)


def test_damaged_rows_do_not_stop_the_lists(mine: Path) -> None:
    with sqlite3.connect(mine / "main" / "run.sqlite") as db:
        db.execute("UPDATE episodes SET row = '{not json' WHERE rowid = 1")
        db.execute("UPDATE episodes SET row = NULL WHERE rowid = 2")
        db.execute("UPDATE episodes SET task_id = '<script>x</script>/..' WHERE rowid = 3")
    db.close()
    app = client(mine)
    for page in PAGES:
        answer = app.get(f"/r/main{page}")
        assert answer.status_code == 200, page
        assert "<script>x" not in answer.text


@pytest.mark.parametrize(
    "query",
    [
        "page=-1",
        "page=99999999999999999999",
        "sort=%00",
        "by=%ff",
        "lens=",
        "q=" + "x" * 5000,
        "cell=%F0",
    ],
)
def test_odd_parameters_are_harmless(runs: Path, query: str) -> None:
    app = client(runs)
    for page in ("/", "/r/main", "/r/main/episodes", "/r/main/matrix", "/r/main/compare"):
        assert app.get(f"{page}?{query}").status_code == 200
    assert app.get(f"/r/main/e/{episodes(runs)[0]}/events/abc?{query}").status_code in (200, 404)
