"""Usage to money: a versioned table of list prices; what is unknown costs None, never 0.

Must not know who spent the tokens. How a model finds its price:

1. `PROVIDER/NAME` is looked up as written, then `NAME` alone (a user's file may leave the
   provider out).
2. A key also covers dated and tagged names of itself: `openai/gpt-4o` covers
   `openai/gpt-4o-2024-11-20`, `...-20241120`, `...-latest`, `...@1` and `...:free`, and
   nothing else, so that `gpt-4o-mini` never gets the price of `gpt-4o`.
3. A key that ends in `*` covers every name that starts with what stands before the star.
4. The longest covering key wins; at equal length an exact one before a star.
"""

import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Self

from pydantic import Field, ValidationError

from uniclaw.errors import UserError
from uniclaw.records import Record, Usage

PACKAGE_TABLE = Path(__file__).with_name("prices.json")
MAX_TABLE_BYTES = 5_000_000

Price = Annotated[float, Field(ge=0)]
"""USD per million tokens."""

_DATED = re.compile(r"-(latest|20\d{6}|20\d{2}-\d{2}-\d{2}|\d{4})$|[@:][A-Za-z0-9._-]+$")


class ModelPrice(Record):
    """Price of each kind of tokens; None means unknown."""

    input: Price | None = None
    cache_read: Price | None = None
    cache_write: Price | None = None
    output: Price | None = None
    reasoning: Price | None = None
    """None takes the price of `output`, as the providers bill it."""

    def cost(self, usage: Usage) -> float | None:
        """USD for a usage; None when a kind that was used has no known price."""
        reasoning = self.output if self.reasoning is None else self.reasoning
        pairs = (
            (usage.input, self.input),
            (usage.cache_read, self.cache_read),
            (usage.cache_write, self.cache_write),
            (usage.output, self.output),
            (usage.reasoning, reasoning),
        )
        total = 0.0
        for tokens, price in pairs:
            if tokens and price is None:
                return None
            total += tokens * (price or 0.0)
        return total / 1_000_000


class PriceTable(Record):
    """A versioned price table."""

    version: str
    source: str
    """Where the numbers come from, and of when they are."""
    unit: str = "USD per million tokens"
    models: Mapping[str, ModelPrice]

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read a table from a JSON file.

        Raises:
            UserError: it cannot be read or is not a price table.
        """
        try:
            data = path.read_bytes()[: MAX_TABLE_BYTES + 1]
        except OSError as error:
            raise UserError(f"cannot read the price table: {error.strerror}", file=path) from error
        if len(data) > MAX_TABLE_BYTES:
            raise UserError(f"price table larger than {MAX_TABLE_BYTES} bytes", file=path)
        try:
            return cls.model_validate(json.loads(data))
        except ValidationError as error:
            first = error.errors()[0]
            field = ".".join(str(part) for part in first["loc"])
            raise UserError(first["msg"], file=path, field=field, value=first["input"]) from error
        except (ValueError, RecursionError) as error:
            raise UserError(f"not JSON: {error}", file=path) from error

    @classmethod
    def default(cls) -> Self:
        """The table that ships with the package."""
        return cls.load(PACKAGE_TABLE)

    def over(self, base: "PriceTable") -> "PriceTable":
        """This table's prices first, then those of `base`; the version names both."""
        return PriceTable(
            version=f"{self.version}+{base.version}",
            source=f"{self.source}; else {base.source}",
            models={**base.models, **self.models},
        )

    def price(self, model: str) -> ModelPrice | None:
        """The price of `PROVIDER/NAME` or `NAME`; None when no key covers it."""
        for name in dict.fromkeys((model, model.partition("/")[2] or model)):
            covering = [key for key in self.models if _covers(key, name)]
            if covering:
                return self.models[max(covering, key=_rank)]
        return None

    def cost(self, model: str, usage: Usage) -> float | None:
        """USD for a model's usage; None when the model or a used kind has no known price."""
        price = self.price(model)
        return None if price is None else price.cost(usage)


def _rank(key: str) -> tuple[int, bool]:
    return (len(key.removesuffix("*")), not key.endswith("*"))


def _covers(key: str, name: str) -> bool:
    if key.endswith("*"):
        return name.startswith(key[:-1])
    return name == key or (name.startswith(key) and bool(_DATED.fullmatch(name, len(key))))


@cache
def default_prices() -> PriceTable:
    """The package's table, read once."""
    return PriceTable.default()
