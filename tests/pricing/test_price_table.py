"""Prices: what is known, what is not, and which key covers a name."""

import json
from pathlib import Path

import pytest

from uniclaw.errors import UserError
from uniclaw.pricing import PriceTable, default_prices
from uniclaw.records import Usage

TABLE = PriceTable.model_validate(
    {
        "version": "1",
        "source": "test",
        "models": {
            "openai/gpt-4o": {"input": 1, "output": 10},
            "openai/gpt-4o-mini": {"input": 2, "output": 20, "cache_read": 0.2},
            "openai/gpt-4o-2024-05-13": {"input": 3, "output": 30},
            "local-*": {"input": 0, "output": 0, "cache_read": 0, "cache_write": 0},
            "local-big-*": {"input": 7, "output": 7},
            "thinker": {"input": 1, "output": 2, "reasoning": 5},
        },
    }
)


@pytest.mark.parametrize(
    ("model", "price"),
    [
        ("openai/gpt-4o", 1),
        ("openai/gpt-4o-2024-11-20", 1),
        ("openai/gpt-4o-20241120", 1),
        ("openai/gpt-4o-1120", 1),
        ("openai/gpt-4o-latest", 1),
        ("openai/gpt-4o:free", 1),
        ("openai/gpt-4o-2024-05-13", 3),
        ("openai/gpt-4o-mini", 2),
        ("openai/gpt-4o-mini-2024-07-18", 2),
        ("openai/gpt-4o-nano", None),
        ("openai/gpt-4o-mini-audio-preview", None),
        ("openai/gpt-4", None),
        ("gpt-4o", None),
        ("openai/local-small", 0),
        ("openai/local-big-1", 7),
        ("anthropic/thinker", 1),
        ("", None),
    ],
)
def test_longest_covering_key(model: str, price: float | None) -> None:
    found = TABLE.price(model)
    assert (None if found is None else found.input) == price


def test_unknown_is_none_and_never_zero() -> None:
    million = Usage(input=1_000_000)
    assert TABLE.cost("openai/new", million) is None
    assert TABLE.cost("openai/new", Usage()) is None
    assert TABLE.cost("openai/gpt-4o", million) == 1
    assert TABLE.cost("openai/gpt-4o", Usage(input=1, cache_read=1)) is None
    assert TABLE.cost("openai/local-x", million) == 0


def test_every_kind_is_billed_and_reasoning_as_output_by_default() -> None:
    usage = Usage(input=10, cache_read=100, output=1000, reasoning=500)
    mini = (10 * 2 + 100 * 0.2 + 1500 * 20) / 1e6
    assert TABLE.cost("openai/gpt-4o-mini", usage) == pytest.approx(mini)
    assert TABLE.cost("thinker", Usage(output=2, reasoning=1)) == pytest.approx(9e-6)


def test_package_table_is_versioned_and_says_its_source() -> None:
    table = default_prices()
    assert table.version
    assert "third-party" in table.source
    usage = Usage(input=1_000_000, cache_read=1_000_000, cache_write=1_000_000, output=1_000_000)
    cost = table.cost("anthropic/claude-sonnet-4-5-20250929", usage)
    assert cost == pytest.approx(3 + 0.3 + 3.75 + 15)
    assert table.cost("anthropic/claude-sonnet-9", usage) is None
    assert all(p.input is not None and p.output is not None for p in table.models.values())


def test_users_file_goes_first(tmp_path: Path) -> None:
    file = tmp_path / "p.json"
    models = {"openai/gpt-4o": {"input": 99}}
    file.write_text(json.dumps({"version": "mine", "source": "me", "models": models}), "utf-8")
    merged = PriceTable.load(file).over(TABLE)
    assert merged.cost("openai/gpt-4o", Usage(input=1_000_000)) == 99
    assert merged.cost("openai/gpt-4o-mini", Usage(input=1_000_000)) == 2
    assert merged.version == "mine+1"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        '{"version": "1", "source": "s", "models": {"m": {"input": -1}}}',
        '{"version": "1", "source": "s", "models": {"m": {"input": NaN}}}',
        '{"version": "1", "source": "s", "models": {"m": {"in": 1}}}',
        '{"models": {}}',
        "\x00",
    ],
)
def test_bad_table_is_the_users_mistake(tmp_path: Path, text: str) -> None:
    file = tmp_path / "p.json"
    file.write_text(text, "utf-8")
    with pytest.raises(UserError) as caught:
        PriceTable.load(file)
    assert caught.value.file == str(file)
    with pytest.raises(UserError, match="cannot read"):
        PriceTable.load(tmp_path / "none.json")
