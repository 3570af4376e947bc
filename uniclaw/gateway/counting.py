"""How many tokens a messages request has: asked of the provider, or estimated.

Not a model call: it is not counted, but it is looked at and bounded like one.
"""

from uniclaw.errors import FirewallBreach
from uniclaw.gateway.asgi import Delivery, Incoming, read_body
from uniclaw.gateway.complaints import shut, upstream_failed
from uniclaw.gateway.episode import EpisodeDoor
from uniclaw.gateway.exchange import Ending
from uniclaw.gateway.http_client import TooLarge
from uniclaw.gateway.http_connection import UpstreamBroken
from uniclaw.gateway.prepare import adapt, forbid, heard_tokens, parse_body, texts
from uniclaw.gateway.recorded import EarlierFirst
from uniclaw.gateway.scripted import ScriptedSource
from uniclaw.gateway.translate.fields import Json, encode, int_of, parse_object
from uniclaw.gateway.upstream import PASSED_HEADERS, ProviderSource, SourceRequest

_MAX_ANSWER_BYTES = 100_000


async def count_tokens(episode: EpisodeDoor, request: Incoming, delivery: Delivery) -> None:
    """Answer `POST /v1/messages/count_tokens`.

    Raises:
        Complaint: refused.
    """
    episode.check_open()
    await episode.admission.enter()
    try:
        limits = episode.limits
        raw = await read_body(
            request,
            episode.admission,
            max_bytes=limits.max_body_bytes,
            timeout_s=limits.body_timeout_s,
        )
        try:
            body: Json = {"input_tokens": await _counted(episode, request, raw)}
        finally:
            episode.admission.drop(len(raw))
    finally:
        episode.admission.leave()
    await delivery.whole(200, {"content-type": "application/json"}, encode(body))


async def _counted(episode: EpisodeDoor, request: Incoming, raw: bytes) -> int:
    fields = parse_body(raw)
    remote = episode.upstream.remote_content
    forbid("messages", fields, remote_content=remote)
    if episode.watch is not None:
        try:
            episode.watch("a request of the executor's model", "\n".join(texts(fields)))
        except FirewallBreach as breach:
            episode.end(breach)
            raise shut(Ending.BREACH, "this episode was ended") from breach
    model = episode.upstream.model
    made = adapt("messages", fields, raw, model=model, remote_content=remote)
    headers = {k: v for k, v in request.headers.items() if k in PASSED_HEADERS}
    asked = str(fields.get("model") or "")
    sent = SourceRequest("messages", made.body, made.fields, asked, headers, False, "")
    source = episode.source
    if isinstance(source, EarlierFirst):
        source = source.inner
    if isinstance(source, ScriptedSource):
        return source.choose(sent)[1].usage.input
    if isinstance(source, ProviderSource) and source.api_for("messages", "") == "messages":
        return await _asked(source, sent)
    return heard_tokens(fields)


async def _asked(source: ProviderSource, sent: SourceRequest) -> int:
    try:
        reply = await source.count_tokens(sent)
        try:
            answer = parse_object(await reply.read(_MAX_ANSWER_BYTES)) or {}
        finally:
            reply.close()
    except (UpstreamBroken, TooLarge) as error:
        raise upstream_failed(Ending.PROVIDER_ERROR, 502, "no count") from error
    counted = int_of(answer.get("input_tokens"))
    return heard_tokens(sent.fields) if reply.status != 200 or counted is None else counted
