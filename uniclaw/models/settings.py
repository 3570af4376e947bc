"""Settings of the model side: where a provider is, its key, timeouts and retries.

Nothing is read from the environment at import; `ModelSettings.from_environ` takes the mapping.
"""

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import Field, SecretStr

from uniclaw.models.retry import RetryPolicy
from uniclaw.records import Record


class ProviderSettings(Record):
    """One provider."""

    base_url: str | None = None
    """None: the provider's own public address."""
    api_key: SecretStr | None = None
    """Never written to a record: it serialises as asterisks."""
    timeout_s: Annotated[float, Field(gt=0)] = 600.0
    """Longest silence of the provider within one attempt."""
    stream: bool = True
    """Ask for a stream: usage of a broken answer is known, long answers do not time out."""
    output_limit_field: Literal["auto", "max_tokens", "max_completion_tokens"] = "auto"
    """OpenAI only. `auto`: the new name at api.openai.com, the old one elsewhere."""
    json_answers: Literal["schema", "tool"] = "schema"
    """OpenAI only. How a JSON answer is asked for: `response_format`, or a forced tool for
    compatible servers that do not know it. Anthropic always gets a forced tool."""
    retry: RetryPolicy = RetryPolicy()


class ModelSettings(Record):
    """All providers."""

    openai: ProviderSettings = ProviderSettings()
    anthropic: ProviderSettings = ProviderSettings()

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> Self:
        """Settings with the addresses and keys of `OPENAI_*` and `ANTHROPIC_*` variables."""
        return cls(openai=_provider(environ, "OPENAI"), anthropic=_provider(environ, "ANTHROPIC"))


def _provider(environ: Mapping[str, str], name: str) -> ProviderSettings:
    key = environ.get(f"{name}_API_KEY")
    return ProviderSettings(
        base_url=environ.get(f"{name}_BASE_URL") or None,
        api_key=SecretStr(key) if key else None,
    )
