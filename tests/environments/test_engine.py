"""Where the engine is looked for, and what is said when there is none."""

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from uniclaw.environments import engine
from uniclaw.environments.wire import DockerApi
from uniclaw.errors import EngineError


def test_docker_host_wins_then_the_default_socket(tmp_path: Path) -> None:
    assert engine.engine_url({"DOCKER_HOST": "tcp://x:1"}) == "tcp://x:1"
    assert engine.engine_url({}) == "unix:///var/run/docker.sock"
    assert engine.engine_url({"XDG_RUNTIME_DIR": str(tmp_path)}) == "unix:///var/run/docker.sock"


def test_a_rootless_socket_is_used_when_it_is_the_only_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "DEFAULT_SOCKET", str(tmp_path / "none"))
    (tmp_path / "docker.sock").touch()
    found = engine.engine_url({"XDG_RUNTIME_DIR": str(tmp_path)})
    assert found == f"unix://{tmp_path}/docker.sock"


def test_a_silent_place_is_no_engine(tmp_path: Path) -> None:
    url = f"unix://{tmp_path}/none.sock"
    assert engine.answering(url) is None
    with pytest.raises(EngineError, match="no Docker engine answers"):
        engine.connect(url)


def test_something_else_on_the_socket_is_no_engine(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "s.sock"))
        assert engine.answering(f"unix://{tmp_path}/s.sock") is None


def test_a_dead_docker_host_is_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")
    with pytest.raises(EngineError, match="DOCKER_HOST"):
        engine.ensure_engine()


def test_who_may_not_start_one_is_told_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DOCKER_HOST", raising=False)
    monkeypatch.setattr(engine, "DEFAULT_SOCKET", str(tmp_path / "none.sock"))
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    with pytest.raises(EngineError, match=r"start Docker.*--environment process"):
        engine.ensure_engine()


def test_the_entry_fails_with_advice(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "uniclaw.environments.engine"],
        env={"DOCKER_HOST": f"unix://{tmp_path}/none.sock", "HOME": str(tmp_path), "PATH": ""},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 1
    assert b"unset DOCKER_HOST" in done.stderr


@pytest.mark.docker
def test_the_running_engine_is_found_and_said(docker_api: DockerApi) -> None:
    assert docker_api.ping()
    done = subprocess.run(
        [sys.executable, "-m", "uniclaw.environments.engine"], capture_output=True, check=True
    )
    assert done.stdout.startswith(b"Docker engine ")
    found = engine.ensure_engine()
    assert found.url == engine.engine_url()


_STAND_IN = """#!{python}
import socket, sys, threading
if "fails" == "{mode}" and "--iptables=false" not in sys.argv:
    sys.exit("failed to start daemon: iptables is missing")
if "{mode}" == "hopeless":
    sys.exit("failed to start daemon: no cgroups")
server = socket.socket(socket.AF_UNIX)
server.bind("{path}")
server.listen()
def carry(a, b):
    while data := a.recv(65536):
        b.sendall(data)
    b.close()
while True:
    client, _ = server.accept()
    upstream = socket.socket(socket.AF_UNIX)
    upstream.connect("/var/run/docker.sock")
    threading.Thread(target=carry, args=(client, upstream), daemon=True).start()
    threading.Thread(target=carry, args=(upstream, client), daemon=True).start()
"""


def _stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str) -> None:
    """A `dockerd` that passes everything on to the real engine."""
    program = tmp_path / "bin" / "dockerd"
    program.parent.mkdir()
    text = _STAND_IN.format(python=sys.executable, path=tmp_path / "d.sock", mode=mode)
    program.write_text(text, encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.delenv("DOCKER_HOST", raising=False)
    monkeypatch.setenv("PATH", str(program.parent))
    monkeypatch.setenv("UNICLAW_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(engine, "DEFAULT_SOCKET", str(tmp_path / "d.sock"))
    monkeypatch.setattr("os.geteuid", lambda: 0)


@pytest.mark.docker
@pytest.mark.parametrize("mode", ["works", "fails"])
def test_an_engine_is_started_in_the_background(
    docker_api: DockerApi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    assert docker_api.ping()
    _stand_in(tmp_path, monkeypatch, mode)
    started = engine.ensure_engine()
    state = json.loads((tmp_path / "cache" / "engine.json").read_text(encoding="utf-8"))
    try:
        assert started.started_by_us
        assert engine.ensure_engine() == started
    finally:
        os.kill(state["pid"], signal.SIGKILL)
        os.waitpid(state["pid"], 0)


def test_an_engine_that_does_not_come_up_shows_its_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _stand_in(tmp_path, monkeypatch, "hopeless")
    with pytest.raises(EngineError, match=r"dockerd\.log.*no cgroups"):
        engine.ensure_engine()
