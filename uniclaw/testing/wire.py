"""A scripted model server on the real wire protocols, in this process.

Speaks OpenAI chat completions and responses and Anthropic messages, streaming and not, on a
loopback port or a unix socket, and answers from a script by the content of each request.
Failures come from the script, or from `Fault`s that happen a given number of times.

    async with ScriptedServer(parse_script({...})) as server:
        ... server.openai_url, server.anthropic_url, server.requests
"""

import asyncio
import json
import os
import socket
from collections.abc import AsyncIterator, Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self, cast

import uvicorn
from pydantic import JsonValue
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from uniclaw.models.answers import parse_tool_call
from uniclaw.models.script import Script, ScriptedError, When
from uniclaw.models.script_reply import Reply, choose_reply, failure, matches
from uniclaw.ports import ChatRequest
from uniclaw.testing.wire_replies import (
    Frame,
    error_body,
    error_frame,
    stream_frames,
    whole_body,
)
from uniclaw.testing.wire_requests import Api, WireRequest, parse_request

MAX_BODY_BYTES = 100_000_000


@dataclass
class Fault:
    """A failure that happens to the next requests, whatever the script says."""

    error: ScriptedError
    when: When = When()  # noqa: RUF009 - frozen
    times: int = 1
    """How many more requests it happens to."""


class RecordedRequest(NamedTuple):
    """One request as it came."""

    method: str
    path: str
    headers: Mapping[str, str]
    """Names in lower case."""
    body: JsonValue
    chat: ChatRequest | None
    """For model calls."""


class _Dropped(Exception):
    """Ends a response in the middle: uvicorn then drops the connection."""


class _Uvicorn(uvicorn.Server):
    """Leaves the process's signal handlers alone."""

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        yield


class ScriptedServer:
    """The server; an async context manager."""

    def __init__(
        self,
        script: Script,
        *,
        faults: Iterable[Fault] = (),
        models: Iterable[str] = ("scripted-model",),
        unix_socket: Path | None = None,
        host: str = "127.0.0.1",
        port: int = 0,
        keep_requests: bool = True,
    ) -> None:
        self._script = script
        self.faults = list(faults)
        self.requests: list[RecordedRequest] = []
        self._keep = keep_requests
        self._models = tuple(models)
        self._unix_socket = unix_socket
        self._address = (host, port)
        self._server: uvicorn.Server | None = None
        self._task: asyncio.Task[None] | None = None
        self._socket: socket.socket | None = None

    @property
    def url(self) -> str:
        """Root address on the loopback port."""
        if self._socket is None or self._unix_socket is not None:
            raise RuntimeError("the server has no port")
        host, port = self._socket.getsockname()[:2]
        return f"http://{host}:{port}"

    @property
    def openai_url(self) -> str:
        """Base URL for OpenAI clients."""
        return f"{self.url}/v1"

    @property
    def anthropic_url(self) -> str:
        """Base URL for Anthropic clients."""
        return self.url

    @property
    def calls(self) -> list[ChatRequest]:
        """All model calls so far."""
        return [r.chat for r in self.requests if r.chat is not None]

    async def __aenter__(self) -> Self:
        """Listen, and return when requests are answered."""
        if self._unix_socket is not None:
            self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            self._socket.bind(str(self._unix_socket))
        else:
            # With the protocol named, asyncio switches Nagle's delay off for what it accepts.
            self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self._socket.bind(self._address)
        config = uvicorn.Config(
            self.app(), log_config=None, access_log=False, lifespan="off", timeout_keep_alive=60
        )
        self._server = _Uvicorn(config)
        self._task = asyncio.create_task(self._server.serve([self._socket]))
        while not self._server.started:
            if self._task.done():
                self._task.result()
                raise RuntimeError("the server ended before it listened")
            await asyncio.sleep(0.005)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Stop; open connections are dropped."""
        if self._server is not None and self._task is not None:
            self._server.should_exit = True
            self._server.force_exit = True
            await self._task
        if self._socket is not None:
            self._socket.close()
        if self._unix_socket is not None and self._unix_socket.exists():
            os.unlink(self._unix_socket)  # noqa: PTH108

    def app(self) -> Starlette:
        """The ASGI application."""
        post = ["POST"]
        return Starlette(
            routes=[
                Route("/", self._root, methods=["GET", "HEAD"]),
                Route("/v1/models", self._list_models),
                Route("/models", self._list_models),
                Route("/v1/models/{name:path}", self._one_model),
                Route("/v1/chat/completions", self._chat, methods=post),
                Route("/chat/completions", self._chat, methods=post),
                Route("/v1/responses", self._responses, methods=post),
                Route("/responses", self._responses, methods=post),
                Route("/v1/messages", self._messages, methods=post),
                Route("/v1/messages/count_tokens", self._count_tokens, methods=post),
            ]
        )

    # --- probes --------------------------------------------------------------------------

    async def _root(self, request: Request) -> Response:
        self._record(request, None, None)
        return JSONResponse({"status": "ok"})

    def _model(self, name: str) -> dict[str, object]:
        card: dict[str, object] = {"id": name, "object": "model", "owned_by": "uniclaw"}
        stamp = "2023-11-14T22:13:20Z"
        return card | {"created": 0, "type": "model", "display_name": name, "created_at": stamp}

    async def _list_models(self, request: Request) -> Response:
        self._record(request, None, None)
        data = [self._model(name) for name in self._models]
        return JSONResponse({"object": "list", "data": data, "has_more": False})

    async def _one_model(self, request: Request) -> Response:
        self._record(request, None, None)
        return JSONResponse(self._model(str(request.path_params["name"])))

    async def _count_tokens(self, request: Request) -> Response:
        body = await self._body(request)
        wire = parse_request("messages", body)
        self._record(request, body, None)
        reply = choose_reply(self._script, wire.chat, model=wire.model)
        return JSONResponse({"input_tokens": reply.usage.input})

    # --- model calls ---------------------------------------------------------------------

    async def _chat(self, request: Request) -> Response:
        return await self._call("chat", request)

    async def _responses(self, request: Request) -> Response:
        return await self._call("responses", request)

    async def _messages(self, request: Request) -> Response:
        return await self._call("messages", request)

    async def _body(self, request: Request) -> JsonValue:
        return cast("JsonValue", json.loads((await request.body())[:MAX_BODY_BYTES]))

    def _record(self, request: Request, body: JsonValue, chat: ChatRequest | None) -> None:
        if self._keep:
            path = request.url.path
            headers = {k.lower(): v for k, v in request.headers.items()}
            self.requests.append(RecordedRequest(request.method, path, headers, body, chat))

    async def _call(self, api: Api, request: Request) -> Response:
        try:
            body = await self._body(request)
            wire = parse_request(api, body)
        except ValueError as error:
            return JSONResponse({"error": {"message": f"bad request: {error}"}}, 400)
        self._record(request, body, wire.chat)
        reply = self._fault(wire) or choose_reply(self._script, wire.chat, model=wire.model)
        if reply.error is not None:
            return _failing(wire, reply, reply.error)
        if reply.is_json and wire.answer_tool is not None:
            call = parse_tool_call("call_answer", wire.answer_tool, reply.text)
            reply = reply._replace(text="", tool_calls=(call,), finish="tool_calls")
        if wire.stream:
            frames = _paced(stream_frames(wire, reply), reply.chunk_delay_s)
            return StreamingResponse(frames, media_type="text/event-stream")
        await asyncio.sleep(reply.chunk_delay_s)
        return JSONResponse(whole_body(wire, reply))

    def _fault(self, wire: WireRequest) -> Reply | None:
        for fault in self.faults:
            if fault.times > 0 and matches(fault.when, wire.chat, model=wire.model):
                fault.times -= 1
                return failure(wire.chat, fault.error)
        return None


async def _paced(frames: Iterable[Frame], delay_s: float) -> AsyncIterator[bytes]:
    for frame in frames:
        if delay_s and frame.content:
            await asyncio.sleep(delay_s)
        yield frame.data


def _failing(wire: WireRequest, reply: Reply, error: ScriptedError) -> Response:
    if error.kind == "status":
        asked = error.retry_after
        value = asked if isinstance(asked, str) else f"{asked or 0:g}"
        headers = {} if asked is None else {"retry-after": value}
        return JSONResponse(error_body(wire, error), error.status, headers=headers)
    if error.kind == "disconnect":
        return StreamingResponse(_drop(), headers={"content-length": "100000"})
    if wire.stream:
        frames = _broken(wire, reply, error)
        return StreamingResponse(frames, media_type="text/event-stream")
    if error.kind == "stream":
        return JSONResponse(error_body(wire, error))
    if error.kind == "garbage":
        return Response('{"choices": [{"mess', media_type="application/json")
    return StreamingResponse(_drop(b'{"id": "x", '), headers={"content-length": "100000"})


async def _drop(data: bytes = b"") -> AsyncIterator[bytes]:
    yield data
    raise _Dropped


async def _broken(wire: WireRequest, reply: Reply, error: ScriptedError) -> AsyncIterator[bytes]:
    """A stream up to the failure: its opening, `after_chunks` pieces of text, the failure."""
    sent = 0
    whole = reply._replace(chunk_chars=max(1, len(reply.text) // (error.after_chunks + 1)))
    opening = error.kind != "stream" or error.after_chunks > 0
    for frame in stream_frames(wire, whole) if opening else ():
        if frame.content and sent == error.after_chunks:
            break
        sent += frame.content
        yield frame.data
    if error.kind == "stream":
        yield error_frame(wire, error).data
    elif error.kind == "garbage":
        yield b'event: message_delta\ndata: {"choices": [{"delta": \xff\xfe\n\n'
    elif error.kind == "cut":
        raise _Dropped
