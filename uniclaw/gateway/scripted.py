"""A script as the upstream: answers in this process, in the API that was asked.

Decides exactly as `models.scripted` does, by the same function.
"""

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Iterator, Mapping

from uniclaw.gateway.complaints import Complaint, error_body, error_event
from uniclaw.gateway.exchange import Api, Ending
from uniclaw.gateway.http_client import TooLarge
from uniclaw.gateway.http_connection import UpstreamBroken
from uniclaw.gateway.translate.fields import encode, text_of
from uniclaw.gateway.translate.replies import write_reply
from uniclaw.gateway.translate.requests import read_request
from uniclaw.gateway.translate.stream_write import stream_writer
from uniclaw.gateway.translate.talk import (
    Answer,
    Ask,
    Block,
    Call,
    CallDone,
    CallPiece,
    CallStarted,
    Finished,
    Image,
    Names,
    Piece,
    Refusal,
    Result,
    Said,
    Spoken,
    Started,
    Text,
)
from uniclaw.gateway.translate.write_requests import Style
from uniclaw.gateway.upstream import ScriptedUpstream, SourceRequest
from uniclaw.models.answers import parse_tool_call
from uniclaw.models.script import ScriptedError
from uniclaw.models.script_reply import Reply, by_speaker, choose_reply
from uniclaw.ports import ChatRequest, ImagePart, Message, TextPart, ToolCall, ToolSpec

CREATED = 1_700_000_000
_IMAGES = ("image/png", "image/jpeg", "image/gif", "image/webp")


# --- the request as scripts see it -------------------------------------------------------


def chat_request(ask: Ask) -> ChatRequest:
    """The request as a `ChatRequest`; content that scripts do not look at is left out."""
    messages: list[Message] = []
    for said in ask.messages:
        messages += _messages(said)
    tools = tuple(
        ToolSpec(name=t.name, description=t.description, parameters=t.parameters) for t in ask.tools
    )
    schema = None if ask.schema is None else ask.schema.schema or {"type": "object"}
    return ChatRequest(messages=tuple(messages), tools=tools, json_schema=schema)


def _messages(said: Said) -> Iterator[Message]:
    if said.role == "tool":
        for block in said.blocks:
            if isinstance(block, Result):
                parts = _parts(block.parts)
                yield Message(role="tool", parts=parts, tool_call_id=block.call_id)
        return
    parts = _parts(said.blocks)
    if said.role == "user" and parts:
        for role, spoken in by_speaker(parts).items():
            if spoken:
                yield Message(role=role, parts=tuple(spoken))
        return
    calls = tuple(_call(block) for block in said.blocks if isinstance(block, Call))
    yield Message(role=said.role, parts=parts, tool_calls=calls)


def _call(call: Call) -> ToolCall:
    if call.custom:
        return ToolCall(id=call.id, name=call.name, arguments={"input": call.arguments})
    return parse_tool_call(call.id, call.name, call.arguments)


def _parts(blocks: tuple[Block, ...]) -> tuple[TextPart | ImagePart, ...]:
    parts: list[TextPart | ImagePart] = []
    for block in blocks:
        if isinstance(block, Text):
            parts.append(TextPart(text=block.text))
        elif isinstance(block, Image) and block.media_type in _IMAGES:
            parts.append(ImagePart(media_type=block.media_type, data_base64=block.data))
    return tuple(parts)


# --- the reply ---------------------------------------------------------------------------


def _answer(reply: Reply, ask: Ask) -> Answer:
    blocks: list[Text | Refusal | Call] = []
    if reply.text or not reply.tool_calls:
        refused = reply.finish == "refusal"
        blocks.append(Refusal(reply.text) if refused else Text(reply.text))
    blocks += [_written_call(call, ask.names) for call in reply.tool_calls]
    seed = "\0".join([reply.text, *(c.id for c in reply.tool_calls), str(len(ask.messages))])
    name = hashlib.sha256(seed.encode("utf-8", "replace")).hexdigest()[:24]
    return Answer(name, ask.model, tuple(blocks), reply.finish, reply.usage)


def _written_call(call: ToolCall, names: Names) -> Call:
    if call.name in names.custom:
        return Call(call.id, call.name, text_of(call.arguments.get("input")), custom=True)
    arguments = json.dumps(dict(call.arguments), ensure_ascii=False)
    return Call(call.id, call.name, arguments)


def _pieces(answer: Answer, size: int) -> Iterator[Piece]:
    yield Started(answer.id, answer.model, answer.usage.model_copy(update={"output": 1}))
    for key, block in enumerate(answer.blocks):
        if isinstance(block, Call):
            yield CallStarted(key, block.id, block.name, block.custom)
            yield from (CallPiece(key, text) for text in _cut(block.arguments, size))
            yield CallDone(key)
        else:
            kind = "refusal" if isinstance(block, Refusal) else "text"
            yield from (Spoken(kind, text) for text in _cut(block.text, size))
    yield Finished(answer.finish, answer.usage)


def _cut(text: str, size: int) -> Iterator[str]:
    return (text[i : i + size] for i in range(0, len(text), size))


class ScriptedReplyStream:
    """The reply as an upstream's answer."""

    def __init__(self, status: int, kind: str, chunks: AsyncIterator[bytes]) -> None:
        self.status = status
        self.headers: Mapping[str, str] = {"content-type": kind}
        self._chunks = chunks

    def chunks(self) -> AsyncIterator[bytes]:
        """The body as it comes."""
        return self._chunks

    async def read(self, max_bytes: int) -> bytes:
        """The whole body."""
        data = b"".join([chunk async for chunk in self._chunks])
        if len(data) > max_bytes:
            raise TooLarge(f"an answer of more than {max_bytes} bytes")
        return data

    def close(self) -> None:
        """Nothing to give up."""


class ScriptedSource:
    """A script."""

    def __init__(self, upstream: ScriptedUpstream) -> None:
        self._script = upstream.script

    def api_for(self, api: Api, request_hash: str) -> Api:
        """It speaks all of them."""
        return api

    @property
    def style(self) -> Style:
        """Never needed."""
        return Style()

    def secrets(self) -> tuple[bytes, ...]:
        """It has none."""
        return ()

    def choose(self, request: SourceRequest) -> tuple[Ask, Reply]:
        """The request as read, and the script's reply."""
        ask = read_request(request.api, request.fields)
        return ask, choose_reply(self._script, chat_request(ask), model=request.asked_model)

    async def post(self, request: SourceRequest) -> ScriptedReplyStream:
        """Answer by the script."""
        ask, reply = self.choose(request)
        answer = _answer(reply, ask)
        if reply.error is not None:
            return _failing(request.api, ask, answer, reply.error)
        if ask.stream:
            return ScriptedReplyStream(
                200, "text/event-stream", _stream(request.api, ask, answer, reply)
            )
        body = encode(write_reply(request.api, answer, ask.names, created=CREATED))
        return _whole(200, body, reply.chunk_delay_s)


def _whole(status: int, body: bytes, delay_s: float = 0.0) -> ScriptedReplyStream:
    async def chunks() -> AsyncIterator[bytes]:
        if delay_s:
            await asyncio.sleep(delay_s)
        yield body

    return ScriptedReplyStream(status, "application/json", chunks())


async def _stream(api: Api, ask: Ask, answer: Answer, reply: Reply) -> AsyncIterator[bytes]:
    writer = stream_writer(api, ask.names, created=CREATED, include_usage=ask.include_usage)
    for piece in _pieces(answer, reply.chunk_chars):
        if reply.chunk_delay_s and isinstance(piece, Spoken | CallPiece):
            await asyncio.sleep(reply.chunk_delay_s)
        data = writer.write(piece)
        if data:
            yield data


# --- scripted failures -------------------------------------------------------------------


def _failing(api: Api, ask: Ask, answer: Answer, error: ScriptedError) -> ScriptedReplyStream:
    said = Complaint(Ending.PROVIDER_ERROR, error.message, kind=error.code, code=error.code)
    if error.kind == "status":
        reply = _whole(error.status, error_body(api, said))
        if error.retry_after is not None:
            after = error.retry_after
            text = after if isinstance(after, str) else f"{after:g}"
            reply.headers = {**reply.headers, "retry-after": text}
        return reply
    if error.kind == "disconnect":
        raise UpstreamBroken("scripted: connection dropped")
    if ask.stream:
        broken = _broken(api, ask, answer, error, said)
        return ScriptedReplyStream(200, "text/event-stream", broken)
    if error.kind == "stream":
        return _whole(200, error_body(api, said))
    if error.kind == "garbage":
        return _whole(200, b'{"choices": [{"mess')
    return ScriptedReplyStream(200, "application/json", _dropped(b'{"id": "x", '))


async def _dropped(data: bytes) -> AsyncIterator[bytes]:
    yield data
    raise UpstreamBroken("scripted: connection dropped", heard=True)


async def _broken(
    api: Api, ask: Ask, answer: Answer, error: ScriptedError, said: Complaint
) -> AsyncIterator[bytes]:
    """A stream up to the failure: its opening, `after_chunks` pieces of text, the failure."""
    writer = stream_writer(api, ask.names, created=CREATED)
    sent = 0
    size = max(1, len(error.text) // (error.after_chunks + 1))
    if error.kind != "stream" or error.after_chunks:
        for piece in _pieces(answer, size):
            if isinstance(piece, Spoken) and sent == error.after_chunks:
                break
            sent += isinstance(piece, Spoken)
            yield writer.write(piece)
    if error.kind == "stream":
        yield error_event(api, said)
    elif error.kind == "garbage":
        yield b'event: message_delta\ndata: {"choices": [{"delta": \xff\xfe\n\n'
    elif error.kind == "cut":
        raise UpstreamBroken("scripted: connection dropped", heard=True)
