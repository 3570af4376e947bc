"""Transcripts in the shape of OpenAI chat messages, which several programs write.

Must not know where a program keeps them.
"""

import re
from collections.abc import Iterable

from pydantic import JsonValue

from uniclaw.harnesses.fields import dicts_at, text_at, value_at
from uniclaw.harnesses.recorder import Recorder, content_text

_EXIT = re.compile(
    r"(?:^|\n)\s*(?:Exit code|\"exit_code\"|\"?returncode\"?)\"?:? ?(-?\d+)|\"exit_code\": (-?\d+)"
)


def write_chat(messages: Iterable[dict[str, JsonValue]], record: Recorder) -> str:
    """Write assistant and tool messages as events; the last thing said."""
    said = ""
    for message in messages:
        role, content = text_at(message, "role"), content_text(value_at(message, "content"))
        if role == "assistant":
            record.reasoning(text_at(message, "reasoning") or text_at(message, "reasoning_content"))
            record.assistant(content)
            said = content or said
            for call in dicts_at(message, "tool_calls"):
                name = text_at(call, "function", "name") or text_at(call, "name")
                arguments = value_at(call, "function", "arguments")
                record.call(name, text_at(call, "id"), arguments or value_at(call, "arguments"))
        elif role == "tool":
            call_id = text_at(message, "tool_call_id")
            name = text_at(message, "name") or text_at(message, "tool_name") or None
            record.result(call_id, content, tool=name, exit_code=exit_code(content))
    return said


def exit_code(text: str) -> int | None:
    """The exit code that a result tells in its words."""
    found = _EXIT.search(text)
    return int(found[1] or found[2]) if found else None


def after_message(messages: list[dict[str, JsonValue]], message: str) -> list[dict[str, JsonValue]]:
    """What follows the last user message that holds `message`; all of it when none does."""
    wanted = message.strip()
    for index in range(len(messages) - 1, -1, -1):
        held = content_text(value_at(messages[index], "content"))
        if text_at(messages[index], "role") == "user" and wanted in held:
            return messages[index + 1 :]
    return messages
