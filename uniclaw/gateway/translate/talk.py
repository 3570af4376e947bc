"""The values that all three APIs are read into and written from."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from pydantic import JsonValue

from uniclaw.records import Usage

Finish = Literal["stop", "tool_calls", "length", "refusal"]
Role = Literal["system", "user", "assistant", "tool"]

FREE_TEXT: Mapping[str, JsonValue] = {
    "type": "object",
    "properties": {"input": {"type": "string"}},
    "required": ["input"],
    "additionalProperties": False,
}
"""Arguments of a custom tool where the upstream knows only functions."""


# --- request -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Text:
    """Text of a message."""

    text: str


@dataclass(frozen=True, slots=True)
class Image:
    """An image sent along."""

    media_type: str
    data: str
    """Base64."""
    detail: str = ""


@dataclass(frozen=True, slots=True)
class File:
    """A document sent along."""

    media_type: str
    data: str
    """Base64."""
    name: str = "document.pdf"


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call of the assistant."""

    id: str
    name: str
    """As the upstream knows the tool."""
    arguments: str
    """JSON text; for a custom tool the free text itself."""
    custom: bool = False


@dataclass(frozen=True, slots=True)
class Result:
    """What a tool call gave."""

    call_id: str
    parts: tuple[Text | Image | File, ...]
    is_error: bool = False
    custom: bool = False


@dataclass(frozen=True, slots=True)
class Thought:
    """Reasoning of the assistant, with what lets its own provider trust it again."""

    text: str
    signature: str = ""


Part = Text | Image | File
Block = Text | Image | File | Call | Result | Thought


@dataclass(frozen=True, slots=True)
class Said:
    """One message; results stand in role `tool`, calls and thoughts in `assistant`."""

    role: Role
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool offered to the model."""

    name: str
    description: str
    parameters: Mapping[str, JsonValue]
    strict: bool | None = None
    custom: bool = False
    """Takes free text."""
    grammar: Mapping[str, JsonValue] | None = None
    """Custom tools only: the format of the text."""


@dataclass(frozen=True, slots=True)
class Named:
    """The tool that must be called."""

    name: str


Choice = Literal["auto", "none", "required"] | Named


@dataclass(frozen=True, slots=True)
class Schema:
    """The answer must be JSON; of this schema, where there is one."""

    schema: Mapping[str, JsonValue] | None
    name: str = "answer"
    strict: bool | None = None


@dataclass
class Names:
    """Tools whose calls the harness knows in another form than the upstream."""

    custom: set[str] = field(default_factory=set[str])
    """Names of tools that take free text."""
    namespaces: dict[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])
    """Flat name -> namespace and name within it."""

    def flat(self, namespace: str, name: str) -> str:
        """The flat name of a tool in a namespace."""
        for flat, pair in self.namespaces.items():
            if pair == (namespace, name):
                return flat
        return name


@dataclass
class Ask:
    """A request."""

    model: str
    stream: bool
    messages: list[Said]
    tools: list[Tool]
    choice: Choice | None = None
    parallel: bool | None = None
    max_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    stop: tuple[str, ...] = ()
    seed: int | None = None
    effort: str | None = None
    schema: Schema | None = None
    include_usage: bool = False
    """Chat only: whether the harness wants the last chunk of a stream with the usage."""
    names: Names = field(default_factory=Names)
    dropped: list[str] = field(default_factory=list[str])
    """What could not be carried over, in words."""


# --- answer ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Refusal:
    """Text in which the model refuses."""

    text: str


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole answer."""

    id: str
    model: str
    blocks: tuple[Text | Thought | Call | Refusal, ...]
    finish: Finish
    usage: Usage


# --- answer in pieces --------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Started:
    """The answer begins."""

    id: str
    model: str
    usage: Usage | None = None
    """What the provider already says of the input."""


Kind = Literal["text", "thought", "refusal"]


@dataclass(frozen=True, slots=True)
class Spoken:
    """A piece of text, of reasoning, or of a refusal."""

    kind: Kind
    text: str
    signature: str = ""
    """Of the reasoning so far."""


@dataclass(frozen=True, slots=True)
class CallStarted:
    """A tool call begins; `key` names it in this stream."""

    key: int
    id: str
    name: str
    custom: bool = False
    """Its pieces are free text, not JSON."""


@dataclass(frozen=True, slots=True)
class CallPiece:
    """A piece of a call's arguments."""

    key: int
    text: str


@dataclass(frozen=True, slots=True)
class CallDone:
    """A call is whole."""

    key: int


@dataclass(frozen=True, slots=True)
class Finished:
    """The answer is whole; why it stopped, and what it used."""

    finish: Finish
    usage: Usage


@dataclass(frozen=True, slots=True)
class Failed:
    """The provider reports an error in the middle."""

    body: JsonValue


Piece = Started | Spoken | CallStarted | CallPiece | CallDone | Finished | Failed
