"""What the door answers to which path.

On an episode's socket the socket names the episode; on the shared port the token does. Must
not know how a call is served.
"""

import time
from collections.abc import Callable

from uniclaw.gateway.asgi import Delivery, Gone, Incoming, Receive, Scope, Send, incoming
from uniclaw.gateway.call import ModelCall, complain
from uniclaw.gateway.complaints import Complaint, not_found, unauthorized
from uniclaw.gateway.counting import count_tokens
from uniclaw.gateway.episode import EpisodeDoor
from uniclaw.gateway.exchange import PATHS, Api, Ending, Payload, WireExchange
from uniclaw.gateway.translate.fields import Json, encode

_CALLS: dict[str, Api] = {
    f"{prefix}{path}": api for api, path in PATHS.items() for prefix in ("/v1", "")
}
_COUNTS = ("/v1/messages/count_tokens", "/messages/count_tokens")
_MODELS = ("/v1/models", "/models")
_ROOTS = ("/", "/v1", "/v1/", "/health", "/healthz")
_READING = ("GET", "HEAD")


class DoorApp:
    """The application of one socket."""

    def __init__(self, find: Callable[[Incoming], EpisodeDoor]) -> None:
        self._find = find
        """The episode of a request; raises `Complaint`."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            return
        request = incoming(scope, receive)
        delivery = Delivery(send)
        try:
            await self._serve(request, delivery)
        except Complaint as complaint:
            await complain(delivery, spoken_api(request), complaint)
        except Gone:
            return

    async def _serve(self, request: Incoming, delivery: Delivery) -> None:
        episode = self._find(request)
        api = _CALLS.get(request.path)
        if request.method == "POST" and api is not None:
            await ModelCall(episode, api, request, delivery).run()
        elif request.method == "POST" and request.path in _COUNTS:
            await count_tokens(episode, request, delivery)
        elif request.method in _READING:
            episode.check_open()
            await _probe(episode, request, delivery)
        elif api is not None or request.path in (*_COUNTS, *_MODELS, *_ROOTS):
            raise Complaint(
                Ending.MALFORMED, f"{request.method} is not served here", status=405, code="method"
            )
        else:
            raise not_found(request.path)


def spoken_api(request: Incoming) -> Api:
    """The API whose errors the client understands."""
    api = _CALLS.get(request.path)
    if api is not None:
        return api
    return "messages" if "anthropic-version" in request.headers else "chat"


def credentials(request: Incoming) -> list[str]:
    """Every key that a request carries."""
    found = [
        request.headers[name].strip()
        for name in ("x-api-key", "api-key")
        if request.headers.get(name, "").strip()
    ]
    kind, _, token = request.headers.get("authorization", "").strip().partition(" ")
    if kind:
        found.append(token.strip() if kind.lower() == "bearer" else kind)
    return found


def on_socket(episode: EpisodeDoor) -> Callable[[Incoming], EpisodeDoor]:
    """Of an episode's own socket: no key, or its own token."""

    def find(request: Incoming) -> EpisodeDoor:
        if all(episode.owns(token) for token in credentials(request)):
            return episode
        raise _turned_away(episode, request)

    return find


def _turned_away(episode: EpisodeDoor, request: Incoming) -> Complaint:
    """A foreign key on an episode's socket: refused, and part of its record."""
    complaint = unauthorized()
    api = _CALLS.get(request.path)
    if api is not None and request.method == "POST":
        now = time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime())
        episode.record(
            WireExchange(
                episode=episode.id,
                model=episode.upstream.spec,
                api=api,
                upstream_api=api,
                request=Payload(),
                status=complaint.status,
                ending=complaint.ending,
                error=complaint.message,
                error_kind="Complaint",
                started=now,
                duration_s=0.0,
                cost_usd=0.0,
            )
        )
    return complaint


def on_port(by_token: Callable[[str], EpisodeDoor | None]) -> Callable[[Incoming], EpisodeDoor]:
    """Of the shared port: exactly one episode's token."""

    def find(request: Incoming) -> EpisodeDoor:
        found = {id(e): e for e in map(by_token, credentials(request))}
        episode = next(iter(found.values()), None)
        if len(found) != 1 or episode is None:
            raise unauthorized()
        return episode

    return find


# --- probes ------------------------------------------------------------------------------


async def _probe(episode: EpisodeDoor, request: Incoming, delivery: Delivery) -> None:
    """Harmless questions of harnesses; what only some servers have is not found."""
    name = episode.upstream.model
    if request.path in _ROOTS:
        body: Json = {"status": "ok"}
    elif request.path in _MODELS:
        body = {
            "object": "list",
            "data": [_card(name)],
            "has_more": False,
            "first_id": name,
            "last_id": name,
        }
    elif any(request.path == f"{models}/{name}" for models in _MODELS):
        body = _card(name)
    else:
        raise not_found(request.path)
    await delivery.whole(200, {"content-type": "application/json"}, encode(body))


def _card(name: str) -> Json:
    return {
        "id": name,
        "object": "model",
        "created": 0,
        "owned_by": "uniclaw",
        "type": "model",
        "display_name": name,
        "created_at": "1970-01-01T00:00:00Z",
    }
