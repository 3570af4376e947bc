"""Where an episode's model calls go, and the shape that every source of answers has.

The provider's key lives here and in the head of the request to the provider, and nowhere
else: no record, reply or error holds it.
"""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal, NamedTuple, Protocol
from urllib.parse import urlsplit

from pydantic import Field, SecretStr

from uniclaw.errors import UserError
from uniclaw.gateway.exchange import Api, WireExchange
from uniclaw.gateway.http_client import HttpPool, target_of
from uniclaw.gateway.translate.fields import Json
from uniclaw.gateway.translate.write_requests import Style
from uniclaw.models import split_spec
from uniclaw.models.retry import RetryPolicy
from uniclaw.models.script import Script, load_script
from uniclaw.models.settings import ModelSettings, ProviderSettings
from uniclaw.records import Record

OPENAI_URL = "https://api.openai.com/v1"
ANTHROPIC_URL = "https://api.anthropic.com"
ANTHROPIC_VERSION = "2023-06-01"

PASSED_HEADERS = ("anthropic-version", "anthropic-beta", "openai-beta")
"""Headers of a harness that reach the provider; all others stop here."""


class ProviderUpstream(Record):
    """A provider at a base URL."""

    spec: str
    """`PROVIDER/NAME`, for prices and records."""
    model: str
    """The name sent to the provider, whatever the harness asks for."""
    base_url: str
    """OpenAI-compatible: with `/v1`. Anthropic: without."""
    api_key: SecretStr
    apis: Annotated[tuple[Api, ...], Field(min_length=1)]
    """What it speaks; other requests are translated to the first that fits."""
    timeout_s: Annotated[float, Field(gt=0)] = 600.0
    """Longest silence within one attempt."""
    retry: RetryPolicy = RetryPolicy()
    output_limit_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    """Chat completions only; used where a request is translated."""
    max_output_tokens: Annotated[int, Field(ge=1)] = 16_384
    """Messages only: the limit of a translated request that has none."""
    json_schemas: bool = True
    """Whether translated requests may carry a JSON schema for the answer."""
    remote_content: bool = False
    """Let the provider fetch URLs and run its own tools (web search, code) for the agent.
    Only for tasks with an open network: it is a way out of the container."""
    proxy: str | None = None
    """`http://HOST:PORT` of a forward proxy."""


@dataclass(frozen=True)
class ScriptedUpstream:
    """A script that answers in this process."""

    script: Script
    spec: str = "scripted/script"
    remote_content: bool = False
    retry: RetryPolicy = field(default_factory=RetryPolicy)

    @property
    def model(self) -> str:
        """The name it is listed under."""
        return "scripted-model"


class ExchangeSource(Protocol):
    """Stored exchanges, by the hash of the request."""

    def find(self, request_hash: str) -> WireExchange | None:
        """The exchange to answer with; None when there is none."""
        ...


@dataclass(frozen=True)
class RecordedUpstream:
    """Exchanges of an earlier run, in place of a provider."""

    source: ExchangeSource
    spec: str
    model: str = "recorded-model"
    remote_content: bool = True
    """Nothing is fetched: what was asked then may be asked again."""
    retry: RetryPolicy = field(default_factory=RetryPolicy)


UpstreamSpec = ProviderUpstream | ScriptedUpstream | RecordedUpstream


def upstream_of(
    spec: str,
    settings: ModelSettings,
    *,
    apis: tuple[Api, ...] | None = None,
    remote_content: bool = False,
    environ: Mapping[str, str] | None = None,
) -> UpstreamSpec:
    """The upstream of a model's name.

    Args:
        spec: `openai/NAME`, `anthropic/NAME` or `scripted/FILE`.
        settings: addresses, keys, retries.
        apis: what an OpenAI-compatible server speaks; by default chat completions, and at
            OpenAI's own address also responses.
        remote_content: see `ProviderUpstream`.
        environ: where `HTTPS_PROXY` and the like may stand.

    Raises:
        UserError: a bad name, a missing key, a script that is none.
    """
    provider, name = split_spec(spec)
    if provider == "scripted":
        return ScriptedUpstream(load_script(Path(name)), spec, remote_content)
    if provider == "cassette":
        raise UserError("stored answers belong to an episode of a run", field="model", value=spec)
    given = settings.openai if provider == "openai" else settings.anthropic
    if given.api_key is None:
        raise UserError(f"no API key: set {provider.upper()}_API_KEY", field="api_key")
    base_url = _base_url(provider, given)
    official = "api.openai.com" in base_url
    spoken: tuple[Api, ...] = ("chat", "responses") if official else ("chat",)
    limit = given.output_limit_field
    if limit == "auto":
        limit = "max_completion_tokens" if official else "max_tokens"
    return ProviderUpstream(
        spec=spec,
        model=name,
        base_url=base_url,
        api_key=given.api_key,
        apis=("messages",) if provider == "anthropic" else apis or spoken,
        timeout_s=given.timeout_s,
        retry=given.retry,
        output_limit_field=limit,
        json_schemas=given.json_answers == "schema",
        remote_content=remote_content,
        proxy=proxy_for(base_url, environ or {}),
    )


def _base_url(provider: str, settings: ProviderSettings) -> str:
    if provider == "openai":
        return (settings.base_url or OPENAI_URL).rstrip("/")
    return (settings.base_url or ANTHROPIC_URL).rstrip("/").removesuffix("/v1")


def proxy_for(url: str, environ: Mapping[str, str]) -> str | None:
    """The forward proxy that an environment names for a URL."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    for entry in (environ.get("no_proxy") or environ.get("NO_PROXY") or "").split(","):
        suffix = entry.strip().lstrip(".")
        if suffix == "*" or (suffix and (host == suffix or host.endswith(f".{suffix}"))):
            return None
    name = f"{parts.scheme}_proxy"
    return environ.get(name) or environ.get(name.upper()) or None


# --- sources -----------------------------------------------------------------------------


class SourceRequest(NamedTuple):
    """What a source is asked."""

    api: Api
    """As the source speaks."""
    body: bytes
    fields: Json
    """The body, parsed."""
    asked_model: str
    """The name the harness asked for."""
    headers: Mapping[str, str]
    """Of the harness, those of `PASSED_HEADERS` alone; names in lower case."""
    beta: bool
    """Messages: whether `?beta=true` was asked."""
    request_hash: str


class SourceReply(Protocol):
    """An answer whose head has come."""

    @property
    def status(self) -> int:
        """HTTP status."""
        ...

    @property
    def headers(self) -> Mapping[str, str]:
        """Names in lower case."""
        ...

    def chunks(self) -> AsyncIterator[bytes]:
        """The body as it comes; raises `UpstreamBroken`."""
        ...

    async def read(self, max_bytes: int) -> bytes:
        """The whole body; raises `UpstreamBroken` or `TooLarge`."""
        ...

    def close(self) -> None:
        """Give up what was not read."""
        ...


class Source(Protocol):
    """Something that answers."""

    def api_for(self, api: Api, request_hash: str) -> Api:
        """The API in which a request of `api` is to be sent."""
        ...

    async def post(self, request: SourceRequest) -> SourceReply:
        """Send a request; raises `UpstreamBroken`, or `NotRecorded`."""
        ...

    @property
    def style(self) -> Style:
        """How translated requests are written."""
        ...

    def secrets(self) -> tuple[bytes, ...]:
        """What must never reach the harness or a record."""
        ...


class NotRecorded(Exception):
    """A recorded source has no exchange for the request."""


_FALLBACK: Mapping[Api, tuple[Api, ...]] = {
    "chat": ("chat", "responses", "messages"),
    "responses": ("responses", "chat", "messages"),
    "messages": ("messages", "chat", "responses"),
}


class ProviderSource:
    """A provider over HTTP."""

    def __init__(self, upstream: ProviderUpstream, pool: HttpPool) -> None:
        self._upstream = upstream
        self._pool = pool
        self._key = upstream.api_key.get_secret_value()
        try:
            target_of(upstream.base_url, upstream.proxy)
            if upstream.proxy is not None:
                target_of(upstream.proxy)
        except ValueError as error:
            raise UserError(str(error), field="base_url", value=upstream.base_url) from error
        if not self._key.isascii() or not self._key.isprintable():
            raise UserError("a provider's key is printable ASCII", field="api_key")

    def api_for(self, api: Api, request_hash: str) -> Api:
        """The request's own API where it is spoken."""
        return next(a for a in _FALLBACK[api] if a in self._upstream.apis)

    @property
    def style(self) -> Style:
        """How translated requests are written."""
        spec = self._upstream
        return Style(spec.output_limit_field, spec.max_output_tokens, spec.json_schemas)

    def secrets(self) -> tuple[bytes, ...]:
        """The key."""
        return (self._key.encode(),)

    async def post(self, request: SourceRequest) -> SourceReply:
        """Send a request with the provider's key."""
        return await self._pool.post(
            self.url(request),
            self._headers(request),
            request.body,
            timeout_s=self._upstream.timeout_s,
            proxy=self._upstream.proxy,
        )

    async def count_tokens(self, request: SourceRequest) -> SourceReply:
        """Ask how long a messages request is."""
        return await self._pool.post(
            f"{self._upstream.base_url}/v1/messages/count_tokens",
            self._headers(request),
            request.body,
            timeout_s=self._upstream.timeout_s,
            proxy=self._upstream.proxy,
        )

    def url(self, request: SourceRequest) -> str:
        """Made of the configured address alone; nothing of it comes from the harness."""
        base = self._upstream.base_url
        if request.api == "messages":
            return f"{base}/v1/messages{'?beta=true' if request.beta else ''}"
        return f"{base}{'/chat/completions' if request.api == 'chat' else '/responses'}"

    def _headers(self, request: SourceRequest) -> list[tuple[str, str]]:
        headers = [
            ("content-type", "application/json"),
            ("accept", "text/event-stream, application/json"),
            ("accept-encoding", "identity"),
            ("user-agent", "uniclaw"),
        ]
        passed = {k: v for k, v in request.headers.items() if k in PASSED_HEADERS}
        if request.api == "messages":
            passed.setdefault("anthropic-version", ANTHROPIC_VERSION)
            headers.append(("x-api-key", self._key))
        else:
            passed = {k: v for k, v in passed.items() if k == "openai-beta"}
            headers.append(("authorization", f"Bearer {self._key}"))
        return [*headers, *passed.items()]
