"""Recordings of a turn in the viewer."""

from pathlib import Path

import pytest
from stage import client, copied, episodes

from uniclaw.episode.staging import Recording

FILM = b"\0\0\0\x18ftypisom" + b"\0" * 200


@pytest.fixture
def mine(runs: Path, tmp_path: Path) -> Path:
    return copied(runs, tmp_path)


def _film(runs: Path, data: bytes = FILM, **changes: object) -> tuple[str, Path]:
    """Puts a recording beside the first round of the first episode; gives its address."""
    episode = episodes(runs)[0]
    place = runs / "main" / "episodes" / episode / "rounds" / "0"
    (place / "recording.mp4").write_bytes(data)
    given = {"file": "rounds/0/recording.mp4", "bytes": len(data), **changes}
    record = Recording.model_validate(given)
    (place / "recording.json").write_text(record.model_dump_json(), encoding="utf-8")
    return f"/r/main/e/{episode}", place


def test_a_film_is_shown_and_served_in_a_sandbox(mine: Path) -> None:
    address, _ = _film(mine)
    app = client(mine)
    assert f'src="{address}/film/0"' in app.get(address).text
    answer = app.get(f"{address}/film/0")
    assert (answer.content, answer.headers["content-type"]) == (FILM, "video/mp4")
    assert answer.headers["content-security-policy"].startswith("sandbox")


def test_the_simulator_s_lens_has_no_film(mine: Path) -> None:
    address, _ = _film(mine)
    app = client(mine)
    assert "<video" not in app.get(f"{address}?lens=simulator").text
    assert app.get(f"{address}/film/0?lens=simulator").status_code == 403


def test_a_missing_film_says_why(mine: Path) -> None:
    address, _ = _film(mine, file=None, problem="the recorder ended <early>")
    text = client(mine).get(address).text
    assert "the recorder ended &lt;early&gt;" in text
    assert "<video" not in text
    assert client(mine).get(f"{address}/film/0").status_code == 404


@pytest.mark.parametrize("name", ["../../../../run.sqlite", "verdict.json", "/etc/passwd"])
def test_a_record_cannot_point_the_film_at_another_file(mine: Path, name: str) -> None:
    address, _ = _film(mine, file=name)
    assert client(mine).get(f"{address}/film/0").status_code == 404


def test_what_is_no_film_is_not_served_as_one(mine: Path) -> None:
    address, _ = _film(mine, data=b"<script>alert(1)</script>")
    assert client(mine).get(f"{address}/film/0").status_code == 404
