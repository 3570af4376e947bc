"""Transcripts in the shape of OpenAI chat messages, which several programs write.

Must not know where a program keeps them.
"""

import re
from collections.abc import Iterable

from pydantic import JsonValue

from uniclaw.harnesses.fields import code_at, dicts_at, text_at, value_at
from uniclaw.harnesses.launcher import parse_object
from uniclaw.harnesses.recorder import Recorder, content_text

_EXIT = re.compile(r"(?:^|\n)\s*Exit code:? ?(-?\d+)")


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
            text, code = result_of(content)
            raw = value_at(message, "content")
            record.result(call_id, text, tool=name, exit_code=code, content=raw)
    return said


def result_of(content: str) -> tuple[str, int | None]:
    """A result's text and the exit code it tells, in words or as the JSON that some shells give."""
    data = parse_object(content) if content.lstrip().startswith("{") else None
    for key in ("exit_code", "returncode"):
        code = code_at(data, key)
        if code is not None:
            parts = (text_at(data, part) for part in ("output", "error", "exception_info"))
            return "\n".join(part for part in parts if part) or content, code
    found = _EXIT.search(content)
    return content, int(found[1]) if found else None


def after_message(messages: list[dict[str, JsonValue]], message: str) -> list[dict[str, JsonValue]]:
    """What follows the last user message that holds `message`; all of it when none does."""
    wanted = message.strip()
    for index in range(len(messages) - 1, -1, -1):
        held = content_text(value_at(messages[index], "content"))
        if text_at(messages[index], "role") == "user" and wanted in held:
            return messages[index + 1 :]
    return messages
