"""Chat models by name: `openai/NAME`, `anthropic/NAME`, `scripted/FILE`, `cassette/RUN`.

Nothing heavy is imported here; a provider's SDK is when its model is made.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from uniclaw.errors import UserError

if TYPE_CHECKING:
    from uniclaw.models.metering import ExchangeObserver, MeteredModel, SpendLimits
    from uniclaw.models.retry import Timing
    from uniclaw.models.settings import ModelSettings
    from uniclaw.ports import ChatModel
    from uniclaw.pricing import PriceTable

PROVIDERS = ("openai", "anthropic", "scripted", "cassette")


def split_spec(spec: str) -> tuple[str, str]:
    """`(provider, name)` of a model's name.

    Raises:
        UserError: not `PROVIDER/NAME` of a known provider.
    """
    provider, _, name = spec.partition("/")
    if provider not in PROVIDERS or not name.strip():
        expected = "expected openai/NAME, anthropic/NAME, scripted/FILE or cassette/RUN"
        raise UserError(expected, field="model", value=spec)
    return provider, name


def create_bare_model(
    spec: str, *, settings: "ModelSettings", timing: "Timing | None" = None
) -> "ChatModel":
    """The model of a name, without metering.

    Raises:
        UserError: a bad name, a missing key, a script that is none.
    """
    provider, name = split_spec(spec)
    if provider == "openai":
        from uniclaw.models.openai import OpenAIModel

        return OpenAIModel(name, settings.openai, timing)
    if provider == "anthropic":
        from uniclaw.models.anthropic import AnthropicModel

        return AnthropicModel(name, settings.anthropic, timing)
    if provider == "cassette":
        raise UserError("stored answers belong to an episode of a run", field="model", value=spec)
    from uniclaw.models.scripted import ScriptedModel

    return ScriptedModel.from_file(Path(name))


def create_model(
    spec: str,
    *,
    settings: "ModelSettings",
    on_exchange: "ExchangeObserver | None" = None,
    limits: "SpendLimits | None" = None,
    prices: "PriceTable | None" = None,
    timing: "Timing | None" = None,
) -> "MeteredModel":
    """The model of a name, metered.

    Args:
        spec: `openai/NAME`, `anthropic/NAME` or `scripted/FILE`.
        settings: addresses, keys, timeouts, retries.
        on_exchange: called for every attempt, failed and cancelled ones included.
        limits: what it may spend; none by default.
        prices: price table; the package's by default.
        timing: clock and sleep for retries; the real ones by default.

    Raises:
        UserError: a bad name, a missing key, a script that is none, a USD limit without price.
    """
    from uniclaw.models.metering import MeteredModel, SpendLimits
    from uniclaw.pricing import default_prices

    return MeteredModel(
        create_bare_model(spec, settings=settings, timing=timing),
        limits or SpendLimits(),
        prices or default_prices(),
        on_exchange,
    )
