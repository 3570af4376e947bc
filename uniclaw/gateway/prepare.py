"""A harness's request checked and made ready for the upstream.

Here is decided what no agent may ask: state that the provider keeps (it is shared by all
episodes of one key), runs that outlive their request, and, unless the task has an open
network, whatever makes the provider reach out for the agent.
"""

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

from pydantic import JsonValue

from uniclaw.gateway.complaints import malformed
from uniclaw.gateway.exchange import Api
from uniclaw.gateway.translate.fields import Json, encode, object_of, objects_of, text_of

_KEPT_TOOLS: dict[Api, re.Pattern[str]] = {
    "chat": re.compile(r"function|custom"),
    "responses": re.compile(r"function|custom|local_shell|apply_patch|computer(_use_preview)?"),
    "messages": re.compile(r"|custom|(bash|text_editor|computer|memory|tool_search_tool)_.*"),
}
"""Types of tools that the harness runs itself."""

_REACHING = ("web_search_options", "mcp_servers", "container")
"""Top-level fields by which the provider reaches out."""
_STATEFUL = ("previous_response_id", "conversation", "prompt")

_AMBIGUOUS = b"\\u00"
"""A key may be written with escapes."""
_SENSITIVE = (b'"model"', b'"stream"', b'"tools"', b'"background"', b'"stream_options"')


class Adapted(NamedTuple):
    """A request as it is sent to an upstream of the same API."""

    fields: Json
    body: bytes
    dropped: tuple[str, ...]
    changed: bool
    """False: the harness's own bytes."""


def parse_body(raw: bytes) -> Json:
    """The JSON object of a body.

    Raises:
        Complaint: it is none.
    """
    try:
        value: JsonValue = json.loads(raw.decode("utf-8"), parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise malformed(f"the body is not JSON: {str(error)[:200]}") from error
    if not isinstance(value, dict):
        raise malformed("the body is not a JSON object")
    return value


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def forbid(api: Api, fields: Json, *, remote_content: bool) -> None:
    """Refuse what no agent may ask.

    Raises:
        Complaint: 400, naming the field.
    """
    if not isinstance(fields.get("model"), str):
        raise malformed("`model`: expected a string")
    if api == "responses":
        for name in _STATEFUL:
            if fields.get(name) is not None:
                raise malformed(f"`{name}` is not served here: send the whole conversation")
        if fields.get("background"):
            raise malformed("`background` is not served here")
    for item in _content(api, fields):
        _forbid_item(item, remote_content=remote_content)


def _content(api: Api, fields: Json) -> Iterator[Json]:
    """Every part of content of every message, and every item."""
    for item in objects_of(fields.get("input" if api == "responses" else "messages")):
        yield item
        for key in ("content", "output"):
            for part in objects_of(item.get(key)):
                yield part
                yield from objects_of(part.get("content"))  # of a tool result


def _forbid_item(item: Json, *, remote_content: bool) -> None:
    if item.get("type") == "item_reference":
        raise malformed("`item_reference` is not served here: send the item itself")
    source = object_of(item.get("source"))
    record = object_of(item.get("file")) or item
    if record.get("file_id") is not None or source.get("type") == "file":
        raise malformed("files kept at the provider are not served here: send the data")
    if remote_content:
        return
    image = item.get("image_url")
    url = text_of(object_of(image).get("url")) or text_of(image)
    if url and not url.startswith("data:"):
        raise malformed("`image_url`: expected a data URL; nothing is fetched for an agent")
    if item.get("file_url") is not None or source.get("type") == "url":
        raise malformed("content behind a URL is not fetched for an agent: send the data")


# --- the same API on both sides ----------------------------------------------------------


def adapt(api: Api, fields: Json, raw: bytes, *, model: str, remote_content: bool) -> Adapted:
    """The request for an upstream of the same API; the bytes themselves where they will do.

    The model is the configured one, a chat stream always reports its usage, and tools that
    the provider would run are left out.
    """
    ready = dict(fields)
    dropped: list[str] = []
    if not remote_content:
        _strip_reaching(api, ready, dropped)
    ready["model"] = model
    if api == "chat" and ready.get("stream") is True:
        options = object_of(ready.get("stream_options"))
        ready["stream_options"] = {**options, "include_usage": True}
    if ready == fields and _plain(raw):
        return Adapted(fields, raw, (), changed=False)
    return Adapted(ready, encode(ready), tuple(dropped), changed=True)


def _plain(raw: bytes) -> bool:
    """Whether every JSON reader sees the same: no key that matters stands there twice."""
    return _AMBIGUOUS not in raw and all(raw.count(key) <= 1 for key in _SENSITIVE)


def _strip_reaching(api: Api, ready: Json, dropped: list[str]) -> None:
    for name in _REACHING:
        if ready.pop(name, None) is not None:
            dropped.append(f"`{name}`")
    tools = ready.get("tools")
    if not isinstance(tools, list):
        return
    kept: list[JsonValue] = [tool for tool in tools if _harmless(api, tool, dropped)]
    if len(kept) == len(tools):
        return
    ready["tools"] = kept
    choice = object_of(ready.get("tool_choice"))
    forced = _forced_type(choice)
    if not kept:
        ready.pop("tools")
        ready.pop("tool_choice", None)
    elif forced and not _KEPT_TOOLS[api].fullmatch(forced):
        ready.pop("tool_choice")


def _forced_type(choice: Json) -> str:
    kind = text_of(choice.get("type"))
    return "" if kind in ("auto", "any", "none", "tool", "allowed_tools") else kind


def _harmless(api: Api, tool: JsonValue, dropped: list[str]) -> bool:
    record = object_of(tool)
    kind = text_of(record.get("type"))
    if api == "responses" and kind == "namespace":
        inner = objects_of(record.get("tools"))
        return all(_harmless(api, part, dropped) for part in inner)
    if _KEPT_TOOLS[api].fullmatch(kind):
        return True
    dropped.append(f"tool of type {kind!r}")
    return False


# --- what it says ------------------------------------------------------------------------


def texts(fields: Json) -> Iterator[str]:
    """Every key and every string of a request, in order; no recursion."""
    stack: list[JsonValue] = [fields]
    while stack:
        value = stack.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            for key, inner in reversed(value.items()):
                stack.append(inner)
                stack.append(key)
        elif isinstance(value, list):
            stack.extend(reversed(value))


def heard_tokens(fields: Json) -> int:
    """A rough count of the tokens of a request: four bytes each, 85 an image or file."""
    size = 0
    attachments = 0
    before = ""
    for text in texts(fields):
        if len(text) > 200 and (text.startswith("data:") or before == "data"):
            attachments += 1
        else:
            size += len(text)
        before = text
    return size // 4 + 85 * attachments
