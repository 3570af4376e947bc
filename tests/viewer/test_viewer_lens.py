"""The firewall lens: hidden text is in no response of the executor's or the simulator's lens."""

import re
from pathlib import Path

import pytest
from stage import HIDDEN, KEEPER, client, episodes, tokens
from test_viewer_pages import links

LENSES = ("executor", "simulator")


def reachable(runs: Path, lens: str) -> dict[str, str]:
    """Every response of a lens: its pages, and everything that they embed or link to."""
    app = client(runs)
    found: dict[str, str] = {}
    todo = [f"/r/main/e/{episode}?lens={lens}" for episode in episodes(runs)]
    while todo:
        address = todo.pop()
        if address in found:
            continue
        answer = app.get(address)
        assert answer.status_code == 200, address
        found[address] = answer.text
        if not answer.headers["content-type"].startswith("text/html"):
            continue
        for link in links(answer.text):
            own = f"lens={lens}" in link or "/raw/" in link or "/image/" in link
            if own or link.startswith("/static/"):
                todo.append(link)
    return found


@pytest.mark.parametrize("lens", LENSES)
def test_no_response_of_the_lens_holds_hidden_text(runs: Path, lens: str) -> None:
    found = reachable(runs, lens)
    secrets = (*HIDDEN, *tokens(runs))
    assert len(found) > len(episodes(runs)) * 2
    for address, text in found.items():
        for secret in secrets:
            assert secret not in text, (address, secret)


@pytest.mark.parametrize("lens", LENSES)
def test_what_was_held_back_is_marked(runs: Path, lens: str) -> None:
    app = client(runs)
    for episode in episodes(runs):
        text = app.get(f"/r/main/e/{episode}?lens={lens}").text
        assert 'class="gap"' in text
        assert "3 drafts that screening did not let through" in text
        assert "0.2" not in re.sub(r"(?s)<svg.*?</svg>", "", text.partition("<main")[2])


def test_the_other_lenses_do_hold_it(runs: Path) -> None:
    app = client(runs)
    for episode in episodes(runs):
        supervisor = app.get(f"/r/main/e/{episode}?lens=supervisor").text
        assert "ledger-line" in supervisor
        assert any(token in supervisor for token in tokens(runs))
        referee = app.get(f"/r/main/e/{episode}?lens=referee").text
        assert f"<mark>{KEEPER.lower()}" in referee.lower() or KEEPER in referee
        assert "held back" in referee
        assert KEEPER in app.get(f"/r/main/e/{episode}").text


@pytest.mark.parametrize("lens", LENSES)
def test_endpoints_of_other_roles_are_refused_in_the_lens(runs: Path, lens: str) -> None:
    app = client(runs)
    episode = episodes(runs)[0]
    base = f"/r/main/e/{episode}"
    text = app.get(f"{base}/exchanges").text
    numbers = sorted(set(re.findall(r"/exchange/(\d+)", text)))
    assert numbers
    answers = [app.get(f"{base}/exchange/{n}?lens={lens}") for n in numbers]
    assert any(answer.status_code == 403 for answer in answers)
    for answer in answers:
        for secret in (*HIDDEN, *tokens(runs)):
            assert secret not in answer.text
    if lens == "executor":
        assert app.get(f"{base}/view/0?visit=0&lens=executor").status_code == 403
    else:
        assert app.get(f"{base}/view/0?visit=0&lens=simulator").status_code == 200
        assert app.get(f"{base}/events/0?lens=simulator").status_code == 403
    assert app.get(f"{base}?lens=nobody").status_code == 404


def test_views_are_shown_byte_for_byte(runs: Path) -> None:
    app = client(runs)
    episode = episodes(runs)[0]
    answer = app.get(f"/r/main/e/{episode}/view/0?visit=1&lens=simulator")
    stored = runs / "main" / "episodes" / episode / "rounds" / "0" / "view-1.json"
    assert answer.content == stored.read_bytes()
    assert answer.headers["content-security-policy"].startswith("sandbox")


def test_evidence_jumps_to_its_event(runs: Path) -> None:
    text = client(runs).get(f"/r/main/e/{episodes(runs)[0]}").text
    jumps = re.findall(r'class="evidence" href="#([^"]+)"', text)
    for jump in jumps:
        assert f'id="{jump}"' in text
    assert re.search(r'class="evidence" href="/r/main/e/\w+/preview/0/', text) or jumps
