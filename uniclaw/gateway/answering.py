"""One answer of the upstream, read and passed on: as its own bytes, or translated.

A stream's opening is held back until its first content, so that an overload reported at
the start of a 200 answer can still be retried; for a moment only, and nothing after it is.
"""

import asyncio
import json
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime

from pydantic import JsonValue

from uniclaw.gateway.asgi import Delivery
from uniclaw.gateway.attempts import TryState
from uniclaw.gateway.episode import EpisodeDoor
from uniclaw.gateway.exchange import Api, Payload
from uniclaw.gateway.http_client import TooLarge
from uniclaw.gateway.http_connection import UpstreamBroken
from uniclaw.gateway.observe import Observer, observer
from uniclaw.gateway.prepare import heard_tokens
from uniclaw.gateway.sse import Event, EventSplitter, EventTooLarge, parse_event
from uniclaw.gateway.translate.fields import Json, encode, parse_object
from uniclaw.gateway.translate.replies import BadReply, read_reply, write_reply
from uniclaw.gateway.translate.stream_read import StreamReader, stream_reader
from uniclaw.gateway.translate.stream_write import StreamWriter, stream_writer
from uniclaw.gateway.translate.talk import Ask, CallPiece, Spoken
from uniclaw.gateway.upstream import SourceReply, SourceRequest
from uniclaw.gateway.usage import read_usage
from uniclaw.models import failures
from uniclaw.models.retry import AttemptFailed
from uniclaw.records import Usage

_MAX_ERROR_BYTES = 1_000_000
_PASSED_REPLY_HEADERS = ("x-request-id", "request-id")
_SSE = "text/event-stream"


@dataclass
class _Capture:
    """The upstream's bytes for the record, up to a cap."""

    cap: int
    parts: list[bytes] = field(default_factory=list[bytes])
    kept: int = 0
    total: int = 0

    def add(self, data: bytes) -> None:
        self.total += len(data)
        if self.kept < self.cap:
            data = data[: self.cap - self.kept]
            self.parts.append(data)
            self.kept += len(data)


class _Translation:
    """Events of one API into events of another."""

    def __init__(self, reader: StreamReader, writer: StreamWriter) -> None:
        self.reader = reader
        self._writer = writer

    def event(self, event: Event) -> bytes:
        """What one event becomes."""
        return b"".join(self._writer.write(piece) for piece in self.reader.feed(event))

    def close(self) -> bytes:
        """What is due at the end."""
        return b"".join(self._writer.write(piece) for piece in self.reader.close())


class Answering:
    """Attempts at one answer."""

    def __init__(
        self,
        episode: EpisodeDoor,
        api: Api,
        sent: SourceRequest,
        ask: Ask | None,
        delivery: Delivery,
        asked: Json,
    ) -> None:
        self._episode = episode
        self._api: Api = api
        self._sent = sent
        self._ask = ask
        """Given where the answer must be translated."""
        self._delivery = delivery
        self._stream = asked.get("stream") is True
        options = asked.get("stream_options")
        wants = isinstance(options, dict) and options.get("include_usage") is True
        self._hide_usage = api == "chat" and not wants
        self._began = time.monotonic()
        self._reply: SourceReply | None = None
        self._capture: _Capture | None = None
        self._held: list[bytes] = []
        self._timer: asyncio.TimerHandle | None = None
        self._releasing: asyncio.Task[None] | None = None
        self.first_content_s: float | None = None
        self.refusal: bytes | None = None
        """Body of the provider's error, where the harness can read it."""

    def close(self) -> None:
        """Give up what is still open."""
        if self._timer is not None:
            self._timer.cancel()
        if self._releasing is not None and not self._delivery.opened:
            self._releasing.cancel()
        if self._reply is not None:
            self._reply.close()

    def recorded(self) -> Payload | None:
        """The upstream's bytes of the last attempt."""
        if self._capture is None:
            return None
        return Payload.of(b"".join(self._capture.parts), total_bytes=self._capture.total)

    async def attempt(self, state: TryState) -> None:
        """Ask once and deliver.

        Raises:
            AttemptFailed: no answer, or a broken one; transient while nothing was delivered.
        """
        self._capture = _Capture(self._episode.limits.recorded_bytes)
        self._held, self.refusal = [], None
        watched = observer(self._sent.api)
        state.usage = None
        finished = False
        try:
            reply = await self._episode.source.post(self._sent)
            self._reply = reply
            state.status = reply.status
            if reply.status >= 300:
                await self._refused(reply, state)
            if self._stream:
                await self._streamed(reply, watched, state)
            else:
                await self._whole(reply, state)
            finished = True
        except UpstreamBroken as error:
            if not error.sent:
                state.usage = Usage()
            raise self._failed(failures.no_connection(error)) from error
        except (BadReply, EventTooLarge, TooLarge) as error:
            raise self._failed(failures.bad_answer(str(error))) from error
        finally:
            if not finished:
                self._estimate(state, watched)
            self.close()

    def _failed(self, failure: AttemptFailed) -> AttemptFailed:
        """The failure; final once the harness has got something."""
        if self._delivery.opened:
            failure.transient = False
        return failure

    def _estimate(self, state: TryState, watched: Observer) -> None:
        """Keep what was reported, and guess what was not."""
        if state.usage is not None:
            return
        state.usage = watched.usage
        if watched.usage is not None and watched.usage_final:
            return
        said = self._said_bytes() // 4
        told = 0 if watched.usage is None else watched.usage.output
        heard = 0 if watched.usage is not None else heard_tokens(self._sent.fields)
        state.estimate = Usage(input=heard, output=max(0, said - told))

    def _said_bytes(self) -> int:
        """Bytes of text and arguments in what came."""
        data = b"".join(self._capture.parts) if self._capture is not None else b""
        if not self._stream:
            return len(data)
        reader = stream_reader(self._sent.api)
        size = 0
        try:
            for event in EventSplitter().feed(data):
                for piece in reader.feed(parse_event(event)):
                    if isinstance(piece, Spoken | CallPiece):
                        size += len(piece.text.encode("utf-8", "replace"))
        except (BadReply, EventTooLarge):
            pass
        return size

    # --- errors --------------------------------------------------------------------------

    async def _refused(self, reply: SourceReply, state: TryState) -> None:
        """An HTTP error: nothing was used."""
        state.usage = Usage()
        body = self._episode.scrub(await reply.read(_MAX_ERROR_BYTES))
        self._note(body)
        parsed: JsonValue = body.decode("utf-8", "replace")
        try:
            parsed = json.loads(body)
        except (ValueError, RecursionError):
            pass
        else:
            if self._sent.api == self._api and isinstance(parsed, dict):
                self.refusal = body
        now = self._episode.timing.now()
        raise failures.from_status(reply.status, parsed, reply.headers, now)

    def _note(self, data: bytes) -> None:
        if self._capture is not None:
            self._capture.add(data)

    def _headers(self, reply: SourceReply, kind: str) -> dict[str, str]:
        if self._ask is None:
            kind = self._clean(reply.headers.get("content-type", kind))
        passed = {k: v for k, v in reply.headers.items() if k in _PASSED_REPLY_HEADERS}
        clean = {k: self._clean(v) for k, v in passed.items()}
        return {"content-type": kind, **clean}

    def _clean(self, value: str) -> str:
        raw = self._episode.scrub(value.encode("latin-1", "replace"))
        return raw.decode("latin-1").translate({10: None, 13: None, 0: None})

    # --- a whole answer ------------------------------------------------------------------

    async def _whole(self, reply: SourceReply, state: TryState) -> None:
        limit = self._episode.limits.max_reply_bytes
        data = self._episode.scrub(await reply.read(limit))
        self._note(data)
        body = parse_object(data)
        if body is None:
            raise BadReply(f"the answer is no JSON object: {data[:200]!r}")
        if body.get("error"):
            raise failures.from_body(body["error"])
        answer = read_reply(self._sent.api, body)
        state.usage = read_usage(self._sent.api, body.get("usage"))
        if state.usage is None:
            state.estimate = Usage(input=heard_tokens(self._sent.fields), output=len(data) // 4)
        if self._ask is not None:
            created = int(datetime.now(UTC).timestamp())
            data = encode(write_reply(self._api, answer, self._ask.names, created=created))
        self.first_content_s = time.monotonic() - self._began
        await self._delivery.whole(reply.status, self._headers(reply, "application/json"), data)

    # --- a streamed answer ---------------------------------------------------------------

    async def _streamed(self, reply: SourceReply, watched: Observer, state: TryState) -> None:
        kind = reply.headers.get("content-type", _SSE)
        if kind.startswith(("application/json", "text/html")):
            await self._no_stream(reply)
        translation = self._translation()
        splitter = EventSplitter()
        self._timer = asyncio.get_running_loop().call_later(
            self._episode.limits.hold_s, self._release, reply
        )
        async for chunk in reply.chunks():
            await self._chunk(splitter.feed(chunk), reply, watched, translation)
        rest = splitter.rest()
        out = [self._passed(rest, watched, translation)] if rest.strip() else []
        if translation is not None:
            out.append(translation.close())
        ended = watched.ended if translation is None else translation.reader.ended
        if not ended:
            raise BadReply("the answer broke off before it ended")
        state.usage = watched.usage
        if watched.usage is None or not watched.usage_final:
            self._estimate_silent(state, watched)
        await self._opened(reply)
        await self._delivery.finish(b"".join(out))

    async def _chunk(
        self,
        events: list[bytes],
        reply: SourceReply,
        watched: Observer,
        translation: _Translation | None,
    ) -> None:
        """Pass on the events that came together."""
        out: list[bytes] = []
        whole = False
        try:
            out += (self._passed(event, watched, translation) for event in events)
            whole = True
        finally:
            if whole or self._delivery.opened:  # what came before an error is not lost
                await self._deliver(b"".join(out), reply, watched)

    def _estimate_silent(self, state: TryState, watched: Observer) -> None:
        """A whole answer of a provider that never said what it used."""
        state.usage = None
        self._estimate(state, watched)

    def _translation(self) -> _Translation | None:
        if self._ask is None:
            return None
        created = int(datetime.now(UTC).timestamp())
        writer = stream_writer(
            self._api, self._ask.names, created=created, include_usage=self._ask.include_usage
        )
        return _Translation(stream_reader(self._sent.api), writer)

    async def _no_stream(self, reply: SourceReply) -> None:
        """The answer to a stream request is no stream."""
        data = self._episode.scrub(await reply.read(self._episode.limits.max_reply_bytes))
        self._note(data)
        body = parse_object(data)
        if body is not None and body.get("error"):
            raise failures.from_body(body["error"])
        raise BadReply(f"expected a stream, got {data[:200]!r}")

    def _passed(self, raw: bytes, watched: Observer, translation: _Translation | None) -> bytes:
        """What one event becomes.

        Raises:
            AttemptFailed: it is an error of the provider.
            BadReply: it is no event of the API.
        """
        raw = self._episode.scrub(raw)
        self._note(raw)
        event = watched.look(raw)
        if event is None and translation is None:
            return raw
        if watched.garbage:
            raise BadReply(f"an event that is no JSON object: {raw[:200]!r}")
        if watched.error:
            raise self._failed(failures.from_body(watched.error))
        if translation is not None:
            return translation.event(event or parse_event(raw))
        return b"" if watched.usage_only and self._hide_usage else raw

    async def _deliver(self, data: bytes, reply: SourceReply, watched: Observer) -> None:
        if not watched.content and not self._delivery.opened:
            self._held.append(data)
            return
        if self.first_content_s is None and watched.content:
            self.first_content_s = time.monotonic() - self._began
        if not self._delivery.opened or self._held:
            await self._opened(reply, data)
        elif data:
            await self._delivery.write(data)

    async def _opened(self, reply: SourceReply, data: bytes = b"") -> None:
        """Send the head, what was held back, and a further piece."""
        if self._timer is not None:
            self._timer.cancel()
        first, self._held = b"".join([*self._held, data]), []
        await self._delivery.open(reply.status, self._headers(reply, _SSE), first)

    def _release(self, reply: SourceReply) -> None:
        """The opening was held long enough."""
        if not self._delivery.opened:
            self._releasing = asyncio.create_task(self._opened(reply))
