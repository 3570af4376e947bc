"""Head and tail of output, and the engine's frames, whatever the pieces."""

import random
import struct

from hypothesis import given
from hypothesis import strategies as st

from uniclaw.environments.output import HeadTail
from uniclaw.environments.wire import Frames


@given(st.binary(max_size=300), st.integers(0, 120), st.randoms(use_true_random=False))
def test_fault_23_head_and_tail_are_kept_at_every_limit(
    data: bytes, cap: int, rng: random.Random
) -> None:
    kept = HeadTail(cap)
    rest = data
    while rest:
        size = rng.randint(1, len(rest))
        kept.add("stdout", rest[:size])
        rest = rest[size:]
    whole = kept.bytes_of("stdout")
    assert kept.total == len(data)
    assert kept.truncated == (len(data) > cap)
    expected = data if len(data) <= cap else data[: cap // 2] + data[len(data) - (cap - cap // 2) :]
    assert whole == expected


@given(
    st.lists(st.tuples(st.sampled_from([1, 2]), st.binary(max_size=50)), max_size=20),
    st.randoms(use_true_random=False),
)
def test_frames_come_out_whole_however_they_are_cut(
    frames: list[tuple[int, bytes]], rng: random.Random
) -> None:
    raw = b"".join(struct.pack(">BxxxL", kind, len(data)) + data for kind, data in frames)
    parser = Frames()
    seen = {"stdout": b"", "stderr": b""}
    while raw:
        size = rng.randint(1, len(raw))
        for stream, piece in parser.feed(raw[:size]):
            seen[stream] += piece
        raw = raw[size:]
    assert seen["stdout"] == b"".join(data for kind, data in frames if kind == 1)
    assert seen["stderr"] == b"".join(data for kind, data in frames if kind == 2)
