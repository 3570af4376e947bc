"""Records what litellm makes of requests and answers, for `test_gateway_oracle.py`.

litellm is heavy (a hundred megabytes, and its own versions of much), so it is no dependency
of the tests: its answers are kept in `data/`, with its version. To record them anew, with any
Python that has litellm:

    python tests/gateway/litellm_oracle.py PYTHON_WITH_LITELLM
"""

import asyncio
import importlib
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import cast

DATA = Path(__file__).parent / "data" / "litellm.json"
PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"
    "+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
URL = f"data:image/png;base64,{PIXEL}"
PARAMETERS = {
    "type": "object",
    "properties": {"command": {"type": "string"}},
    "required": ["command"],
}
CALLS = [
    {"name": "shell", "arguments": {"command": "ls 'ä'"}},
    {"name": "shell", "arguments": {"command": "pwd"}},
]
USAGE = {"input": 100, "cache_read": 40, "output": 11}
RULES = [
    {
        "when": {"last": "calls"},
        "reply": {"text": "I look.", "tool_calls": CALLS, "chunk_chars": 5, "usage": USAGE},
    },
    {
        "when": {"last": "limit"},
        "reply": {"text": "half an ans", "finish": "length", "chunk_chars": 5, "usage": USAGE},
    },
    {"reply": {"text": "grüezi, 你好", "chunk_chars": 3, "usage": USAGE}},
]
PAIRS = {
    "responses-chat": "custom_openai/scripted-model",
    "messages-chat": "hosted_vllm/scripted-model",
    "chat-messages": "anthropic/scripted-model",
    "responses-messages": "anthropic/scripted-model",
}
"""Harness's API and upstream's API, and the name under which litellm translates so."""
CONTENTS = ("text", "calls", "limit", "image", "history")


def chat_request(content: str) -> dict[str, object]:
    """A chat completions request."""
    user: object = content
    if content == "image":
        user = [
            {"type": "text", "text": "image"},
            {"type": "image_url", "image_url": {"url": URL}},
        ]
    messages: list[object] = [
        {"role": "system", "content": "be brief"},
        {"role": "user", "content": user},
    ]
    if content == "history":
        calls = [_function("call_1", "ls"), _function("call_2", "pwd")]
        messages += [
            {"role": "assistant", "content": "I look.", "tool_calls": calls},
            {"role": "tool", "tool_call_id": "call_1", "content": "a.txt"},
            {"role": "tool", "tool_call_id": "call_2", "content": "/root"},
        ]
    tool = {"name": "shell", "description": "Run.", "parameters": PARAMETERS}
    return {
        "messages": messages,
        "tools": [{"type": "function", "function": tool}],
        "max_tokens": 99,
    }


def _function(call_id: str, command: str) -> dict[str, object]:
    arguments = json.dumps({"command": command})
    function = {"name": "shell", "arguments": arguments}
    return {"id": call_id, "type": "function", "function": function}


def responses_request(content: str) -> dict[str, object]:
    """A responses request."""
    parts: list[object] = [{"type": "input_text", "text": content}]
    if content == "image":
        parts.append({"type": "input_image", "image_url": URL, "detail": "auto"})
    items: list[object] = [{"type": "message", "role": "user", "content": parts}]
    if content == "history":
        text: list[object] = [{"type": "output_text", "text": "I look.", "annotations": []}]
        items.append({"type": "message", "role": "assistant", "content": text})
        for call_id, command in (("call_1", "ls"), ("call_2", "pwd")):
            call = {"type": "function_call", "call_id": call_id, "name": "shell"}
            items.append({**call, "arguments": json.dumps({"command": command})})
        for call_id, output in (("call_1", "a.txt"), ("call_2", "/root")):
            items.append({"type": "function_call_output", "call_id": call_id, "output": output})
    tool = {
        "type": "function",
        "name": "shell",
        "description": "Run.",
        "parameters": PARAMETERS,
        "strict": False,
    }
    return {"instructions": "be brief", "input": items, "tools": [tool], "max_output_tokens": 99}


def messages_request(content: str) -> dict[str, object]:
    """A messages request."""
    parts: list[object] = [{"type": "text", "text": content}]
    if content == "image":
        source = {"type": "base64", "media_type": "image/png", "data": PIXEL}
        parts.append({"type": "image", "source": source})
    messages: list[object] = [{"role": "user", "content": parts}]
    if content == "history":
        said: list[object] = [{"type": "text", "text": "I look."}]
        results: list[object] = []
        for call_id, command, output in (("call_1", "ls", "a.txt"), ("call_2", "pwd", "/root")):
            call = {"type": "tool_use", "id": call_id, "name": "shell"}
            said.append({**call, "input": {"command": command}})
            result = {"type": "tool_result", "tool_use_id": call_id, "content": output}
            results.append(result)
        messages += [
            {"role": "assistant", "content": said},
            {"role": "user", "content": results},
        ]
    tool = {"name": "shell", "description": "Run.", "input_schema": PARAMETERS}
    return {"system": "be brief", "messages": messages, "tools": [tool], "max_tokens": 99}


REQUESTS = {"chat": chat_request, "responses": responses_request, "messages": messages_request}


# --- what an answer says, in one form ----------------------------------------------------

Json = dict[str, object]


def facts(api: str, parts: list[object]) -> Json:
    """Text, calls, finish and usage of a whole answer or of the events of a stream."""
    records = [cast("Json", part) for part in parts if isinstance(part, dict)]
    found = {"chat": _chat_facts, "responses": _response_facts, "messages": _message_facts}[api]
    return found(records)


def events(stream: str) -> list[object]:
    """Data of server-sent events."""
    data = [line[6:] for line in stream.split("\n") if line.startswith("data: ")]
    return [json.loads(text) for text in data if text != "[DONE]"]


def _get(value: object, *path: str | int) -> object:
    for step in path:
        if isinstance(value, dict) and isinstance(step, str):
            value = cast("Json", value).get(step)
        elif isinstance(value, list) and isinstance(step, int):
            items = cast("list[object]", value)
            value = items[step] if step < len(items) else None
        else:
            return None
    return value


def _list(value: object) -> list[object]:
    return list(cast("list[object]", value)) if isinstance(value, list) else []


def _int(value: object) -> int:
    return value if isinstance(value, int) else 0


def _chat_facts(records: list[Json]) -> Json:
    text, finish = "", ""
    usage: object = None
    calls: dict[object, list[str]] = {}
    for record in records:
        usage = record.get("usage") or usage
        finish = str(_get(record, "choices", 0, "finish_reason") or finish)
        for key in ("delta", "message"):
            said = _get(record, "choices", 0, key)
            text += str(_get(said, "content") or "")
            for place, call in enumerate(_list(_get(said, "tool_calls"))):
                index = _get(call, "index")
                part = calls.setdefault(place if index is None else index, ["", "", ""])
                part[0] += str(_get(call, "id") or "")
                part[1] += str(_get(call, "function", "name") or "")
                part[2] += str(_get(call, "function", "arguments") or "")
    cached = _int(_get(usage, "prompt_tokens_details", "cached_tokens"))
    heard = _int(_get(usage, "prompt_tokens"))
    return {
        "text": text,
        "calls": [[p[0], p[1], json.loads(p[2])] for p in calls.values()],
        "finish": finish,
        "usage": [heard, cached, _int(_get(usage, "completion_tokens"))],
    }


def _response_facts(records: list[Json]) -> Json:
    final: object = records[-1].get("response") or records[-1]
    text = ""
    calls: list[object] = []
    for item in _list(_get(final, "output")):
        if _get(item, "type") == "function_call":
            arguments = json.loads(str(_get(item, "arguments")))
            calls.append([_get(item, "call_id"), _get(item, "name"), arguments])
        for part in _list(_get(item, "content")):
            text += str(_get(part, "text") or "")
    usage = _get(final, "usage")
    cached = _int(_get(usage, "input_tokens_details", "cached_tokens"))
    return {
        "text": text,
        "calls": calls,
        "finish": _get(final, "status"),
        "usage": [_int(_get(usage, "input_tokens")), cached, _int(_get(usage, "output_tokens"))],
    }


def _message_facts(records: list[Json]) -> Json:
    text, finish = "", ""
    usage: Json = {}
    calls: dict[object, list[object]] = {}
    for record in records:
        for key in ("usage", "message"):
            given = _get(record, "message", "usage") if key == "message" else record.get("usage")
            if isinstance(given, dict):
                usage |= {k: v for k, v in cast("Json", given).items() if v}
        finish = str(_get(record, "delta", "stop_reason") or record.get("stop_reason") or finish)
        for block in _list(record.get("content")):
            text += str(_get(block, "text") or "")
            if _get(block, "type") == "tool_use":
                call = [_get(block, "id"), _get(block, "name"), _get(block, "input")]
                calls[len(calls)] = call
        block = record.get("content_block")
        if _get(block, "type") == "tool_use":
            calls[record.get("index")] = [_get(block, "id"), _get(block, "name"), ""]
        text += str(_get(record, "delta", "text") or "")
        piece = _get(record, "delta", "partial_json")
        if piece:
            part = calls[record.get("index")]
            part[2] = str(part[2]) + str(piece)
    cached = _int(usage.get("cache_read_input_tokens"))
    heard = _int(usage.get("input_tokens")) + cached
    return {
        "text": text,
        "calls": [[i, n, json.loads(a) if isinstance(a, str) else a] for i, n, a in calls.values()],
        "finish": finish,
        "usage": [heard, cached, _int(usage.get("output_tokens"))],
    }


# --- run by a Python with litellm; must not import the package ---------------------------


async def ask(pair: str, content: str, stream: bool, url: str) -> list[object]:
    """Whole answer, or chunks of a stream, as plain data."""
    litellm = importlib.import_module("litellm")
    api = pair.split("-")[0]
    upstream = pair.split("-")[1]
    base = url if upstream == "messages" else f"{url}/v1"
    given: Json = {
        **REQUESTS[api](content),
        "model": PAIRS[pair],
        "api_base": base,
        "api_key": "sk-test",
        "stream": stream,
    }
    name = {"chat": "acompletion", "responses": "aresponses", "messages": "anthropic_messages"}
    call = cast("Callable[..., Awaitable[object]]", getattr(litellm, name[api]))
    if api == "chat" and stream:
        given["stream_options"] = {"include_usage": True}
    result = await call(**given)
    if not stream:
        return [_plain(result)]
    return [_plain(chunk) async for chunk in cast("AsyncIterator[object]", result)]


def _plain(value: object) -> object:
    if isinstance(value, bytes):
        return value.decode()
    dump = getattr(value, "model_dump", None)
    return dump(mode="json") if dump is not None else value


# --- run in the tests' own environment ---------------------------------------------------


async def record(python: str) -> None:
    """Ask every case of litellm and keep what it sent and gave back."""
    from uniclaw.models.script import parse_script
    from uniclaw.testing.wire import ScriptedServer

    command = [python, "-c", "import importlib.metadata as m; print(m.version('litellm'))"]
    version = (await asyncio.to_thread(subprocess.check_output, command, text=True)).strip()
    cases: dict[str, object] = {}
    async with ScriptedServer(parse_script({"rules": RULES})) as server:
        for pair in PAIRS:
            for content in CONTENTS:
                for stream in (False, True):
                    case = f"{pair} {content} {'stream' if stream else 'whole'}"
                    command = [python, __file__, "ask", pair, content, str(stream), server.url]
                    done = await asyncio.to_thread(
                        subprocess.run, command, capture_output=True, text=True, check=False
                    )
                    lines = done.stdout.strip().splitlines()
                    if done.returncode or not lines:
                        sys.stderr.write(f"{case}: litellm failed: {done.stderr[-300:]}\n")
                        continue
                    call = server.calls[-1].model_dump(mode="json", exclude={"max_output_tokens"})
                    given = json.loads(lines[-1])
                    if given and isinstance(given[0], str):
                        given = events("".join(given))
                    cases[case] = {"sent": call, "got": facts(pair.split("-")[0], given)}
                    sys.stderr.write(f"{case}\n")
    DATA.parent.mkdir(exist_ok=True)
    kept = {"litellm": version, "cases": cases}
    DATA.write_text(json.dumps(kept, ensure_ascii=False, indent=1), encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1] == "ask":
        asked = ask(sys.argv[2], sys.argv[3], sys.argv[4] == "True", sys.argv[5])
        sys.stdout.write(json.dumps(asyncio.run(asked)) + "\n")
    else:
        asyncio.run(record(sys.argv[1]))
