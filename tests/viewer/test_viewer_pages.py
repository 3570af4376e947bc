"""Every page on a real stored run: it opens, its links lead somewhere, and it is light."""

import html
import json
import re
import sqlite3
from collections import Counter
from pathlib import Path
from urllib.parse import unquote

import pytest
from stage import AWKWARD, INJECTION, client, copied, episodes, leaderboard
from starlette.testclient import TestClient

from uniclaw.viewer.labels import LANGS, catalogue
from uniclaw.viewer.render import HERE

LINK = re.compile(r'(?:href|src|action|data-live)="([^"]*)"')


def links(text: str) -> set[str]:
    return {html.unescape(found).split("#")[0] for found in LINK.findall(text)}


def crawl(app: TestClient, start: str) -> dict[str, bytes]:
    """What can be reached, by address; of each kind of page a few."""
    found: dict[str, bytes] = {}
    kinds: Counter[str] = Counter()
    todo = [start]
    while todo:
        address = todo.pop()
        kind = re.sub(r"e[0-9a-f]{10}|\d+", "#", address)
        if address in found or kinds[kind] >= 2:
            continue
        kinds[kind] += 1
        answer = app.get(address)
        assert answer.status_code == 200, (address, answer.status_code, answer.text[-400:])
        found[address] = answer.content
        if answer.headers["content-type"].startswith("text/html"):
            assert len(answer.content) < 300_000, address
            new = {link for link in links(answer.text) if link}
            assert all(link.startswith("/") for link in new), (address, new)
            todo.extend(new - set(found))
    return found


def test_every_link_of_every_page_leads_to_a_page(runs: Path) -> None:
    found = crawl(client(runs, hidden=True), "/")
    kinds = {re.sub(r"\?.*", "", a).split("/")[-1] for a in found}
    assert {"episodes", "matrix", "tasks", "compare", "ablation", "live.json", "pair"} <= kinds
    assert any("lens=referee" in address for address in found)
    assert any("/exchange/" in address for address in found)


def test_a_page_in_the_other_language_keeps_it(runs: Path) -> None:
    app = client(runs)
    page = app.get("/", headers={"accept-language": "zh-CN,zh;q=0.9"}).text
    assert "运行" in page
    assert 'lang="zh-CN"' in page
    page = app.get("/r/main?lang=zh").text
    assert "排行榜" in page
    kept = [link for link in links(page) if link.startswith("/r/") and "live.json" not in link]
    assert all("lang=" in link for link in kept), kept


def test_every_label_stands_in_both_languages_and_every_used_one_is_there() -> None:
    known = catalogue()
    for key, texts in known.items():
        assert set(texts) == set(LANGS)
        if key != "source.":
            assert all(texts.values()), key
    text = "".join(f.read_text(encoding="utf-8") for f in (HERE / "templates").iterdir())
    used = set(re.findall(r"\bt\('([a-z_.]+)'[,)]", text))
    assert used <= set(known), used - set(known)
    code = "".join(f.read_text(encoding="utf-8") for f in HERE.glob("*.py"))
    raised = set(re.findall(r'"((?:error|problem)\.[a-z_]+)"', code)) - {"error.html"}
    assert raised <= set(known), raised - set(known)


def test_what_an_agent_wrote_is_text(runs: Path) -> None:
    app = client(runs)
    pages = 0
    for episode in episodes(runs):
        text = app.get(f"/r/main/e/{episode}").text
        assert INJECTION not in text
        assert "<script>document" not in text
        assert "onerror=&#34;" in text
        assert "\u202e" not in text
        assert "U+202E" in text
        pages += 1
    assert pages == 4


@pytest.mark.parametrize("name", AWKWARD)
def test_files_are_served_in_a_sandbox(runs: Path, name: str) -> None:
    app = client(runs)
    episode = episodes(runs)[0]
    page = app.get(f"/r/main/e/{episode}").text
    found = [a for a in links(page) if "/preview/0/" in a or "/raw/0/" in a]
    previews = {app.get(a).text for a in found if "/preview/" in a}
    raws = {a for page in previews for a in links(page) if "/raw/" in a}
    assert len(raws) >= len(AWKWARD)
    address = next(a for a in raws if unquote(a).endswith(f"/{name}"))
    answer = app.get(address)
    assert answer.status_code == 200
    assert answer.headers["content-security-policy"].startswith("sandbox")
    assert answer.headers["x-content-type-options"] == "nosniff"
    kind = answer.headers["content-type"]
    if name.endswith((".html", ".svg", ".bin")):
        assert kind == "application/octet-stream"
        assert answer.headers["content-disposition"].startswith("attachment")
        assert "<" not in answer.headers["content-disposition"]
    else:
        assert kind.startswith(("text/plain", "image/png"))


def test_the_policy_of_pages_allows_no_inline_script_or_style(runs: Path) -> None:
    app = client(runs)
    for address in ("/", "/r/main", "/r/main/matrix", f"/r/main/e/{episodes(runs)[0]}"):
        answer = app.get(address)
        policy = answer.headers["content-security-policy"]
        assert "unsafe" not in policy
        assert "default-src 'none'" in policy
        assert not re.search(r"<[^>]+\sstyle=", answer.text)
        assert not re.search(r"<script(?![^>]*src=)", answer.text)
        assert not re.search(r"<[^>]+\son[a-z]+=", answer.text)


def test_lists_are_filtered_sorted_and_paged_by_the_server(runs: Path) -> None:
    app = client(runs)

    def shown(query: str) -> list[str]:
        page = app.get(f"/r/main/episodes?{query}").text
        body = page.partition("<tbody>")[2]
        return re.findall(r'<th scope="row"><a href="/r/main/e/(\w+)', body)

    everything = shown("")
    assert len(everything) == 4
    assert len(shown("task=count")) == 2
    assert len(shown("q=count_zh")) == 2
    assert shown("q=%25") == []
    assert shown("outcome=timeout") == []
    assert len(shown("outcome=pass")) == 4
    assert shown("sort=wall&dir=desc") == shown("sort=wall&dir=asc")[::-1]
    assert len(shown("sort=nonsense&dir=;drop&page=-4")) == 4
    assert shown("q=%27%22)%3Bdrop%20table%20episodes") == []
    assert len(shown("page=999999")) == 4


def test_the_leaderboard_has_an_interval_for_every_cell(runs: Path) -> None:
    page = leaderboard(client(runs))
    assert page.count('class="whisker"') >= 2
    assert "sealed" in page
    assert "coarse" in page
    assert client(runs).get("/r/main?by=language&score=final").status_code == 200


def test_two_cells_are_compared_on_their_tasks(runs: Path) -> None:
    app = client(runs)
    page = app.get("/r/main/compare").text
    assert "tasks have the same pass rate" in page
    assert "drafts" not in page


def test_the_hidden_side_of_a_task_needs_both_switches(runs: Path) -> None:
    for hidden in (False, True):
        app = client(runs, hidden=hidden)
        for query in ("", "?hidden=1"):
            text = app.get(f"/r/main/tasks/count{query}").text
            assert ("ledger-line" in text) == (hidden and bool(query))


def test_a_running_run_is_shown_and_polled(runs: Path, tmp_path: Path) -> None:
    mine = copied(runs, tmp_path)
    episode = episodes(mine)[0]
    with sqlite3.connect(mine / "main" / "run.sqlite") as db:
        db.execute(
            "UPDATE episodes SET state = 'planned', outcome = NULL, row = NULL"
            " WHERE episode_id = ?",
            (episode,),
        )
        db.execute("UPDATE attempts SET state = 'started' WHERE episode_id = ?", (episode,))
    folder = mine / "main" / "episodes" / episode
    (folder / "episode.json").unlink()
    (folder / "trajectory.jsonl").unlink()
    last = max(int(p.name) for p in (folder / "rounds").iterdir())
    for name in ("turn", "frozen", "verdict"):
        (folder / "rounds" / str(last) / f"{name}.json").unlink()
    app = client(mine)
    live = json.loads(app.get("/r/main/live.json").text)
    assert live["open"] is True
    assert live["progress"] == [3, 4]
    page = app.get(f"/r/main/e/{episode}").text
    assert "data-live-reload" in page
    assert "Round 0" in page
    now = json.loads(app.get(f"/r/main/e/{episode}/live.json").text)
    assert now["open"] is True
    assert now["phase"] == "execute"
    assert episode in app.get("/r/main").text
