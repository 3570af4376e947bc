import hashlib
from pathlib import Path

import pytest
from pydantic import JsonValue
from workshop import ROOT, Workshop

from uniclaw.records import Entry


def entry(path: str, kind: str = "file", **changes: object) -> Entry:
    return Entry.model_validate({"path": f"{ROOT}/{path}", "kind": kind, **changes})


def test_presence_size_and_count(shop: Workshop):
    evidence = shop.evidence({"a.csv": "1,2\n", "b.csv": "", "deep/c.csv": "x" * 50})
    for check, value in [
        ({"path": "a.csv"}, 1.0),
        ({"path": f"{ROOT}/a.csv"}, 1.0),
        ({"path": "b.csv"}, 0.0),
        ({"path": "b.csv", "min_bytes": 0}, 1.0),
        ({"path": "*.csv", "min_count": 2}, 0.0),
        ({"path": "**/*.csv", "min_count": 2}, 1.0),
        ({"path": "**/*.csv", "max_bytes": 10, "min_count": 2}, 0.0),
        ({"path": "none"}, 0.0),
        ({"path": "none", "exists": False}, 1.0),
        ({"path": "*.csv", "exists": False}, 0.0),
    ]:
        assert shop.run({"kind": "file", **check}, evidence).value == value, check


def test_a_directory_and_a_link_are_no_files(shop: Workshop):
    evidence = shop.evidence(
        {"out.json": None}, entries=[entry("hop", "link", target="/etc/passwd")]
    )
    for path, words in [("out.json", "directory, not a file"), ("hop", "links are not followed")]:
        for kind in ("file", "text"):
            extra: dict[str, JsonValue] = {} if kind == "file" else {"contains": ["root"]}
            result = shop.run({"kind": kind, "path": path, **extra}, evidence)
            assert result.value == 0.0
            assert words in result.reason


def test_fault_18_a_link_on_the_host_is_not_read(shop: Workshop, tmp_path: Path):
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "environ").write_text("TOKEN=1", "utf-8")
    evidence = shop.evidence({"a.txt": "x"}, entries=[entry("hop/environ", size=7)])
    (evidence.files_root / "workspace/results/hop").symlink_to(secret)
    result = shop.run({"kind": "text", "path": "hop/environ", "contains": ["TOKEN"]}, evidence)
    assert result.value == 0.0
    outside = shop.evidence({}, entries=[entry("../../../secret/environ", size=7)])
    check: dict[str, JsonValue] = {"kind": "text", "path": "**/environ", "contains": ["TOKEN"]}
    assert shop.run(check, outside).value == 0.0


def test_changed_is_against_the_baseline(shop: Workshop):
    evidence = shop.evidence(
        {}, entries=[entry("same", size=3, change="same"), entry("new", size=3, change="changed")]
    )
    for path, changed, value in [
        ("same", False, 1.0),
        ("same", True, 0.0),
        ("new", True, 1.0),
        ("new", False, 0.0),
    ]:
        check: dict[str, JsonValue] = {"kind": "file", "path": path, "changed": changed}
        assert shop.run(check, evidence).value == value
    gone = shop.evidence({}, entries=[entry("gone", size=3, change="deleted")])
    assert shop.run({"kind": "file", "path": "gone"}, gone).value == 0.0
    assert shop.run({"kind": "file", "path": "gone", "exists": False}, gone).value == 1.0


def test_hashes_as_text_from_a_document_and_of_a_file(shop: Workshop):
    digest = hashlib.sha256(b"data").hexdigest()
    shop.reference("copy.bin", b"data")
    shop.reference("key.json", f'{{"sha": "{digest}"}}')
    good, bad = shop.evidence({"a.bin": b"data"}), shop.evidence({"a.bin": b"date"})
    expected: list[JsonValue] = [
        digest.upper(),
        {"ref": "references/copy.bin"},
        {"ref": "references/key.json", "pointer": "/sha"},
    ]
    for sha256 in expected:
        check: dict[str, JsonValue] = {"kind": "file", "path": "a.bin", "sha256": sha256}
        assert shop.run(check, good).value == 1.0
        assert shop.run(check, bad).value == 0.0


def test_a_listing_that_was_cut_is_said(shop: Workshop):
    evidence = shop.evidence({}, truncated=True)
    missing = shop.run({"kind": "file", "path": "a"}, evidence)
    assert missing.value == 0.0
    assert "cut at its limit" in missing.reason
    assert shop.run({"kind": "file", "path": "a", "exists": False}, evidence).value == 0.0


def test_a_file_that_was_not_copied_still_has_a_size(shop: Workshop):
    evidence = shop.evidence({}, entries=[entry("big.bin", size=10**12, skipped="over the limit")])
    assert shop.run({"kind": "file", "path": "big.bin"}, evidence).value == 1.0
    result = shop.run({"kind": "text", "path": "big.bin", "contains": ["x"]}, evidence)
    assert result.value == 0.0
    assert "over the limit" in result.reason


@pytest.mark.parametrize("name", ["a[1].txt", "结果 *.txt", "a?b", "x{y}", "ü\n.txt"])
def test_odd_names_are_meant_as_written(shop: Workshop, name: str):
    evidence = shop.evidence({name: "here"})
    assert shop.run({"kind": "file", "path": name}, evidence).value == 1.0


@pytest.mark.parametrize(
    ("pattern", "matches"),
    [
        ("*.csv", ["a.csv", "b.csv"]),
        ("**", ["a.csv", "b.csv", "d/c.csv", "d/e/f.txt"]),
        ("**/c.csv", ["d/c.csv"]),
        ("d/**/*.txt", ["d/e/f.txt"]),
        ("[ab].csv", ["a.csv", "b.csv"]),
        ("[!a].csv", ["b.csv"]),
        ("?.csv", ["a.csv", "b.csv"]),
        ("[z-a].csv", []),
        ("d*f.txt", []),
    ],
)
def test_globs(shop: Workshop, pattern: str, matches: list[str]):
    evidence = shop.evidence(dict.fromkeys(("a.csv", "b.csv", "d/c.csv", "d/e/f.txt"), "x"))
    found = shop.context(evidence).files.find(pattern)
    assert [e.path.removeprefix(f"{ROOT}/") for e in found] == matches
