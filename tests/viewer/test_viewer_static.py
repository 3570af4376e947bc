"""The pages as files: links work, and nothing of the hidden side is there unless asked for."""

import re
from pathlib import Path
from urllib.parse import unquote

import pytest
from stage import HIDDEN, episodes, tokens
from test_viewer_pages import links

from uniclaw.errors import UserError
from uniclaw.viewer.export import export_site


@pytest.fixture(scope="module")
def site(runs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An exported site without the hidden side."""
    out = tmp_path_factory.mktemp("site")
    assert export_site(runs, out, hidden=False) > 30
    return out


def test_every_relative_link_leads_to_a_file(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    assert len(pages) > 30
    for page in pages:
        for link in links(page.read_text(encoding="utf-8")):
            if link:
                assert not link.startswith(("/", "http", "None")), (page, link)
                target = (page.parent / unquote(link)).resolve()
                assert target.is_file(), (page, link)
                assert target.is_relative_to(site)


def test_nothing_of_the_hidden_side_is_in_any_file(site: Path, runs: Path) -> None:
    secrets = (*HIDDEN, *tokens(runs))
    for file in site.rglob("*"):
        if file.is_file():
            data = file.read_bytes().decode("utf-8", "replace")
            for secret in secrets:
                assert secret not in data, (file, secret)


def test_the_hidden_side_is_exported_when_asked_for(runs: Path, tmp_path: Path) -> None:
    export_site(runs, tmp_path / "site", hidden=True)
    page = tmp_path / "site" / "r" / "main" / "e" / episodes(runs)[0] / "episode-supervisor.html"
    assert "ledger-line" in page.read_text(encoding="utf-8")


def test_files_of_agents_get_no_type_that_a_host_would_run(site: Path) -> None:
    types = {file.suffix for file in site.rglob("*") if file.is_file() and "/raw/" in str(file)}
    assert types <= {".txt", ".png"}
    names = {file.name for file in site.rglob("*")}
    assert not any(re.search(r"[<>%?#]", name) for name in names)


def test_a_directory_with_other_files_is_refused(runs: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("x", encoding="utf-8")
    with pytest.raises(UserError, match="empty directory"):
        export_site(runs, tmp_path, hidden=False)
