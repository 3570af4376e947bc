import io
import json
import zipfile
from pathlib import Path

import pytest
from hidden_case import POLICIES, RULE, loaded, policy

from uniclaw.firewall.leaves import Collected
from uniclaw.firewall.material import HiddenMaterial


def collected(path: Path) -> Collected:
    out = Collected(prose=[], leaves=[])
    out.read(path, path.name)
    return out


def test_everything_of_the_rubric_side_is_collected(tmp_path: Path) -> None:
    material = HiddenMaterial.of(loaded(tmp_path), policy())
    texts = [text for _, text in material.texts()]
    for wanted in ("Oswin Tarrafel", "9130438.08", "17", RULE, "Vellacourt Holdings", "quota"):
        assert any(wanted in text for text in texts), wanted
    assert material.file_names == ("ground_truth.json",)
    assert material.ids == ("refunds-out", "ranking", "made-up")
    assert material.weights == (0.6, 0.4)
    assert material.threshold == 0.9
    assert material.caps == (0.35,)
    assert material.tags == ("check_exclusions",)


@pytest.mark.parametrize("name", POLICIES)
def test_what_the_policy_releases_is_left_out(name: str, tmp_path: Path) -> None:
    material = HiddenMaterial.of(loaded(tmp_path), policy(name))
    prose = [item.text for item in material.prose]
    assert (RULE in prose) == (name != "open")
    assert bool(material.tags) == (name not in ("hints", "open"))
    assert bool(material.weights) == (name != "open")
    assert any("Quillfeather" in text for text in prose), "secrets are released by no policy"


def test_values_carry_the_words_that_say_what_they_are(tmp_path: Path) -> None:
    file = tmp_path / "t.json"
    file.write_text(json.dumps({"north": {"refund_count": 12}, "ids": ["a-1", "a-2", "a-3"]}))
    leaves = {leaf.text: leaf.context for leaf in collected(file).leaves}
    assert "refund_count" in leaves["12"]
    assert "ids" in leaves["3"], "lengths of lists are values too"


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("t.csv", b"city,total\nKelm,4711\n"),
        ("t.tsv", b"city\ttotal\nKelm\t4711\n"),
        ("t.yaml", b"kelm: {total: 4711}\n"),
        ("t.jsonl", b'{"total": 4711}\n{"total": 2}\n'),
        ("checks.py", b"EXPECTED = 4711\n"),
    ],
)
def test_references_are_read_by_type(tmp_path: Path, name: str, data: bytes) -> None:
    file = tmp_path / name
    file.write_bytes(data)
    assert "4711" in {leaf.text for leaf in collected(file).leaves}


def test_office_documents_are_read_and_binaries_named(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("word/document.xml", "<w:t>The keeper is Orsolya</w:t>")
    (tmp_path / "t.docx").write_bytes(buffer.getvalue())
    assert "Orsolya" in collected(tmp_path / "t.docx").prose[0].text
    (tmp_path / "t.png").write_bytes(b"\x89PNG\0\0")
    assert collected(tmp_path / "t.png").unreadable == ["t.png"]
    (tmp_path / "broken.xlsx").write_bytes(b"no zip")
    assert collected(tmp_path / "broken.xlsx").unreadable == ["broken.xlsx"]


@pytest.mark.parametrize(
    "data", [b"{", b"\xff\xfe\x00", b"[" * 5_000, b'{"a": 1e999}', b"\xef\xbb\xbf{}"]
)
def test_broken_references_do_not_break_the_screen(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "t.json").write_bytes(data)
    collected(tmp_path / "t.json")


def test_links_are_not_followed(tmp_path: Path) -> None:
    case = loaded(tmp_path / "case")
    (tmp_path / "outside.json").write_text('{"x": "Undisclosed"}')
    (case.reference_root / "references" / "link.json").symlink_to(tmp_path / "outside.json")
    linked = case.rubric.model_copy(update={"references": ("references",)})
    material = HiddenMaterial.of(
        type(case)(rubric=linked, root=case.root, source="native", reference_root=case.root),
        policy(),
    )
    assert not any("Undisclosed" in text for _, text in material.texts())
