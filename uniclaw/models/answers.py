"""Pieces of an answer, collected from a whole answer or from a stream, to a `Completion`.

Knows no protocol.
"""

import json
from dataclasses import dataclass, field
from typing import Literal, cast

from pydantic import JsonValue

from uniclaw.models.failures import bad_answer
from uniclaw.ports import Completion, ToolCall
from uniclaw.records import Usage

ANSWER_TOOL = "answer"
"""Name of the forced tool whose arguments are a JSON answer."""

Finish = Literal["stop", "tool_calls", "length", "refusal", "other"]


def parse_tool_call(call_id: str, name: str, raw: str) -> ToolCall:
    """A tool call from its argument text; text that is no JSON object is kept as `invalid`."""
    try:
        value = cast("JsonValue", json.loads(raw or "{}", parse_constant=_refuse))
        if isinstance(value, dict):
            return ToolCall(id=call_id, name=name, arguments=value)
    except (ValueError, RecursionError):
        pass
    return ToolCall(id=call_id, name=name, arguments={}, invalid=raw)


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


@dataclass
class PartialCall:
    """A tool call while its arguments arrive."""

    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list[str])


@dataclass
class Answer:
    """What has arrived."""

    model: str = ""
    text: list[str] = field(default_factory=list[str])
    refusal: list[str] = field(default_factory=list[str])
    calls: dict[int, PartialCall] = field(default_factory=dict[int, PartialCall])
    finish: Finish | None = None

    def call(self, index: int) -> PartialCall:
        """The tool call at a stream index."""
        return self.calls.setdefault(index, PartialCall())

    def completion(self, usage: Usage | None) -> Completion:
        """The finished answer; a call of the answer tool becomes its text.

        Raises:
            AttemptFailed: it never said that it ended, or a tool call has no name.
        """
        if self.finish is None:
            raise bad_answer("the answer broke off before it ended")
        calls: list[ToolCall] = []
        answer: str | None = None
        for index, part in sorted(self.calls.items()):
            if not part.name:
                raise bad_answer("a tool call without a name")
            raw = "".join(part.arguments)
            if part.name == ANSWER_TOOL:
                answer = raw
            else:
                calls.append(parse_tool_call(part.id or f"call_{index}", part.name, raw))
        text = "".join(self.text) if answer is None else answer
        return Completion(
            text=text or "".join(self.refusal),
            tool_calls=tuple(calls),
            finish=self._finish(calls, answered=answer is not None),
            usage=usage or Usage(),
            model=self.model,
        )

    def _finish(self, calls: list[ToolCall], *, answered: bool) -> Finish:
        if self.refusal:
            return "refusal"
        if self.finish in ("stop", "tool_calls", "other", None) and calls:
            return "tool_calls"
        if self.finish == "tool_calls":
            return "stop" if answered else "other"
        return self.finish or "other"
