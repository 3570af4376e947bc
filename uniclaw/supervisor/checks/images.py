"""Statements about images: format, size, colours, likeness to a reference, text by OCR.

Pictures are decoded on the host, by format decoders of a fixed list, and only after their header
promised a size that is harmless. OCR was done before in the grader environment.
"""

import io
import struct
import zlib
from collections.abc import Iterator

from PIL import Image, ImageChops, ImageStat

from uniclaw.errors import UserError
from uniclaw.hidden.rubric import ImageCheck
from uniclaw.hidden.verdict import CheckResult
from uniclaw.supervisor.apart import JobKey
from uniclaw.supervisor.checks.context import (
    BrokenOnEvidence,
    CheckContext,
    Statement,
    Undecidable,
    conclude,
    hold,
    unmet,
)
from uniclaw.supervisor.checks.texts import contains_all
from uniclaw.supervisor.frozen import Unreadable

MAX_IMAGE_BYTES = 50_000_000
MAX_PIXELS = 50_000_000
FORMATS = ("PNG", "JPEG", "GIF", "BMP", "WEBP", "TIFF")
_THUMBNAIL = (64, 64)
_COLOUR_SAMPLE = (1024, 1024)
_BROKEN = (OSError, SyntaxError, ValueError, EOFError, OverflowError, struct.error, zlib.error)
_BOMB = (Image.DecompressionBombError, Image.DecompressionBombWarning)


def check_image(part: str, check: ImageCheck, context: CheckContext) -> CheckResult:
    """Carry out an `image` check; where a glob matches several files the best one counts.

    Raises:
        Undecidable: OCR is needed and could not be done.
    """
    try:
        entries = context.files.readable(check.path)
    except Unreadable as error:
        return unmet(str(error))
    results: list[CheckResult] = []
    for entry in entries:
        try:
            data = context.files.read(entry, max_bytes=MAX_IMAGE_BYTES)
            statements = list(_statements(part, check, entry.path, data, context))
            result = conclude(statements, partial=False, evidence=[entry.path])
        except (Unreadable, BrokenOnEvidence) as error:
            result = unmet(f"{entry.path}: {error}", evidence=[entry.path])
        results.append(result)
    return max(results, key=lambda result: result.value or 0.0)


def _statements(
    part: str, check: ImageCheck, path: str, data: bytes, context: CheckContext
) -> Iterator[Statement]:
    image, kind = open_image(data)
    width, height = image.size
    yield hold(not check.formats or kind in check.formats, f"format {kind}")
    wide = check.min_width <= width <= (check.max_width or width)
    high = check.min_height <= height <= (check.max_height or height)
    yield hold(wide and high, f"{width} x {height} pixels")
    if check.min_colours > 0:
        count = count_colours(image)
        yield hold(count >= check.min_colours, f"{count} colours")
    if check.similar_to is not None:
        likeness = similarity(image, _reference(check.similar_to, context))
        yield hold(likeness >= check.min_similarity, f"likeness {likeness:.3f}")
    if check.ocr_contains:
        wanted = [context.references.value(v) for v in check.ocr_contains]
        yield from contains_all(wanted, _ocr(part, path, context), ignore_case=True)


def open_image(data: bytes) -> tuple[Image.Image, str]:
    """Decode an image to RGB on white, and say its format.

    Raises:
        BrokenOnEvidence: no image of a known format, damaged, or too large.
    """
    try:
        with Image.open(io.BytesIO(data), formats=FORMATS) as source:
            width, height = source.size
            if width * height > MAX_PIXELS:
                raise BrokenOnEvidence(f"{width} x {height} pixels are too many to decode")
            kind = source.format or "unknown"
            if not source.has_transparency_data:
                return source.convert("RGB"), kind
            seen = source.convert("RGBA")
    except _BOMB as error:
        raise BrokenOnEvidence("too many pixels to decode") from error
    except _BROKEN as error:
        raise BrokenOnEvidence(f"no readable image ({type(error).__name__})") from error
    white = Image.new("RGBA", seen.size, "white")
    return Image.alpha_composite(white, seen).convert("RGB"), kind


def count_colours(image: Image.Image) -> int:
    """Distinct colours at 5 bits a channel, in a sample of at most a million pixels."""
    sample = image.copy()
    if image.width > _COLOUR_SAMPLE[0] or image.height > _COLOUR_SAMPLE[1]:
        size = (min(image.width, _COLOUR_SAMPLE[0]), min(image.height, _COLOUR_SAMPLE[1]))
        sample = image.resize(size, Image.Resampling.NEAREST)
    reduced = sample.point([value & 0xF8 for value in range(256)] * 3)
    return len(reduced.getcolors(maxcolors=2**15) or ())


def similarity(image: Image.Image, reference: Image.Image) -> float:
    """1 - mean absolute difference of 64 x 64 grey thumbnails / 255."""
    ours, theirs = (
        picture.convert("L").resize(_THUMBNAIL, Image.Resampling.BILINEAR)
        for picture in (image, reference)
    )
    return 1.0 - ImageStat.Stat(ImageChops.difference(ours, theirs)).mean[0] / 255.0


def _reference(relative: str, context: CheckContext) -> Image.Image:
    try:
        return open_image(context.references.read(relative))[0]
    except BrokenOnEvidence as error:
        raise UserError(f"the reference is {error}", field="similar_to", value=relative) from error


def _ocr(part: str, path: str, context: CheckContext) -> str:
    result = context.jobs.get(JobKey(part, path))
    if result is None or result.status == "unavailable":
        raise Undecidable(result.reason if result else f"{path} was not read")
    if result.status == "failed":
        raise BrokenOnEvidence(result.reason)
    return str(result.value)
