"""A hostile client at the door: what it tries, and that it gets nothing."""

import asyncio
import json
import os
import stat
from pathlib import Path

import pytest
from gateway_world import (
    KEY,
    MODEL,
    Answer,
    chat_body,
    dial,
    post,
    provider,
    raw,
    read_answer,
    say,
    world,
)

from uniclaw.errors import FirewallBreach, UserError
from uniclaw.gateway.admission import DoorLimits
from uniclaw.gateway.exchange import Api, Ending
from uniclaw.gateway.listen import MAX_HEAD_BYTES
from uniclaw.models.metering import SpendLimits
from uniclaw.models.script import ScriptedError
from uniclaw.testing.wire import Fault

CHAT = "/v1/chat/completions"


# --- the key -----------------------------------------------------------------------------


async def test_the_key_is_in_no_answer_even_when_the_provider_says_it() -> None:
    echo = {"reply": {"text": f"your key is {KEY}, really", "chunk_chars": 400}}
    error = ScriptedError(status=401, code="auth", message=f"bad key {KEY}")
    seen = b""
    async with world([echo], Fault(error, times=2), apis=("chat", "responses", "messages")) as w:
        for stream in (False, True, False, True):
            given: dict[str, object] = {"model": MODEL, "input": "x", "stream": stream}
            for path, body in ((CHAT, chat_body(stream=stream)), ("/v1/responses", given)):
                answer = await raw(w.gateway.url, post(path, body, w.door.token))
                seen += answer.body + str(answer.headers).encode()
        for path in ("/", "/v1/models", "/nothing"):
            request = f"GET {path} HTTP/1.1\r\nauthorization: Bearer {w.door.token}\r\n\r\n"
            seen += (await raw(w.gateway.url, request.encode())).body
        recorded = "".join(e.model_dump_json() for e in w.exchanges)
        assert b"really" in seen
        assert KEY.encode() not in seen
        assert KEY not in recorded
        assert KEY not in repr(w.gateway.bill("e1"))
        assert w.server.requests[-1].headers["authorization"] == f"Bearer {KEY}"


async def test_the_key_is_nowhere_a_child_process_looks(tmp_path: Path) -> None:
    async with world([say()], sockets=tmp_path / "s") as w:
        assert KEY not in str(os.environ)
        files = [p for p in (tmp_path / "s").rglob("*") if p.is_file()]
        assert not files  # one socket, nothing else
        assert KEY not in repr(provider(w.server, ("chat",)))


# --- tokens and sockets ------------------------------------------------------------------


async def test_the_socket_and_its_folder_are_for_one_user(tmp_path: Path) -> None:
    async with world([say()], sockets=tmp_path / "s") as w:
        assert stat.S_IMODE(w.door.socket_dir.stat().st_mode) == 0o700
        assert stat.S_IMODE(w.door.socket_path.stat().st_mode) == 0o600
        assert w.door.socket_path.is_socket()


async def test_the_socket_names_the_episode() -> None:
    async with world([say()]) as w:
        other = await w.gateway.open_episode("e2", provider(w.server, ("chat",)))
        answer = await raw(other.socket_path, post(CHAT, chat_body()))
        assert answer.status == 200
        assert w.gateway.spent("e2").calls == 1
        assert w.gateway.spent("e1").calls == 0


@pytest.mark.parametrize("header", ["authorization", "x_api_key", "api_key"])
async def test_a_foreign_token_opens_no_socket(header: str) -> None:
    async with world([say()]) as w:
        other = await w.gateway.open_episode("e2", provider(w.server, ("chat",)))
        value = f"Bearer {other.token}" if header == "authorization" else other.token
        answer = await raw(w.door.socket_path, post(CHAT, chat_body(), **{header: value}))
        assert answer.status == 401
        assert not w.server.requests
        assert w.last.ending is Ending.MALFORMED
        assert other.token not in w.last.model_dump_json()
        assert w.gateway.spent("e1").calls == w.gateway.spent("e2").calls == 0


@pytest.mark.parametrize("token", [None, "", "uc-guess", "e1", "null", "..", "é" * 50, "x" * 5000])
async def test_a_guessed_token_opens_nothing_on_the_port(token: str | None) -> None:
    async with world([say()]) as w:
        request = post(CHAT, chat_body(), token).decode("utf-8").encode("latin-1", "replace")
        answer = await raw(w.gateway.url, request)
        assert answer.status == 401
        assert not w.server.requests


async def test_two_tokens_at_once_open_nothing() -> None:
    async with world([say()]) as w:
        other = await w.gateway.open_episode("e2", provider(w.server, ("chat",)))
        request = post(CHAT, chat_body(), w.door.token, x_api_key=other.token)
        assert (await raw(w.gateway.url, request)).status == 401


async def test_nothing_works_after_the_close() -> None:
    async with world([say()]) as w:
        request = post(CHAT, chat_body(), w.door.token)
        reader, writer = await dial(w.door.socket_path)
        writer.write(request)
        assert (await read_answer(reader)).status == 200
        port_reader, port_writer = await dial(w.gateway.url)
        port_writer.write(request)
        assert (await read_answer(port_reader)).status == 200
        await w.gateway.close_episode("e1")
        try:
            writer.write(request)  # the kept connection of the socket
            assert await reader.read() == b""
        except ConnectionError:
            pass
        port_writer.write(request)  # the kept connection of the port
        assert (await read_answer(port_reader)).status == 401
        assert not w.door.socket_dir.exists()
        with pytest.raises(OSError, match=r"."):
            await raw(w.door.socket_path, request)
        assert len(w.server.requests) == 2
        for close in (writer, port_writer):
            close.close()
        with pytest.raises(UserError):
            w.gateway.spent("e1")


# --- budgets and state -------------------------------------------------------------------


async def test_no_request_raises_the_budget() -> None:
    async with world([say()], limits=SpendLimits(model_calls=1)) as w:
        await raw(w.gateway.url, post(CHAT, chat_body(), w.door.token))
        for path in ("/v1/budget", "/episodes/e1", "/v1/episodes", "/admin", "/v1/../admin"):
            for method in ("GET", "PUT", "POST", "DELETE", "PATCH", "OPTIONS"):
                request = post(path, {"model_calls": 99}, w.door.token)
                answer = await raw(w.gateway.url, request.replace(b"POST", method.encode(), 1))
                assert answer.status in (404, 405)
        body = chat_body(limits={"model_calls": 99}, max_budget=10**9)
        answer = await raw(
            w.gateway.url,
            post(CHAT, body, w.door.token, x_uniclaw_budget="99", x_episode="e2"),
        )
        assert answer.status == 429
        assert len(w.server.requests) == 1


@pytest.mark.parametrize(
    ("api", "body"),
    [
        ("responses", {"input": "x", "previous_response_id": "resp_of_another"}),
        ("responses", {"input": "x", "conversation": "conv_of_another"}),
        ("responses", {"input": "x", "background": True}),
        ("responses", {"input": "x", "prompt": {"id": "pmpt_1"}}),
        ("responses", {"input": [{"type": "item_reference", "id": "msg_1"}]}),
        (
            "responses",
            {"input": [{"role": "user", "content": [{"type": "input_file", "file_id": "f"}]}]},
        ),
        (
            "responses",
            {"input": [{"role": "user", "content": [{"type": "input_image", "image_url": "http://x/a.png"}]}]},
        ),
        (
            "chat",
            {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://x"}}]}]},
        ),
        (
            "messages",
            {
                "max_tokens": 5,
                "messages": [
                    {"role": "user", "content": [{"type": "image", "source": {"type": "url", "url": "http://x"}}]}
                ],
            },
        ),
        (
            "messages",
            {
                "max_tokens": 5,
                "messages": [
                    {
                        "role": "user",
                        "content": [
                            {
                                "type": "tool_result",
                                "tool_use_id": "t",
                                "content": [{"type": "image", "source": {"type": "url", "url": "http://x"}}],
                            }
                        ],
                    }
                ],
            },
        ),
    ],
)  # fmt: skip
async def test_state_of_the_provider_and_urls_are_out_of_reach(
    api: Api, body: dict[str, object]
) -> None:
    path = {"chat": CHAT, "responses": "/v1/responses", "messages": "/v1/messages"}[api]
    async with world([say()], apis=(api,)) as w:
        answer = await raw(w.gateway.url, post(path, {"model": MODEL, **body}, w.door.token))
        assert answer.status == 400
        assert not w.server.requests
        assert w.last.ending is Ending.MALFORMED


async def test_tools_that_the_provider_runs_are_left_out() -> None:
    function = {"type": "function", "name": "shell", "parameters": {"type": "object"}}
    body: dict[str, object] = {
        "model": MODEL,
        "input": "x",
        "tools": [
            function,
            {"type": "web_search"},
            {"type": "mcp", "server_url": "http://x"},
            {"type": "code_interpreter", "container": {"type": "auto"}},
        ],
        "tool_choice": {"type": "web_search"},
    }
    async with world([say()], apis=("responses", "chat")) as w:
        await raw(w.gateway.url, post("/v1/responses", body, w.door.token))
        sent = w.server.requests[-1].body
        assert isinstance(sent, dict)
        assert sent["tools"] == [function]
        assert "tool_choice" not in sent
        assert "tool of type 'mcp'" in w.last.dropped
        await raw(w.gateway.url, post(CHAT, chat_body(web_search_options={}), w.door.token))
        sent = w.server.requests[-1].body
        assert isinstance(sent, dict)
        assert "web_search_options" not in sent
    async with world([say()], apis=("messages",)) as w:
        given: dict[str, object] = {
            "model": MODEL,
            "max_tokens": 5,
            "messages": [{"role": "user", "content": "x"}],
            "mcp_servers": [{"type": "url", "url": "http://x", "name": "x"}],
            "tools": [{"type": "web_fetch_20250910", "name": "web_fetch"}],
            "tool_choice": {"type": "auto"},
        }
        await raw(w.gateway.url, post("/v1/messages", given, w.door.token))
        sent = w.server.requests[-1].body
        assert isinstance(sent, dict)
        assert not {"mcp_servers", "tools", "tool_choice"} & set(sent)


async def test_an_open_network_lets_them_pass() -> None:
    body: dict[str, object] = {"model": MODEL, "input": "x", "tools": [{"type": "web_search"}]}
    async with world([say()], apis=("responses",), remote_content=True) as w:
        await raw(w.gateway.url, post("/v1/responses", body, w.door.token))
        assert w.last.sent is None


async def test_a_key_given_twice_means_what_the_gateway_read() -> None:
    """A provider whose reader takes the first of two would see another model."""
    data = (
        b'{"model": "expensive", "messages": [{"role": "user", "content": "x"}], "model": "'
        + MODEL.encode()
        + b'"}'
    )
    escaped = data.replace(b'{"model"', b'{"mod\\u0065l"', 1)
    async with world([say()]) as w:
        for body in (data, escaped):
            await raw(w.gateway.url, post(CHAT, body, w.door.token))
            assert w.last.sent is not None
            assert "expensive" not in (w.last.sent.text or "")


# --- HTTP --------------------------------------------------------------------------------


async def attempt(where: str | Path, request: bytes) -> Answer | None:
    """The answer, or None when the connection was just closed."""
    try:
        return await raw(where, request)
    except (asyncio.IncompleteReadError, ConnectionError):
        return None


TRICKS = {
    "absolute": b"GET http://evil.example/v1/models HTTP/1.1\r\nhost: evil.example\r\n\r\n",
    "connect": b"CONNECT evil.example:443 HTTP/1.1\r\nhost: evil.example:443\r\n\r\n",
    "upgrade": b"GET / HTTP/1.1\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n",
    "h2 upgrade": b"POST / HTTP/1.1\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n",
    "h2 preface": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "garbage": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
    "asterisk": b"OPTIONS * HTTP/1.1\r\nhost: x\r\n\r\n",
    "both lengths": (
        b"POST /v1/chat/completions HTTP/1.1\r\ncontent-length: 5\r\n"
        b"transfer-encoding: chunked\r\n\r\n0\r\n\r\n"
    ),
    "two lengths": (
        b"POST /v1/chat/completions HTTP/1.1\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\n12345"
    ),
    "bad chunk": (
        b"POST /v1/chat/completions HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nZZ\r\nabc\r\n"
    ),
    "huge chunk": (
        b"POST /v1/chat/completions HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n"
        b"ffffffffffffffffff\r\nabc\r\n"
    ),
    "negative": b"POST /v1/chat/completions HTTP/1.1\r\ncontent-length: -1\r\n\r\n",
    "header break": b"GET / HTTP/1.1\r\nx: a\rb: c\r\n\r\n",
    "long header": b"GET / HTTP/1.1\r\nx: " + b"a" * (MAX_HEAD_BYTES + 10) + b"\r\n\r\n",
    "many headers": b"GET / HTTP/1.1\r\n" + b"x: y\r\n" * MAX_HEAD_BYTES + b"\r\n",
    "long path": b"GET /" + b"a" * (MAX_HEAD_BYTES + 10) + b" HTTP/1.1\r\n\r\n",
}


@pytest.mark.parametrize("name", TRICKS)
async def test_what_no_harness_sends_is_refused(name: str) -> None:
    async with world([say()]) as w:
        answer = await attempt(w.door.socket_path, TRICKS[name])
        assert answer is None or answer.status in (400, 404, 405)
        assert not w.server.requests
        assert (await raw(w.door.socket_path, post(CHAT, chat_body()))).status == 200


async def test_a_head_without_end_is_cut() -> None:
    async with world([say()]) as w:
        reader, writer = await dial(w.door.socket_path)
        sent = 0
        try:
            writer.write(b"GET / HTTP/1.1\r\nx: ")
            for _ in range(200):
                writer.write(b"a" * 10_000)
                sent += 10_000
                await writer.drain()
                if reader.at_eof():
                    break
                await asyncio.sleep(0.001)
        except ConnectionError:
            pass
        writer.close()
        assert sent < 2_000_000


async def test_the_last_piece_of_a_body_is_not_taken_for_a_head(tmp_path: Path) -> None:
    """A piece larger than a head may be, after which the connection serves the next request."""
    async with world([say()], sockets=tmp_path / "s") as w:
        head, _, body = post(CHAT, chat_body("x" * (MAX_HEAD_BYTES + 1000))).partition(b"\r\n\r\n")
        reader, writer = await dial(w.door.socket_path)
        for _ in range(3):
            writer.write(head + b"\r\n\r\n")
            await asyncio.sleep(0.05)  # so that the body comes apart from its head
            writer.write(body)
            assert (await read_answer(reader)).status == 200
        writer.close()


@pytest.mark.parametrize(
    "path",
    [
        "/v1/../v1/chat/completions",
        "/v1/chat/completions/../../../etc/passwd",
        "/v1/%2e%2e/admin",
        "//v1/chat/completions",
        "/v1/chat/completions;x",
        "/v1/chat/completions%00",
        "/v1/responses/resp_1",
        "/v1/files",
        "/v1/embeddings",
    ],
)
async def test_paths_that_are_not_served(path: str) -> None:
    async with world([say()]) as w:
        for method in ("POST", "GET", "DELETE"):
            request = post(path, chat_body(), w.door.token).replace(b"POST", method.encode(), 1)
            answer = await attempt(w.gateway.url, request)
            assert answer is None or answer.status in (400, 404, 405)
        assert not w.server.requests


BAD_BODIES = {
    "empty": b"",
    "not json": b"{",
    "a list": b"[]",
    "nan": b'{"model": NaN}',
    "deep": b'{"model": "m", "messages": ' + b"[" * 5000 + b"]" * 5000 + b"}",
    "utf-16": '{"model": "m"}'.encode("utf-16"),
    "no model": b'{"messages": []}',
    "no messages": json.dumps({"model": "m"}).encode(),
    "big number": b'{"model": "m", "messages": [], "x": ' + b"9" * 5000 + b"}",
    "bytes": b"\xff\xfe\x00",
}


@pytest.mark.parametrize("api", ["chat", "messages", "responses"])
@pytest.mark.parametrize("name", BAD_BODIES)
async def test_broken_bodies_are_refused_or_passed_as_they_are(name: str, api: Api) -> None:
    path = {"chat": CHAT, "responses": "/v1/responses", "messages": "/v1/messages"}[api]
    async with world([say()], apis=("chat",)) as w:
        answer = await raw(w.gateway.url, post(path, BAD_BODIES[name], w.door.token))
        assert answer.status in (200, 400)
        assert answer.status == 400 or name in ("no messages", "deep")
        assert len(w.exchanges) == 1


async def test_lone_surrogates_do_not_break_anything() -> None:
    data = b'{"model": "m", "messages": [{"role": "user", "content": "\\ud800 x"}], "stream": true}'
    async with world([say()]) as w:
        assert (await raw(w.gateway.url, post(CHAT, data, w.door.token))).status == 200
        assert w.last.model_dump_json()


# --- floods ------------------------------------------------------------------------------


async def test_a_body_over_the_cap_is_refused_with_413() -> None:
    limits = DoorLimits(max_body_bytes=10_000)
    async with world([say()], door_limits=limits) as w:
        big = chat_body("x" * 20_000)
        answer = await raw(w.gateway.url, post(CHAT, big, w.door.token))
        assert answer.status == 413
        assert "10000" in answer.body.decode()
        head = (
            f"POST {CHAT} HTTP/1.1\r\nauthorization: Bearer {w.door.token}\r\n"
            "transfer-encoding: chunked\r\n\r\n"
        )
        chunk = b"1000\r\n" + b"x" * 4096 + b"\r\n"
        reader, writer = await dial(w.gateway.url)
        writer.write(head.encode())
        for _ in range(4):
            writer.write(chunk)
            await asyncio.sleep(0.02)
        assert b" 413 " in await reader.readline()
        writer.close()
        assert not w.server.requests
        assert w.gateway.bill("e1").endings == {"malformed": 2}


async def test_encoded_bodies_are_refused() -> None:
    async with world([say()]) as w:
        request = post(CHAT, b"\x1f\x8b...", w.door.token, content_encoding="gzip")
        assert (await raw(w.gateway.url, request)).status == 415


async def test_a_body_that_does_not_come_is_given_up() -> None:
    limits = DoorLimits(body_timeout_s=0.2)
    async with world([say()], door_limits=limits) as w:
        head = f"POST {CHAT} HTTP/1.1\r\nauthorization: Bearer {w.door.token}\r\n"
        answer = await raw(w.gateway.url, f"{head}content-length: 50\r\n\r\n{{".encode())
        assert answer.status == 408


async def test_flooding_hurts_only_the_one_who_floods() -> None:
    limits = DoorLimits(max_concurrent=4, max_queued=4)
    slow = {"when": {"last_user": "slow"}, **say("x", chunk_delay_s=0.3)}
    async with world([slow, say()], door_limits=limits) as w:
        calm = await w.gateway.open_episode("calm", provider(w.server, ("chat",)))
        request = post(CHAT, chat_body("slow"), w.door.token)
        flood = [asyncio.create_task(raw(w.gateway.url, request)) for _ in range(40)]
        await asyncio.sleep(0.1)
        answer = await raw(w.gateway.url, post(CHAT, chat_body(), calm.token), timeout_s=2)
        assert answer.status == 200
        answers = await asyncio.gather(*flood)
        statuses = [a.status for a in answers]
        assert statuses.count(200) == 8
        assert statuses.count(429) == 32
        turned = next(a for a in answers if a.status == 429)
        assert turned.headers["retry-after"] == "1"
        assert w.gateway.bill("e1").endings == {"answered": 8, "flooded": 32}
        assert w.gateway.bill("e1").budget is None


async def test_bodies_at_a_time_are_bounded_together() -> None:
    limits = DoorLimits(max_body_bytes=100_000, max_held_bytes=150_000)
    async with world([say("x", chunk_delay_s=0.3)], door_limits=limits) as w:
        request = post(CHAT, chat_body("y" * 90_000), w.door.token)
        first = asyncio.create_task(raw(w.gateway.url, request))
        await asyncio.sleep(0.1)
        assert (await raw(w.gateway.url, request)).status == 429
        assert (await first).status == 200
        assert (await raw(w.gateway.url, request)).status == 200


async def test_connections_are_bounded() -> None:
    limits = DoorLimits(max_connections=5)
    async with world([say()], door_limits=limits) as w:
        held = [await dial(w.door.socket_path) for _ in range(5)]
        await asyncio.sleep(0.05)
        assert await attempt(w.door.socket_path, post(CHAT, chat_body())) is None
        for _, writer in held:
            writer.close()
        await asyncio.sleep(0.05)
        assert (await raw(w.door.socket_path, post(CHAT, chat_body()))).status == 200


async def test_pipelined_requests_are_answered_in_order() -> None:
    async with world([{"reply": {"text": "{{ last_user }}"}}]) as w:
        reader, writer = await dial(w.door.socket_path)
        writer.write(b"".join(post(CHAT, chat_body(f"n{i}")) for i in range(3)))
        for i in range(3):
            assert f'"n{i}"' in (await read_answer(reader)).body.decode()
        writer.close()


# --- the firewall ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "body"),
    [
        (CHAT, chat_body("the mark is CANARY-7")),
        (CHAT, chat_body(tools=[{"type": "function", "function": {"name": "CANARY-7"}}])),
        ("/v1/responses", {"model": "m", "input": "x", "metadata": {"CANARY-7": "y"}}),
        ("/v1/messages/count_tokens", {"model": "m", "system": "CANARY-7", "messages": []}),
    ],
)
async def test_a_canary_is_not_sent_and_ends_the_episode(
    path: str, body: dict[str, object]
) -> None:
    def watch(where: str, text: str) -> None:
        if "CANARY-7" in text:
            raise FirewallBreach(f"canary in {where}")

    async with world([say()], watch=watch) as w:
        assert (await raw(w.gateway.url, post(CHAT, chat_body(), w.door.token))).status == 200
        assert (await raw(w.gateway.url, post(path, body, w.door.token))).status == 403
        again = await raw(w.gateway.url, post(CHAT, chat_body(), w.door.token))
        assert again.status == 403
        assert b"CANARY" not in again.body
        assert len(w.server.requests) == 1
        stop = w.gateway.stop_reason("e1")
        assert isinstance(stop, FirewallBreach)
        assert "a request of the executor's model" in str(stop)
        assert w.last.ending is Ending.BREACH


async def test_escapes_hide_nothing_from_the_firewall() -> None:
    def watch(where: str, text: str) -> None:
        if "CANARY" in text:
            raise FirewallBreach(where)

    data = b'{"model": "m", "messages": [{"role": "user", "content": "\\u0043ANARY"}]}'
    async with world([say()], watch=watch) as w:
        assert (await raw(w.gateway.url, post(CHAT, data, w.door.token))).status == 403


async def test_a_store_that_fails_ends_the_episode() -> None:
    from uniclaw.errors import StoreError

    def broken(_: object) -> None:
        raise StoreError("disk full")

    async with world([say()]) as w:
        door = await w.gateway.open_episode("e2", provider(w.server, ("chat",)), on_exchange=broken)
        request = post(CHAT, chat_body(), door.token)
        assert (await raw(w.gateway.url, request)).status == 200
        assert (await raw(w.gateway.url, request)).status == 403
        assert isinstance(w.gateway.stop_reason("e2"), StoreError)
