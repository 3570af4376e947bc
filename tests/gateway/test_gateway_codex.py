"""What Codex sends and needs, over upstreams that do not speak responses."""

import json
from typing import cast

import pytest
from gateway_world import MODEL, Answer, World, post, raw, say, world

from uniclaw.gateway.exchange import Api
from uniclaw.models.script import ScriptedError
from uniclaw.testing.wire import Fault

translated = pytest.mark.parametrize("upstream", ["chat", "messages"])
PATCH = '*** Begin Patch\n*** Add File: a.txt\n+hi "you"\n*** End Patch'
GRAMMAR = {"type": "grammar", "syntax": "lark", "definition": "start: begin_patch hunk+"}
TOOLS: list[object] = [
    {
        "type": "function",
        "name": "exec_command",
        "description": "Run.",
        "strict": False,
        "parameters": {"type": "object", "properties": {"cmd": {"type": "string"}}},
    },
    {"type": "custom", "name": "apply_patch", "description": "Edit files.", "format": GRAMMAR},
    {"type": "web_search"},
    {
        "type": "namespace",
        "name": "mcp__files",
        "description": "files",
        "tools": [
            {"type": "function", "name": "exec_command", "parameters": {"type": "object"}},
            {"type": "function", "name": "list", "parameters": {"type": "object"}},
        ],
    },
    {"type": "image_generation"},
]


def codex_body(*items: object, **more: object) -> dict[str, object]:
    """A request as Codex makes it."""
    return {
        "model": MODEL,
        "instructions": "You are Codex.",
        "input": [
            {
                "type": "message",
                "role": "developer",
                "content": [{"type": "input_text", "text": "<permissions>"}],
            },
            {
                "type": "message",
                "role": "user",
                "content": [{"type": "input_text", "text": "<environment_context>"}],
            },
            {
                "type": "message",
                "role": "user",
                "content": [{"type": "input_text", "text": "go"}],
            },
            *items,
        ],
        "tools": TOOLS,
        "tool_choice": "auto",
        "parallel_tool_calls": True,
        "reasoning": {"effort": "medium", "summary": "auto"},
        "store": False,
        "stream": True,
        "include": ["reasoning.encrypted_content"],
        "prompt_cache_key": "abc",
        "text": {"verbosity": "low"},
        "client_metadata": {"x": "y"},
        **more,
    }


async def ask(w: World, *items: object, **more: object) -> Answer:
    body = codex_body(*items, **more)
    return await raw(w.gateway.url, post("/v1/responses", body, w.door.token))


def events(answer: Answer) -> list[dict[str, object]]:
    """Data of the events; the name of each must be its type."""
    found: list[dict[str, object]] = []
    for event in answer.body.decode().split("\n\n"):
        if event:
            name, _, data = event.partition("\n")
            record: dict[str, object] = json.loads(data.removeprefix("data: "))
            found.append(record)
            assert name == f"event: {record['type']}"
    assert [e["sequence_number"] for e in found[:-1]] == list(range(len(found) - 1))
    return found


def items_done(answer: Answer) -> list[dict[str, object]]:
    done = [e["item"] for e in events(answer) if e["type"] == "response.output_item.done"]
    return [cast("dict[str, object]", item) for item in done]


@translated
async def test_the_events_codex_needs_come_in_order(upstream: Api) -> None:
    rules: list[object] = [say("I run.", usage={"input": 5, "cache_read": 3, "output": 2})]
    async with world(rules, apis=(upstream,)) as w:
        kinds = [str(e["type"]) for e in events(await ask(w))]
        steps = [k for i, k in enumerate(kinds) if i == 0 or kinds[i - 1] != k]
        assert steps == [
            "response.created",
            "response.in_progress",
            "response.output_item.added",
            "response.content_part.added",
            "response.output_text.delta",
            "response.output_text.done",
            "response.content_part.done",
            "response.output_item.done",
            "response.completed",
        ]
        final = events(await ask(w))[-1]["response"]
        assert isinstance(final, dict)
        assert final["usage"]["input_tokens"] == 8
        assert final["usage"]["input_tokens_details"]["cached_tokens"] == 3
        assert final["output"][0]["content"][0]["text"] == "I run."


@translated
async def test_what_the_upstream_gets_of_a_codex_request(upstream: Api) -> None:
    async with world([say()], apis=(upstream,)) as w:
        await ask(w)
        request = w.server.calls[-1]
        assert request.messages[0].role == "system"
        system = "\n".join(m.text for m in request.messages if m.role == "system")
        assert "You are Codex." in system
        assert "<permissions>" in system
        assert "go" in request.messages[-1].text
        names = [t.name for t in request.tools]
        assert names == ["exec_command", "apply_patch", "mcp__files__exec_command", "list"]
        patch = request.tools[1]
        assert patch.parameters["required"] == ["input"]
        assert "begin_patch hunk+" in patch.description
        sent = w.server.requests[-1].body
        assert isinstance(sent, dict)
        assert not {"store", "include", "prompt_cache_key", "text", "client_metadata"} & set(sent)
        assert sent.get("reasoning_effort") == ("medium" if upstream == "chat" else None)
        dropped = w.last.dropped
        assert {"tool of type 'web_search'", "tool of type 'image_generation'"} <= set(dropped)


@translated
async def test_a_custom_tool_gets_its_free_text(upstream: Api) -> None:
    calls = [{"name": "apply_patch", "arguments": {"input": PATCH}}]
    rules: list[object] = [{"reply": {"tool_calls": calls, "chunk_chars": 5}}]
    async with world(rules, apis=(upstream,)) as w:
        answer = await ask(w)
        (item,) = items_done(answer)
        assert item["type"] == "custom_tool_call"
        assert item["name"] == "apply_patch"
        assert item["input"] == PATCH
        deltas = [
            str(e["delta"])
            for e in events(answer)
            if e["type"] == "response.custom_tool_call_input.delta"
        ]
        assert "".join(deltas) == PATCH
        # and back, in the next request
        done = {"type": "custom_tool_call_output", "call_id": item["call_id"], "output": "Done"}
        await ask(w, item, done)
        seen = w.server.calls[-1].messages
        assert seen[-2].tool_calls[0].arguments == {"input": PATCH}
        assert (seen[-1].role, seen[-1].text) == ("tool", "Done")


@translated
async def test_a_tool_of_a_namespace_comes_back_in_it(upstream: Api) -> None:
    calls: list[dict[str, object]] = [
        {"name": "mcp__files__exec_command", "arguments": {}},
        {"name": "exec_command", "arguments": {"cmd": "ls"}},
        {"name": "list", "arguments": {}},
    ]
    async with world([{"reply": {"tool_calls": calls}}], apis=(upstream,)) as w:
        found = items_done(await ask(w))
        assert [(i["name"], i.get("namespace")) for i in found] == [
            ("exec_command", "mcp__files"),
            ("exec_command", None),
            ("list", "mcp__files"),
        ]
        results = [
            {"type": "function_call_output", "call_id": i["call_id"], "output": "ok"} for i in found
        ]
        await ask(w, *found, *results)
        said = [m for m in w.server.calls[-1].messages if m.role == "assistant"]
        assert [c.name for m in said for c in m.tool_calls] == [c["name"] for c in calls]
        results_seen = [m for m in w.server.calls[-1].messages if m.role == "tool"]
        assert len(results_seen) == 3


@translated
async def test_images_in_a_tool_result_arrive(upstream: Api) -> None:
    from gateway_world import PIXEL

    call = {"type": "function_call", "call_id": "c1", "name": "exec_command", "arguments": "{}"}
    output = [
        {"type": "input_text", "text": "a picture"},
        {"type": "input_image", "image_url": f"data:image/png;base64,{PIXEL}"},
    ]
    second = {**call, "call_id": "c2"}
    async with world([say()], apis=(upstream,)) as w:
        await ask(
            w,
            call,
            second,
            {"type": "function_call_output", "call_id": "c1", "output": output},
            {"type": "function_call_output", "call_id": "c2", "output": "fine"},
        )
        seen = w.server.calls[-1].messages
        tools = [m for m in seen if m.role == "tool"]
        assert [m.tool_call_id for m in tools] == ["c1", "c2"]
        assert tools[0].text == "a picture"
        images = [p for m in seen for p in m.parts if p.type == "image"]
        assert len(images) == 1
        places = [i for i, m in enumerate(seen) if m.role == "tool"]
        assert places[1] - places[0] == 1  # nothing between the results of one turn


@translated
@pytest.mark.parametrize("after", [0, 2])
async def test_a_failure_ends_in_response_failed_or_an_http_error(
    upstream: Api, after: int
) -> None:
    error = ScriptedError(kind="stream", code="server_error", after_chunks=after, text="abcdef")
    async with world([say()], Fault(error, times=99), apis=(upstream,)) as w:
        answer = await ask(w)
        if answer.status == 200:
            failed = events(answer)[-1]
            assert failed["type"] == "response.failed"
            response = failed["response"]
            assert isinstance(response, dict)
            assert response["status"] == "failed"
            assert response["error"]["code"] == "server_error"
        else:
            assert answer.status == 502


async def test_signed_reasoning_makes_the_round_trip_through_codex() -> None:
    """Reasoning of Anthropic comes back with its signature in the next request."""
    from uniclaw.gateway.sse import EventSplitter, parse_event
    from uniclaw.gateway.translate.requests import read_request, write_request
    from uniclaw.gateway.translate.stream_read import stream_reader
    from uniclaw.gateway.translate.stream_write import stream_writer
    from uniclaw.gateway.translate.talk import Names
    from uniclaw.gateway.translate.write_requests import Style

    def event(kind: str, **fields: object) -> bytes:
        return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n".encode()

    thinking = {"type": "thinking", "thinking": "", "signature": ""}
    signed = {"type": "signature_delta", "signature": "SIG"}
    data = b"".join(
        [
            event("message_start", message={"id": "m", "model": "x", "usage": {"input_tokens": 3}}),
            event("content_block_start", index=0, content_block=thinking),
            event(
                "content_block_delta", index=0, delta={"type": "thinking_delta", "thinking": "hm"}
            ),
            event("content_block_delta", index=0, delta=signed),
            event("content_block_stop", index=0),
            event("content_block_start", index=1, content_block={"type": "text", "text": ""}),
            event("content_block_delta", index=1, delta={"type": "text_delta", "text": "done"}),
            event("content_block_stop", index=1),
            event("message_delta", delta={"stop_reason": "end_turn"}, usage={"output_tokens": 4}),
            event("message_stop"),
        ]
    )
    reader, writer = stream_reader("messages"), stream_writer("responses", Names(), created=0)
    out = b"".join(
        writer.write(piece)
        for raw_event in EventSplitter().feed(data)
        for piece in reader.feed(parse_event(raw_event))
    )
    final = json.loads(out.decode().split("data: ")[-1])["response"]
    assert [i["type"] for i in final["output"]] == ["reasoning", "message"]
    assert final["output"][0]["summary"][0]["text"] == "hm"
    body = codex_body(*final["output"])
    ask_ = read_request("responses", json.loads(json.dumps(body)))
    sent = write_request("messages", ask_, "m", Style())
    said = json.dumps(sent["messages"])
    assert '"signature": "SIG"' in said
    assert '"thinking": "hm"' in said
    over_chat = write_request("chat", ask_, "m", Style())
    assert "SIG" not in json.dumps(over_chat)
