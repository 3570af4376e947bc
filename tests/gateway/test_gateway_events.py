"""Server-sent events cut anywhere, usage in any shape, and what is read in passing."""

import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uniclaw.gateway.exchange import Api, Payload
from uniclaw.gateway.observe import observer
from uniclaw.gateway.sse import EventSplitter, parse_event, write_event
from uniclaw.gateway.translate.requests import request_hash
from uniclaw.gateway.usage import read_usage, write_usage
from uniclaw.records import Usage

LINES = st.lists(
    st.sampled_from([b"data: a", b"event: x", b": note", b"data:", b'data: {"b": "c\\n"}']),
    min_size=1,
    max_size=4,
)
tokens = st.integers(min_value=0, max_value=10**9)


@given(
    events=st.lists(LINES, max_size=6),
    ending=st.sampled_from([b"\n", b"\r\n"]),
    cuts=st.lists(st.integers(min_value=0, max_value=200), max_size=8),
)
def test_events_are_the_same_wherever_the_bytes_are_cut(
    events: list[list[bytes]], ending: bytes, cuts: list[int]
) -> None:
    whole = b"".join(ending.join(lines) + ending * 2 for lines in events)
    places = sorted({min(cut, len(whole)) for cut in cuts} | {0, len(whole)})
    splitter = EventSplitter()
    found: list[bytes] = []
    for start, end in itertools.pairwise(places):
        found += splitter.feed(whole[start:end])
    assert b"".join(found) + splitter.rest() == whole
    assert len(found) == len(events)


def test_data_lines_are_joined() -> None:
    assert parse_event(b"event: x\ndata: a\ndata:b\n\n") == ("x", b"a\nb")
    assert parse_event(write_event(b"{}", "y")) == ("y", b"{}")
    assert parse_event(b": only a comment\n\n").data == b""


@pytest.mark.parametrize("api", ["chat", "responses", "messages"])
@given(input=tokens, cache_read=tokens, cache_write=tokens, output=tokens, reasoning=tokens)
def test_usage_written_and_read_is_the_same(api: Api, **kinds: int) -> None:
    usage = Usage(**kinds)
    assert read_usage(api, json.loads(json.dumps(write_usage(api, usage)))) == usage


@pytest.mark.parametrize("api", ["chat", "responses", "messages"])
@pytest.mark.parametrize(
    "value",
    [
        {},
        {"prompt_tokens": "9", "input_tokens": [], "output_tokens": None},
        {"prompt_tokens": -5, "input_tokens": -5, "completion_tokens": -1, "output_tokens": -1},
        {"prompt_tokens": True, "input_tokens": True},
        {"prompt_tokens_details": 7, "input_tokens_details": "x", "output_tokens_details": []},
        {"prompt_tokens_details": {"cached_tokens": 99}},
    ],
)  # fmt: skip
def test_usage_that_is_none_counts_nothing(api: Api, value: dict[str, object]) -> None:
    assert read_usage(api, json.loads(json.dumps(value))) == Usage()
    assert read_usage(api, None) is None
    assert read_usage(api, "12") is None


def test_a_part_larger_than_its_whole_is_cut_to_it() -> None:
    value = {"prompt_tokens": 10, "prompt_tokens_details": {"cached_tokens": 25}}
    assert read_usage("chat", json.loads(json.dumps(value))) == Usage(cache_read=10)


def test_the_end_of_a_messages_stream_keeps_what_its_start_said() -> None:
    watched = observer("messages")
    start = {"input_tokens": 7, "cache_read_input_tokens": 3, "output_tokens": 1}
    for data in (
        {"type": "message_start", "message": {"usage": start}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "x"}},
    ):
        watched.look(write_event(json.dumps(data).encode(), str(data["type"])))
    assert watched.content
    assert not watched.usage_final
    end = {"type": "message_delta", "usage": {"output_tokens": 20}}
    watched.look(write_event(json.dumps(end).encode(), "message_delta"))
    assert watched.usage == Usage(input=7, cache_read=3, output=20)
    assert watched.usage_final
    assert not watched.ended
    watched.look(write_event(b'{"type": "message_stop"}', "message_stop"))
    assert watched.ended


@pytest.mark.parametrize("spaces", [(",", ":"), (", ", ": ")])
@pytest.mark.parametrize("nulls", [True, False])
def test_usage_is_found_however_the_chunks_are_written(
    spaces: tuple[str, str], nulls: bool
) -> None:
    watched = observer("chat")
    for text in ("a", '"usage": {"prompt_tokens": 0}', 'data: {"usage":{}}'):
        choice: dict[str, object] = {"index": 0, "delta": {"content": text}}
        chunk: dict[str, object] = {"choices": [choice]}
        if nulls:
            choice["finish_reason"] = None
            chunk["usage"] = None
        watched.look(write_event(json.dumps(chunk, separators=spaces).encode()))
    assert watched.usage is None
    last: dict[str, object] = {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 4}}
    watched.look(write_event(json.dumps(last, separators=spaces).encode()))
    assert watched.usage == Usage(input=3, output=4)
    assert watched.usage_only


@given(st.binary(max_size=200))
def test_payloads_keep_every_byte(data: bytes) -> None:
    stored = Payload.model_validate_json(Payload.of(data).model_dump_json())
    assert stored.data == data
    assert not stored.truncated
    assert Payload.of(data, total_bytes=len(data) + 1).truncated


def test_the_hash_is_of_the_meaning() -> None:
    one = {"model": "a", "messages": [{"role": "user", "content": "x"}], "temperature": 1}
    two = {"temperature": 1, "messages": [{"content": "x", "role": "user"}], "user": "z"}
    assert request_hash("chat", json.loads(json.dumps(one))) == request_hash(
        "chat", json.loads(json.dumps(two))
    )
    other = {**two, "temperature": 0}
    assert request_hash("chat", json.loads(json.dumps(other))) != request_hash(
        "chat", json.loads(json.dumps(two))
    )
