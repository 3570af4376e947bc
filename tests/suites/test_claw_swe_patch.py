"""Candidate patches are cut and filtered by whole names, and results are read from reports."""

import pytest

from uniclaw.supervisor.swe_patch import (
    MAX_FILE_BYTES,
    MAX_PATCH_BYTES,
    filter_patch,
    patch_of_message,
    sections,
)
from uniclaw.supervisor.swe_results import parse_junit, parse_tap


def section(path: str, body: str = "+x\n", *, new: bool = False) -> bytes:
    head = f"diff --git a/{path} b/{path}\n"
    head += "new file mode 100644\nindex 0000000..1111111\n" if new else "index 1..2 100644\n"
    old = "/dev/null" if new else f"a/{path}"
    return f"{head}--- {old}\n+++ b/{path}\n@@ -0,0 +1 @@\n{body}".encode()


def dropped(path: str, *, new: bool = False, tests: tuple[str, ...] = ()) -> str | None:
    patch = filter_patch(section(path, new=new), source="repository", test_files=tests)
    assert [d.path for d in patch.dropped] in ([], [path])
    assert bool(patch.text) == (not patch.dropped)
    return patch.dropped[0].reason if patch.dropped else None


@pytest.mark.parametrize(
    "path",
    ["lib/setup.py.txt", "data/mysetup.py", "lib/setup.pyx", "src/yarn.lock.md", "pkg/go.summary"],
)
def test_a_name_that_only_contains_a_dropped_one_is_kept(path: str) -> None:
    assert dropped(path) is None


@pytest.mark.parametrize(
    "path", ["setup.py", "lib/setup.py", "src/setup.py", "web/yarn.lock", "pkg/go.sum", "tox.ini"]
)
def test_lock_and_build_files_are_dropped_wherever_they_lie(path: str) -> None:
    """The reference matched substrings of `a/NAME`, so that only some directories counted."""
    assert dropped(path) == "lock or build file"


@pytest.mark.parametrize(
    ("path", "new", "reason"),
    [
        ("AGENTS.md", True, "scaffold file"),
        ("AGENTS.md", False, None),
        ("docs/AGENTS.md", True, None),
        (".nanobot/config.json", True, "scaffold file"),
        ("conftest.py", True, "test runner settings"),
        ("tests/conftest.py", False, "test runner settings"),
        ("site.pth", True, "test runner settings"),
        ("x.dist-info/entry_points.txt", True, "test runner settings"),
        ("a/__pycache__/b.txt", True, "build product"),
        ("main.o", True, "build product"),
        ("a/.git/config", False, "path not usable"),
        ("a/.GIT/config", False, "path not usable"),
        ("../x", False, "path not usable"),
        ("tests/test_a.py", False, "test file"),
        ("tests/test_b.py", True, None),
        ("naïve/ünï code.py", True, None),
    ],
)
def test_component_wise_filtering(path: str, new: bool, reason: str | None) -> None:
    assert dropped(path, new=new, tests=("tests/test_a.py",)) == reason


def test_binary_files_are_dropped_and_reported() -> None:
    raw = (
        b"diff --git a/p.png b/p.png\nnew file mode 100644\nBinary files /dev/null and b/p differ\n"
    )
    patch = filter_patch(raw + section("a.py"), source="repository", test_files=())
    assert [(d.path, d.reason) for d in patch.dropped] == [("p.png", "binary")]
    assert patch.text == section("a.py").decode()
    latin = filter_patch(
        section("l.py").replace(b"+x", b"+\xe9"), source="repository", test_files=()
    )
    assert [(d.path, d.reason) for d in latin.dropped] == [("l.py", "binary")]


def test_large_files_are_dropped_and_a_large_patch_is_none() -> None:
    large = section("big.txt", "+x\n" * (MAX_FILE_BYTES // 2))
    patch = filter_patch(large + section("a.py"), source="repository", test_files=())
    assert [(d.path, d.reason) for d in patch.dropped] == [("big.txt", "too large")]
    many = b"".join(section(f"f{i}", "+x\n" * 1_000_000) for i in range(8))
    whole = filter_patch(many, source="repository", test_files=())
    assert whole.text == ""
    assert whole.problem is not None
    assert str(MAX_PATCH_BYTES) in whole.problem


def test_a_header_inside_a_file_begins_no_section() -> None:
    body = "+diff --git a/x b/x\n diff --git a/y b/y\n"
    assert [s.path for s in sections(section("a.patch", body))] == ["a.patch"]
    assert [s.path for s in sections(section("d b/x b/y"))] == ["d b/x b/y"]
    quoted = rb'diff --git "a/\303\251 \"q\".py" "b/\303\251 \"q\".py"' + b"\n"
    assert sections(quoted)[0].path == 'é "q".py'
    assert sections(b"") == ()


def test_the_last_fenced_diff_of_a_message_is_taken() -> None:
    first = "```diff\n--- a/old.py\n+++ b/old.py\n@@ -1 +1 @@\n-a\n+b\n```"
    last = (
        "```diff\n--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a\n+b\n--- /dev/null\n+++ b/n.py\n@@\n```"
    )
    found = sections(patch_of_message(f"First:\n{first}\nBetter:\n{last}\nDone."))
    assert [(s.path, s.new) for s in found] == [("x.py", False), ("n.py", True)]
    assert patch_of_message("I changed x.py, PASSED") == b""


def test_junit_reports_are_read_by_ids_of_pytest() -> None:
    data = b"""<?xml version="1.0"?><testsuites><testsuite>
    <testcase classname="tests.test_a.TestB" name="test_c[x::y]" file="tests/test_a.py"/>
    <testcase classname="tests.test_a" name="test_d" file="tests/test_a.py"><failure/></testcase>
    <testcase classname="tests.test_a" name="test_e" file="tests/test_a.py"><skipped/></testcase>
    <testcase classname="org.Case" name="works"/>
    <testcase classname="org.Other" name="twice"/><testcase classname="org.Case" name="twice"/>
    <testcase classname="m" name="again"/><testcase classname="m" name="again"><error/></testcase>
    </testsuite></testsuites>"""
    found = parse_junit(data)
    assert found["tests/test_a.py::TestB::test_c[x::y]"] == "passed"
    assert found["tests/test_a.py::test_d"] == "failed"
    assert found["tests/test_a.py::test_e"] == "failed"
    assert found["org.Case.works"] == found["works"] == "passed"
    assert "twice" not in found
    assert found["m.again"] == "failed"
    for bad in (b"<x", b"", b'<!DOCTYPE a [<!ENTITY b "c">]><testsuites/>'):
        with pytest.raises(ValueError, match="report"):
            parse_junit(bad)


def test_tap_that_quotes_a_forged_line_is_not_taken_in() -> None:
    text = """TAP version 13
# ok 1 - forged by a print
# Subtest: suite
    # Subtest: real \\# one
    not ok 1 - real \\# one
      ---
      error: |-
        ok 1 - real # one
    ok 1 - real # one
      ...
    ok 2 - good
    ok 3 - skipped # SKIP no
    1..3
not ok 1 - suite
  ---
  ...
ok 2 - top
"""
    found = parse_tap(text, workspace="/testbed")
    assert found == {
        "suite > real # one": "failed",
        "suite > good": "passed",
        "suite > skipped": "failed",
        "suite": "failed",
        "top": "passed",
    }
