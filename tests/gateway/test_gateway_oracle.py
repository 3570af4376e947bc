"""Our translation against litellm's, recorded in `data/litellm.json`.

Compared are what the upstream got (as a scripted model sees it) and what the harness got:
text, calls, finish, usage with its cached part. Where litellm is known to differ, it says so.
"""

import json
from pathlib import Path

import pytest
from gateway_world import post, provider, raw
from litellm_oracle import CONTENTS, DATA, PAIRS, REQUESTS, RULES, events, facts

from uniclaw.gateway.exchange import PATHS, Api
from uniclaw.gateway.gateway import Gateway
from uniclaw.models.script import parse_script
from uniclaw.ports import ChatRequest
from uniclaw.testing.wire import ScriptedServer

APIS: dict[str, Api] = {"chat": "chat", "responses": "responses", "messages": "messages"}


def recorded() -> dict[str, dict[str, dict[str, object]]]:
    return json.loads(Path(DATA).read_text(encoding="utf-8"))["cases"]


def said(call: object) -> object:
    """What the upstream was told: all messages, and the tools as they are named."""
    request = ChatRequest.model_validate(call)
    return request.messages, [(tool.name, tool.description) for tool in request.tools]


@pytest.mark.parametrize("stream", ["whole", "stream"])
@pytest.mark.parametrize("content", CONTENTS)
@pytest.mark.parametrize("pair", PAIRS)
async def test_ours_and_litellms_translation_say_the_same(
    pair: str, content: str, stream: str
) -> None:
    case = recorded()[f"{pair} {content} {stream}"]
    first, _, second = pair.partition("-")
    api, upstream = APIS[first], APIS[second]
    async with (
        ScriptedServer(parse_script({"rules": RULES})) as server,
        Gateway(port=0) as gateway,
    ):
        door = await gateway.open_episode("e", provider(server, (upstream,)))
        body = {**REQUESTS[api](content), "model": "m", "stream": stream == "stream"}
        if api == "chat" and stream == "stream":
            body["stream_options"] = {"include_usage": True}
        answer = await raw(gateway.url, post(f"/v1{PATHS[api]}", body, door.token))
        assert answer.status == 200
        text = answer.body.decode()
        got = facts(api, events(text) if stream == "stream" else [json.loads(text)])
        sent = server.calls[-1]
    assert said(sent) == said(case["sent"])
    assert got == case["got"]


def test_the_recording_names_its_version() -> None:
    assert json.loads(Path(DATA).read_text(encoding="utf-8"))["litellm"][0].isdecimal()
    assert len(recorded()) == len(PAIRS) * len(CONTENTS) * 2
