"""Any request read, any request written, and what makes two requests the same."""

import hashlib
import json

from uniclaw.gateway.exchange import Api
from uniclaw.gateway.translate.fields import Json
from uniclaw.gateway.translate.read_chat import read_chat
from uniclaw.gateway.translate.read_messages import read_messages
from uniclaw.gateway.translate.read_responses import read_responses
from uniclaw.gateway.translate.talk import Ask
from uniclaw.gateway.translate.write_messages import write_messages
from uniclaw.gateway.translate.write_requests import Style, write_chat, write_responses

_VOLATILE = frozenset(
    {
        "client_metadata",
        "metadata",
        "model",
        "prompt_cache_key",
        "prompt_cache_retention",
        "safety_identifier",
        "stream_options",
        "user",
    }
)
"""Top-level fields that differ between runs and mean nothing to the answer."""


def read_request(api: Api, body: Json) -> Ask:
    """Read a request of an API.

    Raises:
        BadRequest: it cannot be read as one.
    """
    if api == "chat":
        return read_chat(body)
    return read_messages(body) if api == "messages" else read_responses(body)


def write_request(api: Api, ask: Ask, model: str, style: Style) -> Json:
    """The body of a request in an API; what it cannot carry is added to `ask.dropped`."""
    if api == "chat":
        return write_chat(ask, model, style)
    if api == "messages":
        return write_messages(ask, model, style)
    return write_responses(ask, model, style)


def request_hash(api: Api, body: Json) -> str:
    """Hash of a request's meaning: key order and fields without meaning do not count."""
    kept = {key: value for key, value in body.items() if key not in _VOLATILE}
    text = json.dumps([api, kept], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()
