"""Pictures in what a tool gave back, whichever way a program writes them down.

Must not know where they are kept.
"""

import base64
import binascii
from collections.abc import Callable, Iterator

from pydantic import JsonValue

from uniclaw.harnesses.fields import text_at, value_at

KeepPicture = Callable[[bytes], str | None]
"""Keeps a picture with the episode; its store reference, None when it is no picture."""
MAX_PICTURES = 8
"""Kept of one result."""
MAX_BYTES = 8_000_000
"""Of one picture."""
_DEEPEST = 6


def pictures_in(content: JsonValue) -> list[bytes]:
    """Bytes of the pictures in a message's content, the first few."""
    found: list[bytes] = []
    for encoded in _encoded(content, _DEEPEST):
        if len(found) == MAX_PICTURES:
            break
        data = _decode(encoded)
        if data:
            found.append(data)
    return found


def _encoded(content: JsonValue, deepest: int) -> Iterator[str]:
    """Base64 texts of image blocks: Anthropic's, both of OpenAI's, and MCP's."""
    if deepest == 0:
        return
    if isinstance(content, list):
        for part in content:
            yield from _encoded(part, deepest - 1)
    elif isinstance(content, dict):
        if "image" in text_at(content, "type"):
            yield _data_of(content)
        else:
            yield from _encoded(content.get("content"), deepest - 1)


def _data_of(block: dict[str, JsonValue]) -> str:
    data = text_at(block, "source", "data") or text_at(block, "data")
    if data:
        return data
    url = value_at(block, "image_url")
    address = url if isinstance(url, str) else text_at(url, "url")
    head, _, rest = address.partition(";base64,")
    return rest if head.startswith("data:image/") else ""


def _decode(encoded: str) -> bytes:
    if len(encoded) > MAX_BYTES * 4 // 3 + 4:
        return b""
    try:
        return base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        return b""
