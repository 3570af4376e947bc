import base64
import codecs
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uniclaw.firewall.canary import CanarySet

SET = CanarySet.create(["rule", "reference"], random.Random(3))
TOKEN = SET.markers["rule"]


def test_tokens_are_unguessable_and_one_per_label() -> None:
    first, second = CanarySet.create(["a", "b"]), CanarySet.create(["a", "b"])
    tokens = [*first.markers.values(), *second.markers.values()]
    assert len(set(tokens)) == 4
    assert all(len(token) >= 20 for token in tokens)


@pytest.mark.parametrize(
    "carried",
    [
        TOKEN,
        TOKEN.upper(),
        f"see {TOKEN}!",
        TOKEN[::-1],
        " ".join(TOKEN),
        "\u200b".join(TOKEN),
        TOKEN.encode().hex(),
        base64.b64encode(TOKEN.encode()).decode(),
        base64.b64encode(b"x" + TOKEN.encode()).decode(),
        base64.b64encode(b"xy" + TOKEN.encode() + b"z").decode(),
        codecs.encode(TOKEN, "rot13"),
        TOKEN.encode("utf-16"),
        b"\xff\x00" + TOKEN.encode() + b"\xfe",
    ],
)
def test_a_canary_is_found_in_every_reading(carried: str | bytes) -> None:
    assert SET.hits(carried) == ("rule",)


@given(st.text())
def test_text_without_it_is_clean(text: str) -> None:
    assert SET.hits(text) == ()


@given(st.text(max_size=200).filter(lambda t: t == t.strip() and "\n" not in t))
def test_a_released_copy_is_the_text_again(text: str) -> None:
    marked = SET.mark("rule", text)
    assert SET.hits(marked) == ("rule",)
    assert SET.strip(marked) == text


def test_long_texts_carry_it_in_the_middle_too() -> None:
    marked = SET.mark("rule", "a line of text\n" * 2_000)
    assert SET.hits(marked[10_000:20_000]) == ("rule",)
    assert not SET.hits(SET.strip(marked))


def test_it_survives_the_store() -> None:
    again = CanarySet.model_validate_json(SET.model_dump_json())
    assert again.hits(TOKEN) == ("rule",)
    assert CanarySet().hits("anything") == ()
