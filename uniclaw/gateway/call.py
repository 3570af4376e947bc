"""One model call, from the harness's bytes to the last byte of its answer.

Refuses, counts, asks the upstream, delivers, records; whatever happens, one exchange is
recorded. What an answer means is left to `observe` and `translate`.
"""

import asyncio
import time
from datetime import UTC, datetime

from uniclaw.errors import (
    FirewallBreach,
    ProviderBadAnswer,
    ProviderError,
    ProviderRateLimited,
    ProviderRefused,
)
from uniclaw.gateway.answering import Answering
from uniclaw.gateway.asgi import Delivery, Gone, Incoming, read_body
from uniclaw.gateway.attempts import Attempts
from uniclaw.gateway.complaints import (
    Complaint,
    error_body,
    error_event,
    malformed,
    shut,
    upstream_failed,
)
from uniclaw.gateway.episode import EpisodeDoor
from uniclaw.gateway.exchange import Api, Ending, Payload, WireExchange
from uniclaw.gateway.prepare import adapt, forbid, parse_body, texts
from uniclaw.gateway.translate.fields import BadRequest, Json, encode, text_of
from uniclaw.gateway.translate.requests import read_request, request_hash, write_request
from uniclaw.gateway.translate.talk import Ask
from uniclaw.gateway.upstream import PASSED_HEADERS, NotRecorded, SourceRequest
from uniclaw.models.retry import AttemptFailed

_HEAVY_BYTES = 256_000


class ModelCall:
    """One request of one episode."""

    def __init__(
        self, episode: EpisodeDoor, api: Api, request: Incoming, delivery: Delivery
    ) -> None:
        self._episode = episode
        self._api: Api = api
        self._request = request
        self._delivery = delivery
        self._started = datetime.now(UTC).isoformat()
        self._began = time.monotonic()
        self._raw = b""
        self._fields: Json = {}
        self._sent: SourceRequest | None = None
        self._changed = False
        self._dropped: list[str] = []
        self._attempts = Attempts(episode.upstream.retry, episode.timing, episode.meter)
        self._answering: Answering | None = None
        self._gone = False
        self._ending = Ending.CLOSED
        self._error: Exception | None = None

    async def run(self) -> None:
        """Serve it. Never raises but for a cancellation that comes from elsewhere."""
        task = asyncio.current_task()
        if task is not None:
            self._episode.calls.add(task)
        try:
            await self._served()
        except Gone:
            self._ending = Ending.CLIENT_GONE
        except asyncio.CancelledError:
            if not (self._gone or self._episode.closed):
                raise
            if task is not None:
                task.uncancel()
            self._ending = Ending.CLOSED if self._episode.closed else Ending.CLIENT_GONE
        finally:
            self._record()
            if task is not None:
                self._episode.calls.discard(task)

    async def _served(self) -> None:
        try:
            self._episode.check_open()
            await self._episode.admission.enter()
            try:
                await self._admitted()
            finally:
                self._episode.admission.leave()
        except Complaint as complaint:
            self._ending, self._error = complaint.ending, complaint
            await self._say(complaint)
        except AttemptFailed as failure:
            self._ending, self._error = ending_of(failure.error), failure.error
            self._episode.provider_error = failure.error
            await self._say(self._failure(failure))

    async def _admitted(self) -> None:
        limits = self._episode.limits
        self._raw = await read_body(
            self._request,
            self._episode.admission,
            max_bytes=limits.max_body_bytes,
            timeout_s=limits.body_timeout_s,
        )
        try:
            self._episode.check_open()  # it may have ended while this one waited
            sent, ask = await self._prepared()
            self._episode.admit(self._api)
            await self._asked(sent, ask)
        finally:
            self._episode.admission.drop(len(self._raw))

    # --- before the upstream -------------------------------------------------------------

    async def _prepared(self) -> tuple[SourceRequest, Ask | None]:
        """The request as it is sent; large ones one at a time, and half the time at most."""
        if len(self._raw) < _HEAVY_BYTES:
            return self._prepare()
        async with self._episode.admission.heavy:
            began = time.monotonic()
            prepared = self._prepare()
            await asyncio.sleep(time.monotonic() - began)
            return prepared

    def _prepare(self) -> tuple[SourceRequest, Ask | None]:
        episode, api = self._episode, self._api
        self._fields = fields = parse_body(self._raw)
        forbid(api, fields, remote_content=episode.upstream.remote_content)
        self._look(fields)
        key = request_hash(api, fields) if episode.by_hash else ""
        target = episode.source.api_for(api, key)
        ask: Ask | None = None
        model = episode.upstream.model
        try:
            if target == api:
                remote = episode.upstream.remote_content
                made = adapt(api, fields, self._raw, model=model, remote_content=remote)
                ready, body, self._changed = made.fields, made.body, made.changed
                self._dropped += made.dropped
            else:
                ask = read_request(api, fields)
                ready = write_request(target, ask, model, episode.source.style)
                body, self._changed = encode(ready), True
                self._dropped += ask.dropped
        except (BadRequest, RecursionError) as error:
            raise malformed(str(error)) from error
        headers = {k: v for k, v in self._request.headers.items() if k in PASSED_HEADERS}
        asked = text_of(fields.get("model"))
        beta = self._request.query == b"beta=true"
        self._sent = SourceRequest(target, body, ready, asked, headers, beta, key)
        return self._sent, ask

    def _look(self, fields: Json) -> None:
        """Show the request to the firewall; a breach ends the episode."""
        if self._episode.watch is None:
            return
        try:
            self._episode.watch("a request of the executor's model", "\n".join(texts(fields)))
        except FirewallBreach as breach:
            self._episode.end(breach)
            raise shut(Ending.BREACH, "this episode was ended") from breach

    # --- the upstream --------------------------------------------------------------------

    async def _asked(self, sent: SourceRequest, ask: Ask | None) -> None:
        answering = Answering(self._episode, self._api, sent, ask, self._delivery, self._fields)
        self._answering = answering
        watcher = asyncio.create_task(self._watch_client(asyncio.current_task()))
        try:
            await self._attempts.run(answering.attempt)
        except NotRecorded as error:
            raise Complaint(Ending.NOT_RECORDED, str(error), code="not_recorded") from error
        finally:
            watcher.cancel()
            answering.close()
        self._ending = Ending.ANSWERED
        self._episode.provider_error = None

    async def _watch_client(self, task: asyncio.Task[None] | None) -> None:
        message = await self._request.receive()
        hung_up = message["type"] == "http.disconnect"
        if hung_up and not self._delivery.finished and task is not None:
            self._gone = True
            task.cancel()

    def _failure(self, failure: AttemptFailed) -> Complaint:
        """What the harness is told of the provider's failure."""
        error = failure.error
        status = self._attempts.tries[-1].status if self._attempts.tries else None
        if status is None or status < 400:
            status = 529 if isinstance(error, ProviderRateLimited) else 502
            if self._api != "messages" and status == 529:
                status = 429
        message = self._episode.scrub(str(error).encode("utf-8", "replace")).decode("utf-8")
        return upstream_failed(self._ending, status, message, retry_after_s=failure.retry_after_s)

    # --- the end -------------------------------------------------------------------------

    async def _say(self, complaint: Complaint) -> None:
        """Tell the harness of an error, in the middle of a stream too."""
        if self._delivery.finished:
            return
        if self._delivery.opened:
            await self._delivery.finish(error_event(self._api, complaint))
            return
        await complain(self._delivery, self._api, complaint, self._passed(complaint))

    def _passed(self, complaint: Complaint) -> bytes | None:
        """The provider's own words, where it speaks the harness's API."""
        answering = self._answering
        if answering is None or not complaint.ending.of_provider:
            return None
        return answering.refusal

    def _record(self) -> None:
        answering, sent = self._answering, self._sent
        error = self._error
        self._episode.record(
            WireExchange(
                episode=self._episode.id,
                model=self._episode.upstream.spec,
                api=self._api,
                upstream_api=self._api if sent is None else sent.api,
                asked_model=text_of(self._fields.get("model")),
                stream=self._fields.get("stream") is True,
                request=Payload.of(self._raw),
                sent=Payload.of(sent.body) if sent is not None and self._changed else None,
                reply=None if answering is None else answering.recorded(),
                status=self._delivery.status,
                ending=self._ending,
                error=None if error is None else str(error),
                error_kind=None if error is None else type(error).__name__,
                partial=self._ending is not Ending.ANSWERED
                and answering is not None
                and answering.first_content_s is not None,
                tries=tuple(self._attempts.tries),
                dropped=tuple(dict.fromkeys(self._dropped)),
                started=self._started,
                duration_s=time.monotonic() - self._began,
                first_content_s=None if answering is None else answering.first_content_s,
                waited_s=self._attempts.waited_s,
                usage=self._attempts.usage(),
                estimate=self._attempts.estimate(),
                cost_usd=self._attempts.cost_usd() if self._attempts.tries else 0.0,
                request_hash=request_hash(self._api, self._fields) if sent is not None else "",
            )
        )


def ending_of(error: ProviderError) -> Ending:
    """The ending that a provider's failure is."""
    if isinstance(error, ProviderRateLimited):
        return Ending.RATE_LIMITED
    if isinstance(error, ProviderRefused):
        return Ending.PROVIDER_REFUSED
    return Ending.BAD_ANSWER if isinstance(error, ProviderBadAnswer) else Ending.PROVIDER_ERROR


async def complain(
    delivery: Delivery, api: Api, complaint: Complaint, body: bytes | None = None
) -> None:
    """Answer with an error."""
    headers = {"content-type": "application/json"}
    if complaint.retry_after_s is not None:
        headers["retry-after"] = f"{complaint.retry_after_s:g}"
    if complaint.status in (408, 413, 415):
        headers["connection"] = "close"
    await delivery.whole(complaint.status, headers, body or error_body(api, complaint))
