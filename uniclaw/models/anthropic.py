"""Anthropic messages through the official SDK, for any compatible address.

The SDK is imported when a model is made: it is heavy. Its own retries are off. A JSON answer
is asked for as a forced tool.
"""

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pydantic import JsonValue

from uniclaw.errors import UserError
from uniclaw.models import failures
from uniclaw.models.answers import ANSWER_TOOL, Answer, Finish
from uniclaw.models.retry import AttemptObserver, Spent, Timing, with_retries
from uniclaw.models.settings import ProviderSettings
from uniclaw.ports import ChatRequest, Completion, ImagePart, Message, TextPart
from uniclaw.records import Usage

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic, AsyncStream
    from anthropic.types import ContentBlock, MessageDeltaUsage, RawMessageStreamEvent
    from anthropic.types import Message as AnthropicMessage
    from anthropic.types import Usage as AnthropicUsage

PUBLIC_URL = "https://api.anthropic.com"

_FINISH: Mapping[str, Finish] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refusal",
}

Json = dict[str, object]


class AnthropicModel:
    """A chat model at an address that speaks Anthropic messages."""

    def __init__(self, name: str, settings: ProviderSettings, timing: Timing | None = None) -> None:
        import anthropic

        if settings.api_key is None:
            raise UserError("no API key: set ANTHROPIC_API_KEY", field="api_key")
        self._name = name
        self._settings = settings
        self._timing = timing or Timing()
        self._client: AsyncAnthropic = anthropic.AsyncAnthropic(
            api_key=settings.api_key.get_secret_value(),
            base_url=(settings.base_url or PUBLIC_URL).removesuffix("/").removesuffix("/v1"),
            timeout=settings.timeout_s,
            max_retries=0,
        )

    @property
    def spec(self) -> str:
        """`anthropic/NAME`."""
        return f"anthropic/{self._name}"

    async def complete(self, request: ChatRequest) -> Completion:
        """Answer one request; see `ports.ChatModel`."""
        return await self.complete_observed(request, lambda _: None)

    async def complete_observed(
        self, request: ChatRequest, observer: AttemptObserver
    ) -> Completion:
        """As `complete`, telling of each attempt."""
        body = request_body(request, model=self._name, stream=self._settings.stream)
        return await with_retries(
            lambda spent: self._attempt(body, spent),
            policy=self._settings.retry,
            timing=self._timing,
            observer=observer,
        )

    async def close(self) -> None:
        """Release connections."""
        await self._client.close()

    async def _attempt(self, body: Json, spent: Spent) -> Completion:
        import anthropic
        import httpx2

        try:
            read = self._streamed if body["stream"] else self._whole
            answer = await read(body, spent)
            with failures.reading_answer():
                return answer.completion(spent.usage)
        except anthropic.APITimeoutError as error:
            spent.usage = spent.usage if spent.usage != Usage() else None
            raise failures.no_connection(error) from error
        except anthropic.APIStatusError as error:
            if error.status_code < 400:  # an error event inside a stream
                raise failures.from_body(error.body) from error
            headers = error.response.headers
            now = self._timing.now()
            raise failures.from_status(error.status_code, error.body, headers, now) from error
        except (anthropic.APIConnectionError, httpx2.HTTPError) as error:
            raise failures.no_connection(error) from error
        except anthropic.APIError as error:
            raise failures.bad_answer(error.message) from error
        except (json.JSONDecodeError, UnicodeDecodeError) as error:  # in a line of the stream
            raise failures.bad_answer(f"not UTF-8 JSON: {error}") from error

    async def _whole(self, body: Json, spent: Spent) -> Answer:
        from anthropic.types import Message as AnthropicMessage

        result = await self._client.post("/v1/messages", cast_to=AnthropicMessage, body=body)
        spent.usage = None
        with failures.reading_answer():  # a page of HTML comes back as a string
            error = (result.model_extra or {}).get("error")
            if error:
                raise failures.from_body(error)
            return read_whole(result, spent)

    async def _streamed(self, body: Json, spent: Spent) -> Answer:
        import anthropic
        from anthropic.types import RawMessageStreamEvent

        stream: AsyncStream[RawMessageStreamEvent] = await self._client.post(
            "/v1/messages",
            cast_to=anthropic.types.RawMessageStreamEvent,  # pyright: ignore[reportArgumentType] - a union, as in the SDK itself
            body=body,
            stream=True,
            stream_cls=anthropic.AsyncStream[RawMessageStreamEvent],
        )
        spent.usage = None
        answer = Answer()
        async with stream:
            async for event in stream:
                with failures.reading_answer():
                    read_event(event, answer, spent)
        return answer


# --- request -----------------------------------------------------------------------------


def request_body(request: ChatRequest, *, model: str, stream: bool) -> Json:
    """The JSON body of `POST /v1/messages`."""
    system = "\n\n".join(m.text for m in request.messages if m.role == "system")
    body: Json = {
        "model": model,
        "max_tokens": request.max_output_tokens,
        "messages": _messages([m for m in request.messages if m.role != "system"]),
        "stream": stream,
    }
    if system:
        body["system"] = system
    if request.temperature is not None:
        body["temperature"] = request.temperature
    if request.top_p is not None:
        body["top_p"] = request.top_p
    if request.effort is not None:
        body["output_config"] = {"effort": request.effort}
    tools = [_tool(t.name, t.description, t.parameters) for t in request.tools]
    if request.json_schema is not None:
        tools.append(_tool(ANSWER_TOOL, "Give the answer.", request.json_schema))
        forced = {"type": "tool", "name": ANSWER_TOOL}
        body["tool_choice"] = {"type": "any"} if request.tools else forced
    if tools:
        body["tools"] = tools
    return body


def _tool(name: str, description: str, parameters: Mapping[str, JsonValue]) -> Json:
    return {"name": name, "description": description, "input_schema": dict(parameters)}


def _messages(messages: Sequence[Message]) -> list[Json]:
    """Messages with neighbours of one role merged: all results of a turn must stand together."""
    merged: list[tuple[str, list[Json]]] = []
    for message in messages:
        role = "assistant" if message.role == "assistant" else "user"
        blocks = _blocks(message)
        if merged and merged[-1][0] == role:
            merged[-1][1].extend(blocks)
        elif blocks:
            merged.append((role, blocks))
    return [{"role": role, "content": blocks} for role, blocks in merged]


def _blocks(message: Message) -> list[Json]:
    parts = [_block(p) for p in message.parts if not isinstance(p, TextPart) or p.text.strip()]
    if message.role == "tool":
        result: Json = {"type": "tool_result", "tool_use_id": message.tool_call_id or ""}
        return [{**result, "content": parts} if parts else result]
    calls: list[Json] = [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": dict(call.arguments)}
        for call in message.tool_calls
    ]
    return [*parts, *calls]


def _block(part: TextPart | ImagePart) -> Json:
    if isinstance(part, TextPart):
        return {"type": "text", "text": part.text}
    source = {"type": "base64", "media_type": part.media_type, "data": part.data_base64}
    return {"type": "image", "source": source}


# --- answer ------------------------------------------------------------------------------


def normal_usage(usage: "AnthropicUsage | MessageDeltaUsage", before: Usage | None = None) -> Usage:
    """The normal form: `input_tokens` holds no cached ones, `output_tokens` holds the reasoning.

    Args:
        usage: of a message, or of the end of a stream, where what it leaves out stays as it was.
        before: what the start of the stream reported.
    """
    before = before or Usage()
    details = usage.output_tokens_details
    reasoning = details.thinking_tokens if details else 0
    return Usage(
        input=_or(usage.input_tokens, before.input),
        cache_read=_or(usage.cache_read_input_tokens, before.cache_read),
        cache_write=_or(usage.cache_creation_input_tokens, before.cache_write),
        output=max(0, (usage.output_tokens or 0) - reasoning),
        reasoning=max(0, reasoning),
    )


def _or(value: int | None, before: int) -> int:
    return before if value is None else value


def read_whole(result: "AnthropicMessage", spent: Spent) -> Answer:
    """Read an answer that came in one piece."""
    spent.usage = normal_usage(result.usage)
    answer = Answer(model=result.model)
    for index, block in enumerate(result.content):
        _read_block(block, index, answer)
    answer.finish = _FINISH.get(result.stop_reason or "", "other")
    return answer


def _read_block(block: "ContentBlock", index: int, answer: Answer) -> None:
    if block.type == "text":
        answer.text.append(block.text)
    elif block.type == "tool_use":
        part = answer.call(index)
        part.id, part.name = block.id, block.name
        if block.input:  # at the start of a stream it is empty, but for some compatible servers
            part.arguments.append(json.dumps(block.input))


def read_event(event: "RawMessageStreamEvent", answer: Answer, spent: Spent) -> None:
    """Add one event of a stream."""
    if event.type == "message_start":
        answer.model = event.message.model
        spent.usage = normal_usage(event.message.usage)
    elif event.type == "content_block_start":
        _read_block(event.content_block, event.index, answer)
    elif event.type == "content_block_delta":
        if event.delta.type == "text_delta":
            answer.text.append(event.delta.text)
        elif event.delta.type == "input_json_delta":
            answer.call(event.index).arguments.append(event.delta.partial_json)
    elif event.type == "message_delta":
        spent.usage = normal_usage(event.usage, spent.usage)
        if event.delta.stop_reason:
            answer.finish = _FINISH.get(event.delta.stop_reason, "other")
