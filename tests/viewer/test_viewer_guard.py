"""Who is let in: the Host header, the token, and methods."""

import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest
from stage import client
from starlette.testclient import TestClient

from uniclaw.errors import UserError
from uniclaw.viewer.app import build_app
from uniclaw.viewer.guard import Door, is_loopback
from uniclaw.viewer.render import Site
from uniclaw.viewer.serve import serve

TOKEN = "a-long-enough-token"


def test_a_name_that_another_site_points_here_is_refused(runs: Path) -> None:
    app = client(runs)
    assert app.get("/", headers={"host": "evil.example:80"}).status_code == 421
    assert app.get("/", headers={"host": "127.0.0.1.evil.example"}).status_code == 421
    assert app.get("/", headers={"host": ""}).status_code == 421
    for good in ("localhost:7860", "127.0.0.1", "[::1]:7860"):
        assert app.get("/", headers={"host": good}).status_code == 200


def test_nothing_is_shown_without_the_token(runs: Path) -> None:
    app = client(runs, token=TOKEN)
    for address in ("/", "/r/main", "/live.json", "/static/viewer.css"):
        assert app.get(address).status_code == 401
    assert app.get("/?token=wrong-token-here").status_code == 401
    assert app.get("/", headers={"authorization": f"Bearer {TOKEN}"}).status_code == 200


def test_the_token_goes_from_the_address_into_a_cookie(runs: Path) -> None:
    app = client(runs, token=TOKEN)
    answer = app.get(f"/r/main?lang=zh&token={TOKEN}", follow_redirects=False)
    assert answer.status_code == 303
    assert answer.headers["location"] == "/r/main?lang=zh"
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert app.get("/r/main").status_code == 200
    outside = app.get(f"//evil.example/?token={TOKEN}", follow_redirects=False)
    assert not outside.headers.get("location", "").startswith("//")


def test_pages_are_read_only(runs: Path) -> None:
    app = client(runs)
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "TRACE"):
        assert app.request(method, "/r/main").status_code == 405
    assert app.head("/").status_code == 200


def test_another_address_asks_for_a_token_and_knows_its_names(runs: Path) -> None:
    assert is_loopback("127.0.0.5")
    assert is_loopback("::1")
    assert not is_loopback("0.0.0.0")
    door = Door(host="0.0.0.0", token=TOKEN)
    app = TestClient(build_app(Site(runs=runs), door), base_url="http://192.168.7.7")
    assert app.get("/").status_code == 401
    assert app.get("/", headers={"authorization": f"Bearer {TOKEN}"}).status_code == 200
    assert app.get("/", headers={"host": "evil.example"}).status_code == 421


def test_a_weak_token_or_a_bad_port_is_a_users_mistake(runs: Path) -> None:
    def start(**given: object) -> None:
        options = {"host": "127.0.0.1", "port": 0, "token": None, **given}
        serve(runs, hidden=False, ready=lambda _: None, **options)  # pyright: ignore[reportArgumentType] -- wrong on purpose

    with pytest.raises(UserError, match="token"):
        start(token="short")
    with pytest.raises(UserError, match="port"):
        start(port=70_000)
    with pytest.raises(UserError, match="host"):
        start(host="203.0.113.7")


def test_the_command_prints_its_address_and_serves(runs: Path) -> None:
    command = [sys.executable, "-m", "uniclaw.cli", "view", str(runs), "--port", "0", "--print-url"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            address = server.stdout.readline().strip()
            assert address.startswith("http://127.0.0.1:")
            end = time.monotonic() + 20
            while True:
                try:
                    answer = httpx.get(address, timeout=10)
                    break
                except httpx.ConnectError:
                    assert time.monotonic() < end
            assert answer.status_code == 200
            assert "main" in answer.text
            assert "server" not in answer.headers
        finally:
            server.terminate()
            server.wait(timeout=15)
    missing = subprocess.run(
        [sys.executable, "-m", "uniclaw.cli", "view", str(runs / "nowhere")],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert missing.returncode == 2
    assert "nowhere" in missing.stderr
