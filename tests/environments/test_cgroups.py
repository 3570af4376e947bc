"""Counters of both versions of control groups, from files as the kernel writes them."""

from pathlib import Path

from uniclaw.environments.cgroups import Counters, is_v2, parse_number, parse_oom_kills

V1 = "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n"
V2 = "low 0\nhigh 0\nmax 12\noom 4\noom_kill 2\noom_group_kill 0\n"


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def test_oom_kills_are_read_from_both_versions() -> None:
    assert parse_oom_kills(V1) == 3
    assert parse_oom_kills(V2) == 2
    assert parse_oom_kills("oom_kill_disable 0\nunder_oom 0\n") is None
    assert parse_oom_kills("") is None


def test_numbers_are_numbers() -> None:
    assert parse_number("123\n") == 123
    assert parse_number("max\n") is None
    assert parse_number("-1") is None


def test_version_1_with_the_cgroupfs_driver(tmp_path: Path) -> None:
    _write(tmp_path / "memory/docker/abc/memory.oom_control", V1)
    _write(tmp_path / "memory/docker/abc/memory.usage_in_bytes", "4096\n")
    _write(tmp_path / "pids/docker/abc/pids.current", "2\n")
    counters = Counters("abc", tmp_path)
    assert not is_v2(tmp_path)
    assert counters.all() == {"oom_kills": 3, "memory_bytes": 4096, "pids": 2}


def test_version_2_with_the_systemd_driver(tmp_path: Path) -> None:
    group = tmp_path / "system.slice/docker-abc.scope"
    _write(tmp_path / "cgroup.controllers", "memory pids\n")
    _write(group / "memory.events", V2)
    _write(group / "memory.current", "8192\n")
    _write(group / "pids.current", "7\n")
    counters = Counters("abc", tmp_path)
    assert is_v2(tmp_path)
    assert counters.all() == {"oom_kills": 2, "memory_bytes": 8192, "pids": 7}


def test_a_group_out_of_sight_is_not_visible(tmp_path: Path) -> None:
    counters = Counters("abc", tmp_path)
    assert not counters.visible
    assert counters.oom_kills() is None
    assert not counters.all()
