import struct
import zlib

import pytest
from PIL import Image
from pydantic import JsonValue
from workshop import Workshop, encoded, picture


def bomb() -> bytes:
    """A PNG whose header promises 60000 x 60000 pixels."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    header = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 0, 0, 0, 0)
    body = zlib.compress(b"\0" * 100_000)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", body) + chunk(b"IEND", b"")
    )


@pytest.mark.parametrize(
    ("check", "value"),
    [
        ({}, 1.0),
        ({"formats": ["PNG"]}, 1.0),
        ({"formats": ["JPEG", "GIF"]}, 0.0),
        ({"min_width": 200, "min_height": 100}, 1.0),
        ({"min_width": 201}, 0.0),
        ({"max_height": 99}, 0.0),
        ({"min_colours": 8}, 1.0),
        ({"min_colours": 10}, 0.0),
        ({"similar_to": "references/key.png", "min_similarity": 0.99}, 1.0),
        ({"similar_to": "references/black.png"}, 0.0),
    ],
)
def test_statements(shop: Workshop, check: dict[str, JsonValue], value: float):
    shop.reference("key.png", picture())
    shop.reference("black.png", encoded(Image.new("L", (50, 50), 0)))
    evidence = shop.evidence({"a.png": picture()})
    result = shop.run({"kind": "image", "path": "a.png", **check}, evidence)
    assert result.value == value, result.reason


def test_a_blank_picture_has_one_colour_and_transparency_is_white(shop: Workshop):
    blank = encoded(Image.new("RGBA", (10, 10), (0, 0, 0, 0)))
    evidence = shop.evidence({"a.png": blank})
    few: dict[str, JsonValue] = {"kind": "image", "path": "a.png", "min_colours": 2}
    assert "1 colours" in shop.run(few, evidence).reason
    shop.reference("white.png", encoded(Image.new("L", (50, 50), 255)))
    white: dict[str, JsonValue] = {
        "kind": "image",
        "path": "a.png",
        "similar_to": "references/white.png",
        "min_similarity": 1,
    }
    assert shop.run(white, evidence).value == 1.0


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"GIF89a",
        picture()[:300],
        b"\x89PNG\r\n\x1a\n" + b"\xff" * 50,
        b"%!PS-Adobe-3.0 EPSF-3.0\n",
    ],
)
def test_damaged_and_foreign_files_are_not_met(shop: Workshop, data: bytes):
    result = shop.run({"kind": "image", "path": "a.png"}, shop.evidence({"a.png": data}))
    assert result.value == 0.0
    assert "no readable image" in result.reason


def test_decompression_bombs_are_not_decoded(shop: Workshop):
    result = shop.run({"kind": "image", "path": "a.png"}, shop.evidence({"a.png": bomb()}))
    assert result.value == 0.0
    assert "pixels" in result.reason


def test_other_formats_are_known_by_content(shop: Workshop):
    evidence = shop.evidence({"a.png": picture(kind="JPEG")})
    check: dict[str, JsonValue] = {"kind": "image", "path": "a.png", "formats": ["JPEG"]}
    assert shop.run(check, evidence).value == 1.0
