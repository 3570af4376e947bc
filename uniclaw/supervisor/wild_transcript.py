"""A trajectory as the session file of OpenClaw, which imported graders read.

One JSON object a line: `{"type": "message", "message": {"role", "content": [...], "usage"}}`.
"""

import json
from collections.abc import Sequence

from pydantic import JsonValue

from uniclaw.records import Event, EventKind, RoleUsage, Turn

PATH = "/root/.openclaw/agents/main/sessions/chat.jsonl"


def transcript_lines(turns: Sequence[Turn]) -> str:
    """The lines of all turns, each ended."""
    rows: list[dict[str, JsonValue]] = []
    for turn in turns:
        messages = [message for event in turn.events if (message := _message(event))]
        said = [m for m in messages if m["role"] == "assistant"]
        if said:
            said[-1]["usage"] = _usage(turn.spent)
        elif turn.final_message:
            messages.append(
                {
                    "role": "assistant",
                    "content": [_text(turn.final_message)],
                    "usage": _usage(turn.spent),
                }
            )
        for message in messages:
            rows.append({"type": "message", "message": message})
    return "".join(f"{json.dumps(row)}\n" for row in rows)


def _message(event: Event) -> dict[str, JsonValue] | None:
    match event.kind:
        case EventKind.MESSAGE if event.role in ("user", "assistant"):
            return {"role": event.role, "content": [_text(event.text)]}
        case EventKind.REASONING:
            part: JsonValue = {"type": "thinking", "thinking": event.text}
            return {"role": "assistant", "content": [part]}
        case EventKind.TOOL_CALL:
            call: JsonValue = {
                "type": "toolCall",
                "id": event.call_id or event.id,
                "name": event.tool or "",
                "arguments": dict(event.arguments or {}),
            }
            return {"role": "assistant", "content": [call]}
        case EventKind.TOOL_RESULT:
            return {
                "role": "toolResult",
                "toolCallId": event.call_id or "",
                "toolName": event.tool or "",
                "isError": event.exit_code not in (0, None),
                "content": [_text(event.text)],
            }
        case _:
            return None


def _text(text: str) -> JsonValue:
    return {"type": "text", "text": text}


def _usage(spent: RoleUsage) -> JsonValue:
    usage = spent.usage
    return {
        "input": usage.input,
        "output": usage.output + usage.reasoning,
        "cacheRead": usage.cache_read,
        "cacheWrite": usage.cache_write,
        "totalTokens": usage.total,
        "cost": {"total": spent.cost_usd or 0.0},
    }
