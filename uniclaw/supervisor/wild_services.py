"""Recorded audits of our services, in the form that imported social graders ask for.

Each grader reads `GET http://localhost:PORT/NAME/audit`, with `calls[].endpoint` and what was
made. Ports and names are theirs; the calls are those of our services.
"""

import json
from collections.abc import Mapping, Sequence
from typing import NamedTuple, cast

from pydantic import JsonValue

from uniclaw.records import ProbeResult

PREFIX = "service:"


class Endpoint(NamedTuple):
    """Where a grader looks for a service's audit."""

    port: int
    name: str
    """First part of every path."""
    made: Mapping[str, tuple[str, ...]]
    """Key of the document -> actions of ours whose entries stand there."""


_MAIL_SENT = ("mail.send", "mail.reply", "mail.forward", "mail.draft_send")
ENDPOINTS: Mapping[str, Endpoint] = {
    "mail": Endpoint(
        9100,
        "gmail",
        {"sent_messages": _MAIL_SENT, "drafts": ("mail.draft", "mail.draft_update")},
    ),
    "calendar": Endpoint(
        9101,
        "calendar",
        {
            "created_events": ("calendar.create",),
            "updated_events": ("calendar.update", "calendar.invite"),
            "deleted_events": ("calendar.delete",),
        },
    ),
    "contacts": Endpoint(
        9103,
        "contacts",
        {"created_contacts": ("contacts.create",), "updated_contacts": ("contacts.update",)},
    ),
    "chat": Endpoint(9110, "slack", {"sent_messages": ("chat.post", "chat.dm")}),
}


def audits_of(probes: Sequence[ProbeResult]) -> dict[str, JsonValue]:
    """Port -> path -> document, for every service that was recorded."""
    found: dict[str, JsonValue] = {}
    for probe in probes:
        endpoint = ENDPOINTS.get(probe.id.removeprefix(PREFIX))
        if endpoint is not None and probe.id.startswith(PREFIX):
            path = f"/{endpoint.name}/audit"
            found[str(endpoint.port)] = {path: _document(endpoint, _read(probe))}
    return found


def _read(probe: ProbeResult) -> Mapping[str, JsonValue]:
    try:
        document = cast("JsonValue", json.loads(probe.stdout))
    except ValueError:
        return {}
    return document if isinstance(document, dict) else {}


def _document(endpoint: Endpoint, recorded: Mapping[str, JsonValue]) -> JsonValue:
    audit = recorded.get("audit")
    entries = [e for e in (audit if isinstance(audit, list) else []) if isinstance(e, dict)]
    asked = [e for e in entries if e.get("actor", "agent") == "agent"]
    calls: list[JsonValue] = [
        {**entry, "endpoint": f"/{endpoint.name}{entry.get('path') or ''}"} for entry in asked
    ]
    document: dict[str, JsonValue] = {"calls": calls}
    for key, actions in endpoint.made.items():
        done = [e for e in asked if e.get("action") in actions and e.get("ok", True)]
        document[key] = cast("list[JsonValue]", done)
    return {**document, "state": recorded.get("state")}
