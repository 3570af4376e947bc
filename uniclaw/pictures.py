"""Pictures made safe to send.

Bytes that an agent left never reach a provider as they are: pictures are decoded within limits
and encoded anew, so that a broken one is a note in the prompt and not a refusal.
"""

import base64
import io
import warnings
from typing import Literal, NamedTuple

from uniclaw.records import Count, Record

MAX_ENCODED = 1_500_000
"""Bytes of a PNG past which a picture becomes a JPEG: providers cap the size of a request."""
SUFFIXES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".tif", ".tiff")


class PictureLimits(Record):
    """What is opened, and how large it may be sent."""

    max_bytes: Count = 25_000_000
    """Of the file; larger ones are not opened."""
    max_pixels: Count = 60_000_000
    max_side: Count = 1_568
    """Larger pictures are scaled down to it."""


class SafePicture(NamedTuple):
    """A picture that was decoded and encoded anew, or why there is none."""

    media_type: Literal["image/png", "image/jpeg"]
    data: bytes | None
    note: str

    @property
    def data_base64(self) -> str:
        """The bytes as providers take them; empty where there is no picture."""
        return "" if self.data is None else base64.b64encode(self.data).decode("ascii")


def _none(note: str) -> SafePicture:
    return SafePicture("image/png", None, note)


def safe_picture(data: bytes, limits: PictureLimits) -> SafePicture:
    """Decode a picture within limits and encode its first frame anew."""
    from PIL import Image

    if len(data) > limits.max_bytes:
        return _none(f"picture of {len(data)} bytes, not opened")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # remarks on odd files are not ours
            with Image.open(io.BytesIO(data)) as image:
                width, height = image.size
                if width * height > limits.max_pixels:
                    return _none(f"picture of {width} x {height} pixels, not opened")
                alpha = image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info
                plain = image.convert("RGBA" if alpha else "RGB")
        plain.thumbnail((limits.max_side, limits.max_side))
        out = io.BytesIO()
        kind: Literal["image/png", "image/jpeg"] = "image/png"
        plain.save(out, "PNG")
        if len(out.getvalue()) > MAX_ENCODED:
            out, kind = io.BytesIO(), "image/jpeg"
            plain.convert("RGB").save(out, "JPEG", quality=85)
    except (OSError, ValueError, SyntaxError, EOFError, MemoryError, ArithmeticError) as error:
        return _none(f"not a readable picture: {type(error).__name__}")
    except Image.DecompressionBombError:
        return _none("picture too large to open")
    return SafePicture(kind, out.getvalue(), f"{width} x {height} pixels")
