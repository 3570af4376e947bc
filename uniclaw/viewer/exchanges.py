"""Stored model exchanges, read with limits."""

import zlib
from collections.abc import Mapping

from pydantic import JsonValue
from pydantic_core import from_json

from uniclaw.viewer.access import Folder, NoSuchPage

RAW_BYTES = 64_000_000
"""Of one file, what is ever read or sent."""


def read_exchange(run: Folder, digest: str) -> Mapping[str, JsonValue]:
    """A stored exchange; empty when it is missing or damaged."""
    if not digest.isalnum():
        return {}
    try:
        packed = run.read(f"blobs/{digest[:2]}/{digest}.gz", RAW_BYTES)
        unpacker = zlib.decompressobj(wbits=31)
        value: JsonValue = from_json(unpacker.decompress(packed.data, RAW_BYTES))
    except (NoSuchPage, zlib.error, ValueError):
        return {}
    return value if isinstance(value, dict) else {}
