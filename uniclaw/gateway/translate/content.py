"""Text, images and files of a message in the three APIs.

The shapes of the three do not collide, so one reader does for all.
"""

import base64
import binascii

from pydantic import JsonValue

from uniclaw.gateway.translate.fields import Json, object_of, objects_of, text_of
from uniclaw.gateway.translate.talk import File, Image, Part, Text

_TEXT = frozenset({"text", "input_text", "output_text", "refusal", "summary_text"})


def read_parts(content: JsonValue, dropped: list[str]) -> list[Part]:
    """The parts of a `content` value; kinds nobody else knows go to `dropped`."""
    if isinstance(content, str):
        return [Text(content)] if content else []
    parts: list[Part] = []
    for item in objects_of(content):
        part = _part(item)
        if part is not None:
            parts.append(part)
        elif item.get("type") not in _ELSEWHERE:
            dropped.append(f"content of type {text_of(item.get('type'))!r}")
    return parts


_ELSEWHERE = frozenset({"tool_use", "tool_result", "thinking", "redacted_thinking"})
"""Blocks of a message that its own reader takes."""


def _part(item: Json) -> Part | None:
    kind = text_of(item.get("type"))
    if kind in _TEXT:
        return Text(text_of(item.get("refusal" if kind == "refusal" else "text")))
    if kind in ("image_url", "input_image"):
        given = item.get("image_url")
        url = text_of(object_of(given).get("url")) or text_of(given)
        detail = text_of(object_of(given).get("detail")) or text_of(item.get("detail"))
        return _image(url, detail)
    if kind in ("file", "input_file"):
        return _file(object_of(item.get("file")) or item)
    source = object_of(item.get("source"))
    media = text_of(source.get("media_type"))
    if kind == "image" and source.get("type") == "base64":
        return Image(media, text_of(source.get("data")))
    if kind == "document":
        return _document(item, source, media)
    return None


def _image(url: str, detail: str) -> Image | None:
    head, found, data = url.partition(";base64,")
    if not found or not head.startswith("data:"):
        return None
    return Image(head.removeprefix("data:"), data, detail)


def _file(record: Json) -> File | None:
    head, found, data = text_of(record.get("file_data")).partition(";base64,")
    if not found:
        return None
    name = text_of(record.get("filename")) or "document.pdf"
    return File(head.removeprefix("data:"), data, name)


def _document(item: Json, source: Json, media: str) -> Part | None:
    if source.get("type") == "base64":
        name = text_of(item.get("title")) or "document.pdf"
        return File(media, text_of(source.get("data")), name)
    if source.get("type") == "text":
        return Text(text_of(source.get("data")))
    return None


# --- writing -----------------------------------------------------------------------------


def chat_part(part: Part) -> Json:
    """A part of a chat message."""
    if isinstance(part, Text):
        return {"type": "text", "text": part.text}
    if isinstance(part, File):
        url = f"data:{part.media_type};base64,{part.data}"
        return {"type": "file", "file": {"filename": part.name, "file_data": url}}
    given: Json = {"url": f"data:{part.media_type};base64,{part.data}"}
    if part.detail:
        given["detail"] = part.detail
    return {"type": "image_url", "image_url": given}


def responses_part(part: Part, *, output: bool = False) -> Json:
    """A part of a responses item; `output` for what the assistant said."""
    if isinstance(part, Text):
        if output:
            return {"type": "output_text", "text": part.text, "annotations": []}
        return {"type": "input_text", "text": part.text}
    url = f"data:{part.media_type};base64,{part.data}"
    if isinstance(part, File):
        return {"type": "input_file", "filename": part.name, "file_data": url}
    return {"type": "input_image", "image_url": url, "detail": part.detail or "auto"}


def messages_part(part: Part) -> Json:
    """A block of an Anthropic message."""
    if isinstance(part, Text):
        return {"type": "text", "text": part.text}
    source: Json = {"type": "base64", "media_type": part.media_type, "data": part.data}
    if isinstance(part, Image):
        return {"type": "image", "source": source}
    if part.media_type.startswith("text/"):
        source = {"type": "text", "media_type": "text/plain", "data": _plain(part.data)}
    return {"type": "document", "title": part.name, "source": source}


def _plain(data: str) -> str:
    try:
        return base64.b64decode(data, validate=True).decode("utf-8", "replace")
    except binascii.Error:
        return data
