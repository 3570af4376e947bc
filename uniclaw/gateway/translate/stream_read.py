"""A streamed answer, read event by event into pieces.

Each reader takes whole events; `ended` says whether the answer was brought to its end.
"""

from abc import ABC, abstractmethod

from uniclaw.gateway.exchange import Api
from uniclaw.gateway.sse import Event
from uniclaw.gateway.translate.fields import (
    Json,
    dump,
    int_of,
    object_of,
    objects_of,
    parse_object,
    text_of,
)
from uniclaw.gateway.translate.replies import (
    CHAT_FINISH,
    MESSAGES_FINISH,
    BadReply,
    finish_of_response,
    thought_of,
)
from uniclaw.gateway.translate.talk import (
    CallDone,
    CallPiece,
    CallStarted,
    Failed,
    Finish,
    Finished,
    Kind,
    Piece,
    Spoken,
    Started,
)
from uniclaw.gateway.usage import read_usage
from uniclaw.records import Usage


class StreamReader(ABC):
    """Reads the events of one answer."""

    def __init__(self) -> None:
        self.ended = False
        self._usage = Usage()
        self._started = False

    def feed(self, event: Event) -> list[Piece]:
        """Pieces in one event.

        Raises:
            BadReply: the event is not JSON.
        """
        if not event.data or self.ended:
            return []
        if event.data == b"[DONE]":
            return self.close()
        data = parse_object(event.data)
        if data is None:
            raise BadReply(f"an event that is no JSON object: {event.data[:200]!r}")
        return self._read(event.name, data)

    def close(self) -> list[Piece]:
        """Pieces that are due when the stream ends."""
        return []

    @abstractmethod
    def _read(self, name: str, data: Json) -> list[Piece]: ...

    def _begin(self, data: Json, usage: Usage | None = None) -> list[Piece]:
        if self._started:
            return []
        self._started = True
        return [Started(text_of(data.get("id")), text_of(data.get("model")), usage)]


class ChatStreamReader(StreamReader):
    """Reads chat completion chunks; the usage comes after the finish reason."""

    def __init__(self) -> None:
        super().__init__()
        self._finish: Finish | None = None
        self._calls: list[int] = []
        self._refused = False

    def _read(self, name: str, data: Json) -> list[Piece]:
        error = data.get("error")
        if error:
            return [Failed(error)]
        self._usage = read_usage("chat", data.get("usage")) or self._usage
        pieces = self._begin(data)
        for choice in objects_of(data.get("choices"))[:1]:
            pieces += self._delta(object_of(choice.get("delta")))
            reason = text_of(choice.get("finish_reason"))
            if reason:
                self._finish = CHAT_FINISH.get(reason, "stop")
        return pieces

    def _delta(self, delta: Json) -> list[Piece]:
        pieces: list[Piece] = []
        if thought_of(delta):
            pieces.append(Spoken("thought", thought_of(delta)))
        if text_of(delta.get("content")):
            pieces.append(Spoken("text", text_of(delta.get("content"))))
        if text_of(delta.get("refusal")):
            self._refused = True
            pieces.append(Spoken("refusal", text_of(delta.get("refusal"))))
        for position, item in enumerate(objects_of(delta.get("tool_calls"))):
            index = int_of(item.get("index"))
            pieces += self._call(position if index is None else index, item)
        return pieces

    def _call(self, key: int, item: Json) -> list[Piece]:
        pieces: list[Piece] = []
        function = object_of(item.get("function"))
        if key not in self._calls:
            self._calls.append(key)
            call_id = text_of(item.get("id")) or f"call_{key}"
            pieces.append(CallStarted(key, call_id, text_of(function.get("name"))))
        arguments = function.get("arguments")
        text = arguments if isinstance(arguments, str) else ""
        if isinstance(arguments, dict):  # some compatible servers
            text = dump(arguments)
        if text:
            pieces.append(CallPiece(key, text))
        return pieces

    def close(self) -> list[Piece]:
        """The end, when a finish reason came."""
        if self._finish is None or self.ended:
            return []
        self.ended = True
        finish = self._finish
        if finish == "stop":
            finish = "tool_calls" if self._calls else "refusal" if self._refused else "stop"
        return [*(CallDone(key) for key in self._calls), Finished(finish, self._usage)]


class MessagesStreamReader(StreamReader):
    """Reads Anthropic message events."""

    def __init__(self) -> None:
        super().__init__()
        self._finish: Finish = "stop"
        self._filled: dict[int, bool] = {}

    def _read(self, name: str, data: Json) -> list[Piece]:
        kind = text_of(data.get("type")) or name
        index = int_of(data.get("index")) or 0
        if kind == "error":
            return [Failed(data.get("error"))]
        if kind == "message_start":
            message = object_of(data.get("message"))
            self._usage = read_usage("messages", message.get("usage")) or self._usage
            return self._begin(message, self._usage)
        if kind == "content_block_start":
            return self._open(index, object_of(data.get("content_block")))
        if kind == "content_block_delta":
            return self._delta(index, object_of(data.get("delta")))
        if kind == "content_block_stop":
            return [CallDone(index)] if index in self._filled else []
        if kind == "message_delta":
            self._usage = read_usage("messages", data.get("usage"), self._usage) or self._usage
            reason = text_of(object_of(data.get("delta")).get("stop_reason"))
            self._finish = MESSAGES_FINISH.get(reason, self._finish)
        elif kind == "message_stop":
            self.ended = True
            return [Finished(self._finish, self._usage)]
        return []

    def _open(self, index: int, block: Json) -> list[Piece]:
        if block.get("type") == "text" and text_of(block.get("text")):
            return [Spoken("text", text_of(block.get("text")))]
        if block.get("type") != "tool_use":
            return []
        given = object_of(block.get("input"))
        self._filled[index] = bool(given)
        pieces: list[Piece] = [
            CallStarted(index, text_of(block.get("id")), text_of(block.get("name")))
        ]
        # empty at the start of a stream, but for some compatible servers
        return [*pieces, CallPiece(index, dump(given))] if given else pieces

    def _delta(self, index: int, delta: Json) -> list[Piece]:
        kind = delta.get("type")
        if kind == "text_delta":
            return [Spoken("text", text_of(delta.get("text")))]
        if kind == "thinking_delta":
            return [Spoken("thought", text_of(delta.get("thinking")))]
        if kind == "signature_delta":
            return [Spoken("thought", "", text_of(delta.get("signature")))]
        if kind == "input_json_delta" and not self._filled.get(index, False):
            return [CallPiece(index, text_of(delta.get("partial_json")))]
        return []


_SPOKEN: dict[str, Kind] = {
    "response.output_text.delta": "text",
    "response.refusal.delta": "refusal",
    "response.reasoning_summary_text.delta": "thought",
    "response.reasoning_text.delta": "thought",
}


class ResponsesStreamReader(StreamReader):
    """Reads responses events; what came without deltas is taken from the finished item."""

    def __init__(self) -> None:
        super().__init__()
        self._calls: set[int] = set()
        self._heard: set[int] = set()
        """Output indexes of which a piece came."""
        self._refused = False

    def _read(self, name: str, data: Json) -> list[Piece]:
        kind = text_of(data.get("type")) or name
        key = int_of(data.get("output_index")) or 0
        response = object_of(data.get("response"))
        if kind == "error":
            return [Failed(data.get("error") or data)]
        if kind == "response.failed":
            return [Failed(response.get("error"))]
        if kind in ("response.created", "response.in_progress"):
            return self._begin(response)
        if kind in ("response.completed", "response.incomplete"):
            return [*self._begin(response), *self._finished(response)]
        if kind == "response.output_item.added":
            return self._added(key, object_of(data.get("item")))
        if kind == "response.output_item.done":
            return self._done(key, object_of(data.get("item")))
        return self._delta(kind, key, text_of(data.get("delta")))

    def _finished(self, response: Json) -> list[Piece]:
        self.ended = True
        usage = read_usage("responses", response.get("usage")) or self._usage
        said: Finish = "tool_calls" if self._calls else "refusal" if self._refused else "stop"
        return [Finished(finish_of_response(response, said=said), usage)]

    def _delta(self, kind: str, key: int, text: str) -> list[Piece]:
        if kind.endswith((".function_call_arguments.delta", ".custom_tool_call_input.delta")):
            self._heard.add(key)
            return [CallPiece(key, text)]
        spoken = _SPOKEN.get(kind)
        if spoken is None:
            return []
        self._heard.add(key)
        self._refused = self._refused or spoken == "refusal"
        return [Spoken(spoken, text)]

    def _added(self, key: int, item: Json) -> list[Piece]:
        if item.get("type") not in ("function_call", "custom_tool_call"):
            return []
        self._calls.add(key)
        call_id = text_of(item.get("call_id")) or text_of(item.get("id"))
        custom = item.get("type") == "custom_tool_call"
        return [CallStarted(key, call_id, text_of(item.get("name")), custom)]

    def _done(self, key: int, item: Json) -> list[Piece]:
        pieces: list[Piece] = []
        kind = item.get("type")
        if kind in ("function_call", "custom_tool_call"):
            if key not in self._calls:
                pieces += self._added(key, item)
            whole = text_of(item.get("input" if kind == "custom_tool_call" else "arguments"))
            if key not in self._heard and whole:
                pieces.append(CallPiece(key, whole))
            return [*pieces, CallDone(key)]
        if kind == "message" and key not in self._heard:
            texts = [text_of(part.get("text")) for part in objects_of(item.get("content"))]
            return [Spoken("text", text) for text in texts if text]
        return []


def stream_reader(api: Api) -> StreamReader:
    """The reader of an API's streams."""
    if api == "chat":
        return ChatStreamReader()
    return MessagesStreamReader() if api == "messages" else ResponsesStreamReader()
