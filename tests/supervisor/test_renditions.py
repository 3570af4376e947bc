"""Documents as judge and user simulator see them; the rendering itself runs in a container."""

import io
import math
import secrets
import struct
import wave
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from PIL import Image
from pydantic import JsonValue
from workshop import Workshop

from uniclaw.assets import Assets, default_roots
from uniclaw.environments.docker import DockerFactory
from uniclaw.environments.engine import connect
from uniclaw.environments.images import Images
from uniclaw.errors import EngineError, StoreError
from uniclaw.firewall.policy import load_policy
from uniclaw.firewall.projection import visible_round
from uniclaw.pictures import PictureLimits, safe_picture
from uniclaw.ports import Environment, EnvironmentSpec, ExecResult, ImagePart, TextPart
from uniclaw.store.atomic import write_json
from uniclaw.supervisor.frozen import FrozenFiles
from uniclaw.supervisor.judge_evidence import EvidenceLimits
from uniclaw.supervisor.judge_files import Reader, ReadLimits, ToolCall
from uniclaw.supervisor.renditions import (
    INDEX,
    Picture,
    Renderer,
    Rendition,
    Renditions,
    kind_of,
    place_of,
    renditions_of,
)
from uniclaw.trajectory import Evidence

ASSETS = Assets(default_roots(None))
PDF = "/workspace/results/report.pdf"


def png(width: int = 40, height: int = 30, colour: str = "red") -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (width, height), colour).save(out, "PNG")
    return out.getvalue()


def pdf_of(pages: Sequence[str]) -> bytes:
    out = io.BytesIO()
    first, *rest = [Image.new("RGB", (200, 280), colour) for colour in pages]
    first.save(out, "PDF", save_all=True, append_images=rest)
    return out.getvalue()


def sound(seconds: float) -> bytes:
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(8_000)
        count = int(8_000 * seconds)
        values = (int(9_000 * math.sin(n / 9)) for n in range(count))
        file.writeframes(b"".join(struct.pack("<h", value) for value in values))
    return out.getvalue()


def rendered(evidence: Evidence, text: str = "the text of it") -> None:
    """As the renderer would leave it."""
    place = place_of(evidence)
    place.mkdir()
    (place / "0-0.png").write_bytes(png())
    picture = Picture(file="0-0.png", media_type="image/png", note="page 1 of 1")
    made = Rendition(path=PDF, note="1 pages", text=text, pictures=(picture,))
    write_json(place / INDEX, Renditions(files=(made,)))


def reader(evidence: Evidence, **limits: int) -> Reader:
    return Reader(
        files=FrozenFiles.of(evidence),
        nonce="n0nce",
        limits=ReadLimits.model_validate(limits),
        shown=EvidenceLimits(),
        renditions=renditions_of(evidence),
        rendered_in=place_of(evidence),
    )


def call(**arguments: JsonValue) -> ToolCall:
    given: Mapping[str, JsonValue] = arguments
    return ToolCall(id="c", name="read_file", arguments=given)


async def test_the_judge_reads_a_document_as_pages_and_text(shop: Workshop) -> None:
    evidence = shop.evidence({"report.pdf": pdf_of(["red"])})
    rendered(evidence)
    parts = await reader(evidence).answer(call(path="report.pdf"))
    assert "the text of it" in parts[0].text if isinstance(parts[0], TextPart) else False
    assert isinstance(parts[2], ImagePart)
    bare = await reader(evidence).answer(call(path="report.pdf", offset=1))
    assert all(isinstance(part, TextPart) for part in bare)


async def test_pages_count_against_the_judge_s_pictures(shop: Workshop) -> None:
    evidence = shop.evidence({"report.pdf": pdf_of(["red"])})
    rendered(evidence)
    parts = await reader(evidence, max_images=0).answer(call(path="report.pdf"))
    assert not any(isinstance(part, ImagePart) for part in parts)
    assert isinstance(parts[-1], TextPart)
    assert "no more pictures" in parts[-1].text


def test_the_user_sees_pictures_and_pages_where_the_policy_shows_files(shop: Workshop) -> None:
    evidence = shop.evidence({"report.pdf": pdf_of(["red"]), "chart.png": png(3_000, 20)})
    rendered(evidence)
    policy = load_policy("coarse", ASSETS)
    shown = visible_round("Go.", evidence.turn, evidence, policy, pictures=True)
    by_name = {file.path.rpartition("/")[2]: file for file in shown.files}
    assert by_name["report.pdf"].text == "the text of it"
    assert [p.note for p in by_name["report.pdf"].pictures] == ["page 1 of 1"]
    assert by_name["chart.png"].pictures[0].note == "3000 x 20 pixels"
    plain = visible_round("Go.", evidence.turn, evidence, policy)
    assert not any(file.pictures for file in plain.files)


def test_what_is_no_picture_is_a_note() -> None:
    assert safe_picture(b"\x89PNG broken", PictureLimits()).data is None
    assert safe_picture(png(), PictureLimits(max_bytes=10)).data is None
    assert "not opened" in safe_picture(png(90, 90), PictureLimits(max_pixels=100)).note


@pytest.mark.parametrize(
    ("name", "kind"),
    [("a.PDF", "pdf"), ("b.xlsx", "sheet"), ("c.odt", "document"), ("d.mp4", "video")],
)
def test_kinds_go_by_the_name(name: str, kind: str) -> None:
    assert kind_of(name) == kind
    assert kind_of(f"{name}.txt") is None


async def test_without_the_image_the_reason_is_kept_and_nothing_fails(shop: Workshop) -> None:
    evidence = shop.evidence({"report.pdf": pdf_of(["red"])})

    class Nowhere:
        async def start(self, spec: object) -> object:
            raise EngineError("no engine here")

    found = await Renderer(Nowhere(), {}).render(evidence)  # type: ignore[arg-type]
    assert found is not None
    assert found.problem == "no engine here"
    assert renditions_of(evidence) == found


@pytest.mark.docker
@pytest.mark.timeout(600)
async def test_documents_are_rendered_in_a_container_of_their_own(shop: Workshop) -> None:
    api = connect()
    try:
        images = Images(ASSETS, api)
        images.build("office")
        run = f"test-{secrets.token_hex(6)}"
        rows = "name,amount\nAnna,12\n邓以诚,30\n"
        evidence = shop.evidence(
            {
                "report.pdf": pdf_of(["red", "blue", "green", "white", "black", "gray"]),
                "-rf.wav": sound(2.0),
                "broken.pdf": b"%PDF-1.4 not really",
                "notes.txt": rows,
                "sheet.xlsx": _workbook(),
            }
        )
        found = await Renderer(DockerFactory(images, run=run), {}).render(evidence)
        assert not api.containers(all=True, filters={"label": f"uniclaw.run={run}"})
    finally:
        api.close()
    assert found is not None
    assert found.problem is None
    made = {file.path.rpartition("/")[2]: file for file in found.files}
    assert [p.note for p in made["report.pdf"].pictures] == [f"page {n} of 6" for n in (1, 2, 3, 4)]
    assert made["-rf.wav"].note == "audio of 2.0 s, no transcript"
    assert len(made["-rf.wav"].pictures) == 1
    assert made["broken.pdf"].note.startswith("not rendered")
    assert "notes.txt" not in made
    assert "邓以诚 | 30" in made["sheet.xlsx"].text
    place: Path = place_of(evidence)
    with Image.open(place / made["report.pdf"].pictures[1].file) as page:
        assert page.convert("RGB").getpixel((50, 50)) == (0, 0, 254)


def _workbook() -> bytes:
    """A workbook that office programs open: with its content types and root relations."""
    from test_grader import workbook

    cells = [
        ['<c r="A1" t="inlineStr"><is><t>name</t></is></c>', '<c r="B1"><v>1</v></c>'],
        ['<c r="A2" t="inlineStr"><is><t>邓以诚</t></is></c>', '<c r="B2"><v>30</v></c>'],
    ]
    stream = io.BytesIO(workbook(cells))
    package = "http://schemas.openxmlformats.org/package/2006"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    main = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    sheets = "".join(
        f'<Override PartName="/xl/worksheets/sheet{n}.xml" ContentType="{main}.worksheet+xml"/>'
        for n in (1, 2)
    )
    with zipfile.ZipFile(stream, "a") as archive:
        archive.writestr(
            "[Content_Types].xml",
            f'<Types xmlns="{package}/content-types"><Default Extension="rels" '
            'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
            f'<Override PartName="/xl/workbook.xml" ContentType="{main}.sheet.main+xml"/>'
            f"{sheets}</Types>",
        )
        archive.writestr(
            "_rels/.rels",
            f'<Relationships xmlns="{package}/relationships"><Relationship Id="r1" '
            f'Type="{office}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        )
        relation = archive.read("xl/_rels/workbook.xml.rels").decode()
    return _with_types(
        stream.getvalue(), relation.replace('Type="t"', f'Type="{office}/worksheet"')
    )


def _with_types(data: bytes, relations: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            text = relations.encode() if name.endswith("workbook.xml.rels") else old.read(name)
            new.writestr(name, text)
    return out.getvalue()


class _TakenOver:
    """An environment whose program says what a hostile document would have it say."""

    def __init__(self, inner: Environment, said: str) -> None:
        self._inner = inner
        self._said = said

    async def put(self, files: Mapping[str, bytes | Path], *, mode: int | None = None) -> None:
        await self._inner.put(files, mode=mode)

    async def exec(self, command: Sequence[str], **given: object) -> ExecResult:
        out = f"{command[-1]}{self._said}\n".encode()
        return ExecResult(0, out, b"", False, len(out), False, 0.1)

    async def get(self, path: str, *, max_bytes: int = 10_000_000) -> bytes:
        return await self._inner.get(path, max_bytes=max_bytes)

    async def close(self) -> None:
        await self._inner.close()


@pytest.mark.parametrize(
    "said",
    [
        "not json",
        "[]",
        '[{"id": 0, "pages": [["a.png"]], "text": "", "note": ""}]',
        '[{"id": 0, "pages": 7, "text": "", "note": ""}]',
        '[{"id": 3, "pages": [], "text": "", "note": ""}]',
        '{"id": 0}',
        '[{"id": 0, "pages": [["../../jobs.json", "x"]], "text": "", "note": ""}]',
        '[{"id": 0, "pages": [["/etc/passwd", "x"]], "text": "", "note": ""}]',
    ],
)
async def test_a_document_that_takes_the_program_over_ends_no_episode(
    shop: Workshop, said: str
) -> None:
    evidence = shop.evidence({"report.pdf": pdf_of(["red"])})

    class Taken:
        async def start(self, spec: EnvironmentSpec) -> _TakenOver:
            return _TakenOver(await shop.factory.start(spec), said)

    found = await Renderer(Taken(), {}).render(evidence)  # type: ignore[arg-type]
    assert found is not None
    assert found.problem is not None
    assert found.files == ()


async def test_a_damaged_index_is_named_and_not_taken_for_nothing(shop: Workshop) -> None:
    evidence = shop.evidence({"report.pdf": pdf_of(["red"])})
    rendered(evidence)
    (place_of(evidence) / INDEX).write_text('{"files": 3}', encoding="utf-8")
    with pytest.raises(StoreError, match=r"index\.json"):
        renditions_of(evidence)
