"""Owners are told apart from later processes of the same number."""

import os
import subprocess

from uniclaw.environments.labels import (
    KEEP,
    certainly_dead,
    labels_for,
    parse_owner,
    start_time,
    this_owner,
)


def test_an_owner_survives_its_label() -> None:
    here = this_owner()
    assert parse_owner(str(here)) == here
    assert parse_owner(str(here._replace(host="a:b"))) == here._replace(host="a:b")
    for text in ("", "host", "a:b:c:d:e", "a:b:c:-1:e"):
        assert parse_owner(text) is None


def test_only_the_certainly_dead_are_dead() -> None:
    here = this_owner()
    assert not certainly_dead(here, here)
    assert certainly_dead(here._replace(start="1"), here), "another process has the number now"
    assert certainly_dead(here._replace(boot="before"), here)
    assert not certainly_dead(here._replace(host="elsewhere", boot="before"), here)
    assert not certainly_dead(here._replace(pidns="1", start="1"), here)


def test_a_process_that_waits_to_be_collected_is_dead() -> None:
    process = subprocess.Popen(["true"])
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert start_time(process.pid) == ""
    process.wait()


def test_what_is_ours_is_never_marked_as_kept() -> None:
    assert labels_for("r", {KEEP: "1"})[KEEP] == "0"
