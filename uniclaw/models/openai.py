"""OpenAI chat completions through the official SDK, for any compatible address.

The SDK is imported when a model is made: it is heavy. Its own retries are off.
"""

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, cast

from pydantic import JsonValue

from uniclaw.errors import UserError
from uniclaw.models import failures
from uniclaw.models.answers import ANSWER_TOOL, Answer, Finish
from uniclaw.models.retry import AttemptObserver, Spent, Timing, with_retries
from uniclaw.models.settings import ProviderSettings
from uniclaw.ports import ChatRequest, Completion, ImagePart, Message, TextPart
from uniclaw.records import Usage

if TYPE_CHECKING:
    from openai import AsyncOpenAI, AsyncStream
    from openai.types import CompletionUsage
    from openai.types.chat import ChatCompletion, ChatCompletionChunk

PUBLIC_URL = "https://api.openai.com/v1"

_FINISH: Mapping[str, Finish] = {
    "stop": "stop",
    "length": "length",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "content_filter": "refusal",
}

Json = dict[str, object]


class OpenAIModel:
    """A chat model at an OpenAI-compatible address."""

    def __init__(self, name: str, settings: ProviderSettings, timing: Timing | None = None) -> None:
        import openai

        if settings.api_key is None:
            raise UserError("no API key: set OPENAI_API_KEY", field="api_key")
        self._name = name
        self._settings = settings
        self._timing = timing or Timing()
        self._base_url = settings.base_url or PUBLIC_URL
        self._client: AsyncOpenAI = openai.AsyncOpenAI(
            api_key=settings.api_key.get_secret_value(),
            base_url=self._base_url,
            timeout=settings.timeout_s,
            max_retries=0,
        )

    @property
    def spec(self) -> str:
        """`openai/NAME`."""
        return f"openai/{self._name}"

    async def complete(self, request: ChatRequest) -> Completion:
        """Answer one request; see `ports.ChatModel`."""
        return await self.complete_observed(request, lambda _: None)

    async def complete_observed(
        self, request: ChatRequest, observer: AttemptObserver
    ) -> Completion:
        """As `complete`, telling of each attempt."""
        body = request_body(
            request,
            model=self._name,
            stream=self._settings.stream,
            limit_field=self._limit_field(),
            json_by_tool=self._settings.json_answers == "tool",
        )
        return await with_retries(
            lambda spent: self._attempt(body, spent),
            policy=self._settings.retry,
            timing=self._timing,
            observer=observer,
        )

    async def close(self) -> None:
        """Release connections."""
        await self._client.close()

    def _limit_field(self) -> str:
        if self._settings.output_limit_field != "auto":
            return self._settings.output_limit_field
        official = "api.openai.com" in self._base_url
        return "max_completion_tokens" if official else "max_tokens"

    async def _attempt(self, body: Json, spent: Spent) -> Completion:
        import httpx2
        import openai

        try:
            read = self._streamed if body["stream"] else self._whole
            answer = await read(body, spent)
            with failures.reading_answer():
                return answer.completion(spent.usage)
        except openai.APITimeoutError as error:
            spent.usage = spent.usage if spent.usage != Usage() else None
            raise failures.no_connection(error) from error
        except openai.APIStatusError as error:
            headers = error.response.headers
            now = self._timing.now()
            raise failures.from_status(error.status_code, error.body, headers, now) from error
        except (openai.APIConnectionError, httpx2.HTTPError) as error:
            raise failures.no_connection(error) from error
        except openai.APIResponseValidationError as error:
            raise failures.bad_answer(str(error)) from error
        except openai.APIError as error:  # inside a stream: no status
            raise failures.from_body(error.body or {"message": error.message}) from error
        except (json.JSONDecodeError, UnicodeDecodeError) as error:  # in a line of the stream
            raise failures.bad_answer(f"not UTF-8 JSON: {error}") from error

    async def _whole(self, body: Json, spent: Spent) -> Answer:
        from openai.types.chat import ChatCompletion

        result = await self._client.post("/chat/completions", cast_to=ChatCompletion, body=body)
        spent.usage = None
        with failures.reading_answer():  # a page of HTML comes back as a string
            _refuse_error(result.model_extra)
            return read_whole(result, spent)

    async def _streamed(self, body: Json, spent: Spent) -> Answer:
        import openai
        from openai.types.chat import ChatCompletionChunk

        stream: AsyncStream[ChatCompletionChunk] = await self._client.post(
            "/chat/completions",
            cast_to=ChatCompletionChunk,
            body=body,
            stream=True,
            stream_cls=openai.AsyncStream[ChatCompletionChunk],
        )
        spent.usage = None
        answer = Answer()
        async with stream:
            async for chunk in stream:
                with failures.reading_answer():
                    read_chunk(chunk, answer, spent)
        return answer


def _refuse_error(extra: Mapping[str, object] | None) -> None:
    if extra and extra.get("error"):
        raise failures.from_body(extra["error"])


# --- request -----------------------------------------------------------------------------


def request_body(
    request: ChatRequest, *, model: str, stream: bool, limit_field: str, json_by_tool: bool
) -> Json:
    """The JSON body of `POST /chat/completions`."""
    body: Json = {
        "model": model,
        "messages": _messages(request.messages),
        limit_field: request.max_output_tokens,
        "stream": stream,
    }
    if stream:
        body["stream_options"] = {"include_usage": True}
    if request.temperature is not None:
        body["temperature"] = request.temperature
    if request.top_p is not None:
        body["top_p"] = request.top_p
    if request.effort is not None:
        body["reasoning_effort"] = request.effort
    if request.seed is not None:
        body["seed"] = request.seed
    tools = [_tool(t.name, t.description, t.parameters) for t in request.tools]
    if request.json_schema is not None and json_by_tool:
        tools.append(_tool(ANSWER_TOOL, "Give the answer.", request.json_schema))
        forced: Json = {"type": "function", "function": {"name": ANSWER_TOOL}}
        body["tool_choice"] = "required" if request.tools else forced
    elif request.json_schema is not None:
        body["response_format"] = {
            "type": "json_schema",
            "json_schema": {
                "name": ANSWER_TOOL,
                "schema": dict(request.json_schema),
                "strict": is_strict(request.json_schema),
            },
        }
    if tools:
        body["tools"] = tools
    return body


def _tool(name: str, description: str, parameters: Mapping[str, JsonValue]) -> Json:
    function: Json = {"name": name, "description": description, "parameters": dict(parameters)}
    return {"type": "function", "function": function}


def is_strict(schema: JsonValue | Mapping[str, JsonValue]) -> bool:
    """Whether every object of a schema names all its keys as required and allows no other."""
    if isinstance(schema, Sequence) and not isinstance(schema, str):
        return all(is_strict(part) for part in schema)
    if not isinstance(schema, Mapping):
        return True
    properties = schema.get("properties")
    if schema.get("type") == "object" or properties is not None:
        required = schema.get("required")
        named = set(properties) if isinstance(properties, Mapping) else set[str]()
        listed = set(map(str, required)) if isinstance(required, list) else set[str]()
        if schema.get("additionalProperties") is not False or named != listed:
            return False
    return all(is_strict(part) for part in schema.values())


def _messages(messages: Sequence[Message]) -> list[Json]:
    """Messages on the wire.

    This API takes no images in a tool result: they follow, as the user's, after the last
    result of the turn.
    """
    sent: list[Json] = []
    images: list[ImagePart] = []
    for message in messages:
        if message.role == "tool":
            images.extend(p for p in message.parts if isinstance(p, ImagePart))
        elif images:
            sent.append({"role": "user", "content": _parts(images)})
            images.clear()
        sent.append(_message(message))
    if images:
        sent.append({"role": "user", "content": _parts(images)})
    return sent


def _message(message: Message) -> Json:
    if message.role == "tool":
        call_id = message.tool_call_id or ""
        return {"role": "tool", "tool_call_id": call_id, "content": message.text}
    body: Json = {"role": message.role}
    if any(isinstance(p, ImagePart) for p in message.parts):
        body["content"] = _parts(message.parts)
    else:
        body["content"] = message.text or (None if message.tool_calls else "")
    if message.tool_calls:
        body["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {
                    "name": call.name,
                    "arguments": call.invalid
                    if call.invalid is not None
                    else json.dumps(call.arguments, ensure_ascii=False),
                },
            }
            for call in message.tool_calls
        ]
    return body


def _parts(parts: Sequence[TextPart | ImagePart]) -> list[Json]:
    return [
        {"type": "text", "text": part.text}
        if isinstance(part, TextPart)
        else {
            "type": "image_url",
            "image_url": {"url": f"data:{part.media_type};base64,{part.data_base64}"},
        }
        for part in parts
    ]


# --- answer ------------------------------------------------------------------------------


def normal_usage(usage: "CompletionUsage") -> Usage:
    """The normal form: `prompt_tokens` holds the cached ones, `completion_tokens` the reasoning.

    A compatible server that reports more of a part than of the whole gets the whole cut to it.
    """
    prompt, completion = usage.prompt_tokens_details, usage.completion_tokens_details
    cached = (prompt.cached_tokens if prompt else 0) or 0
    written = (prompt.cache_write_tokens if prompt else 0) or 0
    reasoning = (completion.reasoning_tokens if completion else 0) or 0
    return Usage(
        input=max(0, (usage.prompt_tokens or 0) - cached - written),
        cache_read=max(0, cached),
        cache_write=max(0, written),
        output=max(0, (usage.completion_tokens or 0) - reasoning),
        reasoning=max(0, reasoning),
    )


def read_whole(result: "ChatCompletion", spent: Spent) -> Answer:
    """Read an answer that came in one piece.

    Raises:
        AttemptFailed: it has no choice, or is outside the protocol.
    """
    if result.usage is not None:
        spent.usage = normal_usage(result.usage)
    choices = cast("Sequence[object] | None", result.choices)
    if not choices:
        raise failures.bad_answer("no choice in the answer")
    choice = result.choices[0]
    message = choice.message
    answer = Answer(model=result.model or "")
    answer.text.append(message.content or "")
    if message.refusal:
        answer.refusal.append(message.refusal)
    for index, call in enumerate(message.tool_calls or ()):
        if call.type == "function":
            part = answer.call(index)
            part.id, part.name = call.id, call.function.name
            part.arguments.append(call.function.arguments)
    answer.finish = _FINISH.get(choice.finish_reason or "", "other")
    return answer


def read_chunk(chunk: "ChatCompletionChunk", answer: Answer, spent: Spent) -> None:
    """Add one chunk of a stream."""
    _refuse_error(chunk.model_extra)
    if chunk.usage is not None:
        spent.usage = normal_usage(chunk.usage)
    answer.model = chunk.model or answer.model
    for choice in chunk.choices or ():
        delta = choice.delta
        answer.text.append(delta.content or "")
        if delta.refusal:
            answer.refusal.append(delta.refusal)
        for piece in delta.tool_calls or ():
            part = answer.call(piece.index or 0)
            part.id = piece.id or part.id
            if piece.function:
                part.name = piece.function.name or part.name
                part.arguments.append(piece.function.arguments or "")
        if choice.finish_reason:
            answer.finish = _FINISH.get(choice.finish_reason, "other")
