"""The model-driven user simulator: one JSON answer, parsed strictly or discarded whole.

An answer is never edited: what is not exactly one message of the user is drawn again, and after
the last attempt it is a `SimulatorError`. When an episode ends is not this module's business, so a
stop mark in a message is only text.
"""

import json
import re
from collections.abc import Mapping
from typing import Final

from pydantic import Field, JsonValue, ValidationError

from uniclaw.errors import SimulatorError
from uniclaw.ports import (
    ChatModel,
    ChatRequest,
    Completion,
    ImagePart,
    Message,
    TextPart,
    text_message,
)
from uniclaw.prompts import new_nonce, untrusted
from uniclaw.records import Record, UserView
from uniclaw.user_simulator.prompts import SimulatorPrompts

MAX_MESSAGE_CHARS: Final = 6_000
MAX_ATTEMPTS: Final = 3
SCHEMA: Final[Mapping[str, JsonValue]] = {
    "type": "object",
    "properties": {"message": {"type": "string"}},
    "required": ["message"],
    "additionalProperties": False,
}

_FENCED = re.compile(r"\A\s*```(?:json)?[ \t]*\n(?P<body>.*)\n```\s*\Z", re.DOTALL)
_NOT_A_USER = re.compile(
    r"""
      </?\s*(?:think|thinking|reasoning|analysis|scratchpad|untrusted|system|assistant|user)\b[^>]*>
    | <\|[a-z_]+\|>
    | ^\s*(?:assistant|system|user|助手|系统|用户)\s*[:：]
    | \b(?:developer|system)\s+(?:instructions?|prompt|message)\b
    | \bi(?:'m|\s+am)\s+(?:the|a|playing(?:\s+the)?|simulating(?:\s+the)?)\s+(?:simulated\s+)?user\b
    | \b(?:user\s+simulator|simulated\s+user|as\s+an\s+ai\b|as\s+the\s+(?:ai\s+)?assistant)
    | (?:系统提示|开发者指令|用户模拟器|模拟用户|我扮演|我是用户|作为(?:一个)?(?:AI|人工智能|助手))
    """,
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)


class _Answer(Record):
    message: str = Field(max_length=MAX_MESSAGE_CHARS)


class UnusableAnswer(ValueError):
    """Why an answer was discarded."""


class EmptyAnswer(UnusableAnswer):
    """The message was empty."""


def parse_message(text: str) -> str:
    """The message of an answer that is exactly one JSON object with that one field.

    Raises:
        EmptyAnswer: nothing in it.
        UnusableAnswer: text around the object, other fields, or not spoken as the user.
    """
    if not text.strip():
        raise EmptyAnswer("empty answer")
    fenced = _FENCED.match(text)
    try:
        message = _Answer.model_validate(
            json.loads(fenced["body"] if fenced else text, object_pairs_hook=_no_twins)
        ).message.strip()
    except (ValueError, ValidationError, RecursionError) as error:
        raise UnusableAnswer("not exactly one object with the field `message`") from error
    if not message:
        raise EmptyAnswer("empty message")
    if _NOT_A_USER.search(message):
        raise UnusableAnswer("not spoken as the user")
    return message


def _no_twins(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    if len(dict(pairs)) != len(pairs):
        raise ValueError("a key stands twice")
    return dict(pairs)


class ModelSimulator:
    """Drafts through a chat model."""

    def __init__(
        self,
        model: ChatModel,
        prompts: SimulatorPrompts,
        *,
        seed: int | None = None,
        temperature: float | None = None,
        max_output_tokens: int = 2_048,
    ) -> None:
        """Bind model and prompts.

        Args:
            model: plays the user.
            prompts: of both languages; the view's language chooses.
            seed: passed on where the provider takes one; each attempt uses the next.
            temperature: None leaves it to the provider.
            max_output_tokens: of one answer, reasoning included.
        """
        self._model = model
        self._prompts = prompts
        self._seed = seed
        self._temperature = temperature
        self._max_output_tokens = max_output_tokens

    async def draft(self, view: UserView) -> str:
        """One message; a useless answer is discarded whole and drawn again with a changed prompt.

        Raises:
            SimulatorError: a second empty answer, or no usable one in three attempts.
        """
        empty = 0
        problem = ""
        for attempt in range(MAX_ATTEMPTS):
            completion = await self._model.complete(self._request(view, attempt))
            try:
                return self._parse(completion)
            except UnusableAnswer as error:
                problem = str(error)
                empty += isinstance(error, EmptyAnswer)
                if empty > 1:
                    break
        raise SimulatorError(f"no usable message from {self._model.spec}: {problem}")

    def _request(self, view: UserView, attempt: int) -> ChatRequest:
        rendered = self._prompts.rendered(view)
        parts = [rendered.user]
        if view.reminder:
            parts.append(self._prompts.reminder(view.language))
        if attempt:
            parts.append(self._prompts.retry(view.language))
        said = TextPart(text="\n\n".join(part.strip() for part in parts))
        return ChatRequest(
            messages=(
                text_message("system", rendered.system),
                Message(role="user", parts=(said, *_pictures(view))),
            ),
            json_schema=SCHEMA,
            max_output_tokens=self._max_output_tokens,
            temperature=self._temperature,
            seed=None if self._seed is None else self._seed + attempt,
            purpose="user_simulator",
        )

    @staticmethod
    def _parse(completion: Completion) -> str:
        if completion.finish in ("length", "refusal") or completion.tool_calls:
            raise UnusableAnswer(f"the answer ended in {completion.finish!r}")
        return parse_message(completion.text)


def _pictures(view: UserView) -> list[TextPart | ImagePart]:
    """Pictures of visible files, each after its name."""
    parts: list[TextPart | ImagePart] = []
    for shown in view.rounds:
        for file in shown.files:
            for picture in file.pictures:
                name = untrusted(
                    f"{file.path} ({picture.note})", nonce=new_nonce(), label="picture"
                )
                parts.append(TextPart(text=name))
                parts.append(
                    ImagePart(media_type=picture.media_type, data_base64=picture.data_base64)
                )
    return parts
